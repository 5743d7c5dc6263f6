/* Which operators the ranks use: ranks with the same set are comparable. */
#ifndef FSL_MATCH_OP_SETS_H
#define FSL_MATCH_OP_SETS_H

#include "model/run.h"

/* @set with one operator more; any order of the same operators gives the same. {} is 0. */
uint64_t fsl_op_set_with(uint64_t set, uint32_t op_id);
/* One pass over all operators, ranks on threads: sets[r] of run->ranks[r], without rare operators.
 */
enum fsl_status fsl_op_sets_count(uint64_t *sets, const struct fsl_run *run, struct fsl_error *err);

#endif

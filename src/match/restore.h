/*
 * Puts back operators whose records were lost: members of a collective end together, so those that
 * were recorded tell when the lost one ended, what is left of its record and the steps beside when
 * it began.
 */
#ifndef FSL_MATCH_RESTORE_H
#define FSL_MATCH_RESTORE_H

#include "match/match.h"

/*
 * Adds the operators that members of a matched instance lack to the ranks of @run and to the
 * channels of @match. @steps tell how often a communicator is used in a usual step. An operator
 * that does not fit between those of its rank, or of which no other step tells what is usual, stays
 * lost. Cuts that were made before are void.
 */
enum fsl_status fsl_restore_lost(struct fsl_run *run, struct fsl_match *match,
				 const struct fsl_steps *steps, size_t *n_restored,
				 struct fsl_error *err);

#endif

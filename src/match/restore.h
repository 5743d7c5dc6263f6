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
 * channels of @match, whose steps must be assigned. An operator stays lost if it does not fit
 * between those of its rank, or if no other step tells what is usual. Cuts made before are void.
 */
enum fsl_status fsl_restore_lost(struct fsl_run *run, struct fsl_match *match, size_t n_steps,
				 size_t *n_restored, struct fsl_error *err);

#endif

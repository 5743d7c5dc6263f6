/*
 * Operators that are launched ahead: the rank goes on working beneath them, and they end before it
 * comes to its next operator, so that none contains the begin of another. Gradients are reduced so
 * beneath the backward pass. Private to src/match.
 */
#ifndef FSL_MATCH_LAUNCHED_H
#define FSL_MATCH_LAUNCHED_H

#include <stdbool.h>

#include "match/cut.h"
#include "model/run.h"

/* One operator of one communicator. */
struct fsl_launched_kind {
	uint32_t op_id, group_id;
	uint64_t free_turns; /* bit n: nobody waits for its n-th use in a step */
	size_t n_turns;      /* uses in a step */
};

/* Sorted. */
struct fsl_launched {
	struct fsl_launched_kind *kinds;
	size_t n_kinds, capacity;
};

/*
 * For the n-th use of an operator in a step, two times are compared from one step to the next: from
 * the last end of another communicator before the use to the next begin of another one, and from
 * the end of the use to that begin. If the rank waits for the use, the second time is the steady
 * one; if the rank works beneath it, the first is. The steps in which either changes less are
 * counted, so that a fault and single odd steps hardly matter. A rank that never waits cannot tell;
 * most of the other ranks of the communicator decide, if they are more than a quarter of all. An
 * operator is launched ahead if a quarter of its judged uses are. Jobs that send from one rank to
 * another are left out. Release with fsl_launched_fini() in any case.
 */
enum fsl_status fsl_launched_find(struct fsl_launched *out, const struct fsl_run *run,
				  const struct fsl_cuts *cuts, struct fsl_error *err);
/* NULL: it is not launched ahead. */
const struct fsl_launched_kind *fsl_launched_of(const struct fsl_launched *launched, uint32_t op_id,
						uint32_t group_id);
/* Whether nobody waits for a use, the @turn-th of @n_uses in its step. If some uses were lost, it
 * may be one of the later ones: all of them have to be free. */
bool fsl_launched_is_free(const struct fsl_launched_kind *kind, size_t turn, size_t n_uses);
void fsl_launched_fini(struct fsl_launched *launched);

#endif

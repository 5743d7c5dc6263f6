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
 * Of the n-th use of an operator in a step two times are compared from one step to the next: from
 * the last end of another communicator before it to the next begin of another one, and from its own
 * end to that begin. Had the rank waited for it, the latter would be the steady one; the former is
 * where the rank worked beneath it. In which of both the step differs less is counted, so that a
 * fault and single odd steps hardly matter. Ranks that nobody lets wait cannot tell; of the others
 * of the communicator most decide, where they are more than a quarter of all. An operator is
 * launched ahead where a quarter of the uses of which that is known are. Jobs that send from one
 * rank to another are left out. Release with fsl_launched_fini() in any case.
 */
enum fsl_status fsl_launched_find(struct fsl_launched *out, const struct fsl_run *run,
				  const struct fsl_cuts *cuts, struct fsl_error *err);
/* NULL: it is not launched ahead. */
const struct fsl_launched_kind *fsl_launched_of(const struct fsl_launched *launched, uint32_t op_id,
						uint32_t group_id);
/* Whether nobody waits for a use, the @turn-th of @n_uses in its step. Where some of them were lost
 * it may be one of the later ones: all of them have to be free. */
bool fsl_launched_is_free(const struct fsl_launched_kind *kind, size_t turn, size_t n_uses);
void fsl_launched_fini(struct fsl_launched *launched);

#endif

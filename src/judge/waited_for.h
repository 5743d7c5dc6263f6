/* For whose signals the captured ranks of a group waited. */
#ifndef FSL_JUDGE_WAITED_FOR_H
#define FSL_JUDGE_WAITED_FOR_H

#include "capture/cluster.h"

struct fsl_waited {
	int32_t place; /* of the member inside the group; -1: not told, or ranks do not agree */
	int32_t rank;  /* the same, -1: nothing tells who that is */
	double share;  /* of all that they waited for signals of members */
	double ms;     /* per step, that each of them waited for it at least */
};

/*
 * The one member, not in the set, for which each captured rank of @group waited most, and all
 * together half of the time and more. Ranks that get signals of fewer than three members tell
 * nothing: in a ring everybody waits for a neighbour, who may wait, too. Fails only when memory is
 * short.
 */
enum fsl_status fsl_waited_find(struct fsl_waited *out, const struct fsl_profile *profile,
				const struct fsl_profile_group *group, struct fsl_error *err);

#endif

/* Finds the member for whose signals the captured ranks of a group waited. */
#ifndef FSL_JUDGE_WAITED_FOR_H
#define FSL_JUDGE_WAITED_FOR_H

#include "capture/cluster.h"

struct fsl_waited {
	int32_t place; /* of the member inside the group; -1: not told, or ranks do not agree */
	int32_t rank;  /* its rank; -1: not known */
	double share;  /* share of all waits for signals of members */
	double ms;     /* least wait of a captured rank for it, per step */
};

/*
 * Finds the one member outside of the set for which each captured rank of @group waited most, if
 * the waits for it are together at least half of all waits. Finds nobody (place -1) if a captured
 * rank gets signals of fewer than three members: in a ring every rank waits for a neighbour, who
 * may wait, too. Fails only when memory is short.
 */
enum fsl_status fsl_waited_find(struct fsl_waited *out, const struct fsl_profile *profile,
				const struct fsl_profile_group *group, struct fsl_error *err);

#endif

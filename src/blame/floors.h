/* Slow links of a capture that tells no bandwidth: groups whose collectives take longer, though
 * nobody is late, than those of groups that move as much. */
#ifndef FSL_BLAME_FLOORS_H
#define FSL_BLAME_FLOORS_H

#include "match/meetings.h"

/* A group that is slow among those like it. */
struct fsl_slow_floor {
	const struct fsl_channel *channel;
	const struct fsl_channel *back; /* the other direction of a slow pair; NULL: none */
	double floor_ms,
		usual_ms; /* per step: sum of the shortest durations; median of the others */
	double cost_ms;   /* floor_ms - usual_ms */
	size_t n_alike;   /* groups compared with */
};

/*
 * Finds slow groups, costliest first. The shortest duration in an instance is free of waiting: the
 * last rank to come has it. Groups are alike if they run the same operator, as often, with as many
 * members and elements; of two groups the slower one has to take twice as long, of more 1.5 times
 * the median of the others. Groups that are as many as the others or more are not slow: they are
 * usual. A group without all of its members is left out, as its floor may be a wait.
 *
 * @out: in @arena. *n_compared: groups that have others like them. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_slow_floors_find(struct fsl_slow_floor **out, size_t *n_out, size_t *n_compared,
				     struct fsl_arena *arena,
				     const struct fsl_profile_meetings *meetings,
				     const struct fsl_profile *profile,
				     const struct fsl_profile_cluster *cluster,
				     struct fsl_error *err);

#endif

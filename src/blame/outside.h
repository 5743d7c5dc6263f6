/* How long ranks wait in collectives: for captured members, and for one that was not captured. */
#ifndef FSL_BLAME_OUTSIDE_H
#define FSL_BLAME_OUTSIDE_H

#include "match/meetings.h"

/* The collective of a group in which those captured wait longest for somebody else. */
struct fsl_outside_wait {
	int64_t wait_ns; /* shortest wait of the members; 0: none waits */
	int64_t sum_ns;  /* of all collectives of the group */
	const char *name;
	size_t n_members;
	/* How much later the last of them began than the first, by their clocks and by their
	 * durations; -1 with one member. */
	int64_t later_ns, lateness_ns;
	int32_t last_rank;
};

/* The member that was not captured and that each captured member waited for most, by signals. */
struct fsl_outside_member {
	int32_t place; /* inside the group; -1: not told, or ranks do not agree */
	int32_t rank;  /* -1: not known */
	double share;  /* of all waits for signals of members */
	double ms;     /* least wait of a captured rank for it, per step */
};

struct fsl_outside {
	struct fsl_outside_wait longest;
	struct fsl_outside_member member;
	/* Per step: what they wait in all collectives of the group, else for the signals of the
	 * member; NaN: less than what counts. */
	double cost_ms;
	bool is_by_signals; /* operators do not tell their waits */
};

/*
 * If all captured members wait in a collective although the last of them has come, they wait for a
 * member that was not captured. The member is told if waits for its signals are together at least
 * half of all; not if a captured rank gets signals of fewer than three members: in a ring every
 * rank waits for a neighbour, who may wait, too. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_outside_find(struct fsl_outside *out, const struct fsl_profile *profile,
				 const struct fsl_profile_meetings *meetings,
				 const struct fsl_profile_group *group, struct fsl_error *err);

/* Collectives of groups that were captured whole: time of each rank in them, ms per step. [n_ranks]
 * each; NaN for ranks that met in none. */
struct fsl_waits {
	struct fsl_arena arena;
	double *wait_ms;     /* until the last member came */
	double *transfer_ms; /* from then on */
};

/* Fills @out (overwritten). Fails with FSL_ERR_MEMORY only; @out is then empty. */
enum fsl_status fsl_waits_split(struct fsl_waits *out, const struct fsl_profile *profile,
				const struct fsl_profile_cluster *cluster,
				const struct fsl_profile_meetings *meetings, struct fsl_error *err);
void fsl_waits_fini(struct fsl_waits *waits);

#endif

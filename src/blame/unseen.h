/* Ranks that left no data, seen through those beside them; private to src/blame. */
#ifndef FSL_BLAME_UNSEEN_H
#define FSL_BLAME_UNSEEN_H

#include "blame/blame.h"

struct fsl_unseen {
	const struct fsl_case *facts; /* borrowed */
	uint32_t op_id;               /* late_ms is of this operator; FSL_STR_NONE: of none yet */
	double *late_ms;              /* [rank_idx * n_steps + step] */
	bool *is_seen;                /* [rank_idx]: uses it together with others */
};

enum fsl_status fsl_unseen_init(struct fsl_unseen *out, const struct fsl_case *facts,
				struct fsl_error *err);
void fsl_unseen_fini(struct fsl_unseen *unseen);

/* A transfer above its reference that is to be explained. */
struct fsl_unseen_wait {
	const double *excess_ms; /* [step]; NaN: not seen */
	double threshold_ms;     /* a step is in question above this */
	double mean_ms;          /* of the steps in question */
	bool is_rise;            /* the reference is the channel's own past, not its like */
};

/*
 * True if the members of a channel's group that left no data came to it in time in the steps in
 * question, so that its transfer is no wait for them: every rank that meets a rank without data in
 * another group, and much more often, came in time to the same operator. False if nobody can tell.
 * @n_unseen_of: per group of the topology, its members that left no data.
 */
enum fsl_status fsl_unseen_in_time(struct fsl_unseen *unseen, size_t channel_idx,
				   const size_t *n_unseen_of, const struct fsl_unseen_wait *wait,
				   bool *is_in_time, struct fsl_error *err);

#endif

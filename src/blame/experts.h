/* Rows that the experts of ranks get, and what it costs that some get more than others. */
#ifndef FSL_BLAME_EXPERTS_H
#define FSL_BLAME_EXPERTS_H

#include "blame/places.h"
#include "capture/cluster.h"

struct fsl_experts {
	int32_t busiest;          /* -1: rows are even, or not told */
	size_t n_ranks;           /* that tell their rows */
	double most, mean, least; /* rows per step */
	/* Per step: comes back with even rows; without a replay, what the busiest rank multiplies
	 * longer than the mean. */
	double cost_ms;
};

/*
 * Compares the rows that the ranks of a group feed into their grouped matrix products, by the
 * shapes of these kernels. Fills @out (overwritten). @job, @places: of the ranks of the profile.
 * The rows are taken off, and added to other ranks, before the operators that the busiest rank
 * works longer for than its peers. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_experts_compare(struct fsl_experts *out, const struct fsl_profile *profile,
				    const struct fsl_profile_group *group,
				    const struct fsl_places_job *job,
				    const struct fsl_places *places, struct fsl_error *err);

#endif

/* Rows that the experts of ranks get, and what it costs that some get more than others. */
#ifndef FSL_BLAME_EXPERTS_H
#define FSL_BLAME_EXPERTS_H

#include "capture/cluster.h"

struct fsl_experts {
	int32_t busiest;          /* -1: rows are even, or not told */
	size_t n_ranks;           /* that tell their rows */
	double most, mean, least; /* rows per step */
	double cost_ms; /* per step: what the busiest rank multiplies longer than the mean */
};

/* Compares the rows that the ranks of a group feed into their grouped matrix products, by the
 * shapes of these kernels. The excess lies between two collectives of the experts, so that it is no
 * factor of all own work that a replay could take off. */
struct fsl_experts fsl_experts_compare(const struct fsl_profile *profile,
				       const struct fsl_profile_group *group);

#endif

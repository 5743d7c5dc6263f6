/* What the dispatch layer is judged from: one rank's steps, its gaps and the work of its host. */
#ifndef FSL_PROFILE_DISPATCH_VIEW_H
#define FSL_PROFILE_DISPATCH_VIEW_H

#include "profile/profile.h"

/* One rank, times in ms per step; NaN: not told. */
struct fsl_dispatch_view {
	const struct fsl_profile_rank *rank;
	double step_ms, free_ms, preparing_ms;
	double synchronise_ms, compile_ms, allocate_ms; /* of the host, NaN without statistics */
	double n_kernels;
	double long_gaps_ms;               /* the longest ones together */
	const struct fsl_profile_gap *gap; /* the longest; NULL: none told */
};

struct fsl_dispatch_view fsl_dispatch_view_of(const struct fsl_profile_rank *rank);

#endif

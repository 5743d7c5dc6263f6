/* What the dispatch layer is judged from: one rank's steps, its gaps and the work of its host. */
#ifndef FSL_JUDGE_DISPATCH_VIEW_H
#define FSL_JUDGE_DISPATCH_VIEW_H

#include "capture/capture.h"

/* One rank, times in ms per step; NaN: not told. */
struct fsl_dispatch_view {
	const struct fsl_profile_rank *rank;
	double step_ms, free_ms, preparing_ms;
	double synchronise_ms, compile_ms, allocate_ms; /* of the host, NaN without statistics */
	double n_kernels;
	double long_gaps_ms;               /* the longest ones together */
	const struct fsl_profile_gap *gap; /* the longest; NULL: none told */
	/* From trace_view.json; NaN without it. Of the longest idle stretches: until what ended
	 * them was called by the framework, from then until CANN launched it, and from then on. */
	double framework_ms, cann_ms, device_ms;
	double host_ms;  /* the first two, NaN then, where the framework's calls are not told */
	double pause_ms; /* of them, those in which the host did nothing for the device */
	double dataloader_ms, gc_ms; /* of long calls only */
};

struct fsl_dispatch_view fsl_dispatch_view_of(const struct fsl_profile_rank *rank);

#endif

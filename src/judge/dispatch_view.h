/* Data from which the dispatch layer is judged: one rank's steps, its gaps and the work of its
 * host. */
#ifndef FSL_JUDGE_DISPATCH_VIEW_H
#define FSL_JUDGE_DISPATCH_VIEW_H

#include "capture/edges.h"

/* One rank, times in ms per step; NaN: not told. */
struct fsl_dispatch_view {
	const struct fsl_profile_rank *rank;
	/* Without the edges: from the begin of the work to its end. */
	double step_ms, free_ms, preparing_ms;
	struct fsl_profile_edges edges;
	double synchronise_ms, compile_ms, allocate_ms; /* of the host, NaN without statistics */
	double n_kernels;
	double long_gaps_ms;               /* the longest ones together */
	const struct fsl_profile_gap *gap; /* the longest; NULL: none told */
	/* From trace_view.json; NaN without it. The longest idle stretches in three parts: until
	 * the framework called the operator that ended the stretch, from then until CANN launched
	 * it, and from then until it began. */
	double framework_ms, cann_ms, device_ms;
	double host_ms;  /* framework_ms + cann_ms, which are NaN, if calls of the framework are not
			    told; else NaN */
	double pause_ms; /* idle stretches in which the host did nothing for the device */
	double dataloader_ms, gc_ms; /* of long calls only */
};

struct fsl_dispatch_view fsl_dispatch_view_of(const struct fsl_profile_rank *rank);

#endif

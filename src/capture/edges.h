/* Idle time at the edges of a capture: before the work began and after it was over. */
#ifndef FSL_CAPTURE_EDGES_H
#define FSL_CAPTURE_EDGES_H

#include "capture/capture.h"

/* Kernels outside of the work: at most this share of the busy time lies before its begin, and as
 * much behind its end. A profiler that is switched on early sees such kernels of a warm-up. */
#define FSL_EDGES_BUSY_SHARE_MAX 0.01
/* Shorter edges, as a share of the step, belong to the work. */
#define FSL_EDGES_SHARE_MIN 0.05

struct fsl_profile_edges {
	int64_t before_ns, after_ns; /* idle time before and after the work; 0: none */
	int64_t begin_ns, end_ns;    /* of the work; the whole of time if there are no edges */
};

/*
 * Edges of a capture that is one step: a schedule of several steps, or the host's own steps, tell
 * where work begins, and then idle time before it counts. No edges either if the kernels are a part
 * of the capture only.
 */
struct fsl_profile_edges fsl_profile_edges_of(const struct fsl_profile_rank *rank);
double fsl_profile_edges_ms(const struct fsl_profile_edges *edges);
/* True if a stretch of idle time that begins then lies outside of the work. */
bool fsl_profile_is_edge(const struct fsl_profile_edges *edges, int64_t begin_ns);

#endif

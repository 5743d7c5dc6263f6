/* Calls of kernels that communicate become operators, once all ranks are read. */
#ifndef FSL_SOURCE_ASCEND_SETTLE_CALLS_H
#define FSL_SOURCE_ASCEND_SETTLE_CALLS_H

#include "capture/capture.h"

/*
 * Fused kernels of all ranks meet by order: what a call takes beyond the shortest of its instance
 * is waiting, so it moves from computing to exposed communication (moved_ns of the steps) and
 * leaves rank->kernels. Ranks that have another number of calls in a step than the others of their
 * group do not meet, and their calls stay whole. Collectives on AI CPUs move as a whole where
 * step_trace_time.csv counts them as computing, and become operators where no better file tells
 * these. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_profile_settle_calls(struct fsl_profile *profile, struct fsl_error *err);

#endif

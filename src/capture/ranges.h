/* Steps as ranges of time, the longest idle stretches, and long calls of the host: what readers of
 * traces share. */
#ifndef FSL_CAPTURE_RANGES_H
#define FSL_CAPTURE_RANGES_H

#include "base/number.h"
#include "capture/capture.h"

/* Step of the range (sorted by begin) that holds @ts_ns; FSL_STEP_ABSENT if none does. */
int64_t fsl_range_at(const struct fsl_profile_range *ranges, size_t n, int64_t ts_ns);
/* Begin of the first range of @step; FSL_NS_ABSENT if there is none. */
int64_t fsl_range_begin(const struct fsl_profile_range *ranges, size_t n, int64_t step);
/* Adds a stretch to @idle[FSL_PROFILE_GAPS_MAX], which keeps the longest: longest first, then by
 * begin. */
void fsl_trace_keep_idle(struct fsl_profile_idle *idle, size_t *n_idle, int64_t begin_ns,
			 int64_t dur_ns);

/* Calls of the host are long from this duration on. */
static inline int64_t fsl_trace_long_ns(enum fsl_profile_host_call kind)
{
	return kind == FSL_HOST_DATALOADER ? INT64_C(10) * FSL_NS_PER_MS : FSL_NS_PER_MS;
}
/* Counts a call of the host. */
void fsl_trace_count_call(struct fsl_profile_trace *trace, enum fsl_profile_host_call kind,
			  int64_t dur_ns);

#endif

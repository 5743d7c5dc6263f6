/*
 * Calls of the host: sums by kind. AscendCL calls over time: counts and times in a bounded number
 * of slots, which get wider as the capture gets longer. Slots begin at multiples of their width, so
 * that the order of calls does not matter.
 */
#ifndef FSL_SOURCE_ASCEND_TRACE_ACTIVITY_H
#define FSL_SOURCE_ASCEND_TRACE_ACTIVITY_H

#include "base/number.h"
#include "capture/ranges.h"

enum { FSL_TRACE_SLOTS_N = 4096 };

/* Start as {0}. */
struct fsl_trace_activity {
	unsigned n_shift;    /* a slot is 2^n_shift ns wide */
	int64_t first, last; /* slots in use; before the first call both are 0 and n_calls is 0 */
	uint64_t n_calls;
	uint32_t n[FSL_TRACE_SLOTS_N]; /* slot i at i % FSL_TRACE_SLOTS_N */
	int64_t ns[FSL_TRACE_SLOTS_N];
};

/* Adds a call from @begin_ns on. Both values are not negative. */
void fsl_trace_activity_add(struct fsl_trace_activity *activity, int64_t begin_ns, int64_t dur_ns);
/* Calls that began in [begin_ns, end_ns), and the time inside calls. A slot that overlaps the range
 * in part counts by that part. */
void fsl_trace_activity_ask(const struct fsl_trace_activity *activity, int64_t begin_ns,
			    int64_t end_ns, int64_t *n_calls, int64_t *call_ns);

#endif

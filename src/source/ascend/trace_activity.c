/* Calls over time, in slots that are joined in pairs if there would be too many. */
#include "source/ascend/trace_activity.h"

#include <math.h>

#include "base/number.h"

enum { FIRST_SHIFT = 18 /* a quarter of a millisecond: one second in 4096 slots */ };

static size_t place(int64_t slot)
{
	return (size_t)slot % FSL_TRACE_SLOTS_N;
}

/* Makes slots twice as wide. */
static void coarsen(struct fsl_trace_activity *activity)
{
	struct fsl_trace_activity wide = {.n_shift = activity->n_shift + 1,
					  .first = activity->first >> 1,
					  .last = activity->last >> 1,
					  .n_calls = activity->n_calls};
	for (int64_t slot = activity->first; slot <= activity->last; slot++) {
		wide.n[place(slot >> 1)] += activity->n[place(slot)];
		wide.ns[place(slot >> 1)] += activity->ns[place(slot)];
	}
	*activity = wide;
}

void fsl_trace_activity_add(struct fsl_trace_activity *activity, int64_t begin_ns, int64_t dur_ns)
{
	int64_t end_ns = begin_ns + dur_ns;
	if (activity->n_calls++ == 0) {
		activity->n_shift = FIRST_SHIFT;
		activity->first = activity->last = begin_ns >> FIRST_SHIFT;
	}
	int64_t first = 0, last = 0;
	for (;; coarsen(activity)) {
		first = begin_ns >> activity->n_shift;
		last = end_ns >> activity->n_shift;
		int64_t low = first < activity->first ? first : activity->first;
		int64_t high = last > activity->last ? last : activity->last;
		if (high - low < FSL_TRACE_SLOTS_N) {
			activity->first = low;
			activity->last = high;
			break;
		}
	}
	activity->n[place(first)]++;
	for (int64_t slot = first; slot <= last; slot++) {
		int64_t from = slot << activity->n_shift;
		int64_t to = from + (INT64_C(1) << activity->n_shift);
		activity->ns[place(slot)] +=
			(end_ns < to ? end_ns : to) - (begin_ns > from ? begin_ns : from);
	}
}

void fsl_trace_activity_ask(const struct fsl_trace_activity *activity, int64_t begin_ns,
			    int64_t end_ns, int64_t *n_calls, int64_t *call_ns)
{
	double n = 0, ns = 0, width = (double)(INT64_C(1) << activity->n_shift);
	int64_t slot = begin_ns >> activity->n_shift;
	if (activity->n_calls > 0 && slot < activity->first) {
		slot = activity->first;
	}
	for (; activity->n_calls > 0 && slot <= activity->last; slot++) {
		int64_t from = slot << activity->n_shift;
		int64_t to = from + (INT64_C(1) << activity->n_shift);
		from = from < begin_ns ? begin_ns : from;
		to = to > end_ns ? end_ns : to;
		if (from >= to) {
			break;
		}
		double share = (double)(to - from) / width;
		n += share * activity->n[place(slot)];
		ns += share * (double)activity->ns[place(slot)];
	}
	*n_calls = llround(n);
	*call_ns = llround(ns);
}

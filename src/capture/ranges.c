/* Looks up steps; keeps the longest stretches. */
#include "capture/ranges.h"

#include <string.h>

int64_t fsl_range_at(const struct fsl_profile_range *ranges, size_t n, int64_t ts_ns)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges[middle].begin_ns <= ts_ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low > 0 && ts_ns < ranges[low - 1].end_ns ? ranges[low - 1].step : FSL_STEP_ABSENT;
}

int64_t fsl_range_begin(const struct fsl_profile_range *ranges, size_t n, int64_t step)
{
	for (size_t i = 0; i < n; i++) {
		if (ranges[i].step == step) {
			return ranges[i].begin_ns;
		}
	}
	return FSL_NS_ABSENT;
}

void fsl_trace_keep_idle(struct fsl_profile_idle *idle, size_t *n_idle, int64_t begin_ns,
			 int64_t dur_ns)
{
	size_t i = *n_idle;
	while (i > 0 && (idle[i - 1].dur_ns < dur_ns ||
			 (idle[i - 1].dur_ns == dur_ns && idle[i - 1].begin_ns > begin_ns))) {
		i--;
	}
	if (i == FSL_PROFILE_GAPS_MAX) {
		return;
	}
	size_t n_kept = *n_idle < FSL_PROFILE_GAPS_MAX ? (*n_idle)++ : FSL_PROFILE_GAPS_MAX - 1;
	memmove(&idle[i + 1], &idle[i], (n_kept - i) * sizeof(*idle));
	idle[i] = (struct fsl_profile_idle){.begin_ns = begin_ns,
					    .dur_ns = dur_ns,
					    .launch_lag_ns = FSL_NS_ABSENT,
					    .torch_lag_ns = FSL_NS_ABSENT};
}

void fsl_trace_count_call(struct fsl_profile_trace *trace, enum fsl_profile_host_call kind,
			  int64_t dur_ns)
{
	struct fsl_profile_host_calls *calls = &trace->calls[kind];
	calls->n++;
	calls->total_ns = fsl_sum_i64(calls->total_ns, dur_ns);
	calls->max_ns = dur_ns > calls->max_ns ? dur_ns : calls->max_ns;
	if (dur_ns > fsl_trace_long_ns(kind)) {
		calls->n_long++;
		calls->long_ns = fsl_sum_i64(calls->long_ns, dur_ns);
	}
}

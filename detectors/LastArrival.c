/*
 * Who came last to each use of a communicator. In a collective all members end together, so the
 * member with the greatest lateness came last. It is reported if the member before it came clearly
 * earlier. One such finding proves nothing, because some member is always last: its confidence is
 * the chance that another member would have been last. The caller counts findings over many uses.
 */
#include <failslow/detector.h>

#include <math.h>

#define NS_PER_MS 1e6

struct params {
	double tie_ns;
};

static const struct fsl_param param_table[] = {
	{"tie_ns", FSL_PARAM_REAL, offsetof(struct params, tie_ns), 1000, 1, 1e12,
	 .help = "Two that come closer together than this come at the same time, ns."},
	{.key = NULL},
};

/* The last two members to arrive in one window. */
struct last {
	double lateness_ms, before_ms; /* lateness of the last member and of the one before it */
	size_t member;
	uint32_t n; /* members that came */
};

/* Reads whole columns, one after the other, as they lie in memory. */
static void find_last(const struct fsl_view *view, struct last *last)
{
	for (size_t m = 0; m < fsl_view_n_members(view); m++) {
		struct fsl_column column = fsl_view_column(view, m);
		for (size_t w = 0; w < column.n_windows; w++) {
			double lateness_ms = column.values[w];
			if (isnan(lateness_ms)) {
				continue;
			}
			if (last[w].n++ == 0) {
				last[w].lateness_ms = lateness_ms;
				last[w].before_ms = -INFINITY;
				last[w].member = m;
			} else if (lateness_ms > last[w].lateness_ms) {
				last[w].before_ms = last[w].lateness_ms;
				last[w].lateness_ms = lateness_ms;
				last[w].member = m;
			} else {
				last[w].before_ms = fmax(last[w].before_ms, lateness_ms);
			}
		}
	}
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	size_t n_windows = fsl_view_n_windows(view);
	struct last *last = fsl_view_scratch(view, n_windows * sizeof(*last));
	if (last == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: windows=%zu", n_windows);
	}
	find_last(view, last);
	for (size_t w = 0; w < n_windows; w++) {
		double gap_ms = last[w].lateness_ms - last[w].before_ms;
		/* Times are whole ns. A difference of ms misses them by a rounding error. */
		if (last[w].n < 2 || nearbyint(gap_ms * NS_PER_MS) < params->tie_ns) {
			continue;
		}
		struct fsl_finding finding = {
			.rank = fsl_view_rank(view, last[w].member),
			.peer = -1,
			.window_begin = w,
			.window_end = w + 1,
			.slow_ratio = (double)NAN, /* lateness of the member before may be 0 */
			.effect_ms = gap_ms,
			.confidence = 1.0 - 1.0 / (double)last[w].n,
		};
		FSL_TRY(fsl_findings_add(out, &finding, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_LastArrival = {
	.abi = FSL_DETECTOR_ABI,
	.name = "LastArrival",
	.summary = "a member is clearly the last in one use of a communicator",
	.needs = FSL_NEED(FSL_METRIC_LATENESS),
	.scope = FSL_SCOPE_GROUP,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

/*
 * A detector outside failslow: built with include/ alone into a shared object, and named by
 * "plugin" in a configuration. It alarms the windows in which a member passes a limit.
 */
#include <failslow/detector.h>

#include <math.h>

struct params {
	double limit_ms;
};

static const struct fsl_param param_table[] = {
	{"limit_ms", FSL_PARAM_REAL, offsetof(struct params, limit_ms), 100, 0, 1e9,
	 .help = "Greatest value that is usual, ms."},
	{.key = NULL},
};

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	size_t n_windows = fsl_view_n_windows(view);
	double *expected = fsl_view_scratch(view, n_windows * sizeof(*expected));
	uint8_t *labels = fsl_view_scratch(view, n_windows);
	if (expected == NULL || labels == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: windows=%zu", n_windows);
	}
	for (size_t m = 0; m < fsl_view_n_members(view); m++) {
		struct fsl_column column = fsl_view_column(view, m);
		for (size_t w = 0; w < n_windows; w++) {
			expected[w] = params->limit_ms;
			labels[w] = column.values[w] > params->limit_ms ? 1 : 0;
		}
		struct fsl_labelled series = {fsl_view_rank(view, m), n_windows, labels,
					      column.values, expected};
		enum fsl_status status = fsl_findings_add_runs(out, &series, err);
		if (status != FSL_OK) {
			return status;
		}
	}
	return FSL_OK;
}

const struct fsl_detector fsl_plugin = {
	.abi = FSL_DETECTOR_ABI,
	.name = "SampleLimit",
	.summary = "a member passes a fixed limit",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_RANK,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

/*
 * Ranks that have been silent for too long: the age of each rank's last event, taken at one moment,
 * against a threshold. A rank without any event has no age and is not judged.
 */
#include <failslow/detector.h>

#include <math.h>

#define MS_PER_MIN 60000.0

struct params {
	double threshold_mins;
};

static const struct fsl_param param_table[] = {
	{"threshold_mins", FSL_PARAM_REAL, offsetof(struct params, threshold_mins), 30, 0, 1e6,
	 .help = "Minutes since a rank's last event that make a hang when exceeded."},
	{.key = NULL},
};

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	double threshold_ms = params->threshold_mins * MS_PER_MIN;
	for (size_t m = 0; m < fsl_view_n_members(view); m++) {
		struct fsl_column ages = fsl_view_column(view, m);
		for (size_t w = 0; w < ages.n_windows; w++) {
			if (!(ages.values[w] > threshold_ms)) {
				continue;
			}
			struct fsl_finding finding = {
				.rank = fsl_view_rank(view, m),
				.peer = -1,
				.window_begin = w,
				.window_end = w + 1,
				.slow_ratio = threshold_ms > 0.0 ? ages.values[w] / threshold_ms
								 : (double)NAN,
				.effect_ms = ages.values[w] - threshold_ms,
				.confidence = 1.0,
			};
			FSL_TRY(fsl_findings_add(out, &finding, err));
		}
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_Hang = {
	.abi = FSL_DETECTOR_ABI,
	.name = "Hang",
	.summary = "a rank's last event is older than a threshold",
	.needs = FSL_NEED(FSL_METRIC_EVENT_AGE),
	.scope = FSL_SCOPE_JOB,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

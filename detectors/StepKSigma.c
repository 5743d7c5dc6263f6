/*
 * Step times against the steps just before. A step is alarmed if it exceeds mean + k sigma of the
 * window before it by a share of the mean, and the next step exceeds the same band, too. The rules
 * are those of sysTrace's perception, with the confirmation by the next step as sysTrace meant it.
 * Every alarmed step is one finding. Steps without a time are left out.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>

struct params {
	int64_t steps_window_size;
	double k_sigma, anomaly_degree_thr;
};

static const struct fsl_param param_table[] = {
	{"steps_window_size", FSL_PARAM_INT, offsetof(struct params, steps_window_size), 10, 2, 1e6,
	 .help = "Steps behind the judged one that make mean and sigma."},
	{"k_sigma", FSL_PARAM_REAL, offsetof(struct params, k_sigma), 2, 0, 1e6,
	 .help = "Distance from the mean in sigmas that a step must exceed."},
	{"anomaly_degree_thr", FSL_PARAM_REAL, offsetof(struct params, anomaly_degree_thr), 0.2, 0,
	 1e6, .help = "Share of the mean by which a step must exceed it."},
	{.key = NULL},
};

/* Mean and population standard deviation of the steps before the judged one. */
struct band {
	double mean, sigma;
};

static bool is_above(const struct params *params, struct band band, double value)
{
	double excess = value - band.mean;
	return excess > params->k_sigma * band.sigma &&
	       excess / band.mean > params->anomaly_degree_thr;
}

/* Judges step @i of a series without holes, i >= steps_window_size. */
static bool judge_step(const struct params *params, const double *steps, size_t n, size_t i,
		       struct band *band)
{
	size_t size = (size_t)params->steps_window_size;
	band->mean = fsl_mean(steps + i - size, size);
	band->sigma = fsl_std(steps + i - size, size, band->mean);
	return i + 1 < n && is_above(params, *band, steps[i]) &&
	       is_above(params, *band, steps[i + 1]);
}

static enum fsl_status report_step(int32_t rank, size_t window, double value, struct band band,
				   struct fsl_findings *out, struct fsl_error *err)
{
	double excess = value - band.mean;
	struct fsl_finding finding = {
		.rank = rank,
		.peer = -1,
		.window_begin = window,
		.window_end = window + 1,
		.slow_ratio = band.mean > 0.0 ? value / band.mean : (double)NAN,
		.effect_ms = excess,
		/* Confidence: chance that a normal step stays inside this distance. */
		.confidence = band.sigma > 0.0 ? erf(excess / (band.sigma * sqrt(2.0))) : 1.0,
	};
	return fsl_findings_add(out, &finding, err);
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	size_t n_windows = fsl_view_n_windows(view);
	double *steps = fsl_view_scratch(view, n_windows * sizeof(*steps));
	size_t *positions = fsl_view_scratch(view, n_windows * sizeof(*positions));
	if (steps == NULL || positions == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", n_windows);
	}
	for (size_t m = 0; m < fsl_view_n_members(view); m++) {
		size_t n = fsl_pack(fsl_view_column(view, m).values, n_windows, steps, positions);
		for (size_t i = (size_t)params->steps_window_size; i < n; i++) {
			struct band band;
			if (!judge_step(params, steps, n, i, &band)) {
				continue;
			}
			FSL_TRY(report_step(fsl_view_rank(view, m), positions[i], steps[i], band,
					    out, err));
		}
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_StepKSigma = {
	.abi = FSL_DETECTOR_ABI,
	.name = "StepKSigma",
	.summary = "two steps in a row exceed mean + k sigma of the steps before",
	.needs = FSL_NEED(FSL_METRIC_STEP_TIME) | FSL_NEED(FSL_METRIC_DATALOADER) |
		 FSL_NEED(FSL_METRIC_CKPT),
	.scope = FSL_SCOPE_JOB,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

/*
 * Members that stand out upwards in one window: Rosner's generalised ESD test for several outliers
 * (Technometrics 25, 1983) among the values of the window. One window is enough, so the detector
 * also serves short captures. Four members are needed. The test takes out members far below the
 * others, too, so that they hide nobody, but the detector does not report them.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>

struct params {
	double alpha, sigma_ms_min, sigma_share_min;
};

static const struct fsl_param param_table[] = {
	{"alpha", FSL_PARAM_REAL, offsetof(struct params, alpha), 0.004, 0, 1,
	 .help = "Level of each test; normal noise alarms less than 2.5 times this share of the "
		 "windows."},
	{"sigma_ms_min", FSL_PARAM_REAL, offsetof(struct params, sigma_ms_min), 0.01, 0, 1e9,
	 .help = "Least spread of a window, ms: what clocks and devices make anyway."},
	{"sigma_share_min", FSL_PARAM_REAL, offsetof(struct params, sigma_share_min), 0, 0, 1,
	 .help = "Least spread as a share of the window's median."},
	{.key = NULL},
};

/* Least spread, in ms: the test divides by the spread. */
static const double SIGMA_MS_FLOOR = 1e-9;

/* Members of one window that have a value, the greatest first: the test looks for low values. */
struct window {
	const double **columns; /* of all members */
	struct fsl_indexed *negated;
	size_t n;
	double median;
};

static void read_window(struct window *out, size_t n_members, size_t w)
{
	out->n = 0;
	for (size_t m = 0; m < n_members; m++) {
		double value = out->columns[m][w];
		if (!isnan(value)) {
			out->negated[out->n++] = (struct fsl_indexed){-value, (uint32_t)m};
		}
	}
	fsl_indexed_sort(out->negated, out->n);
	if (out->n > 0) {
		const struct fsl_indexed *middle = out->negated + (out->n - 1) / 2;
		out->median = -0.5 * (middle[0].value + middle[out->n % 2 == 0 ? 1 : 0].value);
	}
}

static enum fsl_status judge_window(const struct fsl_view *view, size_t w,
				    const struct params *params, const struct window *window,
				    struct fsl_findings *out, struct fsl_error *err)
{
	double p = 1.0;
	double least_sigma = fmax(params->sigma_ms_min, params->sigma_share_min * window->median);
	size_t n_found = fsl_outliers_low(window->negated, window->n, params->alpha,
					  fmax(least_sigma, SIGMA_MS_FLOOR), &p);
	/* A healthy member's lateness is nearly 0, so its ratio says nothing. */
	bool has_ratio = fsl_view_metric(view) != FSL_METRIC_LATENESS && window->median > 0.0;
	for (size_t i = 0; i < n_found; i++) {
		double value = -window->negated[i].value;
		struct fsl_finding finding = {
			.rank = fsl_view_rank(view, window->negated[i].idx),
			.peer = -1,
			.window_begin = w,
			.window_end = w + 1,
			.slow_ratio = has_ratio ? value / window->median : (double)NAN,
			.effect_ms = value - window->median,
			.confidence = 1.0 - p,
		};
		FSL_TRY(fsl_findings_add(out, &finding, err));
	}
	return FSL_OK;
}

static enum fsl_status scan(const struct fsl_view *view, const void *params,
			    struct fsl_findings *out, struct fsl_error *err)
{
	size_t n = fsl_view_n_members(view);
	if (n < FSL_OUTLIERS_N_MIN) {
		return FSL_OK;
	}
	struct window window = {
		.columns = fsl_view_scratch(view, n * sizeof(const double *)),
		.negated = fsl_view_scratch(view, n * sizeof(*window.negated)),
	};
	if (window.columns == NULL || window.negated == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", n);
	}
	for (size_t m = 0; m < n; m++) {
		window.columns[m] = fsl_view_column(view, m).values;
	}
	for (size_t w = 0; w < fsl_view_n_windows(view); w++) {
		read_window(&window, n, w);
		FSL_TRY(judge_window(view, w, params, &window, out, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_GeneralizedESD = {
	.abi = FSL_DETECTOR_ABI,
	.name = "GeneralizedESD",
	.summary = "a member stands out from the others in one window",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_GROUP,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

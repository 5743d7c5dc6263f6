/*
 * Step times against all steps of the job. A step beyond the upper fence of the box plot, third
 * quartile + whisker * interquartile range (Tukey, Exploratory Data Analysis, 1977), is alarmed if
 * it also exceeds the median by a share. Alarmed steps in a row make one finding.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>

struct params {
	double whisker, ratio_min;
	int64_t steps_min;
};

static const struct fsl_param param_table[] = {
	{"whisker", FSL_PARAM_REAL, offsetof(struct params, whisker), 1.5, 0, 1e6,
	 .help = "Interquartile ranges between the third quartile and the fence."},
	{"ratio_min", FSL_PARAM_REAL, offsetof(struct params, ratio_min), 1.1, 1, 1e6,
	 .help = "Least ratio of an alarmed step to the median step."},
	{"steps_min", FSL_PARAM_INT, offsetof(struct params, steps_min), 8, 4, 1e6,
	 .help = "Fewer steps than this are not judged."},
	{.key = NULL},
};

struct work {
	double *packed, *expected, *scratch;
	uint8_t *labels;
};

static enum fsl_status scan_member(const struct fsl_view *view, size_t member,
				   const struct params *params, const struct work *work,
				   struct fsl_findings *out, struct fsl_error *err)
{
	struct fsl_column column = fsl_view_column(view, member);
	size_t n = fsl_pack(column.values, column.n_windows, work->packed, NULL);
	if (n < (size_t)params->steps_min) {
		return FSL_OK;
	}
	double first = fsl_percentile(work->packed, n, 25.0, work->scratch);
	double third = fsl_percentile(work->packed, n, 75.0, work->scratch);
	double median = fsl_median(work->packed, n, work->scratch);
	double fence = third + params->whisker * (third - first);
	for (size_t w = 0; w < column.n_windows; w++) {
		double value = column.values[w];
		bool is_long = value > fence && value >= params->ratio_min * median;
		work->labels[w] = is_long ? 1 : 0;
		work->expected[w] = median;
	}
	struct fsl_labelled series = {fsl_view_rank(view, member), column.n_windows, work->labels,
				      column.values, work->expected};
	return fsl_findings_add_runs(out, &series, err);
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	size_t n = fsl_view_n_windows(view);
	double *reals = fsl_view_scratch(view, 3 * n * sizeof(*reals));
	uint8_t *labels = fsl_view_scratch(view, n);
	if (reals == NULL || labels == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", n);
	}
	struct work work = {reals, reals + n, reals + 2 * n, labels};
	for (size_t m = 0; m < fsl_view_n_members(view); m++) {
		FSL_TRY(scan_member(view, m, opaque, &work, out, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_BoxPlot = {
	.abi = FSL_DETECTOR_ABI,
	.name = "BoxPlot",
	.summary = "a step lies beyond the upper fence of all steps' box plot",
	.needs = FSL_NEED(FSL_METRIC_STEP_TIME) | FSL_NEED(FSL_METRIC_DATALOADER) |
		 FSL_NEED(FSL_METRIC_CKPT),
	.scope = FSL_SCOPE_JOB,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

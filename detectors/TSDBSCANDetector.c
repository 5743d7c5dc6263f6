/*
 * Each member against its whole series. A rolling mean is clustered by value, and windows outside
 * the largest cluster are alarmed. The rules are those that sysTrace meant for its detector of this
 * name, which never runs. Windows without a sample are left out.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>

enum detect_type { LOWER_BOUND, UPPER_BOUND, BI_BOUND };

/* Least range of a series: almost equal values are not blown up to 0..1. */
#define RANGE_FLOOR 1e-5

struct params {
	double eps;
	int64_t min_samples, smooth_win;
	double k_thr;
	int detect_type;
	int64_t alarm_filter_window_size;
};

static const char *const detect_type_choices[] = {"lower_bound", "upper_bound", "bi_bound", NULL};

static const struct fsl_param param_table[] = {
	{"eps", FSL_PARAM_REAL, offsetof(struct params, eps), 0.03, 0, 1e6,
	 .help = "Neighbourhood, on the smoothed series scaled to 0..1."},
	{"min_samples", FSL_PARAM_INT, offsetof(struct params, min_samples), 5, 1, 1e6,
	 .help = "Least neighbours, itself included, of a usual point."},
	{"smooth_win", FSL_PARAM_INT, offsetof(struct params, smooth_win), 4, 1, 1e6,
	 .help = "Windows of the rolling mean; half the series when that is shorter."},
	{"k_thr", FSL_PARAM_REAL, offsetof(struct params, k_thr), 0.02, -1e6, 1e6,
	 .help = "Accepted for sysTrace's files; no rule uses it."},
	{"detect_type", FSL_PARAM_CHOICE, offsetof(struct params, detect_type), BI_BOUND, 0, 0,
	 .choices = detect_type_choices,
	 .help = "Keep unusual windows below, above, or on both sides of the usual mean."},
	{"alarm_filter_window_size", FSL_PARAM_INT,
	 offsetof(struct params, alarm_filter_window_size), 5, 0, 1e6,
	 .help = "Runs of fewer alarmed windows than this are dropped."},
	{.key = NULL},
};

/* Working memory for one member's series. */
struct work {
	double *packed, *smoothed, *scaled, *expected;
	size_t *positions;
	int32_t *clusters;
	uint8_t *labels, *placed;
};

/* Mean of the last @window values. The first window - 1 entries get the first mean. */
static void smooth_series(const double *values, size_t n, int64_t window, double *smoothed)
{
	size_t size = (size_t)window;
	size = n < size ? n / 2 : size;
	size = size > 0 ? size : 1;
	for (size_t i = size - 1; i < n; i++) {
		smoothed[i] = fsl_mean(values + i + 1 - size, size);
	}
	for (size_t i = 0; i + 1 < size; i++) {
		smoothed[i] = smoothed[size - 1];
	}
}

static void scale_min_max(const double *values, size_t n, double *scaled)
{
	double least = values[0];
	double greatest = values[0];
	for (size_t i = 1; i < n; i++) {
		least = values[i] < least ? values[i] : least;
		greatest = values[i] > greatest ? values[i] : greatest;
	}
	for (size_t i = 0; i < n; i++) {
		scaled[i] = greatest > least
				    ? (values[i] - least) / (greatest - least + RANGE_FLOOR)
				    : 0.0;
	}
}

/* Clears alarms on the side that is not watched. */
static void keep_side(enum detect_type type, const double *values, size_t n, uint8_t *labels)
{
	double sum = 0.0;
	size_t n_usual = 0;
	for (size_t i = 0; i < n; i++) {
		sum += labels[i] == 0 ? values[i] : 0.0;
		n_usual += labels[i] == 0 ? 1 : 0;
	}
	double mean = sum / (double)n_usual;
	for (size_t i = 0; i < n; i++) {
		bool is_cleared = (type == UPPER_BOUND && values[i] < mean) ||
				  (type == LOWER_BOUND && values[i] > mean);
		labels[i] = is_cleared ? 0 : labels[i];
	}
}

/* Labels @n values that hold no NaN; n > 0. */
static bool label_series(const struct params *params, const double *values, size_t n,
			 struct work *work)
{
	scale_min_max(values, n, work->scaled);
	if (!fsl_dbscan(work->scaled, n, 1, params->eps, (size_t)params->min_samples,
			work->clusters)) {
		return false;
	}
	int32_t usual = fsl_labels_mode(work->clusters, n, true);
	for (size_t i = 0; i < n; i++) {
		work->labels[i] = work->clusters[i] != usual ? 1 : 0;
	}
	keep_side((enum detect_type)params->detect_type, work->scaled, n, work->labels);
	return true;
}

/* The level that alarmed windows are compared with: the median of all others. */
static double usual_level(const struct work *work, size_t n)
{
	size_t n_usual = 0;
	for (size_t i = 0; i < n; i++) {
		if (work->labels[i] == 0) {
			work->smoothed[n_usual++] = work->packed[i];
		}
	}
	return fsl_median(work->smoothed, n_usual, work->scaled);
}

static enum fsl_status scan_member(const struct fsl_view *view, size_t member,
				   const struct params *params, struct work *work,
				   struct fsl_findings *out, struct fsl_error *err)
{
	struct fsl_column column = fsl_view_column(view, member);
	size_t n = fsl_pack(column.values, column.n_windows, work->packed, work->positions);
	if (n == 0) {
		return FSL_OK;
	}
	smooth_series(work->packed, n, params->smooth_win, work->smoothed);
	if (!label_series(params, work->smoothed, n, work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: windows=%zu", n);
	}
	fsl_filter_runs(work->labels, n, (size_t)params->alarm_filter_window_size, work->labels);
	fsl_unpack_labels(work->labels, work->positions, n, work->placed, column.n_windows);
	double level = usual_level(work, n);
	for (size_t w = 0; w < column.n_windows; w++) {
		work->expected[w] = level;
	}
	struct fsl_labelled series = {fsl_view_rank(view, member), column.n_windows, work->placed,
				      column.values, work->expected};
	return fsl_findings_add_runs(out, &series, err);
}

static bool prepare(const struct fsl_view *view, struct work *work)
{
	size_t n = fsl_view_n_windows(view);
	double *reals = fsl_view_scratch(view, 4 * n * sizeof(*reals));
	uint8_t *bytes = fsl_view_scratch(view, 2 * n);
	work->positions = fsl_view_scratch(view, n * sizeof(*work->positions));
	work->clusters = fsl_view_scratch(view, n * sizeof(*work->clusters));
	if (reals == NULL || bytes == NULL || work->positions == NULL || work->clusters == NULL) {
		return false;
	}
	work->packed = reals;
	work->smoothed = reals + n;
	work->scaled = reals + 2 * n;
	work->expected = reals + 3 * n;
	work->labels = bytes;
	work->placed = bytes + n;
	return true;
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	struct work work = {0};
	if (!prepare(view, &work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: windows=%zu",
				fsl_view_n_windows(view));
	}
	for (size_t member = 0; member < fsl_view_n_members(view); member++) {
		FSL_TRY(scan_member(view, member, opaque, &work, out, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_TSDBSCANDetector = {
	.abi = FSL_DETECTOR_ABI,
	.name = "TSDBSCANDetector",
	.summary = "a member's smoothed series leaves its usual values",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_RANK,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

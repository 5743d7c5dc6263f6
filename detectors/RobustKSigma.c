/*
 * Members against each other over a sliding window, with medians in place of means. First the
 * detector takes off the part that all members share (the median over members, per window). Then it
 * marks a member that leaves centre +- k sigma of the recent windows of the usual members and
 * deviates by a share of the centre. A run of marks is a finding if it is long enough and not
 * shared by too many members.
 *
 * This is the cross-rank k-sigma of the later generations of sysTrace's engine without its faults.
 * The direction is a parameter. No values are thrown away as extreme: among 1024 members they would
 * all belong to the slow one. A period that has ended is reported, too. Three members are enough.
 * Constant data gives no band of width zero.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>
#include <string.h>

enum direction { SLOW_HIGH, SLOW_LOW, BOTH };

/* Least number of members: the median of fewer does not tell the odd one from the usual ones. */
enum { MEMBERS_MIN = 3 };

/* Width of the band of constant data, as a share of the centre. */
#define SIGMA_FLOOR 1e-9

struct params {
	double k;
	int64_t look_back, look_back_max, smooth_size, run_min;
	double window_increase_ratio, deviation_ratio_min, alert_conf_thresh, conf_score_decay;
	int direction;
};

static const char *const direction_choices[] = {"slow_high", "slow_low", "both", NULL};

static const struct fsl_param param_table[] = {
	{"k", FSL_PARAM_REAL, offsetof(struct params, k), 3, 0, 1e6,
	 .help = "Half width of the band in robust standard deviations."},
	{"direction", FSL_PARAM_CHOICE, offsetof(struct params, direction), SLOW_HIGH, 0, 0,
	 .choices = direction_choices,
	 .help = "Which side is slow: above (own, launch, host time), below (time in a collective "
		 "that others wait in), or both."},
	{"look_back", FSL_PARAM_INT, offsetof(struct params, look_back), 8, 2, 1e6,
	 .help = "Windows that make the band at first; judging begins after half of them."},
	{"look_back_max", FSL_PARAM_INT, offsetof(struct params, look_back_max), 64, 2, 1e6,
	 .help = "Windows that make the band at most."},
	{"window_increase_ratio", FSL_PARAM_REAL, offsetof(struct params, window_increase_ratio),
	 0.5, 0, 1, .help = "Windows by which the band's memory grows with each window judged."},
	{"smooth_size", FSL_PARAM_INT, offsetof(struct params, smooth_size), 5, 1, 1e6,
	 .help = "Windows of the centred moving median of each member; 1: none."},
	{"deviation_ratio_min", FSL_PARAM_REAL, offsetof(struct params, deviation_ratio_min), 1.05,
	 1, 1e6, .help = "Least ratio to the centre, up or down, of a mark."},
	{"run_min", FSL_PARAM_INT, offsetof(struct params, run_min), 12, 1, 1e6,
	 .help = "Fewer marks in a row than this are no finding."},
	{"alert_conf_thresh", FSL_PARAM_REAL, offsetof(struct params, alert_conf_thresh), 4, 0, 1e6,
	 .help = "Least sum of the weights of the marks in a row."},
	{"conf_score_decay", FSL_PARAM_REAL, offsetof(struct params, conf_score_decay), 5, 0, 1e6,
	 .help = "A mark shared by x of n members weighs exp(-decay * (x - 1) / n)."},
	{.key = NULL},
};

/* Matrices are member major: [m * n_windows + w]. */
struct work {
	size_t n_members, n_windows;
	double *adjusted;  /* adjusted: without the part that all members share */
	double *smoothed;  /* moving median of adjusted */
	int8_t *marks;     /* +1 above, -1 below, 0 usual */
	double *centre;    /* per window */
	double *weight;    /* per window, of each mark in it */
	double *medians;   /* per member */
	double *distances; /* per member */
	double *pool;      /* values behind one band */
	double *scratch;   /* as pool, and at least n_members, n_windows */
	uint8_t *labels;   /* per window */
};

static double *cell_at(double *matrix, const struct work *work, size_t member, size_t window)
{
	return &matrix[member * work->n_windows + window];
}

/* Takes off each window's median over members and puts the job's usual level back on, so that
 * ratios keep their meaning. Windows with too few members become unknown. */
static void take_off_common(const struct fsl_view *view, struct work *work)
{
	for (size_t w = 0; w < work->n_windows; w++) {
		size_t n = 0;
		for (size_t m = 0; m < work->n_members; m++) {
			work->medians[m] = fsl_view_column(view, m).values[w];
			n += isnan(work->medians[m]) ? 0 : 1;
		}
		work->centre[w] =
			n >= MEMBERS_MIN ? fsl_median(work->medians, work->n_members, work->scratch)
					 : (double)NAN;
	}
	double level = fsl_median(work->centre, work->n_windows, work->scratch);
	for (size_t m = 0; m < work->n_members; m++) {
		const double *values = fsl_view_column(view, m).values;
		for (size_t w = 0; w < work->n_windows; w++) {
			*cell_at(work->adjusted, work, m, w) = values[w] - work->centre[w] + level;
		}
	}
}

/* Centred moving median, shorter at both ends; a hole stays a hole. */
static void smooth_member(const struct work *work, size_t member, size_t size)
{
	const double *in = work->adjusted + member * work->n_windows;
	double *out = work->smoothed + member * work->n_windows;
	size_t half = size / 2;
	for (size_t w = 0; w < work->n_windows; w++) {
		size_t begin = w > half ? w - half : 0;
		size_t end = w + half + 1 < work->n_windows ? w + half + 1 : work->n_windows;
		out[w] = isnan(in[w]) ? (double)NAN
				      : fsl_median(in + begin, end - begin, work->scratch);
	}
}

/* Centre and sigma of windows [begin, end): the median of the members' medians, and the scatter of
 * the members that are not farthest from it. */
static void measure_band(struct work *work, size_t begin, size_t end, double *centre, double *sigma)
{
	size_t n = work->n_members;
	for (size_t m = 0; m < n; m++) {
		work->medians[m] = fsl_median(cell_at(work->smoothed, work, m, begin), end - begin,
					      work->scratch);
	}
	*centre = fsl_median(work->medians, n, work->scratch);
	for (size_t m = 0; m < n; m++) {
		work->distances[m] = fabs(work->medians[m] - *centre);
	}
	size_t n_known = fsl_pack(work->distances, n, work->scratch, NULL);
	fsl_sort(work->scratch, n_known);
	size_t n_left_out = n_known <= MEMBERS_MIN ? 1 : 2;
	double farthest = n_known > n_left_out ? work->scratch[n_known - n_left_out - 1] : 0.0;
	size_t n_pool = 0;
	for (size_t m = 0; m < n; m++) {
		/* A threshold, not a count, so that members at equal distance are treated alike. */
		if (work->distances[m] <= farthest) {
			n_pool += fsl_pack(cell_at(work->smoothed, work, m, begin), end - begin,
					   work->pool + n_pool, NULL);
		}
	}
	double middle = fsl_median(work->pool, n_pool, work->scratch);
	*sigma = fsl_mad_sigma(work->pool, n_pool, middle, work->scratch);
	*sigma = fmax(*sigma, SIGMA_FLOOR * fabs(*centre));
}

static int8_t mark_value(const struct params *params, double value, double centre, double sigma)
{
	double excess = value - centre;
	bool is_outside = fabs(excess) > params->k * sigma &&
			  fabs(excess) >= (params->deviation_ratio_min - 1.0) * fabs(centre);
	if (!is_outside || !(fabs(excess) > 0.0)) {
		return 0;
	}
	return excess > 0.0 ? 1 : -1;
}

static void mark_window(const struct params *params, struct work *work, size_t w, size_t size)
{
	double sigma = 0.0;
	size_t begin = w + 1 > size ? w + 1 - size : 0;
	measure_band(work, begin, w + 1, &work->centre[w], &sigma);
	size_t n_marked = 0;
	for (size_t m = 0; m < work->n_members; m++) {
		int8_t mark = mark_value(params, *cell_at(work->smoothed, work, m, w),
					 work->centre[w], sigma);
		work->marks[m * work->n_windows + w] = mark;
		n_marked += mark != 0 ? 1 : 0;
	}
	/* More than half of the members cannot all be outliers. */
	bool is_everybody = 2 * n_marked > work->n_members;
	for (size_t m = 0; is_everybody && m < work->n_members; m++) {
		work->marks[m * work->n_windows + w] = 0;
	}
	double shared = n_marked > 0 ? (double)(n_marked - 1) / (double)work->n_members : 0.0;
	work->weight[w] = exp(-params->conf_score_decay * shared);
}

static void mark_matrix(const struct params *params, struct work *work)
{
	double size = (double)params->look_back;
	for (size_t w = (size_t)params->look_back / 2; w < work->n_windows; w++) {
		mark_window(params, work, w, (size_t)size);
		if (w + 1 >= (size_t)params->look_back && size < (double)params->look_back_max) {
			size += params->window_increase_ratio;
		}
	}
}

/* Labels runs of @sign that are long and sure enough. A hole neither counts nor ends a run. */
static void label_runs(const struct params *params, struct work *work, size_t member, int8_t sign)
{
	const int8_t *marks = work->marks + member * work->n_windows;
	memset(work->labels, 0, work->n_windows);
	for (size_t begin = 0; begin < work->n_windows; begin++) {
		if (marks[begin] != sign) {
			continue;
		}
		size_t end = begin;
		int64_t n_marks = 0;
		double sum = 0.0;
		for (size_t w = begin; w < work->n_windows; w++) {
			bool is_hole = isnan(*cell_at(work->smoothed, work, member, w));
			if (marks[w] == sign) {
				sum += work->weight[w];
				n_marks++;
				end = w + 1;
			} else if (!is_hole) {
				break;
			}
		}
		if (n_marks >= params->run_min && sum >= params->alert_conf_thresh) {
			memset(work->labels + begin, 1, end - begin);
		}
		begin = end - 1;
	}
}

static bool prepare(const struct fsl_view *view, const struct params *params, struct work *work)
{
	size_t n = fsl_view_n_members(view);
	size_t n_windows = fsl_view_n_windows(view);
	size_t look_back = (size_t)fmax((double)params->look_back, (double)params->look_back_max);
	size_t n_pool = n * (look_back < n_windows ? look_back : n_windows);
	size_t n_scratch = n_pool > n_windows ? n_pool : n_windows;
	work->n_members = n;
	work->n_windows = n_windows;
	work->adjusted = fsl_view_scratch(view, n * n_windows * sizeof(double));
	work->smoothed = fsl_view_scratch(view, n * n_windows * sizeof(double));
	work->marks = fsl_view_scratch(view, n * n_windows);
	work->centre = fsl_view_scratch(view, n_windows * sizeof(double));
	work->weight = fsl_view_scratch(view, n_windows * sizeof(double));
	work->medians = fsl_view_scratch(view, n * sizeof(double));
	work->distances = fsl_view_scratch(view, n * sizeof(double));
	work->pool = fsl_view_scratch(view, n_pool * sizeof(double));
	work->scratch = fsl_view_scratch(view, n_scratch * sizeof(double));
	work->labels = fsl_view_scratch(view, n_windows);
	return work->adjusted != NULL && work->smoothed != NULL && work->marks != NULL &&
	       work->centre != NULL && work->weight != NULL && work->medians != NULL &&
	       work->distances != NULL && work->pool != NULL && work->scratch != NULL &&
	       work->labels != NULL;
}

static enum fsl_status report_member(const struct fsl_view *view, size_t member,
				     const struct params *params, struct work *work,
				     struct fsl_findings *out, struct fsl_error *err)
{
	for (int8_t sign = 1; sign >= -1; sign = (int8_t)(sign - 2)) {
		if ((sign > 0 && params->direction == SLOW_LOW) ||
		    (sign < 0 && params->direction == SLOW_HIGH)) {
			continue;
		}
		label_runs(params, work, member, sign);
		struct fsl_labelled series = {
			fsl_view_rank(view, member), work->n_windows, work->labels,
			work->adjusted + member * work->n_windows, work->centre};
		FSL_TRY(fsl_findings_add_runs(out, &series, err));
	}
	return FSL_OK;
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	size_t n = fsl_view_n_members(view);
	if (n < MEMBERS_MIN || fsl_view_n_windows(view) < (size_t)params->run_min) {
		return FSL_OK;
	}
	struct work work = {0};
	if (!prepare(view, params, &work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", n);
	}
	take_off_common(view, &work);
	for (size_t m = 0; m < n; m++) {
		smooth_member(&work, m, (size_t)params->smooth_size);
	}
	mark_matrix(params, &work);
	for (size_t m = 0; m < n; m++) {
		FSL_TRY(report_member(view, m, params, &work, out, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_RobustKSigma = {
	.abi = FSL_DETECTOR_ABI,
	.name = "RobustKSigma",
	.summary = "a member leaves median +- k robust sigma of its peers for a while",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_GROUP,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

/*
 * Members against each other, window by window. The sorted values are cut at their greatest gaps,
 * and the smaller part is alarmed if it lies far from the larger part. Then alarms that stand alone
 * are dropped. If one member has nearly all alarms, it takes all of them. The rules are those of
 * sysTrace's detector of this name. A member without a sample takes no part in the window.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>
#include <string.h>

/* Keeps quotients finite; the value of the reference. */
#define TINY 1e-8

struct params {
	double first_gap_rate, second_gap_rate, base_threshold, discrete_rate, nsigma_coefficient;
	double discrete_point_suppression_ratio, non_major_anomaly_suppression;
	int64_t members_min;
};

static const struct fsl_param param_table[] = {
	{"first_gap_rate", FSL_PARAM_REAL, offsetof(struct params, first_gap_rate), 0.3, 0, 1e6,
	 .help = "Share of the range that the greatest gap must exceed."},
	{"second_gap_rate", FSL_PARAM_REAL, offsetof(struct params, second_gap_rate), 0.2, 0, 1e6,
	 .help = "The second gap counts when the greatest is less than this share longer."},
	{"base_threshold", FSL_PARAM_REAL, offsetof(struct params, base_threshold), 150, -1e12,
	 1e12, .help = "Windows with no value above this are usual, in the metric's unit."},
	{"discrete_rate", FSL_PARAM_REAL, offsetof(struct params, discrete_rate), 1.5, 0, 1e6,
	 .help = "Least ratio of the means of the two parts."},
	{"nsigma_coefficient", FSL_PARAM_REAL, offsetof(struct params, nsigma_coefficient), 2, 0,
	 1e6, .help = "Least distance of the parts in standard deviations of the larger one."},
	{"discrete_point_suppression_ratio", FSL_PARAM_REAL,
	 offsetof(struct params, discrete_point_suppression_ratio), 0.03, 0, 1,
	 .help = "Alarms that stand alone are dropped when they are at most this share."},
	{"non_major_anomaly_suppression", FSL_PARAM_REAL,
	 offsetof(struct params, non_major_anomaly_suppression), 0.1, 0, 1,
	 .help = "One member takes all alarms when the others have less than this share."},
	{"members_min", FSL_PARAM_INT, offsetof(struct params, members_min), 4, 1, 1e6,
	 .help = "Groups with fewer members are not judged."},
	{.key = NULL},
};

/* Labels are member major: [m * n_windows + w]. */
struct work {
	size_t n_members, n_windows;
	uint8_t *labels;
	double *row, *sorted, *gaps, *scratch; /* n_members each */
	double *expected;                      /* n_windows */
};

/* A part [begin, end) of the sorted row. */
struct part {
	size_t begin, end;
};

static size_t part_size(struct part part)
{
	return part.end - part.begin;
}

/* Positions behind which the sorted row is cut: the greatest gap, and others nearly as great. At
 * most 3 are found, because 3 or more are treated as 1. */
static size_t find_cuts(const struct params *params, const double *gaps, size_t n, size_t *cuts)
{
	double sum = 0.0;
	double first = -HUGE_VAL;
	double second = -HUGE_VAL;
	size_t first_idx = 0;
	for (size_t i = 0; i < n; i++) {
		sum += gaps[i];
		if (gaps[i] > first) {
			second = first;
			first = gaps[i];
			first_idx = i;
		} else if (gaps[i] > second) {
			second = gaps[i];
		}
	}
	if (!(first / (sum + TINY) > params->first_gap_rate)) {
		return 0;
	}
	bool is_unique = second < first;
	bool has_second = n > 1 && first / (second + TINY) < 1.0 + params->second_gap_rate;
	size_t n_cuts = 0;
	for (size_t i = 0; i < n && n_cuts < 3; i++) {
		bool is_cut = (is_unique && i == first_idx) ||
			      (has_second && !(gaps[i] > second) && !(gaps[i] < second));
		if (is_cut) {
			cuts[n_cuts++] = i;
		}
	}
	return n_cuts;
}

/* Splits @n sorted values into the smaller and the larger part; false: there are no two parts. */
static bool split_row(const size_t *cuts, size_t n_cuts, size_t n, struct part *small,
		      struct part *large)
{
	struct part low = {0, cuts[0] + 1};
	struct part high = {cuts[0] + 1, n};
	if (n_cuts == 2) {
		high.begin = cuts[1] + 1;
	}
	if (part_size(low) == part_size(high)) {
		return false;
	}
	bool is_low_small = part_size(low) < part_size(high);
	*small = is_low_small ? low : high;
	*large = is_low_small ? high : low;
	return true;
}

static bool is_far(const struct params *params, const double *sorted, struct part small,
		   struct part large)
{
	double odd = fsl_mean(sorted + small.begin, part_size(small));
	double usual = fsl_mean(sorted + large.begin, part_size(large));
	double sigma = fsl_std(sorted + large.begin, part_size(large), usual);
	double greater = odd > usual ? odd : usual;
	double lesser = odd > usual ? usual : odd;
	double reach = params->nsigma_coefficient * sigma;
	return greater / (lesser + TINY) > params->discrete_rate &&
	       (odd > usual + reach || odd < usual - reach);
}

/* The values of one window that deviate: [*lowest, *highest]; false: none. */
static bool judge_row(const struct params *params, struct work *work, double *lowest,
		      double *highest)
{
	size_t n = fsl_pack(work->row, work->n_members, work->sorted, NULL);
	fsl_sort(work->sorted, n);
	if (n < 2 || !(work->sorted[n - 1] > params->base_threshold)) {
		return false;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		work->gaps[i] = work->sorted[i + 1] - work->sorted[i];
	}
	size_t cuts[3];
	size_t n_cuts = find_cuts(params, work->gaps, n - 1, cuts);
	struct part small, large;
	if (n_cuts == 0 || !split_row(cuts, n_cuts, n, &small, &large) ||
	    !is_far(params, work->sorted, small, large)) {
		return false;
	}
	*lowest = work->sorted[small.begin];
	*highest = work->sorted[small.end - 1];
	return true;
}

static void gather_row(const struct fsl_view *view, size_t window, double *row)
{
	for (size_t m = 0; m < fsl_view_n_members(view); m++) {
		row[m] = fsl_view_column(view, m).values[window];
	}
}

/* Clears alarms without an alarmed neighbour if there are few of them. */
static void drop_isolated(uint8_t *labels, size_t n, double ratio)
{
	size_t n_isolated = 0;
	for (int pass = 0; pass < 2; pass++) {
		uint8_t before = 0;
		for (size_t w = 0; w < n; w++) {
			uint8_t now = labels[w];
			uint8_t after = w + 1 < n ? labels[w + 1] : 0;
			bool is_isolated = now != 0 && before == 0 && after == 0;
			before = now;
			n_isolated += pass == 0 && is_isolated ? 1 : 0;
			labels[w] = pass == 1 && is_isolated ? 0 : now;
		}
		if ((double)n_isolated > ratio * (double)n) {
			return;
		}
	}
}

/* A member with nearly all alarms takes every alarmed window, and the others take none. */
static void suppress_minor(const struct params *params, struct work *work)
{
	size_t total = 0;
	size_t most = 0;
	size_t major = 0;
	for (size_t m = 0; m < work->n_members; m++) {
		size_t count = 0;
		for (size_t w = 0; w < work->n_windows; w++) {
			count += work->labels[m * work->n_windows + w];
		}
		total += count;
		if (count > most) {
			most = count;
			major = m;
		}
	}
	double rest = 1.0 - (double)most / ((double)total + TINY);
	if (most == 0 || !(rest < params->non_major_anomaly_suppression)) {
		return;
	}
	uint8_t *taken = work->labels + major * work->n_windows;
	for (size_t m = 0; m < work->n_members; m++) {
		uint8_t *labels = work->labels + m * work->n_windows;
		for (size_t w = 0; m != major && w < work->n_windows; w++) {
			taken[w] |= labels[w];
			labels[w] = 0;
		}
	}
}

static void label_matrix(const struct params *params, const struct fsl_view *view,
			 struct work *work)
{
	for (size_t w = 0; w < work->n_windows; w++) {
		double lowest = NAN;
		double highest = NAN;
		gather_row(view, w, work->row);
		if (!judge_row(params, work, &lowest, &highest)) {
			continue;
		}
		for (size_t m = 0; m < work->n_members; m++) {
			bool is_odd = work->row[m] >= lowest && work->row[m] <= highest;
			work->labels[m * work->n_windows + w] = is_odd ? 1 : 0;
		}
	}
	for (size_t m = 0; m < work->n_members; m++) {
		drop_isolated(work->labels + m * work->n_windows, work->n_windows,
			      params->discrete_point_suppression_ratio);
	}
	suppress_minor(params, work);
}

/* The peers' level: median of the members that are not labelled in the window. */
static void find_expected(const struct fsl_view *view, const struct work *work)
{
	for (size_t w = 0; w < work->n_windows; w++) {
		size_t n_peers = 0;
		for (size_t m = 0; m < work->n_members; m++) {
			if (work->labels[m * work->n_windows + w] == 0) {
				work->row[n_peers++] = fsl_view_column(view, m).values[w];
			}
		}
		bool is_labelled = n_peers < work->n_members;
		work->expected[w] =
			is_labelled ? fsl_median(work->row, n_peers, work->scratch) : (double)NAN;
	}
}

static enum fsl_status report_member(const struct fsl_view *view, size_t member,
				     const struct work *work, struct fsl_findings *out,
				     struct fsl_error *err)
{
	struct fsl_labelled series = {fsl_view_rank(view, member), work->n_windows,
				      work->labels + member * work->n_windows,
				      fsl_view_column(view, member).values, work->expected};
	return fsl_findings_add_runs(out, &series, err);
}

static bool prepare(const struct fsl_view *view, struct work *work)
{
	size_t n = fsl_view_n_members(view);
	work->n_members = n;
	work->n_windows = fsl_view_n_windows(view);
	double *reals = fsl_view_scratch(view, (4 * n + work->n_windows) * sizeof(*reals));
	work->labels = fsl_view_scratch(view, n * work->n_windows);
	if (reals == NULL || work->labels == NULL) {
		return false;
	}
	work->row = reals;
	work->sorted = reals + n;
	work->gaps = reals + 2 * n;
	work->scratch = reals + 3 * n;
	work->expected = reals + 4 * n;
	return true;
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	size_t n = fsl_view_n_members(view);
	if (n < (size_t)params->members_min || fsl_view_n_windows(view) == 0) {
		return FSL_OK;
	}
	struct work work = {0};
	if (!prepare(view, &work)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", n);
	}
	label_matrix(params, view, &work);
	find_expected(view, &work);
	for (size_t m = 0; m < n; m++) {
		FSL_TRY(report_member(view, m, &work, out, err));
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_OuterDataDetector = {
	.abi = FSL_DETECTOR_ABI,
	.name = "OuterDataDetector",
	.summary = "a minority of members is cut off from its peers by a gap",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_GROUP,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

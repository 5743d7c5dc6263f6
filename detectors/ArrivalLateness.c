/*
 * Who comes last to the collectives of a group. In a collective all members end together, so the
 * longest duration minus a member's own duration is how late that member came. No two clocks are
 * compared. A member is late in an instance if it trails the median of the other members by more
 * than the noise and belongs to the tail of the instance. The detector takes the longest interval
 * in which the member is mostly late. A sign test judges it (lateness minus the median of the other
 * members, up or down), corrected for the number of members and for the freedom to choose the
 * interval. Two members are enough.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>
#include <string.h>

struct params {
	double p_max, effect_ms_min, persistence_min, margin_sigmas, tail_share;
	int64_t instances_min;
};

static const struct fsl_param param_table[] = {
	{"p_max", FSL_PARAM_REAL, offsetof(struct params, p_max), 1e-3, 0, 1,
	 .help = "Chance of a false alarm per group, after correction, that is accepted."},
	{"effect_ms_min", FSL_PARAM_REAL, offsetof(struct params, effect_ms_min), 1, 0, 1e9,
	 .help = "Least median delay per instance behind the median of the others, ms."},
	{"persistence_min", FSL_PARAM_REAL, offsetof(struct params, persistence_min), 0.5, 0, 1,
	 .help = "Least share of the interval's instances in which the member is late."},
	{"margin_sigmas", FSL_PARAM_REAL, offsetof(struct params, margin_sigmas), 2, 0, 1e6,
	 .help = "Delay that counts as late, in standard deviations of the group's noise."},
	{"tail_share", FSL_PARAM_REAL, offsetof(struct params, tail_share), 0.5, 0, 1,
	 .help = "Share of the greatest lateness of an instance that makes its tail; 1: only the "
		 "last member is late."},
	{"instances_min", FSL_PARAM_INT, offsetof(struct params, instances_min), 8, 1, 1e9,
	 .help = "Fewer instances than this are not judged."},
	{.key = NULL},
};

/* Matrices are member major: [m * n_windows + w]. */
struct work {
	const struct fsl_view *view;
	const struct params *params;
	size_t n_members, n_windows;
	const double **lateness;   /* columns of the members */
	double *delay;             /* lateness minus the median of the others; NaN: unknown */
	uint8_t *tail;             /* 1: belongs to the tail of the instance */
	double *noise;             /* per member */
	double margin;             /* delay that is more than noise, ms */
	struct fsl_finding *found; /* per member; window_end 0: nothing */
};

/* An interval of instances, and how often one member was late in it. */
struct episode {
	size_t begin, end;
	double score; /* sum of is_late - 1/2 */
};

/* Median of @sorted without one entry of value @value; n > 1. Entries below @value keep their
 * index. Later entries move down by one. */
static double median_without(const double *sorted, size_t n, double value)
{
	size_t low = (n - 2) / 2;
	size_t high = (n - 1) / 2;
	double a = sorted[low] < value ? sorted[low] : sorted[low + 1];
	double b = sorted[high] < value ? sorted[high] : sorted[high + 1];
	return 0.5 * (a + b);
}

/* Fills column @w of delay and tail. @row, @sorted: members. */
static void measure_instance(const struct work *work, size_t w, double *row, double *sorted)
{
	size_t n = 0;
	for (size_t m = 0; m < work->n_members; m++) {
		row[m] = work->lateness[m][w];
		if (!isnan(row[m])) {
			sorted[n++] = row[m];
		}
	}
	fsl_sort(sorted, n);
	double tail = n > 0 ? work->params->tail_share * sorted[n - 1] : 0.0;
	for (size_t m = 0; m < work->n_members; m++) {
		size_t cell = m * work->n_windows + w;
		bool is_known = !isnan(row[m]) && n >= 2;
		work->delay[cell] =
			is_known ? row[m] - median_without(sorted, n, row[m]) : (double)NAN;
		work->tail[cell] = is_known && row[m] >= tail ? 1 : 0;
	}
}

/* Copies FSL_LANES instances, a lane each. @has_hole: a member is missing. */
static void copy_rows(const struct work *work, size_t begin, double (*rows)[FSL_LANES],
		      bool has_hole[FSL_LANES])
{
	memset(has_hole, 0, FSL_LANES * sizeof(*has_hole));
	for (size_t m = 0; m < work->n_members; m++) {
		const double *lateness = work->lateness[m] + begin;
		memcpy(rows[m], lateness, sizeof(rows[m]));
		for (size_t lane = 0; lane < FSL_LANES; lane++) {
			has_hole[lane] |= isnan(lateness[lane]) != 0;
		}
	}
}

/* As measure_instance, for FSL_LANES instances that all members have. @sorted: their rows. */
static void measure_rows(const struct work *work, size_t begin, double (*sorted)[FSL_LANES])
{
	size_t n = work->n_members, low = (n - 2) / 2, high = (n - 1) / 2;
	double tail_share = work->params->tail_share;
	for (size_t m = 0; m < n; m++) {
		const double *lateness = work->lateness[m] + begin;
		double *delay = work->delay + m * work->n_windows + begin;
		uint8_t *tail = work->tail + m * work->n_windows + begin;
		for (size_t lane = 0; lane < FSL_LANES; lane++) {
			double value = lateness[lane];
			double a = sorted[low][lane], next_a = sorted[low + 1][lane];
			double b = sorted[high][lane], next_b = sorted[high + 1][lane];
			a = a < value ? a : next_a;
			b = b < value ? b : next_b;
			delay[lane] = value - 0.5 * (a + b);
		}
		for (size_t lane = 0; lane < FSL_LANES; lane++) {
			tail[lane] = lateness[lane] >= tail_share * sorted[n - 1][lane];
		}
	}
}

/* Measures most instances side by side, and instances with holes and the last few singly. */
static void measure_instances(void *opaque, size_t begin, size_t end, void *bench)
{
	const struct work *work = opaque;
	double(*rows)[FSL_LANES] = bench;
	double *row = rows[work->n_members], *sorted = row + work->n_members;
	bool has_hole[FSL_LANES];
	size_t w = begin;
	for (; w + FSL_LANES <= end; w += FSL_LANES) {
		copy_rows(work, w, rows, has_hole);
		fsl_sort_lanes(rows, work->n_members);
		measure_rows(work, w, rows);
		for (size_t lane = 0; lane < FSL_LANES; lane++) {
			if (has_hole[lane]) {
				measure_instance(work, w + lane, row, sorted);
			}
		}
	}
	for (; w < end; w++) {
		measure_instance(work, w, row, sorted);
	}
}

static void measure_noise(void *opaque, size_t begin, size_t end, void *bench)
{
	const struct work *work = opaque;
	for (size_t m = begin; m < end; m++) {
		work->noise[m] =
			fsl_diff_sigma(work->delay + m * work->n_windows, work->n_windows, bench);
	}
}

static bool is_late(const struct work *work, size_t cell)
{
	return work->tail[cell] != 0 && work->delay[cell] > work->margin && work->delay[cell] > 0.0;
}

/* Interval with the greatest sum of is_late - 1/2 (Kadane); the longer of equal ones. */
static struct episode longest_late(const struct work *work, size_t member)
{
	struct episode best = {0, 0, 0.0};
	struct episode now = {0, 0, 0.0};
	for (size_t w = 0; w < work->n_windows; w++) {
		size_t cell = member * work->n_windows + w;
		if (isnan(work->delay[cell])) {
			continue;
		}
		bool late = is_late(work, cell);
		if (now.end == 0 || now.score < 0.0) {
			now = (struct episode){w, w, 0.0};
		}
		now.score += late ? 0.5 : -0.5;
		now.end = w + 1;
		bool is_longer =
			now.score >= best.score && now.end - now.begin > best.end - best.begin;
		if (now.score > best.score || (is_longer && best.score > 0.0)) {
			best = now;
		}
	}
	return best;
}

/* Sign test over [begin, end): up is a positive delay. Counts the instances known. */
static double sign_p(const double *delay, size_t begin, size_t end, size_t *n_known)
{
	size_t n_up = 0;
	size_t n_down = 0;
	*n_known = 0;
	for (size_t w = begin; w < end; w++) {
		n_up += delay[w] > 0.0 ? 1 : 0;
		n_down += delay[w] < 0.0 ? 1 : 0;
		*n_known += isnan(delay[w]) ? 0 : 1;
	}
	return n_up > n_down ? fsl_sign_test_p(n_up, n_down) : 1.0;
}

/* The smaller of two chances, both corrected. One is over all instances, with one look for each
 * member. The other is over the episode, with as many looks as there are intervals. */
static double corrected_p(const struct work *work, size_t member, const struct episode *episode)
{
	const double *delay = work->delay + member * work->n_windows;
	size_t n_all = 0;
	size_t n_episode = 0;
	double p_all = sign_p(delay, 0, work->n_windows, &n_all);
	double p_episode = sign_p(delay, episode->begin, episode->end, &n_episode);
	double n_intervals = 0.5 * (double)n_all * (double)(n_all + 1);
	double p = fmin(p_all, p_episode * n_intervals);
	return fmin(1.0, 2.0 * p * (double)work->n_members);
}

/* @scratch: windows. */
static void judge_member(const struct work *work, size_t member, double *scratch)
{
	const struct params *params = work->params;
	const double *delay = work->delay + member * work->n_windows;
	struct episode episode = longest_late(work, member);
	size_t n_late = 0;
	size_t n_known = 0;
	for (size_t w = episode.begin; w < episode.end; w++) {
		n_known += isnan(delay[w]) ? 0 : 1;
		n_late += is_late(work, member * work->n_windows + w) ? 1 : 0;
	}
	if (n_known < (size_t)params->instances_min ||
	    (double)n_late < params->persistence_min * (double)n_known) {
		return;
	}
	double effect = fsl_median(delay + episode.begin, episode.end - episode.begin, scratch);
	double p = corrected_p(work, member, &episode);
	if (effect < params->effect_ms_min || p >= params->p_max) {
		return;
	}
	work->found[member] = (struct fsl_finding){
		.rank = fsl_view_rank(work->view, member),
		.peer = -1,
		.window_begin = episode.begin,
		.window_end = episode.end,
		.slow_ratio = (double)NAN, /* lateness of a healthy member is nearly 0 */
		.effect_ms = effect,
		.confidence = 1.0 - p,
	};
}

static void judge_members(void *opaque, size_t begin, size_t end, void *bench)
{
	for (size_t m = begin; m < end; m++) {
		judge_member(opaque, m, bench);
	}
}

/* Delays, then the noise of the group, then the members. */
static enum fsl_status judge(struct work *work, struct fsl_error *err)
{
	size_t n = work->n_members;
	size_t column_bytes = work->n_windows * sizeof(double);
	size_t rows_bytes = n * sizeof(double[FSL_LANES]) + 2 * n * sizeof(double);
	FSL_TRY(fsl_view_each(work->view, work->n_windows, rows_bytes, measure_instances, work,
			      err));
	FSL_TRY(fsl_view_each(work->view, n, column_bytes, measure_noise, work, err));
	/* The noise is the median over members of the scale of the changes of their delays. A
	 * member that is late from some instance on changes once, so it does not count as noise. */
	double noise = fsl_median(work->noise, n, work->noise + n);
	work->margin = isnan(noise) ? 0.0 : work->params->margin_sigmas * noise;
	return fsl_view_each(work->view, n, column_bytes, judge_members, work, err);
}

static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	size_t n = fsl_view_n_members(view);
	size_t n_windows = fsl_view_n_windows(view);
	if (n < 2 || n_windows < (size_t)params->instances_min) {
		return FSL_OK;
	}
	struct work work = {
		.view = view,
		.params = params,
		.n_members = n,
		.n_windows = n_windows,
		.lateness = fsl_view_scratch(view, n * sizeof(const double *)),
		.delay = fsl_view_take(view, n * n_windows * sizeof(double)),
		.tail = fsl_view_take(view, n * n_windows),
		.noise = fsl_view_scratch(view, 2 * n * sizeof(double)),
		.found = fsl_view_scratch(view, n * sizeof(struct fsl_finding)),
	};
	if (work.lateness == NULL || work.delay == NULL || work.tail == NULL ||
	    work.noise == NULL || work.found == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu, instances=%zu", n,
				n_windows);
	}
	for (size_t m = 0; m < n; m++) {
		work.lateness[m] = fsl_view_column(view, m).values;
	}
	FSL_TRY(judge(&work, err));
	for (size_t m = 0; m < n; m++) {
		if (work.found[m].window_end > 0) {
			FSL_TRY(fsl_findings_add(out, &work.found[m], err));
		}
	}
	return FSL_OK;
}

const struct fsl_detector fsl_detector_ArrivalLateness = {
	.abi = FSL_DETECTOR_ABI,
	.name = "ArrivalLateness",
	.summary = "a member is the one that the others wait for",
	.needs = FSL_NEED(FSL_METRIC_LATENESS),
	.scope = FSL_SCOPE_GROUP,
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};

/*
 * Lasting changes of the step time. Candidates come from binary segmentation of its logarithm with
 * spikes taken out (penalty 3 log n); each is then verified by its size and by a rank test, because
 * the segmentation alone reports every drift.
 */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "detect/perceive_parts.h"

enum {
	SEGMENT_MIN = 5, /* steps; shorter rises are left to k-sigma */
	SPIKE_HALF = 2,  /* the running median over 5 steps takes out spikes of 1 or 2 */
	SIDE_MAX = 200,  /* steps on either side of a cut that take part in the rank test */
	SEGMENTS_MAX = FSL_STEP_RISES_MAX,
};
static const double PENALTY = 3.0;
static const double P_VALUE_MAX = 1e-3;

struct segment {
	size_t begin, end;
	size_t cut;  /* best place to cut it in two */
	double gain; /* squared error that the cut saves */
	double level_ms;
};

struct segmentation {
	const struct fsl_step_series *series;
	double *sums; /* n + 1 prefix sums of the smoothed series, and of its squares */
	double *squares;
	double *scratch;                       /* n */
	struct segment segments[SEGMENTS_MAX]; /* sorted */
	size_t n_segments;
};

static double squared_error(const struct segmentation *s, size_t begin, size_t end)
{
	double sum = s->sums[end] - s->sums[begin];
	double square = s->squares[end] - s->squares[begin];
	return square - sum * sum / (double)(end - begin);
}

static struct segment make_segment(const struct segmentation *s, size_t begin, size_t end)
{
	struct segment segment = {.begin = begin, .end = end, .cut = begin};
	double whole = squared_error(s, begin, end);
	for (size_t cut = begin + SEGMENT_MIN; cut + SEGMENT_MIN <= end; cut++) {
		double gain = whole - squared_error(s, begin, cut) - squared_error(s, cut, end);
		if (gain > segment.gain) {
			segment.gain = gain;
			segment.cut = cut;
		}
	}
	return segment;
}

/* Prefix sums of the logarithm of the running median, relative to the series' median to keep
 * digits. */
static void smooth(struct segmentation *s)
{
	const struct fsl_step_series *series = s->series;
	double scratch[2 * SPIKE_HALF + 1];
	for (size_t i = 0; i < series->n; i++) {
		/* Shrinks to both sides alike, so that an edge stays where it is. */
		size_t half = i < SPIKE_HALF ? i : SPIKE_HALF;
		half = series->n - 1 - i < half ? series->n - 1 - i : half;
		double value = log(fsl_median(series->clear_ms + i - half, 2 * half + 1, scratch) /
				   series->median_ms);
		s->sums[i + 1] = s->sums[i] + value;
		s->squares[i + 1] = s->squares[i] + value * value;
	}
}

/* Cuts the segment that gains most, until no gain is worth the penalty. */
static void cut_segments(struct segmentation *s)
{
	size_t n = s->series->n;
	double penalty = PENALTY * log((double)n) * s->series->sigma * s->series->sigma;
	s->segments[0] = make_segment(s, 0, n);
	s->n_segments = 1;
	while (s->n_segments < SEGMENTS_MAX) {
		size_t best = 0;
		for (size_t k = 1; k < s->n_segments; k++) {
			best = s->segments[k].gain > s->segments[best].gain ? k : best;
		}
		struct segment whole = s->segments[best];
		if (whole.gain <= penalty) {
			break;
		}
		memmove(&s->segments[best + 1], &s->segments[best],
			(s->n_segments - best) * sizeof(whole));
		s->segments[best] = make_segment(s, whole.begin, whole.cut);
		s->segments[best + 1] = make_segment(s, whole.cut, whole.end);
		s->n_segments++;
	}
}

static void find_level(struct segmentation *s, struct segment *segment)
{
	segment->level_ms = fsl_median(s->series->clear_ms + segment->begin,
				       segment->end - segment->begin, s->scratch);
}

/* Rank test between the neighbours of a cut, in the direction of the change. */
static double cut_p_value(const struct segmentation *s, const struct segment *left,
			  const struct segment *right)
{
	size_t n_left = left->end - left->begin;
	size_t n_right = right->end - right->begin;
	n_left = n_left < SIDE_MAX ? n_left : SIDE_MAX;
	n_right = n_right < SIDE_MAX ? n_right : SIDE_MAX;
	const double *before = s->series->clear_ms + left->end - n_left;
	const double *after = s->series->clear_ms + right->begin;
	return right->level_ms > left->level_ms
		       ? fsl_mann_whitney_p(before, n_left, after, n_right)
		       : fsl_mann_whitney_p(after, n_right, before, n_left);
}

/* A cut stands when the level changes by enough, up or down, and chance does not explain it. */
static bool is_standing(const struct segmentation *s, size_t k)
{
	const struct segment *left = &s->segments[k];
	const struct segment *right = &s->segments[k + 1];
	size_t n_left = left->end - left->begin;
	size_t n_right = right->end - right->begin;
	return fsl_step_series_is_rise(s->series, fmin(left->level_ms, right->level_ms),
				       fmax(left->level_ms, right->level_ms),
				       n_left < n_right ? n_left : n_right,
				       s->series->degree_thr / 2) &&
	       cut_p_value(s, left, right) < P_VALUE_MAX;
}

/* Joins neighbours across the cut with the least change until all cuts stand. */
static void join_weak(struct segmentation *s)
{
	for (size_t k = 0; k < s->n_segments; k++) {
		find_level(s, &s->segments[k]);
	}
	for (;;) {
		size_t weakest = SIZE_MAX;
		double least = INFINITY;
		for (size_t k = 0; k + 1 < s->n_segments; k++) {
			double change =
				fabs(log(s->segments[k + 1].level_ms / s->segments[k].level_ms));
			if (change < least && !is_standing(s, k)) {
				least = change;
				weakest = k;
			}
		}
		if (weakest == SIZE_MAX) {
			return;
		}
		struct segment *left = &s->segments[weakest];
		left->end = left[1].end;
		memmove(left + 1, left + 2, (s->n_segments - weakest - 2) * sizeof(*left));
		s->n_segments--;
		find_level(s, left);
	}
}

/* Moves each cut by a few steps to where the absolute deviations from both levels are least: spikes
 * near the cut must not shift it. */
static void refine_cuts(struct segmentation *s)
{
	for (size_t k = 0; k + 1 < s->n_segments; k++) {
		struct segment *left = &s->segments[k];
		struct segment *right = &s->segments[k + 1];
		size_t low = left->end - SEGMENT_MIN + 1;
		size_t high = right->begin + SEGMENT_MIN - 1;
		low = low > left->begin ? low : left->begin + 1;
		high = high < right->end ? high : right->end - 1;
		double cost = 0.0; /* of a cut at low, relative */
		double least = 0.0;
		size_t best = low;
		for (size_t cut = low; cut < high; cut++) {
			double value = s->series->clear_ms[cut];
			cost += fabs(value - left->level_ms) - fabs(value - right->level_ms);
			if (cost < least) {
				least = cost;
				best = cut + 1;
			}
		}
		left->end = best;
		right->begin = best;
	}
}

static bool is_above(const struct fsl_step_series *series, double base_ms,
		     const struct segment *segment)
{
	return fsl_step_series_is_rise(series, base_ms, segment->level_ms,
				       segment->end - segment->begin, series->degree_thr / 2);
}

/* Ends the rises that @segment is back from; true when others go on. */
static bool end_rises(const struct fsl_step_series *series, const struct segment *segment,
		      struct fsl_step_rise *rises, size_t n_rises)
{
	bool goes_on = false;
	for (size_t r = 0; r < n_rises; r++) {
		double before_ms = rises[r].before_ms;
		if (rises[r].until < series->n) {
			continue;
		}
		if (is_above(series, before_ms, segment)) {
			goes_on = true;
		} else {
			rises[r].until = segment->begin;
		}
	}
	return goes_on;
}

/*
 * Walks the segments. Normal is the median of all steps so far that belong to no rise, so a job
 * that ran faster for a while and comes back has not become slow. @normal holds n values.
 */
static size_t collect_rises(struct segmentation *s, double *normal, struct fsl_step_rise *rises)
{
	const struct fsl_step_series *series = s->series;
	size_t n_rises = 0;
	size_t n_normal = 0;
	for (size_t k = 0; k < s->n_segments; k++) {
		const struct segment *segment = &s->segments[k];
		double base_ms = fsl_median(normal, n_normal, s->scratch);
		bool goes_on = end_rises(series, segment, rises, n_rises);
		if (k == 0 || !is_above(series, base_ms, segment)) {
			size_t n_steps = segment->end - segment->begin;
			memcpy(normal + n_normal, series->clear_ms + segment->begin,
			       n_steps * sizeof(*normal));
			n_normal += n_steps;
		} else if (!goes_on || segment->level_ms > segment[-1].level_ms) {
			rises[n_rises++] = (struct fsl_step_rise){
				.begin = segment->begin,
				.until = series->n,
				.base_ms = base_ms,
				.before_ms = goes_on ? segment[-1].level_ms : base_ms,
				.after_ms = segment->level_ms,
				.p_value = cut_p_value(s, segment - 1, segment),
			};
		}
	}
	return n_rises;
}

enum fsl_status fsl_step_series_shifts(const struct fsl_step_series *series,
				       struct fsl_step_rise *rises, size_t *n_rises,
				       struct fsl_error *err)
{
	*n_rises = 0;
	if (series->n < (size_t)SEGMENT_MIN * 2) {
		return FSL_OK;
	}
	struct segmentation s = {.series = series};
	double *normal = fsl_calloc(series->n, sizeof(double));
	s.sums = fsl_calloc(series->n + 1, sizeof(double));
	s.squares = fsl_calloc(series->n + 1, sizeof(double));
	s.scratch = fsl_calloc(series->n, sizeof(double));
	enum fsl_status status = FSL_OK;
	if (normal == NULL || s.sums == NULL || s.squares == NULL || s.scratch == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu",
				  series->n);
		goto out;
	}
	smooth(&s);
	cut_segments(&s);
	join_weak(&s);
	refine_cuts(&s);
	*n_rises = collect_rises(&s, normal, rises);
out:
	fsl_free(s.scratch);
	fsl_free(s.squares);
	fsl_free(s.sums);
	fsl_free(normal);
	return status;
}

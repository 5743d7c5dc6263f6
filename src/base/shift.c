/* Search for level shifts: missing values, noise, spikes, then segmentation and verification. */
#include "base/shift.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>
#include <gsl/gsl_cdf.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/shift_parts.h"

enum {
	SPIKE_RUN_MAX = 2, /* values; a level that lasts for 3 is no spike */
	SPIKE_SIDE = 5,    /* values on either side that give the level beside a spike */
	SPIKE_SIDE_MIN = 3,
	APART_MAX = 9,   /* greatest distance of the values whose differences give the noise */
	APART_SHARE = 8, /* part of the series that this distance may be: a shift spoils as many */
};
static const double SPIKE_SIGMAS = 5.0;
/* If most neighbours are equal: the noise of a clock is about half of its grain. */
static const double GRAIN_SHARE = 0.5;

const struct fsl_shift_options fsl_shift_series = {
	.segment_min = 10,
	.segment_share_max = 0.25,
	.penalty = 3.0,
	.penalty_spread = 1.0,
	.spread_min = 0.75,
	.p_max = 0.01,
	.is_correlated = true,
	.must_beat_line = true,
	.side_max = 500,
	.changes_max = 64,
};

/* sigmas_min_mean: about 4 deviations of a median of correlated values (by 0.6). */
const struct fsl_shift_options fsl_shift_steps = {
	.is_relative = true,
	.segment_min = 5,
	.penalty = 3.0,
	.sigma_min = 0.001,
	.change_min = 0.05,
	.sigmas_min = 2.0,
	.sigmas_min_mean = 10.0,
	.p_max = 0.002,
	.side_max = 200,
	.changes_max = 63,
};

/* True if a value lies @far above, or below, both its neighbours. */
static bool is_spike(const double *values, size_t i, size_t n, double far)
{
	if (i == 0 || i + 1 >= n) {
		return false;
	}
	return values[i] > fmax(values[i - 1], values[i + 1]) + far ||
	       values[i] < fmin(values[i - 1], values[i + 1]) - far;
}

/* Spikes that come at regular distances meet usual values at most distances, so they count only
 * among neighbours. */
double fsl_shift_sigma(const double *values, size_t n, double *buffers)
{
	double sigma = n < 2 ? (double)NAN : 0.0;
	double far = INFINITY;
	for (size_t apart = 1; apart <= APART_MAX && (apart == 1 || APART_SHARE * apart <= n);
	     apart *= 3) {
		size_t n_sorted = 0;
		for (size_t first = 0; first < apart; first++) {
			for (size_t i = first; i < n; i += apart) {
				buffers[n_sorted] = values[i];
				n_sorted += is_spike(values, i, n, far) ? 0 : 1;
			}
		}
		double here = fsl_diff_sigma(buffers, n_sorted, buffers + n_sorted);
		sigma = here > sigma ? here : sigma;
		far = apart == 1 ? SPIKE_SIGMAS * here : far;
	}
	return sigma;
}

static bool is_usable(double value, bool is_relative)
{
	return fabs(value) <= FSL_SHIFT_MAGNITUDE_MAX && (!is_relative || value > 0.0);
}

static enum fsl_status prepare(struct fsl_shift_work *work, const double *values, size_t n,
			       struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(work->values, n, "values", err));
	FSL_TRY(FSL_NEW(work->capped, n, "values", err));
	FSL_TRY(FSL_NEW(work->scratch, 2 * n, "values", err));
	FSL_TRY(FSL_NEW(work->positions, n, "values", err));
	bool is_relative = work->options->is_relative;
	for (size_t i = 0; i < n; i++) {
		if (is_usable(values[i], is_relative)) {
			work->values[work->n] = is_relative ? log(values[i]) : values[i];
			work->positions[work->n++] = i;
		}
	}
	work->offset = fsl_median(work->values, work->n, work->scratch);
	for (size_t i = 0; i < work->n; i++) {
		work->values[i] -= work->offset;
	}
	return FSL_OK;
}

/* Least nonzero difference of neighbours; 0 if all are equal. */
static double grain(const struct fsl_shift_work *work)
{
	double least = 0.0;
	for (size_t i = 0; i + 1 < work->n; i++) {
		double difference = fabs(work->values[i + 1] - work->values[i]);
		if (difference > 0.0 && (!(least > 0.0) || difference < least)) {
			least = difference;
		}
	}
	return least;
}

static double diff_variance(const struct fsl_shift_work *work, size_t apart)
{
	double *differences = work->scratch;
	size_t n = work->n - apart;
	for (size_t i = 0; i < n; i++) {
		differences[i] = fabs(work->values[i + apart] - work->values[i]);
	}
	double median = fsl_median(differences, n, work->scratch + work->n);
	return median * median;
}

/*
 * Correlation of neighbours, from differences of values that lie 1, 2 and 3 apart (Chakar et al.,
 * Bernoulli 23, 2017, use 1 and 2): 0 for independent values, 1 for a walk, more for a smooth line.
 * Variances of differences of an AR(1) series are as 1 : 1 + r : 1 + r + r^2.
 */
static double local_correlation(const struct fsl_shift_work *work)
{
	double one = diff_variance(work, 1);
	double from_two = diff_variance(work, 2) / one - 1.0;
	double from_three = 0.5 * (sqrt(fmax(4.0 * diff_variance(work, 3) / one - 3.0, 0.0)) - 1.0);
	return one > 0.0 ? fmax(0.0, fmax(from_two, from_three)) : 0.0;
}

static void find_noise(struct fsl_shift_work *work)
{
	work->sigma = fsl_shift_sigma(work->values, work->n, work->scratch);
	if (!(work->sigma > 0.0)) {
		work->sigma = GRAIN_SHARE * grain(work);
	}
	work->sigma = fmax(work->sigma, work->options->sigma_min);
}

/* Range of the levels on both sides of [begin, end); false at the ends of the series. */
static bool levels_beside(const struct fsl_shift_work *work, size_t begin, size_t end, double *low,
			  double *high)
{
	double scratch[SPIKE_SIDE];
	size_t n_before = begin < SPIKE_SIDE ? begin : SPIKE_SIDE;
	size_t n_after = work->n - end < SPIKE_SIDE ? work->n - end : SPIKE_SIDE;
	if (n_before < SPIKE_SIDE_MIN || n_after < SPIKE_SIDE_MIN) {
		return false;
	}
	double before = fsl_median(work->values + begin - n_before, n_before, scratch);
	double after = fsl_median(work->values + end, n_after, scratch);
	*low = fmin(before, after);
	*high = fmax(before, after);
	return true;
}

/*
 * True if the value at @begin is far enough off to begin a spike. Among the last three values at
 * least one lies at or below the median of the last three to five, and one at or above: most values
 * need no median.
 */
static bool may_be_spike(const struct fsl_shift_work *work, size_t begin)
{
	const double *last = work->values + begin;
	if (begin < SPIKE_SIDE_MIN) {
		return false;
	}
	double least = fmin(fmin(last[-1], last[-2]), last[-3]);
	double most = fmax(fmax(last[-1], last[-2]), last[-3]);
	double far = SPIKE_SIGMAS * work->sigma;
	return *last > least + far || *last < most - far;
}

/* Caps a run of @length values that all lie above, or all below, the levels on both sides of it. */
static bool cap_run(struct fsl_shift_work *work, size_t begin, size_t length)
{
	double low = 0.0;
	double high = 0.0;
	if (!levels_beside(work, begin, begin + length, &low, &high)) {
		return false;
	}
	low -= SPIKE_SIGMAS * work->sigma;
	high += SPIKE_SIGMAS * work->sigma;
	size_t n_above = 0;
	size_t n_below = 0;
	for (size_t i = begin; i < begin + length; i++) {
		n_above += work->values[i] > high ? 1 : 0;
		n_below += work->values[i] < low ? 1 : 0;
	}
	const double *values = work->values;
	size_t end = begin + length;
	/* A run that goes on is longer than @length. */
	bool is_above = n_above == length && values[begin - 1] <= high && values[end] <= high;
	bool is_below = n_below == length && values[begin - 1] >= low && values[end] >= low;
	for (size_t i = begin; i < end && (is_above || is_below); i++) {
		work->capped[i] = is_above ? high : low;
	}
	return is_above || is_below;
}

static size_t cap_spikes(struct fsl_shift_work *work)
{
	size_t n_spikes = 0;
	if (work->n > 0) {
		memcpy(work->capped, work->values, work->n * sizeof(*work->capped));
	}
	for (size_t length = 1; length <= SPIKE_RUN_MAX && work->sigma > 0.0; length++) {
		for (size_t i = 0; i + length <= work->n;) {
			bool is_spike = may_be_spike(work, i) && cap_run(work, i, length);
			n_spikes += is_spike ? length : 0;
			i += is_spike ? length : 1;
		}
	}
	return n_spikes;
}

/* Decides which candidates are changes: size, rank test with correlated neighbours, no line. */

/* Greatest correlation by which n is reduced: beyond it hardly one independent value is left. */
static const double CORRELATION_MAX = 0.99;

/* The values on either side of a cut on which it is verified. */
struct sides {
	const double *before, *after;
	size_t n_before, n_after;
	double level_before, level_after; /* medians */
};

static size_t begin_of(const struct fsl_shift_cut *cuts, size_t k)
{
	return k == 0 ? 0 : cuts[k - 1].at;
}

static size_t end_of(const struct fsl_shift_work *work, const struct fsl_shift_cut *cuts,
		     size_t n_cuts, size_t k)
{
	return k == n_cuts ? work->n : cuts[k].at;
}

static struct sides sides_of(const struct fsl_shift_work *work, const struct fsl_shift_cut *cuts,
			     size_t n_cuts, size_t k)
{
	size_t at = cuts[k].at;
	size_t n_before = at - begin_of(cuts, k);
	size_t n_after = end_of(work, cuts, n_cuts, k + 1) - at;
	size_t n_max = work->options->side_max;
	n_before = n_before < n_max ? n_before : n_max;
	n_after = n_after < n_max ? n_after : n_max;
	const double *before = work->capped + at - n_before;
	const double *after = work->capped + at;
	return (struct sides){
		.before = before,
		.after = after,
		.n_before = n_before,
		.n_after = n_after,
		.level_before = fsl_median(before, n_before, work->scratch),
		.level_after = fsl_median(after, n_after, work->scratch),
	};
}

/* A change that is large only because neighbours are not alike needs so many sigma, and a p so
 * small that heavy tails, in which some values lie together by chance, do not reach it. */
static const double SIGMAS_FRESH_MIN = 1.5;
static const double P_FRESH_MAX = 1e-4;

static bool is_large(const struct fsl_shift_work *work, const struct sides *sides,
		     double sigmas_min, double sigmas_mean)
{
	const struct fsl_shift_options *options = work->options;
	double change = fabs(sides->level_after - sides->level_before);
	double n_least =
		(double)(sides->n_before < sides->n_after ? sides->n_before : sides->n_after);
	double sigmas = fmax(sigmas_min, sigmas_mean / sqrt(n_least));
	double share = options->is_relative
			       ? log1p(options->change_min)
			       : options->change_min * fabs(sides->level_before + work->offset);
	return change >= share && change >= sigmas * work->sigma &&
	       change >= options->spread_min * work->spread;
}

/*
 * Writes both sides, minus their means, in one row to work->scratch; returns their squared error.
 */
static double residuals(const struct fsl_shift_work *work, const struct sides *sides)
{
	double *out = work->scratch;
	double mean_before = fsl_mean(sides->before, sides->n_before);
	double mean_after = fsl_mean(sides->after, sides->n_after);
	double error = 0.0;
	for (size_t i = 0; i < sides->n_before + sides->n_after; i++) {
		out[i] = i < sides->n_before ? sides->before[i] - mean_before
					     : sides->after[i - sides->n_before] - mean_after;
		error += out[i] * out[i];
	}
	return error;
}

/* Correlation of neighbours around the two levels, 0 .. CORRELATION_MAX. */
static double correlation(const struct fsl_shift_work *work, const struct sides *sides)
{
	double error = residuals(work, sides);
	double products = 0.0;
	for (size_t i = 0; i + 1 < sides->n_before + sides->n_after; i++) {
		products += work->scratch[i] * work->scratch[i + 1];
	}
	return error > 0.0 ? fmax(0.0, fmin(products / error, CORRELATION_MAX)) : 0.0;
}

/* n correlated values carry as much evidence as n (1 - r) / (1 + r) independent ones. */
static double p_value_of(const struct fsl_shift_work *work, const struct sides *sides)
{
	double z = fsl_mann_whitney_z(sides->before, sides->n_before, sides->after, sides->n_after);
	double r = work->options->is_correlated ? fmin(correlation(work, sides), work->correlation)
						: 0.0;
	return 2.0 * gsl_cdf_ugaussian_Q(fabs(z) * sqrt((1.0 - r) / (1.0 + r)));
}

/* True if a line through both sides leaves more squared error than two levels do. Two levels have a
 * free place of change, but no slope. The sides lie next to each other. */
static bool is_step(const struct fsl_shift_work *work, const struct sides *sides)
{
	size_t n = sides->n_before + sides->n_after;
	double centre = 0.5 * (double)(n - 1);
	double mean = fsl_mean(sides->before, n);
	double along = 0.0;
	double across = 0.0;
	double total = 0.0;
	for (size_t i = 0; i < n; i++) {
		double x = (double)i - centre;
		double y = sides->before[i] - mean;
		along += x * x;
		across += x * y;
		total += y * y;
	}
	return residuals(work, sides) < total - across * across / along;
}

/* Sigma that levels of n values differ by, times sqrt(n). With a correlation of 0.6 the root is 2:
 * n values tell as much as a quarter of them. What a correlation may be off by is added. */
static double sigmas_mean_of(const struct fsl_shift_work *work, const struct sides *sides)
{
	double n = (double)(sides->n_before + sides->n_after);
	double alike = fmin(correlation(work, sides), work->correlation);
	alike = fmin(alike + 1.0 / sqrt(n), 0.6);
	return 0.5 * work->options->sigmas_min_mean * sqrt((1.0 + alike) / (1.0 - alike));
}

static void judge(const struct fsl_shift_work *work, struct fsl_shift_cut *cuts, size_t n_cuts,
		  size_t k)
{
	const struct fsl_shift_options *options = work->options;
	struct sides sides = sides_of(work, cuts, n_cuts, k);
	bool is_clear = is_large(work, &sides, options->sigmas_min, options->sigmas_min_mean);
	cuts[k].change = sides.level_after - sides.level_before;
	cuts[k].p_value = 1.0;
	cuts[k].stands =
		is_clear || is_large(work, &sides, fmin(options->sigmas_min, SIGMAS_FRESH_MIN),
				     sigmas_mean_of(work, &sides));
	if (cuts[k].stands) {
		double p_max = is_clear ? options->p_max : fmin(options->p_max, P_FRESH_MAX);
		cuts[k].p_value = p_value_of(work, &sides);
		cuts[k].stands = cuts[k].p_value <= p_max &&
				 (!options->must_beat_line || is_step(work, &sides));
	}
}

/* The least cut that does not stand; the least of all if there are too many. n_cuts: none. */
static size_t weakest(const struct fsl_shift_work *work, const struct fsl_shift_cut *cuts,
		      size_t n_cuts)
{
	bool all_stand = true;
	for (size_t k = 0; k < n_cuts; k++) {
		all_stand = all_stand && cuts[k].stands;
	}
	size_t weakest = n_cuts;
	for (size_t k = 0; k < n_cuts; k++) {
		bool may_go = all_stand ? n_cuts > work->options->changes_max : !cuts[k].stands;
		if (may_go &&
		    (weakest == n_cuts || fabs(cuts[k].change) < fabs(cuts[weakest].change))) {
			weakest = k;
		}
	}
	return weakest;
}

/* Moves a cut to the least sum of absolute deviations: spikes beside it must not shift it. */
static void move_cut(const struct fsl_shift_work *work, struct fsl_shift_cut *cuts, size_t n_cuts,
		     size_t k)
{
	struct sides sides = sides_of(work, cuts, n_cuts, k);
	size_t reach = fsl_shift_stride(work) - 1 + work->segment_min - 1;
	size_t first = begin_of(cuts, k) + 1;
	size_t end = end_of(work, cuts, n_cuts, k + 1);
	size_t low = cuts[k].at > first + reach ? cuts[k].at - reach : first;
	size_t high = cuts[k].at + reach < end ? cuts[k].at + reach : end;
	double cost = 0.0; /* cost of a cut at low, relative */
	double least = 0.0;
	size_t best = low;
	for (size_t at = low; at < high; at++) {
		double value = work->values[at];
		if (value == work->capped[at]) {
			cost += fabs(value - sides.level_before) - fabs(value - sides.level_after);
		}
		if (cost < least) {
			least = cost;
			best = at + 1;
		}
	}
	cuts[k].at = best < end ? best : end - 1;
}

/* Takes out the least cut that does not stand, until all cuts stand. Moves each remaining cut to
 * the place at which the absolute deviations from the levels on either side are least. */
static void verify(const struct fsl_shift_work *work, struct fsl_shift_cut *cuts, size_t *n_cuts)
{
	/* Move first: a cut that is off by half of the grid would be judged on mixed sides. */
	for (size_t k = 0; k < *n_cuts && fsl_shift_stride(work) > 1; k++) {
		move_cut(work, cuts, *n_cuts, k);
	}
	for (size_t k = 0; k < *n_cuts; k++) {
		judge(work, cuts, *n_cuts, k);
	}
	for (size_t k = weakest(work, cuts, *n_cuts); k < *n_cuts;
	     k = weakest(work, cuts, *n_cuts)) {
		memmove(cuts + k, cuts + k + 1, (*n_cuts - k - 1) * sizeof(*cuts));
		(*n_cuts)--;
		if (k > 0) {
			judge(work, cuts, *n_cuts, k - 1);
		}
		if (k < *n_cuts) {
			judge(work, cuts, *n_cuts, k);
		}
	}
	for (size_t k = 0; k < *n_cuts; k++) {
		move_cut(work, cuts, *n_cuts, k);
	}
}

/* Median of the segment, of the values as given. */
static double level_of(const struct fsl_shift_work *work, const double *given, size_t begin,
		       size_t end)
{
	double *packed = work->scratch + work->n;
	for (size_t i = begin; i < end; i++) {
		packed[i - begin] = given[work->positions[i]];
	}
	return fsl_median(packed, end - begin, work->scratch);
}

static enum fsl_status report(struct fsl_shifts *out, const struct fsl_shift_work *work,
			      const double *given, const struct fsl_shift_cut *cuts, size_t n_cuts,
			      struct fsl_error *err)
{
	if (n_cuts == 0) {
		return FSL_OK;
	}
	FSL_TRY(FSL_NEW(out->items, n_cuts, "changes", err));
	for (size_t k = 0; k < n_cuts; k++) {
		size_t begin = k == 0 ? 0 : cuts[k - 1].at;
		size_t end = k + 1 < n_cuts ? cuts[k + 1].at : work->n;
		out->items[k] = (struct fsl_shift){
			.at = work->positions[cuts[k].at],
			.before = level_of(work, given, begin, cuts[k].at),
			.after = level_of(work, given, cuts[k].at, end),
			.p_value = cuts[k].p_value,
		};
	}
	out->n = n_cuts;
	return FSL_OK;
}

static size_t segment_min_of(const struct fsl_shift_options *options, size_t n)
{
	size_t most = (size_t)(options->segment_share_max * (double)n);
	most = most > FSL_SHIFT_SEGMENT_MIN_LEAST ? most : FSL_SHIFT_SEGMENT_MIN_LEAST;
	return options->segment_share_max > 0.0 && most < options->segment_min
		       ? most
		       : options->segment_min;
}

/* Least p of two sides of @side values that do not overlap: no ranks are further apart. */
static double p_least_of(size_t side)
{
	double n = (double)side;
	double z = (0.5 * n * n - 0.5) / sqrt(n * n * (2.0 * n + 1.0) / 12.0);
	return 2.0 * gsl_cdf_ugaussian_Q(z);
}

double fsl_shift_p_least(const struct fsl_shift_options *options)
{
	return p_least_of(options->side_max);
}

size_t fsl_shift_values_min(const struct fsl_shift_options *options)
{
	size_t side = options->segment_share_max > 0.0 ? FSL_SHIFT_SEGMENT_MIN_LEAST
						       : options->segment_min;
	while (side < options->side_max && p_least_of(side) > options->p_max) {
		side++;
	}
	return 2 * side;
}

static enum fsl_status find(struct fsl_shifts *out, struct fsl_shift_work *work,
			    const double *given, struct fsl_error *err)
{
	find_noise(work);
	out->n_used = work->n;
	out->sigma = work->n < 2 ? (double)NAN : work->sigma;
	work->segment_min = segment_min_of(work->options, work->n);
	if (work->n < fsl_shift_values_min(work->options) || work->n < 2 * work->segment_min ||
	    !(work->sigma > 0.0)) {
		return FSL_OK;
	}
	out->n_spikes = cap_spikes(work);
	work->correlation = local_correlation(work);
	work->spread = fsl_std(work->capped, work->n, fsl_mean(work->capped, work->n));
	size_t n_cuts = 0;
	struct fsl_shift_cut *cuts = NULL;
	FSL_TRY(FSL_NEW(cuts, fsl_shift_cuts_max(work), "values", err));
	enum fsl_status status = fsl_shift_segment(work, cuts, &n_cuts, err);
	if (status == FSL_OK) {
		verify(work, cuts, &n_cuts);
		status = report(out, work, given, cuts, n_cuts, err);
	}
	fsl_free(cuts);
	return status;
}

enum fsl_status fsl_shifts_find(struct fsl_shifts *out, const double *values, size_t n,
				const struct fsl_shift_options *options, struct fsl_error *err)
{
	FSL_REQUIRE(options->segment_min >= FSL_SHIFT_SEGMENT_MIN_LEAST && options->side_max > 2);
	if (n > FSL_SHIFT_VALUES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"the series is too long, judge a part of it: values=%zu, max=%d", n,
				FSL_SHIFT_VALUES_MAX);
	}
	struct fsl_shifts found = {.sigma = NAN};
	if (n == 0) {
		*out = found;
		return FSL_OK;
	}
	struct fsl_shift_work work = {.options = options};
	enum fsl_status status = prepare(&work, values, n, err);
	if (status == FSL_OK) {
		found.n_missing = n - work.n;
		status = find(&found, &work, values, err);
	}
	fsl_free(work.positions);
	fsl_free(work.scratch);
	fsl_free(work.capped);
	fsl_free(work.values);
	if (status == FSL_OK) {
		*out = found;
	}
	return status;
}

void fsl_shifts_fini(struct fsl_shifts *shifts)
{
	fsl_free(shifts->items);
	*shifts = (struct fsl_shifts){0};
}

double fsl_p_limit(double *p_values, size_t n, double q)
{
	double limit = 0.0;
	fsl_sort(p_values, n);
	for (size_t i = 0; i < n; i++) {
		if (p_values[i] <= q * (double)(i + 1) / (double)n) {
			limit = p_values[i];
		}
	}
	return limit;
}

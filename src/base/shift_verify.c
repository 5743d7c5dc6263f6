/* Decides which candidates are changes: size, rank test with correlated neighbours, no line. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>
#include <gsl/gsl_cdf.h>

#include "base/shift_parts.h"

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

static bool is_large(const struct fsl_shift_work *work, const struct sides *sides)
{
	const struct fsl_shift_options *options = work->options;
	double change = fabs(sides->level_after - sides->level_before);
	double n_least =
		(double)(sides->n_before < sides->n_after ? sides->n_before : sides->n_after);
	double sigmas = fmax(options->sigmas_min, options->sigmas_min_mean / sqrt(n_least));
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

static void judge(const struct fsl_shift_work *work, struct fsl_shift_cut *cuts, size_t n_cuts,
		  size_t k)
{
	const struct fsl_shift_options *options = work->options;
	struct sides sides = sides_of(work, cuts, n_cuts, k);
	cuts[k].change = sides.level_after - sides.level_before;
	cuts[k].p_value = 1.0;
	cuts[k].stands = is_large(work, &sides);
	if (cuts[k].stands) {
		cuts[k].p_value = p_value_of(work, &sides);
		cuts[k].stands = cuts[k].p_value <= options->p_max &&
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

void fsl_shift_verify(const struct fsl_shift_work *work, struct fsl_shift_cut *cuts, size_t *n_cuts)
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

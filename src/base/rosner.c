/* Rosner's test of <failslow/stats.h>: finds any number of outliers among a few values. */
#include <failslow/stats.h>

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "base/log.h"
#include "base/sort.h"

static int compare_indexed(const void *left, const void *right)
{
	const struct fsl_indexed *a = left, *b = right;
	int order = FSL_ORDER(a->value, b->value);
	return order != 0 ? order : FSL_ORDER(a->idx, b->idx);
}

void fsl_indexed_sort(struct fsl_indexed *values, size_t n)
{
	if (n > 1) {
		qsort(values, n, sizeof(*values), compare_indexed);
	}
}

/* Values that are not taken out yet: sorted[begin, end) with their sums around the origin. */
struct rest {
	const struct fsl_indexed *sorted;
	size_t begin, end;
	double origin, sum, sum_squares;
};

static struct rest all_of(const struct fsl_indexed *sorted, size_t n)
{
	struct rest rest = {.sorted = sorted, .end = n, .origin = sorted[n / 2].value};
	for (size_t i = 0; i < n; i++) {
		double value = sorted[i].value - rest.origin;
		rest.sum += value;
		rest.sum_squares += value * value;
	}
	return rest;
}

static struct rest without(const struct rest *rest, bool is_low)
{
	struct rest left = *rest;
	size_t taken = is_low ? left.begin++ : --left.end;
	double value = rest->sorted[taken].value - rest->origin;
	left.sum -= value;
	left.sum_squares -= value * value;
	return left;
}

/* Student's t of a value against the values that are left. */
static double deviate_of(double value, const struct rest *left, double least_sigma)
{
	double n = (double)(left->end - left->begin);
	double mean = left->sum / n;
	double squares = fmax(0.0, left->sum_squares - left->sum * mean);
	double sigma = fmax(sqrt(squares / (n - 1.0)), least_sigma);
	return fabs(value - left->origin - mean) / (sigma * sqrt(1.0 + 1.0 / n));
}

/* Takes out the end that lies farther from the middle of all values; *is_low: the low end. */
static double take_farthest(struct rest *rest, double least_sigma, bool *is_low)
{
	double mean = rest->sum / (double)(rest->end - rest->begin) + rest->origin;
	double low = rest->sorted[rest->begin].value, high = rest->sorted[rest->end - 1].value;
	*is_low = mean - low >= high - mean;
	*rest = without(rest, *is_low);
	return deviate_of(*is_low ? low : high, rest, least_sigma);
}

size_t fsl_outliers_low(const struct fsl_indexed *sorted, size_t n, double alpha,
			double least_sigma, double *p)
{
	size_t n_max = n >= 6 ? (n - 1) / 2 : 1, n_low = 0, n_found = 0;
	double p_found = 1.0;
	FSL_REQUIRE(least_sigma > 0.0);
	if (p != NULL) {
		*p = 1.0;
	}
	if (n < FSL_OUTLIERS_N_MIN) {
		return 0;
	}
	struct rest rest = all_of(sorted, n);
	/*
	 * More than half of the values stay, so no test has a level above alpha / n; Student's t
	 * has longer tails than the normal distribution. Computing that quantile takes most of the
	 * time.
	 */
	double deviate_min = gsl_cdf_ugaussian_Qinv(alpha / (double)n);
	for (size_t i = 0; i < n_max; i++) {
		bool is_low = false;
		double n_left = (double)(n - i);
		double deviate = take_farthest(&rest, least_sigma, &is_low);
		n_low += is_low ? 1 : 0;
		double tail = deviate > deviate_min ? gsl_cdf_tdist_Q(deviate, n_left - 2.0) : 1.0;
		if (tail < 0.5 * alpha / n_left) {
			n_found = n_low;
			p_found = fmin(1.0, 2.0 * 2.0 * n_left * tail);
		}
	}
	if (p != NULL && n_found > 0) {
		*p = p_found;
	}
	return n_found;
}

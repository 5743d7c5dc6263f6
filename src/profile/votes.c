/* Outliers among few values, and the chance to be last so often. */
#include "profile/votes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/log.h"

/* Healthy ranks give a vote in so many collectives; one test for each number of outliers makes it
 * up to twice this. */
static const double ALPHA = 0.004;
static const double ALPHA_TOLD = 0.01;

/* The least quantile of any number of values and degrees of freedom is 3.29: smaller deviates need
 * no look at the distribution, which takes most of the time. */
static const double DEVIATE_MIN = 3.0;

enum { EXACT_MAX = 512 };

static int compare_votes(const void *left, const void *right)
{
	const struct fsl_vote *a = left, *b = right;
	if (a->value != b->value) {
		return a->value < b->value ? -1 : 1;
	}
	return (a->idx > b->idx) - (a->idx < b->idx);
}

/* Those not taken out yet: votes[begin, end) with their sums around the origin. */
struct rest {
	const struct fsl_vote *votes;
	size_t begin, end;
	double origin, sum, sum_squares;
};

static struct rest without(const struct rest *rest, bool is_low)
{
	struct rest left = *rest;
	size_t taken = is_low ? left.begin++ : --left.end;
	double value = rest->votes[taken].value - rest->origin;
	left.sum -= value;
	left.sum_squares -= value * value;
	return left;
}

/* Student's t of a value against those that are left. */
static double deviate_of(double value, const struct rest *left, double least_sigma)
{
	double n = (double)(left->end - left->begin);
	double mean = left->sum / n;
	double squares = fmax(0.0, left->sum_squares - left->sum * mean);
	double sigma = fmax(sqrt(squares / (n - 1.0)), least_sigma);
	return fabs(value - left->origin - mean) / (sigma * sqrt(1.0 + 1.0 / n));
}

/* Takes out the end that lies farther from the middle of all; *is_low: which one. */
static double take_farthest(struct rest *rest, double least_sigma, bool *is_low)
{
	double mean = rest->sum / (double)(rest->end - rest->begin) + rest->origin;
	double low = rest->votes[rest->begin].value, high = rest->votes[rest->end - 1].value;
	*is_low = mean - low >= high - mean;
	*rest = without(rest, *is_low);
	return deviate_of(*is_low ? low : high, rest, least_sigma);
}

size_t fsl_votes_low(struct fsl_vote *votes, size_t n, double least_sigma)
{
	size_t n_max = n >= 6 ? (n - 1) / 2 : 1, n_low = 0, n_found = 0;
	FSL_ASSERT(least_sigma > 0.0);
	qsort(votes, n, sizeof(*votes), compare_votes);
	if (n < FSL_VOTES_MIN) {
		return 0;
	}
	struct rest rest = {.votes = votes, .end = n, .origin = votes[n / 2].value};
	for (size_t i = 0; i < n; i++) {
		double value = votes[i].value - rest.origin;
		rest.sum += value;
		rest.sum_squares += value * value;
	}
	for (size_t i = 0; i < n_max; i++) {
		bool is_low = false;
		double n_left = (double)(n - i);
		double deviate = take_farthest(&rest, least_sigma, &is_low);
		n_low += is_low ? 1 : 0;
		if (deviate > DEVIATE_MIN &&
		    gsl_cdf_tdist_Q(deviate, n_left - 2.0) < 0.5 * ALPHA / n_left) {
			n_found = n_low;
		}
	}
	return n_found;
}

double fsl_votes_p(size_t n_collectives, size_t n_votes)
{
	return n_votes == 0 ? 1.0
			    : gsl_cdf_binomial_Q((unsigned int)(n_votes - 1), ALPHA_TOLD,
						 (unsigned int)n_collectives);
}

/* Distribution of the number of successes, truncated: p[EXACT_MAX] and more fall together. */
static double last_exact(const uint32_t *n_peers, size_t n, size_t n_last)
{
	double p[EXACT_MAX + 1] = {1.0};
	double beyond = 0.0;
	for (size_t i = 0; i < n; i++) {
		double chance = 1.0 / (double)n_peers[i];
		beyond += p[n_last - 1] * chance;
		for (size_t k = n_last - 1; k > 0; k--) {
			p[k] += chance * (p[k - 1] - p[k]);
		}
		p[0] -= chance * p[0];
	}
	return beyond;
}

double fsl_last_p(const uint32_t *n_peers, size_t n, size_t n_last)
{
	if (n_last == 0 || n_last > n) {
		return n_last == 0 ? 1.0 : 0.0;
	}
	if (n <= EXACT_MAX) {
		return fmin(1.0, last_exact(n_peers, n, n_last));
	}
	double mean = 0.0, share = (double)n_last / (double)n;
	for (size_t i = 0; i < n; i++) {
		mean += 1.0 / (double)n_peers[i] / (double)n;
	}
	if (share <= mean) {
		return 1.0;
	}
	double miss = share < 1.0 ? (1.0 - share) * log((1.0 - share) / (1.0 - mean)) : 0.0;
	return exp(-(double)n * (share * log(share / mean) + miss));
}

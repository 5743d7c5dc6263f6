/* The chance of so many votes, and of being last so often. */
#include "judge/votes.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "judge/limits.h"

double fsl_votes_p(size_t n_collectives, size_t n_votes)
{
	return n_votes == 0 ? 1.0
			    : gsl_cdf_binomial_Q((unsigned int)(n_votes - 1), FSL_JUDGE_VOTE_SHARE,
						 (unsigned int)n_collectives);
}

/* Distribution of the number of successes, truncated: p[FSL_JUDGE_EXACT_MAX] and more fall
 * together. */
static double last_exact(const uint32_t *n_peers, size_t n, size_t n_last)
{
	double p[FSL_JUDGE_EXACT_MAX + 1] = {1.0};
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
	if (n <= FSL_JUDGE_EXACT_MAX) {
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

/* Episodes: where a series is high most of the time. */
#include <math.h>

#include <failslow/stats.h>

#include "blame/blame.h"

double fsl_peer_level(const double *values, size_t n, double *scratch)
{
	size_t k = 0;
	for (size_t i = 0; i < n; i++) {
		if (!isnan(values[i])) {
			scratch[k++] = values[i];
		}
	}
	if (k == 0) {
		return NAN;
	}
	fsl_sort(scratch, k);
	size_t n_lower = (k + 1) / 2;
	return n_lower % 2 == 1 ? scratch[n_lower / 2]
				: (scratch[n_lower / 2 - 1] + scratch[n_lower / 2]) / 2.0;
}

static void summarise(struct fsl_episode *episode, const double *values, double threshold)
{
	double sum = 0.0;
	size_t n_seen = 0;
	for (size_t i = episode->begin; i < episode->end; i++) {
		if (!isnan(values[i])) {
			sum += values[i];
			n_seen++;
			episode->n_high += values[i] > threshold;
		}
	}
	if (n_seen > 0) {
		episode->mean_ms = sum / (double)n_seen;
		episode->persistence = (double)episode->n_high / (double)n_seen;
	}
}

struct fsl_episode fsl_episode_find(const double *values, size_t n, double threshold)
{
	struct fsl_episode best = {0};
	long best_score = 0, score = 0;
	size_t begin = 0;
	for (size_t i = 0; i < n; i++) {
		if (isnan(values[i])) {
			continue;
		}
		if (score <= 0) {
			score = 0;
			begin = i;
		}
		score += values[i] > threshold ? 1 : -1;
		if (score > best_score) {
			best_score = score;
			best.begin = begin;
			best.end = i + 1;
		}
	}
	summarise(&best, values, threshold);
	return best;
}

/* Episodes: steps in which a series is high most of the time. */
#include <math.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/sort.h"
#include "blame/blame.h"

/* Median of the lower half of @k sorted values, the one at @left_out passed over (SIZE_MAX: none).
 */
static double lower_level(const double *sorted, size_t k, size_t left_out)
{
	size_t n = k - (left_out < k);
	if (n == 0) {
		return NAN;
	}
	size_t n_lower = (n + 1) / 2;
	size_t low = (n_lower - 1) / 2, high = n_lower / 2;
	return (sorted[low + (low >= left_out)] + sorted[high + (high >= left_out)]) / 2.0;
}

/* As lower_level() of all of them, without sorting. */
double fsl_peer_level(const double *values, size_t n, double *scratch)
{
	size_t k = fsl_pack(values, n, scratch, NULL);
	size_t n_lower = (k + 1) / 2;
	if (k == 0) {
		return NAN;
	}
	double high, low = fsl_select(scratch, k, (n_lower - 1) / 2, &high);
	return n_lower % 2 == 1 ? low : (low + high) / 2.0;
}

void fsl_peer_levels(const double *values, size_t n, double *levels, double *scratch)
{
	size_t k = fsl_pack(values, n, scratch, NULL);
	fsl_sort(scratch, k);
	for (size_t i = 0; i < n; i++) {
		size_t low = 0; /* place of the value, or of the first equal one */
		FSL_BISECT(low, k, mid, scratch[mid] < values[i]);
		levels[i] = isnan(values[i]) ? NAN : lower_level(scratch, k, low);
	}
}

void fsl_episode_measure(struct fsl_episode *episode, const double *values, double threshold)
{
	double sum = 0.0;
	size_t n_seen = 0;
	*episode = (struct fsl_episode){.begin = episode->begin, .end = episode->end};
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
	FSL_ASSERT(episode->n_high <= n_seen && episode->persistence <= 1.0);
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
	fsl_episode_measure(&best, values, threshold);
	return best;
}

struct fsl_episode fsl_episode_all(const double *values, size_t n, double threshold, size_t *n_seen)
{
	struct fsl_episode episode = {.begin = n};
	double sum = 0.0;
	*n_seen = 0;
	for (size_t s = 0; s < n; s++) {
		*n_seen += isnan(values[s]) ? 0 : 1;
		if (values[s] > threshold) {
			episode.begin = episode.n_high == 0 ? s : episode.begin;
			episode.end = s + 1;
			episode.n_high++;
			sum += values[s];
		}
	}
	if (episode.n_high > 0) {
		episode.persistence =
			(double)episode.n_high / (double)(episode.end - episode.begin);
		episode.mean_ms = sum / (double)episode.n_high;
	}
	return episode;
}

double fsl_episode_by_chance(const struct fsl_episode *episode, const double *values, size_t n,
			     double threshold)
{
	size_t n_rest = 0, n_high = 0, n_inside = 0;
	for (size_t s = 0; s < n; s++) {
		bool is_seen = !isnan(values[s]);
		if (s >= episode->begin && s < episode->end) {
			n_inside += is_seen;
		} else {
			n_rest += is_seen;
			n_high += values[s] > threshold;
		}
	}
	double score = 2.0 * (double)episode->n_high - (double)n_inside;
	double share = fmin(FSL_CHANCE_SHARE_MAX, (double)(n_high + 1) / (double)(n_rest + 2));
	return (double)n * pow(share / (1.0 - share), score);
}

void fsl_blame_set_excess(const struct fsl_blame *blame, size_t rank_idx, double ratio,
			  double *excess)
{
	for (size_t s = 0; s < blame->n_steps; s++) {
		size_t at = rank_idx * blame->n_steps + s;
		excess[s] = blame->own_ms[at] - ratio * blame->reference_ms[at];
	}
}

/* Weights of the replayed steps if only some of a charge's steps were replayed. */
#include <math.h>

#include "base/log.h"
#include "blame/whatif.h"

/* Steps of one kind: all, and those replayed. */
struct kind {
	size_t n_all, n_replayed;
};

static bool is_single(const struct fsl_blame *blame, size_t rank_idx, size_t step)
{
	const struct fsl_charge *charge = &blame->charges[rank_idx];
	return charge->pattern == FSL_PATTERN_REPEATED &&
	       fsl_blame_excess_ms(blame, rank_idx, step) > charge->threshold_ms;
}

bool fsl_weigh_steps(double *weights, const struct fsl_replay *replay,
		     const struct fsl_blame *blame, size_t rank_idx, size_t begin, size_t end)
{
	struct kind kinds[2] = {{0}, {0}};
	for (size_t s = begin; s < end; s++) {
		kinds[rank_idx != SIZE_MAX && is_single(blame, rank_idx, s)].n_all++;
	}
	for (size_t i = 0; i < replay->n_steps; i++) {
		size_t s = replay->step_idx[i];
		if (s >= begin && s < end) {
			kinds[rank_idx != SIZE_MAX && is_single(blame, rank_idx, s)].n_replayed++;
		}
	}
	for (size_t i = 0; i < replay->n_steps; i++) {
		size_t s = replay->step_idx[i];
		const struct kind *kind =
			&kinds[rank_idx != SIZE_MAX && is_single(blame, rank_idx, s)];
		bool is_inside = s >= begin && s < end;
		FSL_ASSERT(!is_inside || kind->n_replayed > 0);
		weights[i] = is_inside ? (double)kind->n_all / (double)kind->n_replayed : 0.0;
	}
	for (size_t k = 0; k < 2; k++) {
		if (kinds[k].n_replayed < FSL_WEIGHED_STEPS_MIN &&
		    kinds[k].n_replayed < kinds[k].n_all) {
			return false;
		}
	}
	return kinds[0].n_replayed + kinds[1].n_replayed >= FSL_WEIGHED_STEPS_MIN;
}

double fsl_repairs_mean(const struct fsl_replay *replay, const double *step_ms,
			const double *weights)
{
	double sum_ms = 0.0, weight = 0.0;
	for (size_t i = 0; i < replay->n_steps; i++) {
		double w = weights != NULL ? weights[i] : 1.0;
		sum_ms += w * step_ms[i];
		weight += w;
	}
	return weight > 0.0 ? sum_ms / weight : NAN;
}

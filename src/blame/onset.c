/*
 * When a rank became slower: the change-point search (base/shift.h) on its own time over its
 * peers'. An episode tells that a rank is slow and over which steps, whatever the shape. If its
 * edge is a step of the level, the search places it, tells both levels, and says how likely such a
 * step is by chance. A ramp has no such edge and keeps the episode's.
 */
#include <math.h>

#include "base/log.h"
#include "base/shift.h"
#include "blame/blame.h"

static size_t distance(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* The change nearest to @edge and in the direction of it; NULL when none is near. */
static const struct fsl_shift *find_edge(const struct fsl_shifts *shifts, size_t edge, bool is_rise)
{
	const struct fsl_shift *nearest = NULL;
	for (size_t i = 0; i < shifts->n; i++) {
		const struct fsl_shift *shift = &shifts->items[i];
		bool fits = (shift->after > shift->before) == is_rise &&
			    distance(shift->at, edge) <= FSL_ONSET_EDGE_STEPS;
		if (fits &&
		    (nearest == NULL || distance(shift->at, edge) < distance(nearest->at, edge))) {
			nearest = shift;
		}
	}
	return nearest;
}

/* Changes of the level on either side of @edge, as far as the test looks. */
static enum fsl_status search(struct fsl_shifts *out, size_t *first, const struct fsl_blame *blame,
			      size_t r, size_t edge, struct fsl_error *err)
{
	const struct fsl_shift_options options = {
		.is_relative = true,
		.segment_min = FSL_ONSET_EDGE_STEPS,
		.penalty = FSL_ONSET_PENALTY,
		.sigma_min = FSL_ONSET_SIGMA_MIN,
		.change_min = FSL_ONSET_CHANGE_MIN,
		.sigmas_min = FSL_ONSET_SIGMAS_MIN,
		.sigmas_min_mean = FSL_CHANGE_SIGMAS,
		.p_max = FSL_ONSET_P_MAX,
		.side_max = FSL_ONSET_SIDE_STEPS,
		.changes_max = FSL_ONSET_CHANGES_MAX,
	};
	double ratios[2 * FSL_ONSET_SIDE_STEPS];
	size_t begin = edge > FSL_ONSET_SIDE_STEPS ? edge - FSL_ONSET_SIDE_STEPS : 0, n = 0;
	for (size_t s = begin; s < blame->n_steps && n < 2 * FSL_ONSET_SIDE_STEPS; s++) {
		size_t at = r * blame->n_steps + s;
		ratios[n++] = blame->own_ms[at] / blame->reference_ms[at];
	}
	*first = begin;
	return fsl_shifts_find(out, ratios, n, &options, err);
}

/* *@onset filled and *@step the first step behind the edge when there is a change of the level. */
static enum fsl_status find_at(struct fsl_onset *onset, size_t *step, const struct fsl_blame *blame,
			       size_t r, size_t edge, bool is_rise, struct fsl_error *err)
{
	struct fsl_shifts shifts = {0};
	size_t first = 0;
	FSL_TRY(search(&shifts, &first, blame, r, edge, err));
	const struct fsl_shift *found = find_edge(&shifts, edge - first, is_rise);
	if (found != NULL) {
		*step = first + found->at;
		FSL_ASSERT(*step < blame->n_steps && found->p_value <= 1.0);
		*onset = (struct fsl_onset){
			.is_known = true,
			.healthy_ratio = is_rise ? found->before : found->after,
			.slow_ratio = is_rise ? found->after : found->before,
			.p_value = found->p_value,
		};
	}
	fsl_shifts_fini(&shifts);
	return FSL_OK;
}

enum fsl_status fsl_onset_find(struct fsl_onset *onset, struct fsl_episode *episode,
			       const struct fsl_blame *blame, size_t rank_idx,
			       struct fsl_error *err)
{
	size_t begin = episode->begin, end = episode->end;
	*onset = (struct fsl_onset){.is_known = false};
	enum fsl_status status = find_at(onset, &begin, blame, rank_idx, begin, true, err);
	if (status == FSL_OK && onset->is_known) {
		episode->begin = begin < end ? begin : episode->begin;
		return FSL_OK;
	}
	/* Slow from the first step on: what tells is how it got well. */
	return status == FSL_OK && end < blame->n_steps
		       ? find_at(onset, &end, blame, rank_idx, end, false, err)
		       : status;
}

void fsl_onsets_accept(struct fsl_blame *blame, double *work)
{
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_onset *onset = &blame->charges[r].onset;
		work[r] = onset->is_known ? onset->p_value : 1.0;
	}
	double p_max = fsl_p_limit(work, blame->n_ranks, FSL_ONSET_FALSE_SHARE_MAX);
	for (size_t r = 0; r < blame->n_ranks; r++) {
		struct fsl_onset *onset = &blame->charges[r].onset;
		onset->is_known = onset->is_known && onset->p_value <= p_max;
	}
}

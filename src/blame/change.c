/*
 * Changes: whether a rank became slower, or the ranks that it is compared with seem to be faster.
 */
#include <math.h>

#include <failslow/stats.h>

#include "blame/blame.h"

double fsl_episode_rise(const struct fsl_episode *episode, const double *values, size_t n,
			size_t *n_least, double *work)
{
	size_t n_inside = 0, n_rest = 0;
	for (size_t s = episode->begin; s < episode->end; s++) {
		if (!isnan(values[s])) {
			work[n_inside++] = values[s];
		}
	}
	double inside = fsl_median(work, n_inside, work + n);
	for (size_t s = 0; s < n; s++) {
		if (!isnan(values[s]) && (s < episode->begin || s >= episode->end)) {
			work[n_rest++] = values[s];
		}
	}
	*n_least = n_inside < n_rest ? n_inside : n_rest;
	return n_rest < FSL_REST_STEPS_MIN ? NAN : inside - fsl_median(work, n_rest, work + n);
}

bool fsl_change_is_own(const struct fsl_blame *blame, size_t rank_idx,
		       const struct fsl_episode *episode, double rise_ms, double least_ms,
		       double *work)
{
	size_t n_least = 0, n = blame->n_steps;
	double own_ms = fsl_episode_rise(episode, blame->own_ms + rank_idx * n, n, &n_least, work);
	double step_ms = fsl_episode_rise(episode, blame->step_dur_ms, n, &n_least, work);
	if (own_ms > FSL_COMMON_MULTIPLE * rise_ms && step_ms < 0.0) {
		return false;
	}
	bool is_seen = own_ms >= least_ms && step_ms >= FSL_EXPLAINED_SHARE_MIN * own_ms &&
		       own_ms >= FSL_EXPLAINED_SHARE_MIN * step_ms;
	return is_seen || own_ms >= FSL_EXPLAINED_SHARE_MIN * rise_ms;
}

/* Flags the steps in which some rank is charged with a change. False: there are none. */
static bool flag_changed(bool *is_changed, const struct fsl_blame *blame)
{
	bool has_any = false;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_charge *charge = &blame->charges[r];
		if (!charge->is_change) {
			continue;
		}
		has_any = true;
		for (size_t s = charge->episode.begin; s < charge->episode.end; s++) {
			is_changed[s] = true;
		}
	}
	return has_any;
}

static bool is_beside(const struct fsl_episode *episode, const bool *is_changed)
{
	size_t n = 0;
	for (size_t s = episode->begin; s < episode->end; s++) {
		n += is_changed[s];
	}
	return (double)n >= FSL_CHANGE_BESIDE_SHARE_MIN * (double)(episode->end - episode->begin);
}

/* @work: 3 * steps. */
static bool seems_changed(const struct fsl_blame *blame, size_t r, const bool *is_changed,
			  double *work)
{
	const struct fsl_charge *charge = &blame->charges[r];
	double *excess = work + 2 * blame->n_steps;
	size_t n_least = 0;
	if (charge->pattern == FSL_PATTERN_NONE || charge->is_change ||
	    !is_beside(&charge->episode, is_changed)) {
		return false;
	}
	fsl_blame_set_excess(blame, r, 1.0, excess);
	double rise_ms = fsl_episode_rise(&charge->episode, excess, blame->n_steps, &n_least, work);
	return rise_ms >= charge->threshold_ms &&
	       !fsl_change_is_own(blame, r, &charge->episode, rise_ms, charge->threshold_ms, work);
}

enum fsl_status fsl_changes_leave_own(struct fsl_blame *blame, struct fsl_error *err)
{
	double *work = fsl_calloc(3 * blame->n_steps + 1, sizeof(*work));
	bool *is_changed = fsl_calloc(blame->n_steps + 1, sizeof(*is_changed));
	bool is_short = work == NULL || is_changed == NULL;
	if (!is_short && flag_changed(is_changed, blame)) {
		for (size_t r = 0; r < blame->n_ranks; r++) {
			struct fsl_charge *charge = &blame->charges[r];
			if (seems_changed(blame, r, is_changed, work)) {
				*charge = (struct fsl_charge){.threshold_ms = charge->threshold_ms,
							      .last_share = charge->last_share,
							      .late_ms_per_step =
								      charge->late_ms_per_step};
			}
		}
	}
	fsl_free(is_changed);
	fsl_free(work);
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", blame->n_steps)
			: FSL_OK;
}

/* How much longer steps take with a lasting fault: what it can cost at most, and at least. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "blame/fuse_parts.h"
#include "blame/verify.h"

/* Gathers the times of the steps outside of [begin, end). */
static size_t list_outside(double *out, const struct fsl_blame *blame, size_t begin, size_t end)
{
	size_t n = 0;
	for (size_t s = 0; s < blame->n_steps; s++) {
		if ((s < begin || s >= end) && !isnan(blame->step_dur_ms[s])) {
			out[n++] = blame->step_dur_ms[s];
		}
	}
	return n;
}

/* Infinite if it is not known. */
static double rise_ms(const struct fsl_blame *blame, const struct fsl_charge *charge)
{
	size_t begin = charge->episode.begin, end = charge->episode.end;
	double *times = fsl_calloc(2 * blame->n_steps, sizeof(*times));
	size_t n = times != NULL ? list_outside(times, blame, begin, end) : 0;
	double rise = (double)INFINITY;
	if (n >= FSL_RISE_STEPS_MIN && end > begin) {
		double *scratch = times + blame->n_steps;
		double healthy = fsl_percentile(times, n, FSL_RISE_HEALTHY_PERCENT, scratch);
		rise = fsl_median(blame->step_dur_ms + begin, end - begin, scratch) - healthy;
	}
	fsl_free(times);
	return rise;
}

/* Whether no other rank changed in a good part of the episode. */
static bool is_only_change(const struct fsl_blame *blame, const struct fsl_charge *charge)
{
	const struct fsl_episode *episode = &charge->episode;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_charge *other = &blame->charges[r];
		size_t begin = other->episode.begin > episode->begin ? other->episode.begin
								     : episode->begin;
		size_t end = other->episode.end < episode->end ? other->episode.end : episode->end;
		bool is_beside = other != charge && other->is_change && end > begin;
		if (is_beside &&
		    (double)(end - begin) >
			    FSL_RISE_BESIDE_SHARE_MAX * (double)(episode->end - episode->begin)) {
			return false;
		}
	}
	return true;
}

double fsl_fuse_least_loss(const struct fsl_case *facts, const struct fsl_charge *charge)
{
	const struct fsl_blame *blame = facts->blame;
	if (!facts->own->has_async || !charge->is_change ||
	    charge->pattern != FSL_PATTERN_LASTING || !is_only_change(blame, charge)) {
		return 0.0;
	}
	size_t n_least = 0;
	double *work = fsl_calloc(2 * blame->n_steps + 1, sizeof(*work));
	double rise = work != NULL ? fsl_episode_rise(&charge->episode, blame->step_dur_ms,
						      blame->n_steps, &n_least, work)
				   : (double)NAN;
	double excess = charge->episode.mean_ms;
	fsl_free(work);
	bool is_seen = n_least >= FSL_RISE_STEPS_MIN && rise >= FSL_EXPLAINED_SHARE_MIN * excess &&
		       excess >= FSL_EXPLAINED_SHARE_MIN * rise;
	return is_seen ? fmin(rise, excess) : 0.0;
}

/* True if the ranks were slow one after the other. */
static bool took_turns(const struct fsl_charge *a, const struct fsl_charge *b)
{
	return b->pattern == FSL_PATTERN_LASTING &&
	       (b->episode.begin >= a->episode.end || b->episode.end <= a->episode.begin);
}

/* How much longer steps are while the rank is slow than while no rank is that takes turns with it;
 * NaN if there are too few of these. */
static double rise_by(const struct fsl_blame *blame, const struct fsl_charge *charge)
{
	size_t n = blame->n_steps, n_least = 0;
	double *durs_ms = fsl_calloc(3 * n + 1, sizeof(*durs_ms)), rise_ms = NAN;
	if (durs_ms == NULL) {
		return NAN;
	}
	memcpy(durs_ms, blame->step_dur_ms, n * sizeof(*durs_ms));
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_charge *other = &blame->charges[r];
		for (size_t s = other->episode.begin;
		     took_turns(charge, other) && s < other->episode.end; s++) {
			durs_ms[s] = NAN;
		}
	}
	rise_ms = fsl_episode_rise(&charge->episode, durs_ms, n, &n_least, durs_ms + n);
	fsl_free(durs_ms);
	return rise_ms;
}

/* True if a change is lasting and no replay proves its cost. */
static bool is_unproven(const struct fsl_case *facts, size_t r)
{
	return facts->blame->charges[r].pattern == FSL_PATTERN_LASTING &&
	       fsl_proof_of_rank(facts->verification, r) == NULL;
}

/* True if no other rank lost more in the same steps. */
static bool is_largest(const struct fsl_blame *blame, const struct fsl_charge *charge)
{
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_charge *other = &blame->charges[r];
		if (other->pattern == FSL_PATTERN_LASTING && !took_turns(charge, other) &&
		    other->episode.mean_ms > charge->episode.mean_ms) {
			return false;
		}
	}
	return true;
}

bool fsl_fuse_is_costless_change(const struct fsl_case *facts, size_t r, double least_ms)
{
	return is_unproven(facts, r) &&
	       rise_by(facts->blame, &facts->blame->charges[r]) < FSL_NOTED_LOSS_SHARE * least_ms;
}

double fsl_fuse_unexplained_rise_ms(const struct fsl_case *facts, size_t r)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	if (!is_unproven(facts, r) || !is_largest(facts->blame, charge)) {
		return 0.0;
	}
	double rise = rise_by(facts->blame, charge);
	return charge->episode.mean_ms < FSL_RISE_EXPLAINED_MIN * rise ? rise : 0.0;
}

static double bound(double lost_ms, double rise)
{
	return rise >= FSL_RISE_SHARE_MIN * lost_ms ? fmin(lost_ms, rise) : lost_ms;
}

double fsl_fuse_bound_loss(const struct fsl_blame *blame, const struct fsl_charge *charge,
			   double lost_ms)
{
	return charge->pattern == FSL_PATTERN_LASTING ? bound(lost_ms, rise_ms(blame, charge))
						      : lost_ms;
}

/* True when no step of a chapter that begins at @begin_ns is without them. */
static bool are_throughout(const struct fsl_localisation *verdict, int64_t begin_ns)
{
	for (size_t i = 0; i < verdict->n_culprits; i++) {
		const struct fsl_culprit *culprit = &verdict->culprits[i];
		bool is_earlier =
			culprit->onset_ns == FSL_NS_ABSENT || culprit->onset_ns <= begin_ns;
		if (!is_earlier || culprit->until_step >= 0) {
			return false;
		}
	}
	return verdict->n_culprits > 0;
}

void fsl_fuse_bound_by_past(struct fsl_localisation *out, double before_ms, int64_t begin_ns)
{
	double rise = out->step_ms - before_ms;
	double lost_ms = bound(out->lost_ms_per_step, rise);
	bool is_named = out->kind == FSL_VERDICT_SLOW_RANK || out->kind == FSL_VERDICT_SLOW_HOST;
	if (!is_named || !are_throughout(out, begin_ns) || !(lost_ms < out->lost_ms_per_step)) {
		return;
	}
	out->lost_ms_per_step = lost_ms;
	out->slowdown = out->step_ms / (out->step_ms - lost_ms);
	for (size_t i = 0; i < out->n_culprits; i++) {
		struct fsl_culprit *culprit = &out->culprits[i];
		culprit->lost_ms_per_step = bound(culprit->lost_ms_per_step, rise);
		culprit->share_of_loss = fmin(1.0, culprit->lost_ms_per_step / lost_ms);
	}
}

/* Doubts: why a rank that is slower than its peers is not named. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "blame/fuse_parts.h"
#include "blame/verify.h"

double fsl_fuse_loss_of_rank(const struct fsl_case *facts, size_t r)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	const struct fsl_proof *proof = fsl_proof_of_rank(facts->verification, r);
	return proof != NULL ? fmax(proof->cost_ms, fsl_fuse_least_loss(facts, charge))
			     : charge->lost_ms_per_step;
}

static bool is_near(size_t a, size_t b)
{
	return (a > b ? a - b : b - a) <= FSL_TOGETHER_STEPS;
}

/* Both became slower at the same time, for as long, and by a like share of their peers' level. */
static bool changed_together(const struct fsl_charge *a, const struct fsl_charge *b)
{
	double rise_a = a->own_ms / a->peers_ms - 1.0, rise_b = b->own_ms / b->peers_ms - 1.0;
	return a->pattern == FSL_PATTERN_LASTING && a->is_change &&
	       b->pattern == FSL_PATTERN_LASTING && b->is_change &&
	       is_near(a->episode.begin, b->episode.begin) &&
	       is_near(a->episode.end, b->episode.end) &&
	       fmax(rise_a, rise_b) <= FSL_TOGETHER_RATIO_MAX * fmin(rise_a, rise_b);
}

/* How much longer the rank's own time is in the episode of its charge than outside of it. */
static double own_rise(const struct fsl_case *facts, size_t r)
{
	const struct fsl_blame *blame = facts->blame;
	const struct fsl_episode *episode = &blame->charges[r].episode;
	const double *own_ms = blame->own_ms + r * blame->n_steps;
	double *outside_ms = fsl_calloc(2 * blame->n_steps + 1, sizeof(*outside_ms));
	if (outside_ms == NULL) {
		return NAN;
	}
	double *scratch = outside_ms + blame->n_steps;
	double inside = fsl_median(own_ms + episode->begin, episode->end - episode->begin, scratch);
	for (size_t s = 0; s < blame->n_steps; s++) {
		outside_ms[s] = s >= episode->begin && s < episode->end ? NAN : own_ms[s];
	}
	double rise = inside / fsl_median(outside_ms, blame->n_steps, scratch) - 1.0;
	fsl_free(outside_ms);
	return rise;
}

/* Two ranks of one host that became slower by the same factor. */
static bool is_host_change(const struct fsl_case *facts, size_t a, size_t b)
{
	double rise_a = own_rise(facts, a), rise_b = own_rise(facts, b);
	return strcmp(facts->run->ranks[a].server_ip, facts->run->ranks[b].server_ip) == 0 &&
	       fmax(rise_a, rise_b) <= FSL_TOGETHER_HOST_RATIO_MAX * fmin(rise_a, rise_b);
}

/*
 * A rank that changed together with one that by itself costs what counts; the set costs no less.
 * Noise decides which member of a set is last in a step, so that the cost of each scatters around
 * what counts and that of the set does not.
 */
static bool is_member(const struct fsl_case *facts, size_t r, double least_ms)
{
	const struct fsl_charge *charges = facts->blame->charges;
	bool is_found = false,
	     is_costly = fsl_fuse_loss_of_rank(facts, r) >= FSL_NOTED_LOSS_SHARE * least_ms;
	if (charges[r].lost_ms_per_step < least_ms) {
		return false;
	}
	for (size_t k = 0; k < facts->blame->n_ranks && !is_found; k++) {
		is_found = k != r && changed_together(&charges[k], &charges[r]) &&
			   !(charges[k].last_share < FSL_WAITED_SHARE_MIN) &&
			   fsl_fuse_loss_of_rank(facts, k) >= least_ms &&
			   (is_costly || is_host_change(facts, k, r));
	}
	return is_found;
}

/* Slower all along by no more than devices may be. */
static bool is_uneven_device(const struct fsl_case *facts, size_t r)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	bool is_level = charge->pattern == FSL_PATTERN_LASTING && !charge->is_change;
	return is_level && fsl_blame_is_uneven(facts->blame, r);
}

static bool is_uneven_work(const struct fsl_case *facts, size_t r)
{
	double spread = facts->blame->spread[facts->blame->peers.class_of[r]];
	return facts->blame->charges[r].pattern == FSL_PATTERN_REPEATED &&
	       spread >= FSL_WORK_SPREAD_MIN;
}

bool fsl_fuse_is_doubted(const struct fsl_case *facts, size_t r)
{
	return is_uneven_device(facts, r) || is_uneven_work(facts, r);
}

const char *fsl_fuse_doubt(struct fsl_localisation *out, const struct fsl_case *facts, size_t r,
			   double least_ms, double pauses_ms)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	bool is_costly =
		fsl_fuse_loss_of_rank(facts, r) >= least_ms || is_member(facts, r, least_ms);
	if (charge->lost_ms_per_step >= least_ms && !is_costly) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, but replayed with all others at "
			"their level the job loses %.1f ms per step by it, less than the %.1f ms "
			"that count",
			charge->lost_ms_per_step, fsl_fuse_loss_of_rank(facts, r), least_ms);
	}
	if (!is_costly) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, less than the %.1f "
			"ms that count",
			charge->lost_ms_per_step, least_ms);
	}
	if (is_uneven_device(facts, r)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers without a change of its own, and "
			"no clear gap to them: uneven devices rather than a slow one",
			charge->own_ms - charge->peers_ms);
	}
	if (is_uneven_work(facts, r)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers in single steps, but their work "
			"differs by %.0f %% in every step",
			charge->lost_ms_per_step,
			100.0 * facts->blame->spread[facts->blame->peers.class_of[r]]);
	}
	size_t begin = 0, end = 0;
	fsl_charge_range(charge, facts->blame->n_steps, &begin, &end);
	FSL_ASSERT(begin < end && end <= facts->blame->n_steps);
	double range_share = (double)(end - begin) / (double)facts->blame->n_steps;
	if (charge->pattern == FSL_PATTERN_REPEATED &&
	    charge->lost_ms_per_step * range_share < FSL_PAUSES_COST_MIN * pauses_ms) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers in single steps, a small part "
			"of the %.1f ms that such steps of all ranks cost",
			charge->lost_ms_per_step, pauses_ms);
	}
	if (charge->last_share < FSL_WAITED_SHARE_MIN && !is_member(facts, r, least_ms)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, but nobody waits "
			"for it in %.0f %% of these steps",
			charge->lost_ms_per_step, 100.0 * (1.0 - charge->last_share));
	}
	return NULL;
}

/* Names culprits from charges and links. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "blame/cause.h"
#include "blame/fuse_parts.h"
#include "blame/link.h"
#include "blame/verify.h"
#include "blame/whatif.h"

/* Doubts: why a rank that is slower than its peers is not named. */

/* Cost of a charged rank per step, ms: as replayed, or at least as fsl_fuse_least_loss; else as
 * charged. */
static double loss_of_rank(const struct fsl_case *facts, size_t r)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	const struct fsl_proof *proof = fsl_proof_of_rank(facts->verification, r);
	double lost_ms = proof != NULL ? fmax(proof->cost_ms, fsl_fuse_least_loss(facts, charge))
				       : charge->lost_ms_per_step;
	return fmax(lost_ms, charge->arrival_ms);
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
	     is_costly = loss_of_rank(facts, r) >= FSL_NOTED_LOSS_SHARE * least_ms;
	if (charges[r].lost_ms_per_step < least_ms) {
		return false;
	}
	for (size_t k = 0; k < facts->blame->n_ranks && !is_found; k++) {
		is_found = k != r && changed_together(&charges[k], &charges[r]) &&
			   !(charges[k].last_share < FSL_WAITED_SHARE_MIN) &&
			   loss_of_rank(facts, k) >= least_ms &&
			   (is_costly || is_host_change(facts, k, r));
	}
	return is_found;
}

/* Slower all along by no more than devices may be. */
static bool is_uneven_device(const struct fsl_case *facts, size_t r)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	bool is_level = charge->pattern == FSL_PATTERN_LASTING && !charge->is_change;
	bool is_cloud = fsl_peers_n(&facts->blame->peers, r) >= FSL_FAR_RANKS_MIN;
	bool is_apart =
		is_cloud ? fsl_blame_is_apart(facts->blame, r) : fsl_own_is_work(facts->own);
	return is_level && (fsl_blame_is_uneven(facts->blame, r) || !is_apart);
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

/*
 * Slower all along, in a job whose hosts all launch work just in time: there the slowest host sets
 * the pace, and hosts differ. A queue ahead of the devices hides that elsewhere.
 */
static bool is_uneven_host(const struct fsl_case *facts, size_t r)
{
	const struct fsl_blame *blame = facts->blame;
	const struct fsl_charge *charge = &blame->charges[r];
	size_t n_members = fsl_peers_n(&blame->peers, r), n = 0;
	const uint32_t *members =
		blame->peers.members + blame->peers.begin[blame->peers.class_of[r]];
	double queues_ms[FSL_HOSTS_ASKED_MAX], scratch[FSL_HOSTS_ASKED_MAX];
	if (charge->pattern != FSL_PATTERN_LASTING || charge->is_change ||
	    loss_of_rank(facts, r) >= FSL_HOSTS_LOSS_SHARE_MIN * blame->step_ms) {
		return false;
	}
	for (size_t m = 0; m < n_members; m += n_members / FSL_HOSTS_ASKED_MAX + 1) {
		queues_ms[n++] = fsl_cause_launch_ms(facts, members[m], 0, blame->n_steps);
	}
	return fsl_median(queues_ms, n, scratch) < FSL_HOSTS_QUEUE_SHARE_MAX * blame->step_ms;
}

/* Mean excess of a rank over the seen ones of steps [begin, end); NaN without any. */
static double mean_excess_ms(const struct fsl_blame *blame, size_t r, size_t begin, size_t end)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t s = begin; s < end; s++) {
		double excess_ms = fsl_blame_excess_ms(blame, r, s);
		if (!isnan(excess_ms)) {
			sum += excess_ms;
			n++;
		}
	}
	return n > 0 ? sum / (double)n : NAN;
}

/*
 * The whole class of the rank grew by as much, and most of it costs nothing: its ranks wait for
 * something that they share, and chance says who of them is the last.
 */
static bool is_one_of_a_class(const struct fsl_case *facts, size_t r, double least_ms)
{
	const struct fsl_peers *peers = &facts->blame->peers;
	const struct fsl_episode *shift = &facts->blame->shifts[peers->class_of[r]];
	const uint32_t *members = peers->members + peers->begin[peers->class_of[r]];
	double excess_ms = mean_excess_ms(facts->blame, r, shift->begin, shift->end);
	size_t n_alike = 0, n = fsl_peers_n(peers, r);
	for (size_t m = 0; m < n && shift->begin < shift->end; m++) {
		n_alike += loss_of_rank(facts, members[m]) < least_ms &&
			   mean_excess_ms(facts->blame, members[m], shift->begin, shift->end) >=
				   FSL_CLASS_ALIKE_SHARE * excess_ms;
	}
	return 2 * n_alike > n;
}

/* Slow all along by gaps beneath which ranks may work, while neither a replay nor arrivals tell the
 * same. */
static bool is_unproven_level(const struct fsl_case *facts, size_t r)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	return charge->pattern == FSL_PATTERN_LASTING && !charge->is_change &&
	       fsl_proof_of_rank(facts->verification, r) == NULL && fsl_blame_work_may_hide(facts);
}

/* Likewise as doubt_about(), what step times and gaps tell of a rank whose cost no replay proves.
 */
static const char *doubt_without_proof(struct fsl_localisation *out, const struct fsl_case *facts,
				       size_t r, double least_ms)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	if (fsl_fuse_is_costless_change(facts, r, least_ms)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers for a while, but steps took no "
			"longer then",
			charge->lost_ms_per_step);
	}
	double rise_ms = fsl_fuse_unexplained_rise_ms(facts, r);
	if (rise_ms > 0.0) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers for a while, a small part of the "
			"%.1f ms that steps took longer then",
			charge->episode.mean_ms, rise_ms);
	}
	if (is_unproven_level(facts, r)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers all along, but by gaps beneath "
			"which ranks may work, and no replay tells what they cost",
			charge->own_ms - charge->peers_ms);
	}
	return NULL;
}

/*
 * Why the charge of a rank is not enough to name it, in one clause in the verdict's arena; NULL
 * when it is. @least_ms: the loss per step that counts; @pauses_ms: fsl_fuse_pauses_ms().
 */
static const char *doubt_about(struct fsl_localisation *out, const struct fsl_case *facts, size_t r,
			       double least_ms, double pauses_ms)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	bool is_costly = loss_of_rank(facts, r) >= least_ms || is_member(facts, r, least_ms);
	if (charge->lost_ms_per_step >= least_ms && !is_costly) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, but replayed with all others at "
			"their level the job loses %.1f ms per step by it, less than the %.1f ms "
			"that count",
			charge->lost_ms_per_step, loss_of_rank(facts, r), least_ms);
	}
	if (!is_costly) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, less than the %.1f "
			"ms that count",
			charge->lost_ms_per_step, least_ms);
	}
	if (is_uneven_host(facts, r)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers all along, but no host of theirs "
			"launches work ahead: hosts that differ rather than a slow one",
			charge->own_ms - charge->peers_ms);
	}
	if (charge->is_certain) {
		return NULL;
	}
	const char *why_unproven = doubt_without_proof(out, facts, r, least_ms);
	if (why_unproven != NULL) {
		return why_unproven;
	}
	if (is_one_of_a_class(facts, r, least_ms)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its own past, as that of all its peers, "
			"most of which cost nothing",
			charge->own_ms - charge->peers_ms);
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

/* The next-best suspect: the rank that comes after the culprits, and why it is none of them. */

/* Why a rank with this excess is not named: the first reason that holds. Text of @arena. */
static const char *why_not(struct fsl_arena *arena, const struct fsl_case *facts, size_t r,
			   double excess_ms)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	double least_ms = fsl_least_loss_ms(facts->config, facts->blame->step_ms);
	if (excess_ms < least_ms) {
		return fsl_arena_printf(arena, "below the threshold of %.1f ms", least_ms);
	}
	if (charge->pattern == FSL_PATTERN_NONE) {
		return "in a few of these steps only";
	}
	if (!charge->is_change && fsl_blame_is_uneven(facts->blame, r)) {
		return "within what healthy devices may differ by";
	}
	return "the others hardly waited for it";
}

enum fsl_status fsl_fuse_runner_up(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err)
{
	const struct fsl_blame *blame = facts->blame;
	struct fsl_culprit *worst = &out->culprits[0];
	size_t worst_idx = fsl_run_rank_idx(facts->run, worst->rank), next_idx = SIZE_MAX;
	if (worst->cause == FSL_CAUSE_NETWORK || worst_idx == SIZE_MAX) {
		return FSL_OK;
	}
	bool *is_named = NULL;
	FSL_TRY(fsl_fuse_named(&is_named, out, facts->run, err));
	const struct fsl_episode *episode = &blame->charges[worst_idx].episode;
	double most_ms = 0.0;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		double ms = mean_excess_ms(blame, r, episode->begin, episode->end);
		if (!is_named[r] && ms > most_ms) {
			most_ms = ms;
			next_idx = r;
		}
	}
	if (next_idx != SIZE_MAX) {
		fsl_culprit_add_fact(worst, "next_excess", most_ms, "ms");
		worst->reason = fsl_arena_printf(
			&out->arena, "%s; next highest: rank %" PRId32 " (+%.1f ms), %s",
			worst->reason, facts->run->ranks[next_idx].rank, most_ms,
			why_not(&out->arena, facts, next_idx, most_ms));
	}
	return FSL_OK;
}

enum fsl_status fsl_fuse_named(bool **is_named, struct fsl_localisation *out,
			       const struct fsl_run *run, struct fsl_error *err)
{
	FSL_TRY(FSL_ARENA_NEW(*is_named, &out->arena, run->n_ranks, "is_named", err));
	for (size_t i = 0; i < out->n_culprits; i++) {
		size_t r = fsl_run_rank_idx(run, out->culprits[i].rank);
		if (r != SIZE_MAX) {
			(*is_named)[r] = true;
		}
	}
	return FSL_OK;
}

/* Median measured step time over [begin, end). */
static double step_level_ms(const struct fsl_blame *blame, size_t begin, size_t end)
{
	double *scratch = fsl_calloc(end - begin, sizeof(*scratch));
	double level = scratch != NULL
			       ? fsl_median(blame->step_dur_ms + begin, end - begin, scratch)
			       : blame->step_ms;
	fsl_free(scratch);
	return level;
}

static double step_of_charge_ms(const struct fsl_blame *blame, const struct fsl_charge *charge)
{
	return charge->pattern == FSL_PATTERN_LASTING
		       ? step_level_ms(blame, charge->episode.begin, charge->episode.end)
		       : blame->step_ms;
}

/* Steps behind an episode that must be calm before it counts as over: the capture may end in the
 * middle of it. */
static size_t calm_steps(const struct fsl_episode *episode, enum fsl_pattern pattern)
{
	if (pattern != FSL_PATTERN_REPEATED || episode->n_high < 2) {
		return FSL_EPISODE_TAIL_STEPS;
	}
	return FSL_REPEATS_MISSED * (episode->end - episode->begin) / (episode->n_high - 1);
}

/* Onset and end of an episode in the job's steps and time. */
static void set_onset(struct fsl_culprit *culprit, const struct fsl_steps *steps,
		      const struct fsl_episode *episode, enum fsl_pattern pattern)
{
	culprit->onset_step = steps->items[episode->begin].step;
	culprit->onset_ns = steps->items[episode->begin].begin_ns;
	if (episode->end + calm_steps(episode, pattern) < steps->n_items) {
		culprit->until_step = steps->items[episode->end].step;
	}
}

/* Persistence, how clearly others waited, and how far the loss is above what counts. */
static double confidence_of(double persistence, double last_share, double lost_ms, double least_ms)
{
	double waited = isnan(last_share) ? FSL_CONFIDENCE_WAITED_UNSEEN : last_share;
	double clear = (lost_ms / least_ms - 1.0) /
		       (FSL_CONFIDENCE_CLEAR_TIMES - 1); /* 0 at the least loss */
	FSL_ASSERT(persistence >= 0.0 && persistence <= 1.0 && !(waited > 1.0));
	double size =
		fmin(1.0, FSL_CONFIDENCE_LEAST_LOSS + (1.0 - FSL_CONFIDENCE_LEAST_LOSS) * clear);
	return fmin(FSL_CONFIDENCE_MAX, persistence * waited * size);
}

static void add_clues(struct fsl_culprit *culprit, const struct fsl_charge *charge,
		      const struct fsl_cause_clues *clues)
{
	fsl_culprit_add_fact(culprit, "own", charge->own_ms, "ms");
	fsl_culprit_add_fact(culprit, "peers", charge->peers_ms, "ms");
	fsl_culprit_add_known(culprit, FSL_FACT_OWN_RATIO, charge->own_ms / charge->peers_ms);
	fsl_culprit_add_fact(culprit, "high_steps", (double)charge->episode.n_high, "count");
	fsl_culprit_add_known(culprit, FSL_FACT_PERSISTENCE, charge->episode.persistence);
	if (!isnan(charge->last_share)) {
		fsl_culprit_add_fact(culprit, "waited_for", charge->last_share, "share");
	}
	if (charge->onset.is_known) {
		fsl_culprit_add_known(culprit, FSL_FACT_BEFORE, charge->onset.healthy_ratio);
		fsl_culprit_add_known(culprit, FSL_FACT_AFTER, charge->onset.slow_ratio);
		fsl_culprit_add_fact(culprit, "onset", charge->onset.p_value, "p");
	}
	if (!isnan(clues->head_ms)) {
		fsl_culprit_add_fact(culprit, "step_head_excess",
				     clues->head_ms - clues->head_peers_ms, "ms");
		fsl_culprit_add_fact(culprit, "step_body_excess",
				     clues->body_ms - clues->body_peers_ms, "ms");
	}
	if (!isnan(clues->launch_ms) && !isnan(clues->launch_peers_ms)) {
		fsl_culprit_add_fact(culprit, "launch", clues->launch_ms, "ms");
		fsl_culprit_add_fact(culprit, "launch_peers", clues->launch_peers_ms, "ms");
	}
	if (!isnan(clues->ckpt_share)) {
		fsl_culprit_add_fact(culprit, "at_checkpoint", clues->ckpt_share, "share");
	}
}

static enum fsl_status add_unconfirmed(struct fsl_localisation *out, const struct fsl_case *facts,
				       size_t r, const char *reason, struct fsl_error *err)
{
	struct fsl_suspect suspect = {.rank = facts->run->ranks[r].rank,
				      .late_ms_per_step = facts->blame->charges[r].late_ms_per_step,
				      .detector = FSL_OWN_TIME_DETECTOR,
				      .reason = reason};
	return FSL_APPEND(out, unconfirmed, &suspect, err);
}

static const char *reason_of(struct fsl_localisation *out, const struct fsl_charge *charge,
			     const struct fsl_cause_clues *clues, bool has_peers)
{
	static const char *const where[FSL_CAUSES_N] = {
		[FSL_CAUSE_COMPUTE] = "throughout the step, with work queued ahead of the device",
		[FSL_CAUSE_HOST] = "because work does not reach the device in time",
		[FSL_CAUSE_DATALOADER] = "before the first operator of the step only",
		[FSL_CAUSE_STORAGE] = "where checkpoints are written",
		[FSL_CAUSE_NETWORK] = "in transfer",
	};
	const char *place = where[clues->cause];
	if (clues->is_unrecorded) {
		place = "with time that no recorded stage explains";
	} else if (clues->cause == FSL_CAUSE_COMPUTE && clues->other_cause < FSL_CAUSES_N) {
		place = "before the first operator of the step, where data loading looks the same";
	}
	return fsl_arena_printf(
		&out->arena, "own work takes %.1f ms per step against %.1f ms of %s, %s",
		charge->own_ms, charge->peers_ms, has_peers ? "its peers" : "its own past", place);
}

static enum fsl_status name_rank(struct fsl_localisation *out, const struct fsl_case *facts,
				 size_t r, double least_ms, struct fsl_error *err)
{
	const struct fsl_blame *blame = facts->blame;
	const struct fsl_charge *charge = &blame->charges[r];
	struct fsl_cause_clues clues = fsl_cause_find(facts, r, charge);
	if ((facts->config->causes & (UINT32_C(1) << clues.cause)) == 0) {
		return add_unconfirmed(out, facts, r,
				       "its cause is not among the configured causes", err);
	}
	uint32_t class_idx = blame->peers.class_of[r];
	bool has_peers = fsl_peers_n(&blame->peers, r) > 1 &&
			 blame->shifts[class_idx].begin == blame->shifts[class_idx].end;
	struct fsl_culprit culprit = fsl_culprit_of(facts->run->ranks[r].rank);
	culprit.server_ip = facts->run->ranks[r].server_ip;
	culprit.cause = clues.cause;
	culprit.other_cause = clues.other_cause;
	culprit.lost_ms_per_step = fsl_fuse_bound_loss(blame, charge, loss_of_rank(facts, r));
	set_onset(&culprit, facts->steps, &charge->episode, charge->pattern);
	bool is_lasting = charge->pattern == FSL_PATTERN_LASTING;
	culprit.confidence =
		confidence_of(is_lasting ? charge->episode.persistence : FSL_CONFIDENCE_REPEATED,
			      charge->last_share, culprit.lost_ms_per_step, least_ms);
	culprit.reason = reason_of(out, charge, &clues, has_peers);
	add_clues(&culprit, charge, &clues);
	return FSL_APPEND(out, culprits, &culprit, err);
}

static enum fsl_status name_ranks(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	double pauses_ms = fsl_fuse_pauses_ms(facts);
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		const struct fsl_charge *charge = &facts->blame->charges[r];
		if (charge->pattern == FSL_PATTERN_NONE) {
			continue;
		}
		double step_ms = step_of_charge_ms(facts->blame, charge);
		double least_ms = fsl_least_loss_ms(facts->config, step_ms);
		const char *why_not = doubt_about(out, facts, r, least_ms, pauses_ms);
		if (why_not == NULL) {
			FSL_TRY(name_rank(out, facts, r, least_ms, err));
		} else if (charge->lost_ms_per_step >= FSL_NOTED_LOSS_SHARE * least_ms) {
			FSL_TRY(add_unconfirmed(out, facts, r, why_not, err));
		}
	}
	return FSL_OK;
}

/* Cost of a slow link per step: as replayed, else as measured. */
static double loss_of_link(const struct fsl_case *facts, const struct fsl_link *link)
{
	const struct fsl_proof *proof = fsl_proof_of_link(facts->verification, link);
	return proof != NULL ? proof->cost_ms : link->lost_ms_per_step;
}

/* @peer_idx: the far end of a pair; SIZE_MAX: of a group, or all that leaves the rank's host. */
static enum fsl_status name_link_end(struct fsl_localisation *out, const struct fsl_case *facts,
				     const struct fsl_link *link, size_t r, size_t peer_idx,
				     bool is_uplink, struct fsl_error *err)
{
	const struct fsl_channel *channel = &facts->match->channels[link->channel_idx];
	const struct fsl_rank *rank = &facts->run->ranks[r];
	struct fsl_culprit culprit = fsl_culprit_of(rank->rank);
	culprit.peer = peer_idx != SIZE_MAX ? facts->run->ranks[peer_idx].rank : -1;
	culprit.is_uplink = is_uplink;
	double step_ms = step_level_ms(facts->blame, link->episode.begin, link->episode.end);
	culprit.server_ip = rank->server_ip;
	culprit.cause = FSL_CAUSE_NETWORK;
	culprit.lost_ms_per_step = loss_of_link(facts, link);
	culprit.confidence = confidence_of(link->episode.persistence, 1.0, culprit.lost_ms_per_step,
					   fsl_least_loss_ms(facts->config, step_ms));
	set_onset(&culprit, facts->steps, &link->episode, FSL_PATTERN_LASTING);
	culprit.reason = fsl_arena_printf(
		&out->arena,
		"transfer in %s %s takes %.1f ms per step against %.1f ms of %s, and nobody is late in it",
		fsl_strpool_text(facts->run->names, channel->op_id),
		fsl_strpool_text(facts->run->names,
				 facts->topology->groups[channel->group_idx].name_id),
		link->transfer_ms, link->peers_ms,
		link->n_peers > 0 ? "like groups" : "its own past");
	fsl_culprit_add_fact(&culprit, "transfer", link->transfer_ms, "ms");
	fsl_culprit_add_fact(&culprit, "transfer_peers", link->peers_ms, "ms");
	fsl_culprit_add_fact(&culprit, "transfer_ratio", link->transfer_ms / link->peers_ms,
			     "ratio");
	fsl_culprit_add_known(&culprit, FSL_FACT_PERSISTENCE, link->episode.persistence);
	fsl_culprit_add_fact(&culprit, "like_groups", (double)link->n_peers, "count");
	return FSL_APPEND(out, culprits, &culprit, err);
}

/* True if steps took longer while the link was slow, by half of what counts; also if there are no
 * other steps to tell. */
static bool has_step_risen(const struct fsl_blame *blame, const struct fsl_episode *episode,
			   double least_ms)
{
	size_t n_least = 0;
	double *work = fsl_calloc(2 * blame->n_steps, sizeof(*work)), rise_ms = NAN;
	if (work != NULL) {
		rise_ms = fsl_episode_rise(episode, blame->step_dur_ms, blame->n_steps, &n_least,
					   work);
	}
	fsl_free(work);
	return !(rise_ms < FSL_NOTED_LOSS_SHARE * least_ms);
}

static bool is_costless(const struct fsl_case *facts, const struct fsl_link *link)
{
	double step_ms = step_level_ms(facts->blame, link->episode.begin, link->episode.end);
	double least_ms = fsl_least_loss_ms(facts->config, step_ms);
	return loss_of_link(facts, link) < least_ms &&
	       !has_step_risen(facts->blame, &link->episode, least_ms);
}

/* Transfers among all ranks take longer than they did: something that all share, no link of some.
 */
static bool is_common(const struct fsl_case *facts, const struct fsl_link *link)
{
	size_t n_members = facts->match->channels[link->channel_idx].n_members;
	return link->n_peers == 0 && n_members > 2 && n_members == fsl_ranks_seen(facts->run);
}

/* A link is not named if two witnesses are against it: the replay, and the step times. */
static enum fsl_status name_link(struct fsl_localisation *out, const struct fsl_case *facts,
				 const struct fsl_link *link, bool *is_named, struct fsl_error *err)
{
	const struct fsl_channel *channel = &facts->match->channels[link->channel_idx];
	double step_ms = step_level_ms(facts->blame, link->episode.begin, link->episode.end);
	double lost_ms = loss_of_link(facts, link),
	       least_ms = fsl_least_loss_ms(facts->config, step_ms);
	bool costs_nothing = is_costless(facts, link);
	for (size_t m = 0; m < channel->n_members; m++) {
		size_t r = channel->members[m];
		if (costs_nothing) {
			const char *reason = fsl_arena_printf(
				&out->arena,
				"transfer in %s takes %.1f ms per step too long, but replayed with "
				"all others at their level the job loses %.1f ms per step by it, less "
				"than the %.1f ms that count, and its steps took no longer",
				fsl_strpool_text(facts->run->names, channel->op_id),
				link->lost_ms_per_step, lost_ms, least_ms);
			FSL_TRY(add_unconfirmed(out, facts, r, reason, err));
		} else if (!is_named[r]) {
			size_t peer_idx =
				channel->n_members == 2 ? channel->members[1 - m] : SIZE_MAX;
			is_named[r] = true;
			FSL_TRY(name_link_end(out, facts, link, r, peer_idx, false, err));
		}
	}
	return FSL_OK;
}

/* Slow links: as the replay judged them, else looked for now. In @out's arena or borrowed. */
static enum fsl_status list_links(struct fsl_link **links, size_t *n_links,
				  struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	const struct fsl_verification *verification = facts->verification;
	if (verification == NULL || !verification->has_links) {
		return fsl_links_find(links, n_links, &out->arena, facts, err);
	}
	*links = verification->links;
	*n_links = verification->n_links;
	return FSL_OK;
}

/* Looks at the links that are no common one together. */
static enum fsl_status look_at_links(struct fsl_network *network, struct fsl_localisation *out,
				     const struct fsl_case *facts, const struct fsl_link *links,
				     size_t n_links, struct fsl_error *err)
{
	bool *counts = NULL;
	FSL_TRY(FSL_ARENA_NEW(counts, &out->arena, n_links + 1, "links", err));
	for (size_t i = 0; i < n_links; i++) {
		counts[i] = !is_common(facts, &links[i]) && !is_costless(facts, &links[i]);
	}
	return fsl_network_look(network, facts, links, counts, n_links, err);
}

/* The costliest link with an end on the rank; the costliest of all if it has none. */
static const struct fsl_link *link_of(const struct fsl_case *facts, const struct fsl_link *links,
				      size_t n_links, size_t r)
{
	for (size_t i = 0; i < n_links; i++) {
		const struct fsl_channel *channel = &facts->match->channels[links[i].channel_idx];
		for (size_t m = 0; m < channel->n_members; m++) {
			if (channel->members[m] == r) {
				return &links[i];
			}
		}
	}
	return &links[0];
}

/* All ranks of a host that everything leaves slowly. */
static enum fsl_status name_uplink(struct fsl_localisation *out, const struct fsl_case *facts,
				   const struct fsl_link *links, size_t n_links,
				   const char *server_ip, struct fsl_error *err)
{
	bool *is_named = NULL;
	FSL_TRY(fsl_fuse_named(&is_named, out, facts->run, err));
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		if (!is_named[r] && strcmp(facts->run->ranks[r].server_ip, server_ip) == 0) {
			FSL_TRY(name_link_end(out, facts, link_of(facts, links, n_links, r), r,
					      SIZE_MAX, true, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status name_links(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	struct fsl_network network;
	struct fsl_link *links = NULL;
	size_t n_links = 0;
	bool *is_named = NULL;
	if ((facts->config->causes & (UINT32_C(1) << FSL_CAUSE_NETWORK)) == 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_fuse_named(&is_named, out, facts->run, err));
	FSL_TRY(list_links(&links, &n_links, out, facts, err));
	FSL_TRY(look_at_links(&network, out, facts, links, n_links, err));
	if (network.kind == FSL_NETWORK_HOST) {
		FSL_TRY(name_uplink(out, facts, links, n_links, network.server_ip, err));
	}
	for (size_t i = 0; i < n_links && network.kind == FSL_NETWORK_LINKS; i++) {
		if (!is_common(facts, &links[i])) {
			FSL_TRY(name_link(out, facts, &links[i], is_named, err));
		}
	}
	size_t n_unjudged = fsl_links_count_unjudged(facts);
	return n_unjudged == 0 ? FSL_OK
			       : fsl_coverage_add_skipped(
					 &out->coverage, &out->arena, err,
					 "links: %zu groups have members that left no data, their "
					 "transfer cannot be told from a wait",
					 n_unjudged);
}

enum fsl_status fsl_fuse_common_link(const struct fsl_link **link, struct fsl_network *network,
				     struct fsl_localisation *out, const struct fsl_case *facts,
				     struct fsl_error *err)
{
	struct fsl_link *links = NULL;
	size_t n_links = 0;
	*link = NULL;
	if ((facts->config->causes & (UINT32_C(1) << FSL_CAUSE_NETWORK)) == 0) {
		return FSL_OK;
	}
	FSL_TRY(list_links(&links, &n_links, out, facts, err));
	FSL_TRY(look_at_links(network, out, facts, links, n_links, err));
	for (size_t i = n_links; i-- > 0;) {
		bool is_told =
			(is_common(facts, &links[i]) || network->kind != FSL_NETWORK_LINKS) &&
			!is_costless(facts, &links[i]);
		*link = is_told ? &links[i] : *link;
	}
	return FSL_OK;
}

static int compare_culprits(const void *a, const void *b)
{
	const struct fsl_culprit *x = a, *y = b;
	FSL_ORDER_BY(y->lost_ms_per_step, x->lost_ms_per_step);
	return FSL_ORDER(x->rank, y->rank);
}

void fsl_fuse_sort_culprits(struct fsl_localisation *out)
{
	qsort(out->culprits, out->n_culprits, sizeof(*out->culprits), compare_culprits);
}

/*
 * Culprits of one job wait for each other at the next common barrier, so their losses overlap: what
 * the job loses is the largest of them, and each share is against that.
 */
static enum fsl_status set_loss(struct fsl_localisation *out, const struct fsl_case *facts,
				struct fsl_error *err)
{
	const struct fsl_culprit *worst = &out->culprits[0];
	const struct fsl_steps *steps = facts->steps;
	size_t begin = 0, end = steps->n_items;
	for (size_t s = 0; s < steps->n_items; s++) {
		begin = steps->items[s].step == worst->onset_step ? s : begin;
		end = worst->until_step >= 0 && steps->items[s].step == worst->until_step ? s : end;
	}
	out->step_ms = step_level_ms(facts->blame, begin, end);
	const struct fsl_charge *charge =
		&facts->blame->charges[fsl_run_rank_idx(facts->run, worst->rank)];
	if (charge->pattern == FSL_PATTERN_REPEATED && worst->cause != FSL_CAUSE_NETWORK) {
		double sum_ms = 0.0;
		fsl_charge_range(charge, steps->n_items, &begin, &end);
		for (size_t s = begin; s < end; s++) {
			sum_ms += facts->blame->step_dur_ms[s];
		}
		out->step_ms = sum_ms / (double)(end - begin);
	}
	out->lost_ms_per_step = fmin(worst->lost_ms_per_step, FSL_LOST_SHARE_MAX * out->step_ms);
	out->slowdown = out->step_ms / (out->step_ms - out->lost_ms_per_step);
	for (size_t i = 0; i < out->n_culprits; i++) {
		out->culprits[i].share_of_loss =
			fmin(1.0, out->culprits[i].lost_ms_per_step / worst->lost_ms_per_step);
		FSL_ASSERT(i == 0 || out->culprits[i - 1].lost_ms_per_step >=
					     out->culprits[i].lost_ms_per_step);
	}
	return fsl_verify_loss(out, facts, begin, end, err);
}

/* A fault may go on after the data of its rank ends. */
static void forget_ends(struct fsl_localisation *out, const struct fsl_case *facts)
{
	for (size_t i = 0; i < out->n_culprits; i++) {
		size_t r = fsl_run_rank_idx(facts->run, out->culprits[i].rank);
		if (r != SIZE_MAX && fsl_fuse_is_short(facts, r)) {
			out->culprits[i].until_step = -1;
		}
	}
}

/* Ranks that cost what counts one by one, and next to nothing together: others hold the job up for
 * as long. Names nobody then. @before: the verdict without their loss. */
static enum fsl_status drop_costless(struct fsl_localisation *out, const struct fsl_case *facts,
				     const struct fsl_localisation *before, struct fsl_error *err)
{
	double least_ms = fsl_least_loss_ms(facts->config, out->step_ms);
	if (!out->is_loss_replayed || out->culprits[0].cause == FSL_CAUSE_NETWORK ||
	    out->lost_ms_per_step >= FSL_NOTED_LOSS_SHARE * least_ms) {
		return FSL_OK;
	}
	for (size_t i = 0; i < out->n_culprits; i++) {
		const char *reason = fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, but with all such ranks at "
			"their level the job wins %.2g ms per step, less than the %.1f ms that "
			"count",
			out->culprits[i].lost_ms_per_step, out->lost_ms_per_step, least_ms);
		FSL_TRY(add_unconfirmed(out, facts,
					fsl_run_rank_idx(facts->run, out->culprits[i].rank), reason,
					err));
	}
	out->n_culprits = 0;
	out->step_ms = before->step_ms;
	out->lost_ms_per_step = before->lost_ms_per_step;
	out->slowdown = before->slowdown;
	out->is_loss_replayed = before->is_loss_replayed;
	out->replay = before->replay;
	if (facts->verification != NULL && facts->verification->whatifs != NULL) {
		fsl_whatifs_weigh(facts->verification->whatifs, &out->replay, NULL);
	}
	return FSL_OK;
}

/*
 * Gaps between operators that overlap are no work: who waits for another rank in a group seems to
 * work longer as well. Ranks that cost far less than the costliest, which nothing else speaks
 * against, are its victims.
 */
static enum fsl_status drop_waiters(struct fsl_localisation *out, const struct fsl_case *facts,
				    struct fsl_error *err)
{
	const struct fsl_culprit *worst = &out->culprits[0];
	size_t n_kept = 1;
	if (fsl_own_is_work(facts->own) || worst->cause == FSL_CAUSE_NETWORK) {
		return FSL_OK;
	}
	for (size_t i = 1; i < out->n_culprits; i++) {
		const struct fsl_culprit *culprit = &out->culprits[i];
		size_t r = fsl_run_rank_idx(facts->run, culprit->rank);
		if (culprit->cause == FSL_CAUSE_NETWORK || facts->blame->charges[r].is_certain ||
		    culprit->lost_ms_per_step >=
			    FSL_ARRIVAL_WAITER_SHARE * worst->lost_ms_per_step) {
			out->culprits[n_kept++] = *culprit;
			continue;
		}
		const char *reason = fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, but ranks that wait for rank "
			"%" PRId32 " seem to work longer as well",
			culprit->lost_ms_per_step, worst->rank);
		FSL_TRY(add_unconfirmed(out, facts, r, reason, err));
	}
	out->n_culprits = n_kept;
	return FSL_OK;
}

enum fsl_status fsl_fuse_culprits(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	out->step_ms = facts->blame->step_ms;
	FSL_TRY(name_ranks(out, facts, err));
	FSL_TRY(name_links(out, facts, err));
	if (out->n_culprits == 0) {
		return FSL_OK;
	}
	fsl_fuse_sort_culprits(out);
	FSL_TRY(drop_waiters(out, facts, err));
	FSL_TRY(fsl_fuse_name_host(out, facts, err));
	fsl_fuse_sort_culprits(out);
	struct fsl_localisation before = *out;
	FSL_TRY(set_loss(out, facts, err));
	FSL_TRY(drop_costless(out, facts, &before, err));
	if (out->n_culprits == 0) {
		return FSL_OK;
	}
	forget_ends(out, facts); /* losses are those of the steps that were seen */
	fsl_fuse_tell_rhythm(out, facts->steps);
	return fsl_fuse_runner_up(out, facts, err);
}

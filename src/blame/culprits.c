/* Names culprits from charges and links. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "blame/cause.h"
#include "blame/fuse_parts.h"
#include "blame/verify.h"

/* Others must have waited for a rank in this share of its high steps before it is named. */
static const double LAST_SHARE_MIN = 0.5;
/* A rank with less than this part of what long single steps cost is one of many that pause. */
static const double PAUSES_SHARE_MIN = 0.25;
/* Confidence never claims certainty; it orders culprits and is no probability. */
static const double CONFIDENCE_MAX = 0.99;
/* What stands for the share of steps waited for where no wait was seen. */
static const double LAST_SHARE_UNSEEN = 0.8;
/* Factor of the confidence for a loss that only just counts. */
static const double LEAST_LOSS_WEIGHT = 0.5;
/* What stands for the persistence of a charge whose high steps come again and again. */
static const double PERSISTENCE_REPEATED = 0.9;
/* Ranks changed together when their episodes begin and end within this many steps of each other and
 * the excesses, as shares of the level of the peers, differ by no more than this factor. */
enum { TOGETHER_STEPS = 5 };
static const double TOGETHER_RATIO_MAX = 2.0;
/* A member of a set that changed together costs at least this part of the least loss itself. */
static const double MEMBER_SHARE_MIN = 0.5;
/* On one host it may cost nothing, a fast device among slow ones; but its own time then rose by the
 * same factor: rises differ by no more than this. */
static const double HOST_RATIO_MAX = 1.25;
/* A doubted charge of less than this part of the least loss is not worth telling. */
static const double TOLD_SHARE_MIN = 0.5;
/* The loss stays below the step that it is part of, so that the slowdown is finite. */
static const double LOST_SHARE_MAX = 0.99;

bool *fsl_fuse_named(const struct fsl_localisation *out, const struct fsl_run *run)
{
	bool *is_named = fsl_calloc(run->n_ranks, sizeof(*is_named));
	for (size_t i = 0; i < out->n_culprits && is_named != NULL; i++) {
		size_t r = fsl_run_rank_idx(run, out->culprits[i].rank);
		if (r != SIZE_MAX) {
			is_named[r] = true;
		}
	}
	return is_named;
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
	enum { TAIL_STEPS = 3, REPEATS_MISSED = 2 };
	if (pattern != FSL_PATTERN_REPEATED || episode->n_high < 2) {
		return TAIL_STEPS;
	}
	return REPEATS_MISSED * (episode->end - episode->begin) / (episode->n_high - 1);
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
	enum { CLEAR_MULTIPLE = 2 }; /* of the least loss: no further doubt from size */
	double waited = isnan(last_share) ? LAST_SHARE_UNSEEN : last_share;
	double clear = (lost_ms / least_ms - 1.0) / (CLEAR_MULTIPLE - 1); /* 0 at the least loss */
	double size = fmin(1.0, LEAST_LOSS_WEIGHT + (1.0 - LEAST_LOSS_WEIGHT) * clear);
	return fmin(CONFIDENCE_MAX, persistence * waited * size);
}

static void add_clues(struct fsl_culprit *culprit, const struct fsl_charge *charge,
		      const struct fsl_cause_clues *clues)
{
	fsl_culprit_add_fact(culprit, "own", charge->own_ms, "ms");
	fsl_culprit_add_fact(culprit, "peers", charge->peers_ms, "ms");
	fsl_culprit_add_fact(culprit, "own_ratio", charge->own_ms / charge->peers_ms, "ratio");
	fsl_culprit_add_fact(culprit, "high_steps", (double)charge->episode.n_high, "count");
	fsl_culprit_add_fact(culprit, "persistence", charge->episode.persistence, "share");
	if (!isnan(charge->last_share)) {
		fsl_culprit_add_fact(culprit, "waited_for", charge->last_share, "share");
	}
	if (charge->onset.is_known) {
		fsl_culprit_add_fact(culprit, "before", charge->onset.healthy_ratio, "ratio");
		fsl_culprit_add_fact(culprit, "after", charge->onset.slow_ratio, "ratio");
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

static enum fsl_status add_unconfirmed(struct fsl_localisation *out, const struct fsl_case *job,
				       size_t r, const char *reason, struct fsl_error *err)
{
	struct fsl_suspect suspect = {.rank = job->run->ranks[r].rank,
				      .late_ms_per_step = job->blame->charges[r].late_ms_per_step,
				      .detector = "own_time",
				      .reason = reason};
	return fsl_localisation_add_unconfirmed(out, &suspect, err);
}

/* What a charged rank costs the job per step: as replayed, else as charged. */
static double loss_of_rank(const struct fsl_case *job, size_t r)
{
	const struct fsl_proof *proof = fsl_proof_of_rank(job->verification, r);
	return proof != NULL ? proof->cost_ms : job->blame->charges[r].lost_ms_per_step;
}

static bool is_near(size_t a, size_t b)
{
	return (a > b ? a - b : b - a) <= TOGETHER_STEPS;
}

/* Both became slower at the same time, for as long, and by a like share of their peers' level. */
static bool changed_together(const struct fsl_charge *a, const struct fsl_charge *b)
{
	double rise_a = a->own_ms / a->peers_ms - 1.0, rise_b = b->own_ms / b->peers_ms - 1.0;
	return a->pattern == FSL_PATTERN_LASTING && a->is_change &&
	       b->pattern == FSL_PATTERN_LASTING && b->is_change &&
	       is_near(a->episode.begin, b->episode.begin) &&
	       is_near(a->episode.end, b->episode.end) &&
	       fmax(rise_a, rise_b) <= TOGETHER_RATIO_MAX * fmin(rise_a, rise_b);
}

/* How much longer the rank's own time is in the episode of its charge than outside of it. */
static double own_rise(const struct fsl_case *job, size_t r)
{
	const struct fsl_blame *blame = job->blame;
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
static bool is_host_change(const struct fsl_case *job, size_t a, size_t b)
{
	double rise_a = own_rise(job, a), rise_b = own_rise(job, b);
	return strcmp(job->run->ranks[a].server_ip, job->run->ranks[b].server_ip) == 0 &&
	       fmax(rise_a, rise_b) <= HOST_RATIO_MAX * fmin(rise_a, rise_b);
}

/*
 * A rank that changed together with one that costs what counts by itself, of which the set costs no
 * less: noise decides which member of a set is last in a step, so that the cost of each scatters
 * around what counts where that of the set does not.
 */
static bool is_member(const struct fsl_case *job, size_t r, double least_ms)
{
	const struct fsl_charge *charges = job->blame->charges;
	bool is_found = false, is_costly = loss_of_rank(job, r) >= MEMBER_SHARE_MIN * least_ms;
	if (charges[r].lost_ms_per_step < least_ms) {
		return false;
	}
	for (size_t k = 0; k < job->blame->n_ranks && !is_found; k++) {
		is_found = k != r && changed_together(&charges[k], &charges[r]) &&
			   !(charges[k].last_share < LAST_SHARE_MIN) &&
			   loss_of_rank(job, k) >= least_ms &&
			   (is_costly || is_host_change(job, k, r));
	}
	return is_found;
}

/* Why a charge is not enough; NULL when it is. */
static const char *doubt(struct fsl_localisation *out, const struct fsl_case *job, size_t r,
			 double least_ms, double pauses_ms)
{
	const struct fsl_charge *charge = &job->blame->charges[r];
	bool is_costly = loss_of_rank(job, r) >= least_ms || is_member(job, r, least_ms);
	if (charge->lost_ms_per_step >= least_ms && !is_costly) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, but replayed with all others at "
			"their level the job loses %.1f ms per step by it, less than the %.1f ms "
			"that count",
			charge->lost_ms_per_step, loss_of_rank(job, r), least_ms);
	}
	if (!is_costly) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, less than the %.1f "
			"ms that count",
			charge->lost_ms_per_step, least_ms);
	}
	if (charge->onset.is_known && charge->onset.p_value > job->blame->onset_p_max) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, but among %zu ranks such a "
			"change may be chance (p = %.2g)",
			charge->lost_ms_per_step, job->blame->n_ranks, charge->onset.p_value);
	}
	bool is_level = charge->pattern == FSL_PATTERN_LASTING && !charge->is_change;
	if (is_level && fsl_blame_is_uneven(job->blame, r)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers without a change of its own, and "
			"no clear gap to them: uneven devices rather than a slow one",
			charge->own_ms - charge->peers_ms);
	}
	double spread = job->blame->spread[job->blame->peers.class_of[r]];
	if (charge->pattern == FSL_PATTERN_REPEATED && spread >= FSL_WORK_SPREAD_MIN) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers in single steps, but their work "
			"differs by %.0f %% in every step",
			charge->lost_ms_per_step, 100.0 * spread);
	}
	size_t begin = 0, end = 0;
	fsl_charge_range(charge, job->blame->n_steps, &begin, &end);
	double range_share = (double)(end - begin) / (double)job->blame->n_steps;
	if (charge->pattern == FSL_PATTERN_REPEATED &&
	    charge->lost_ms_per_step * range_share < PAUSES_SHARE_MIN * pauses_ms) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers in single steps, a small part "
			"of the %.1f ms that such steps of all ranks cost",
			charge->lost_ms_per_step, pauses_ms);
	}
	if (charge->last_share < LAST_SHARE_MIN && !is_member(job, r, least_ms)) {
		return fsl_arena_printf(
			&out->arena,
			"own work %.1f ms per step above its peers, but nobody waits "
			"for it in %.0f %% of these steps",
			charge->lost_ms_per_step, 100.0 * (1.0 - charge->last_share));
	}
	return NULL;
}

static const char *reason_of(struct fsl_localisation *out, const struct fsl_charge *charge,
			     const struct fsl_cause_clues *clues, bool has_peers, bool counts_idle)
{
	static const char *const where[FSL_CAUSES_N] = {
		[FSL_CAUSE_COMPUTE] = "throughout the step, with work queued ahead of the device",
		[FSL_CAUSE_HOST] = "because work does not reach the device in time",
		[FSL_CAUSE_DATALOADER] = "before the first operator of the step only",
		[FSL_CAUSE_STORAGE] = "where checkpoints are written",
		[FSL_CAUSE_NETWORK] = "in transfer",
	};
	return fsl_arena_printf(
		&out->arena, "own work takes %.1f ms per step against %.1f ms of %s, %s",
		charge->own_ms, charge->peers_ms, has_peers ? "its peers" : "its own past",
		counts_idle ? "with time that no recorded stage explains" : where[clues->cause]);
}

static enum fsl_status name_rank(struct fsl_localisation *out, const struct fsl_case *job, size_t r,
				 double least_ms, struct fsl_error *err)
{
	const struct fsl_blame *blame = job->blame;
	const struct fsl_charge *charge = &blame->charges[r];
	struct fsl_cause_clues clues;
	enum fsl_status status = fsl_cause_find(&clues, job, r, err);
	if (status != FSL_OK) {
		return status;
	}
	if ((job->config->causes & (UINT32_C(1) << clues.cause)) == 0) {
		return add_unconfirmed(out, job, r, "its cause is not among the configured causes",
				       err);
	}
	uint32_t class_idx = blame->peers.class_of[r];
	bool has_peers = blame->peers.begin[class_idx + 1] - blame->peers.begin[class_idx] > 1 &&
			 blame->shifts[class_idx].begin == blame->shifts[class_idx].end;
	struct fsl_culprit culprit = fsl_culprit_of(job->run->ranks[r].rank);
	culprit.server_ip = job->run->ranks[r].server_ip;
	culprit.cause = clues.cause;
	culprit.lost_ms_per_step = loss_of_rank(job, r);
	set_onset(&culprit, job->steps, &charge->episode, charge->pattern);
	bool is_lasting = charge->pattern == FSL_PATTERN_LASTING;
	culprit.confidence =
		confidence_of(is_lasting ? charge->episode.persistence : PERSISTENCE_REPEATED,
			      charge->last_share, culprit.lost_ms_per_step, least_ms);
	culprit.reason = reason_of(out, charge, &clues, has_peers, blame->counts_idle);
	add_clues(&culprit, charge, &clues);
	return fsl_localisation_add_culprit(out, &culprit, err);
}

static enum fsl_status name_ranks(struct fsl_localisation *out, const struct fsl_case *job,
				  struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	double pauses_ms = fsl_fuse_pauses_ms(job);
	for (size_t r = 0; r < job->run->n_ranks && status == FSL_OK; r++) {
		const struct fsl_charge *charge = &job->blame->charges[r];
		if (charge->pattern == FSL_PATTERN_NONE) {
			continue;
		}
		double step_ms = step_of_charge_ms(job->blame, charge);
		double least_ms = fsl_least_loss_ms(job->config, step_ms);
		const char *why_not = doubt(out, job, r, least_ms, pauses_ms);
		if (why_not == NULL) {
			status = name_rank(out, job, r, least_ms, err);
		} else if (charge->lost_ms_per_step >= TOLD_SHARE_MIN * least_ms) {
			status = add_unconfirmed(out, job, r, why_not, err);
		}
	}
	return status;
}

/* What a slow link costs the job per step: as replayed, else as measured. */
static double loss_of_link(const struct fsl_case *job, const struct fsl_link *link)
{
	const struct fsl_proof *proof = fsl_proof_of_link(job->verification, link);
	return proof != NULL ? proof->cost_ms : link->lost_ms_per_step;
}

static enum fsl_status name_link_end(struct fsl_localisation *out, const struct fsl_case *job,
				     const struct fsl_link *link, size_t m, struct fsl_error *err)
{
	const struct fsl_channel *channel = &job->match->channels[link->channel_idx];
	const struct fsl_rank *rank = &job->run->ranks[channel->members[m]];
	struct fsl_culprit culprit = fsl_culprit_of(rank->rank);
	if (channel->n_members == 2) {
		culprit.peer = job->run->ranks[channel->members[1 - m]].rank;
	}
	double step_ms = step_level_ms(job->blame, link->episode.begin, link->episode.end);
	culprit.server_ip = rank->server_ip;
	culprit.cause = FSL_CAUSE_NETWORK;
	culprit.lost_ms_per_step = loss_of_link(job, link);
	culprit.confidence = confidence_of(link->episode.persistence, 1.0, culprit.lost_ms_per_step,
					   fsl_least_loss_ms(job->config, step_ms));
	set_onset(&culprit, job->steps, &link->episode, FSL_PATTERN_LASTING);
	culprit.reason = fsl_arena_printf(
		&out->arena,
		"transfer in %s %s takes %.1f ms per step against %.1f ms of %s, and nobody is late in it",
		fsl_strpool_text(job->run->names, channel->op_id),
		fsl_strpool_text(job->run->names,
				 job->topology->groups[channel->group_idx].name_id),
		link->transfer_ms, link->peers_ms,
		link->n_peers > 0 ? "like groups" : "its own past");
	fsl_culprit_add_fact(&culprit, "transfer", link->transfer_ms, "ms");
	fsl_culprit_add_fact(&culprit, "transfer_peers", link->peers_ms, "ms");
	fsl_culprit_add_fact(&culprit, "transfer_ratio", link->transfer_ms / link->peers_ms,
			     "ratio");
	fsl_culprit_add_fact(&culprit, "persistence", link->episode.persistence, "share");
	fsl_culprit_add_fact(&culprit, "like_groups", (double)link->n_peers, "count");
	return fsl_localisation_add_culprit(out, &culprit, err);
}

/* True when steps took longer while the link was slow, by half of what counts; also where there are
 * no other steps to tell. */
static bool has_step_risen(const struct fsl_blame *blame, const struct fsl_episode *episode,
			   double step_ms, double least_ms)
{
	enum { STEPS_MIN = 5 };
	static const double RISE_SHARE = 0.5;
	size_t n = 0, n_rest = blame->n_steps - (episode->end - episode->begin);
	double *rest_ms = fsl_calloc(2 * n_rest + 1, sizeof(*rest_ms));
	for (size_t s = 0; s < blame->n_steps && rest_ms != NULL; s++) {
		if (s < episode->begin || s >= episode->end) {
			rest_ms[n++] = blame->step_dur_ms[s];
		}
	}
	bool has_risen = n < STEPS_MIN ||
			 step_ms - fsl_median(rest_ms, n, rest_ms + n) >= RISE_SHARE * least_ms;
	fsl_free(rest_ms);
	return has_risen;
}

/* Two witnesses are against a link that is not named: the replay, and the step times. */
static enum fsl_status name_link(struct fsl_localisation *out, const struct fsl_case *job,
				 const struct fsl_link *link, bool *is_named, struct fsl_error *err)
{
	const struct fsl_channel *channel = &job->match->channels[link->channel_idx];
	double step_ms = step_level_ms(job->blame, link->episode.begin, link->episode.end);
	double lost_ms = loss_of_link(job, link),
	       least_ms = fsl_least_loss_ms(job->config, step_ms);
	bool is_costless = lost_ms < least_ms &&
			   !has_step_risen(job->blame, &link->episode, step_ms, least_ms);
	enum fsl_status status = FSL_OK;
	for (size_t m = 0; m < channel->n_members && status == FSL_OK; m++) {
		size_t r = channel->members[m];
		if (is_costless) {
			const char *reason = fsl_arena_printf(
				&out->arena,
				"transfer in %s takes %.1f ms per step too long, but replayed with "
				"all others at their level the job loses %.1f ms per step by it, less "
				"than the %.1f ms that count, and its steps took no longer",
				fsl_strpool_text(job->run->names, channel->op_id),
				link->lost_ms_per_step, lost_ms, least_ms);
			status = add_unconfirmed(out, job, r, reason, err);
		} else if (!is_named[r]) {
			is_named[r] = true;
			status = name_link_end(out, job, link, m, err);
		}
	}
	return status;
}

static enum fsl_status name_links(struct fsl_localisation *out, const struct fsl_case *job,
				  struct fsl_error *err)
{
	struct fsl_link *links = NULL;
	size_t n_links = 0;
	if ((job->config->causes & (UINT32_C(1) << FSL_CAUSE_NETWORK)) == 0) {
		return FSL_OK;
	}
	bool *is_named = fsl_fuse_named(out, job->run);
	enum fsl_status status = is_named != NULL
					 ? fsl_links_find(&links, &n_links, &out->arena, job, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: links");
	for (size_t i = 0; i < n_links && status == FSL_OK; i++) {
		status = name_link(out, job, &links[i], is_named, err);
	}
	fsl_free(is_named);
	size_t n_unjudged = fsl_links_count_unjudged(job);
	if (n_unjudged > 0 && status == FSL_OK) {
		status = fsl_coverage_add_skipped(
			&out->coverage, &out->arena, err,
			"links: %zu groups have members that left no data, their transfer cannot be "
			"told from a wait",
			n_unjudged);
	}
	return status;
}

/* Costliest first; equal costs by rank. */
static int compare_culprits(const void *a, const void *b)
{
	const struct fsl_culprit *x = a, *y = b;
	if (x->lost_ms_per_step != y->lost_ms_per_step) {
		return x->lost_ms_per_step > y->lost_ms_per_step ? -1 : 1;
	}
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/*
 * Culprits of one job wait for each other at the next common barrier, so their losses overlap: what
 * the job loses is the largest of them, and each share is against that.
 */
static enum fsl_status set_loss(struct fsl_localisation *out, const struct fsl_case *job,
				struct fsl_error *err)
{
	const struct fsl_culprit *worst = &out->culprits[0];
	const struct fsl_steps *steps = job->steps;
	size_t begin = 0, end = steps->n_items;
	for (size_t s = 0; s < steps->n_items; s++) {
		begin = steps->items[s].step == worst->onset_step ? s : begin;
		end = worst->until_step >= 0 && steps->items[s].step == worst->until_step ? s : end;
	}
	out->step_ms = step_level_ms(job->blame, begin, end);
	const struct fsl_charge *charge =
		&job->blame->charges[fsl_run_rank_idx(job->run, worst->rank)];
	if (charge->pattern == FSL_PATTERN_REPEATED && worst->cause != FSL_CAUSE_NETWORK) {
		double sum_ms = 0.0;
		fsl_charge_range(charge, steps->n_items, &begin, &end);
		for (size_t s = begin; s < end; s++) {
			sum_ms += job->blame->step_dur_ms[s];
		}
		out->step_ms = sum_ms / (double)(end - begin);
	}
	out->lost_ms_per_step = fmin(worst->lost_ms_per_step, LOST_SHARE_MAX * out->step_ms);
	out->slowdown = out->step_ms / (out->step_ms - out->lost_ms_per_step);
	for (size_t i = 0; i < out->n_culprits; i++) {
		out->culprits[i].share_of_loss =
			fmin(1.0, out->culprits[i].lost_ms_per_step / worst->lost_ms_per_step);
	}
	return fsl_verify_loss(out, job, begin, end, err);
}

enum fsl_status fsl_fuse_culprits(struct fsl_localisation *out, const struct fsl_case *job,
				  struct fsl_error *err)
{
	out->step_ms = job->blame->step_ms;
	enum fsl_status status = name_ranks(out, job, err);
	if (status == FSL_OK) {
		status = name_links(out, job, err);
	}
	if (status != FSL_OK || out->n_culprits == 0) {
		return status;
	}
	qsort(out->culprits, out->n_culprits, sizeof(*out->culprits), compare_culprits);
	status = set_loss(out, job, err);
	return status == FSL_OK ? fsl_fuse_runner_up(out, job, err) : status;
}

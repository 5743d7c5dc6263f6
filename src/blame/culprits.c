/* Names culprits from charges and links. */
#include <math.h>
#include <stdlib.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "blame/cause.h"
#include "blame/fuse_parts.h"
#include "blame/link.h"
#include "blame/verify.h"

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
	struct fsl_cause_clues clues;
	FSL_TRY(fsl_cause_find(&clues, facts, r, charge, err));
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
	culprit.lost_ms_per_step =
		fsl_fuse_bound_loss(blame, charge, fsl_fuse_loss_of_rank(facts, r));
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
	enum fsl_status status = FSL_OK;
	double pauses_ms = fsl_fuse_pauses_ms(facts);
	for (size_t r = 0; r < facts->run->n_ranks && status == FSL_OK; r++) {
		const struct fsl_charge *charge = &facts->blame->charges[r];
		if (charge->pattern == FSL_PATTERN_NONE) {
			continue;
		}
		double step_ms = step_of_charge_ms(facts->blame, charge);
		double least_ms = fsl_least_loss_ms(facts->config, step_ms);
		const char *why_not = fsl_fuse_doubt(out, facts, r, least_ms, pauses_ms);
		if (why_not == NULL) {
			status = name_rank(out, facts, r, least_ms, err);
		} else if (charge->lost_ms_per_step >= FSL_NOTED_LOSS_SHARE * least_ms) {
			status = add_unconfirmed(out, facts, r, why_not, err);
		}
	}
	return status;
}

/* Cost of a slow link per step: as replayed, else as measured. */
static double loss_of_link(const struct fsl_case *facts, const struct fsl_link *link)
{
	const struct fsl_proof *proof = fsl_proof_of_link(facts->verification, link);
	return proof != NULL ? proof->cost_ms : link->lost_ms_per_step;
}

static enum fsl_status name_link_end(struct fsl_localisation *out, const struct fsl_case *facts,
				     const struct fsl_link *link, size_t m, struct fsl_error *err)
{
	const struct fsl_channel *channel = &facts->match->channels[link->channel_idx];
	const struct fsl_rank *rank = &facts->run->ranks[channel->members[m]];
	struct fsl_culprit culprit = fsl_culprit_of(rank->rank);
	if (channel->n_members == 2) {
		culprit.peer = facts->run->ranks[channel->members[1 - m]].rank;
	}
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
	fsl_culprit_add_fact(&culprit, "persistence", link->episode.persistence, "share");
	fsl_culprit_add_fact(&culprit, "like_groups", (double)link->n_peers, "count");
	return FSL_APPEND(out, culprits, &culprit, err);
}

/* True if steps took longer while the link was slow, by half of what counts; also if there are no
 * other steps to tell. */
static bool has_step_risen(const struct fsl_blame *blame, const struct fsl_episode *episode,
			   double step_ms, double least_ms)
{
	size_t n = 0, n_rest = blame->n_steps - (episode->end - episode->begin);
	double *rest_ms = fsl_calloc(2 * n_rest + 1, sizeof(*rest_ms));
	for (size_t s = 0; s < blame->n_steps && rest_ms != NULL; s++) {
		if (s < episode->begin || s >= episode->end) {
			rest_ms[n++] = blame->step_dur_ms[s];
		}
	}
	bool has_risen = n < FSL_REST_STEPS_MIN || step_ms - fsl_median(rest_ms, n, rest_ms + n) >=
							   FSL_NOTED_LOSS_SHARE * least_ms;
	fsl_free(rest_ms);
	return has_risen;
}

/* A link is not named if two witnesses are against it: the replay, and the step times. */
static enum fsl_status name_link(struct fsl_localisation *out, const struct fsl_case *facts,
				 const struct fsl_link *link, bool *is_named, struct fsl_error *err)
{
	const struct fsl_channel *channel = &facts->match->channels[link->channel_idx];
	double step_ms = step_level_ms(facts->blame, link->episode.begin, link->episode.end);
	double lost_ms = loss_of_link(facts, link),
	       least_ms = fsl_least_loss_ms(facts->config, step_ms);
	bool is_costless = lost_ms < least_ms &&
			   !has_step_risen(facts->blame, &link->episode, step_ms, least_ms);
	enum fsl_status status = FSL_OK;
	for (size_t m = 0; m < channel->n_members && status == FSL_OK; m++) {
		size_t r = channel->members[m];
		if (is_costless) {
			const char *reason = fsl_arena_printf(
				&out->arena,
				"transfer in %s takes %.1f ms per step too long, but replayed with "
				"all others at their level the job loses %.1f ms per step by it, less "
				"than the %.1f ms that count, and its steps took no longer",
				fsl_strpool_text(facts->run->names, channel->op_id),
				link->lost_ms_per_step, lost_ms, least_ms);
			status = add_unconfirmed(out, facts, r, reason, err);
		} else if (!is_named[r]) {
			is_named[r] = true;
			status = name_link_end(out, facts, link, m, err);
		}
	}
	return status;
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

static enum fsl_status name_links(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	struct fsl_link *links = NULL;
	size_t n_links = 0;
	if ((facts->config->causes & (UINT32_C(1) << FSL_CAUSE_NETWORK)) == 0) {
		return FSL_OK;
	}
	bool *is_named = fsl_fuse_named(out, facts->run);
	enum fsl_status status = is_named != NULL
					 ? list_links(&links, &n_links, out, facts, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: links");
	for (size_t i = 0; i < n_links && status == FSL_OK; i++) {
		status = name_link(out, facts, &links[i], is_named, err);
	}
	fsl_free(is_named);
	size_t n_unjudged = fsl_links_count_unjudged(facts);
	if (n_unjudged > 0 && status == FSL_OK) {
		status = fsl_coverage_add_skipped(
			&out->coverage, &out->arena, err,
			"links: %zu groups have members that left no data, their transfer cannot be "
			"told from a wait",
			n_unjudged);
	}
	return status;
}

static int compare_culprits(const void *a, const void *b)
{
	const struct fsl_culprit *x = a, *y = b;
	if (x->lost_ms_per_step != y->lost_ms_per_step) {
		return x->lost_ms_per_step > y->lost_ms_per_step ? -1 : 1;
	}
	return (x->rank > y->rank) - (x->rank < y->rank);
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

enum fsl_status fsl_fuse_culprits(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	out->step_ms = facts->blame->step_ms;
	enum fsl_status status = name_ranks(out, facts, err);
	if (status == FSL_OK) {
		status = name_links(out, facts, err);
	}
	if (status != FSL_OK || out->n_culprits == 0) {
		return status;
	}
	fsl_fuse_sort_culprits(out);
	status = set_loss(out, facts, err);
	forget_ends(out, facts); /* losses are those of the steps that were seen */
	return status == FSL_OK ? fsl_fuse_runner_up(out, facts, err) : status;
}

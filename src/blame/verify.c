/* Judges charges and links by what the job loses through them. */
#include "blame/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "blame/fuse_parts.h"
#include "blame/link.h"
#include "blame/whatif.h"

/* The named ranks, and all slow links if one is named. */
static void flag_named(struct fsl_repair_flags flags, const struct fsl_localisation *out,
		       const struct fsl_case *facts)
{
	bool has_link = false;
	for (size_t i = 0; i < out->n_culprits; i++) {
		size_t r = fsl_run_rank_idx(facts->run, out->culprits[i].rank);
		bool is_link = out->culprits[i].cause == FSL_CAUSE_NETWORK;
		has_link |= is_link;
		if (r != SIZE_MAX && !is_link) {
			flags.ranks[r] = true;
		}
	}
	const struct fsl_verification *verification = facts->verification;
	for (size_t k = 0; k < verification->n_links && has_link; k++) {
		fsl_repair_flag_link(flags, verification, facts->match, k);
	}
}

/* @before_ms, @after_ms: time of every replayed step without waits for the unseen, and that with
 * the culprits at their level; the difference is what comes back of the steps as they were. @worst:
 * the costliest culprit, SIZE_MAX: a link. */
static void set_loss(struct fsl_localisation *out, const struct fsl_case *facts, size_t worst,
		     const double *before_ms, const double *after_ms, const double *weights)
{
	const struct fsl_verification *verification = facts->verification;
	const struct fsl_replay *replay = &verification->replay;
	double was_ms = fsl_repairs_mean(replay, verification->replayed_ms, weights);
	double lost_ms = fsl_repairs_mean(replay, before_ms, weights) -
			 fsl_repairs_mean(replay, after_ms, weights);
	double repaired_ms = was_ms - lost_ms;
	double ideal_ms = fsl_repairs_mean(replay, verification->ideal_ms, weights);
	if (!(repaired_ms > 0.0) || !(was_ms > repaired_ms)) {
		return;
	}
	if (worst != SIZE_MAX) {
		const struct fsl_charge *charge = &facts->blame->charges[worst];
		lost_ms =
			fmax(lost_ms, fmax(charge->arrival_ms, fsl_fuse_least_loss(facts, charge)));
		lost_ms = fsl_fuse_bound_loss(facts->blame, charge, lost_ms);
	}
	out->is_loss_replayed = true;
	out->lost_ms_per_step = lost_ms;
	out->slowdown = was_ms / (was_ms - lost_ms);
	out->replay.culprits_share = fsl_share_of_loss(was_ms, repaired_ms, ideal_ms);
	for (size_t i = 0; i < out->n_culprits; i++) {
		double share = out->culprits[i].lost_ms_per_step / out->lost_ms_per_step;
		out->culprits[i].share_of_loss = fmin(1.0, share);
	}
}

/* Step times under two repairs: known already when they were asked for before, as mostly. */
static enum fsl_status run(struct fsl_repairs *repairs, const struct fsl_verification *verification,
			   const double *step_ms[2], struct fsl_error *err)
{
	bool is_known = !repairs->has_failed;
	for (size_t k = 0; k < 2 && is_known; k++) {
		step_ms[k] = fsl_repairs_find(verification->repairs, &repairs->items[k]);
		is_known = step_ms[k] != NULL;
	}
	if (is_known) {
		return FSL_OK;
	}
	FSL_TRY(fsl_repairs_run(repairs, err));
	for (size_t k = 0; k < 2; k++) {
		step_ms[k] = repairs->step_ms + k * verification->replay.n_steps;
	}
	return FSL_OK;
}

enum fsl_status fsl_verify_loss(struct fsl_localisation *out, const struct fsl_case *facts,
				size_t begin, size_t end, struct fsl_error *err)
{
	const struct fsl_verification *verification = facts->verification;
	if (verification == NULL || !verification->summary.is_trusted ||
	    verification->replay.graph == NULL || out->n_culprits == 0) {
		return FSL_OK;
	}
	struct fsl_arena scratch = {0};
	struct fsl_repairs repairs = {.arena = &scratch, .replay = &verification->replay};
	struct fsl_repair_flags before = fsl_repairs_add(&repairs);
	struct fsl_repair_flags after = fsl_repairs_add(&repairs);
	if (!repairs.has_failed) {
		fsl_repairs_skip_unseen(&repairs, &before, verification);
		fsl_repairs_skip_unseen(&repairs, &after, verification);
		flag_named(after, out, facts);
	}
	const struct fsl_culprit *worst = &out->culprits[0];
	size_t r = worst->cause != FSL_CAUSE_NETWORK ? fsl_run_rank_idx(facts->run, worst->rank)
						     : SIZE_MAX;
	double *weights =
		fsl_arena_alloc(&scratch, verification->replay.n_steps * sizeof(*weights));
	repairs.has_failed |= weights == NULL;
	const double *step_ms[2] = {NULL, NULL};
	enum fsl_status status = run(&repairs, verification, step_ms, err);
	if (status == FSL_OK &&
	    fsl_weigh_steps(weights, &verification->replay, facts->blame, r, begin, end)) {
		set_loss(out, facts, r, step_ms[before.idx], step_ms[after.idx], weights);
		fsl_whatifs_weigh(verification->whatifs, &out->replay, weights);
	}
	fsl_repairs_fini(&repairs);
	fsl_arena_fini(&scratch);
	return status;
}

/* A charged rank or a link while it is judged. */
struct candidate {
	size_t idx; /* rank index, or index into out->links */
	bool is_link;
	double lost_ms; /* what blame says */
	size_t begin, end;
	size_t without_idx; /* repair of all candidates but this */
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	FSL_ORDER_BY(x->is_link, y->is_link);
	FSL_ORDER_BY(y->lost_ms, x->lost_ms);
	return FSL_ORDER(x->idx, y->idx);
}

/* Charged ranks, then links, each most costly first, no more than can be judged. */
static size_t list_candidates(struct candidate *list, const struct fsl_verification *out,
			      const struct fsl_case *facts)
{
	const struct fsl_blame *blame = facts->blame;
	size_t n_ranks = 0;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_charge *charge = &blame->charges[r];
		if (charge->pattern != FSL_PATTERN_NONE) {
			struct candidate *candidate = &list[n_ranks++];
			*candidate =
				(struct candidate){.idx = r, .lost_ms = charge->lost_ms_per_step};
			fsl_charge_range(charge, blame->n_steps, &candidate->begin,
					 &candidate->end);
		}
	}
	qsort(list, n_ranks, sizeof(*list), compare_candidates);
	size_t n = n_ranks < FSL_JUDGED_RANKS_MAX ? n_ranks : FSL_JUDGED_RANKS_MAX;
	for (size_t k = 0; k < out->n_links && k < FSL_JUDGED_LINKS_MAX; k++) {
		list[n++] = (struct candidate){.idx = k,
					       .is_link = true,
					       .lost_ms = out->links[k].lost_ms_per_step,
					       .begin = out->links[k].episode.begin,
					       .end = out->links[k].episode.end};
	}
	return n;
}

static void flag(const struct fsl_verification *out, const struct fsl_case *facts,
		 const struct candidate *candidate, struct fsl_repair_flags flags)
{
	if (candidate->is_link) {
		fsl_repair_flag_link(flags, out, facts->match, candidate->idx);
	} else {
		flags.ranks[candidate->idx] = true;
	}
}

/* All candidates but @left_out, which may be @n. Waits for somebody unseen are put to the usual
 * transfer in any case: they would hide who made the unseen one late. */
static size_t add_all_but(struct fsl_repairs *repairs, const struct fsl_verification *out,
			  const struct fsl_case *facts, const struct candidate *list, size_t n,
			  size_t left_out)
{
	struct fsl_repair_flags flags = fsl_repairs_add(repairs);
	if (!repairs->has_failed) {
		fsl_repairs_skip_unseen(repairs, &flags, out);
	}
	for (size_t k = 0; k < n && flags.ranks != NULL; k++) {
		if (k != left_out) {
			flag(out, facts, &list[k], flags);
		}
	}
	return flags.idx;
}

/* @weights: scratch, one per replayed step. */
static void set_proof(struct fsl_verification *out, const struct fsl_case *facts,
		      const struct candidate *candidate, const struct fsl_repairs *repairs,
		      size_t all_idx, double *weights)
{
	const struct fsl_replay *replay = &out->replay;
	const double *step_ms = repairs->step_ms;
	size_t n = replay->n_steps, r = candidate->is_link ? SIZE_MAX : candidate->idx;
	struct fsl_proof *proof = candidate->is_link ? &out->link_proofs[candidate->idx]
						     : &out->ranks[candidate->idx];
	if (!fsl_weigh_steps(weights, replay, facts->blame, r, candidate->begin, candidate->end)) {
		return;
	}
	double all_ms = fsl_repairs_mean(replay, step_ms + all_idx * n, weights);
	double without_ms = fsl_repairs_mean(replay, step_ms + candidate->without_idx * n, weights);
	*proof = (struct fsl_proof){true, without_ms - all_ms};
}

/* Charges and links while they are judged: each with all others repaired. */
struct trial {
	struct candidate *list;
	size_t n;
	size_t all_idx;  /* repair of all */
	double *weights; /* scratch, one per replayed step */
};

/* Asks for the repairs. */
static enum fsl_status ask(struct trial *trial, struct fsl_repairs *repairs,
			   const struct fsl_verification *out, const struct fsl_case *facts,
			   struct fsl_error *err)
{
	size_t n_room = facts->blame->n_ranks + FSL_JUDGED_LINKS_MAX;
	FSL_TRY(FSL_ARENA_NEW(trial->list, repairs->arena, n_room, "list", err));
	FSL_TRY(FSL_ARENA_NEW(trial->weights, repairs->arena, out->replay.n_steps, "weights", err));
	trial->n = list_candidates(trial->list, out, facts);
	FSL_REQUIRE(trial->n <= n_room);
	trial->all_idx = add_all_but(repairs, out, facts, trial->list, trial->n, trial->n);
	for (size_t k = 0; k < trial->n; k++) {
		trial->list[k].without_idx =
			add_all_but(repairs, out, facts, trial->list, trial->n, k);
	}
	return FSL_OK;
}

static enum fsl_status set_errors(struct fsl_verification *out, struct fsl_error *err)
{
	const struct fsl_replay *replay = &out->replay;
	double *errors = NULL, sum_ms = 0.0, measured_ms = 0.0;
	size_t n = 0;
	FSL_TRY(FSL_ARENA_NEW(errors, &out->replay.arena, 2 * replay->n_steps, "errors", err));
	for (size_t i = 0; i < replay->n_steps; i++) {
		if (replay->measured_ms[i] > 0.0) {
			double error_ms = out->replayed_ms[i] - replay->measured_ms[i];
			errors[n++] = fabs(error_ms) / replay->measured_ms[i];
			sum_ms += error_ms;
			measured_ms += replay->measured_ms[i];
		}
	}
	if (n > 0) {
		out->summary.error_median = fsl_percentile(errors, n, 50.0, errors + n);
		out->summary.error_p95 = fsl_percentile(errors, n, 95.0, errors + n);
		out->summary.error_mean = sum_ms / measured_ms;
	}
	return FSL_OK;
}

/* Why the replay is no good; "" when it is. */
static const char *doubt_of(struct fsl_verification *out)
{
	const struct fsl_replay *replay = &out->replay;
	const char *doubt = "";
	if (replay->n_steps < FSL_TRUSTED_STEPS_MIN) {
		doubt = "too few steps could be replayed";
	} else if (!(out->summary.error_p95 <= FSL_TRUSTED_ERROR_P95_MAX)) {
		doubt = fsl_arena_printf(
			&out->arena,
			"replayed step times differ from measured ones by %.1f %% in one of 20",
			100.0 * out->summary.error_p95);
	} else if (replay->unmatched_share > FSL_TRUSTED_UNMATCHED_MAX) {
		doubt = fsl_arena_printf(&out->arena,
					 "a rank spends %.0f %% of its time in operators whose "
					 "partner was not found",
					 100.0 * replay->unmatched_share);
	}
	return doubt != NULL ? doubt : "";
}

/* Brings @n steps into an order whose every beginning is spread evenly: the middle first, then the
 * quarters (bits of the place reversed). Fills @focus; some may come twice. */
static void spread_beginnings(uint32_t focus[FSL_FOCUS_STEPS_MAX], size_t n)
{
	uint32_t ascending[FSL_FOCUS_STEPS_MAX];
	memcpy(ascending, focus, n * sizeof(*focus));
	for (size_t k = 0; k < FSL_FOCUS_STEPS_MAX; k++) {
		size_t place = 0;
		for (size_t bit = 1, reversed = FSL_FOCUS_STEPS_MAX / 2; reversed > 0; bit *= 2) {
			place += ((k + 1) & bit) != 0 ? reversed : 0;
			reversed /= 2;
		}
		FSL_ASSERT(place < FSL_FOCUS_STEPS_MAX);
		focus[k] = ascending[place * n / FSL_FOCUS_STEPS_MAX];
	}
}

/* The steps of the costliest charge, evenly spread; its high steps, if it is in single steps. */
static size_t list_focus(uint32_t focus[FSL_FOCUS_STEPS_MAX], const struct fsl_blame *blame)
{
	size_t n = 0, seen = 0, worst = SIZE_MAX;
	for (size_t r = 0; r < blame->n_ranks; r++) {
		const struct fsl_charge *charge = &blame->charges[r];
		if (charge->pattern != FSL_PATTERN_NONE &&
		    (worst == SIZE_MAX ||
		     charge->lost_ms_per_step > blame->charges[worst].lost_ms_per_step)) {
			worst = r;
		}
	}
	if (worst == SIZE_MAX) {
		return 0;
	}
	const struct fsl_charge *charge = &blame->charges[worst];
	bool is_single = charge->pattern == FSL_PATTERN_REPEATED;
	size_t length = charge->episode.end - charge->episode.begin;
	size_t n_listed = is_single ? charge->episode.n_high : length;
	for (size_t s = charge->episode.begin; s < charge->episode.end && n < FSL_FOCUS_STEPS_MAX;
	     s++) {
		bool is_listed =
			!is_single || fsl_blame_excess_ms(blame, worst, s) > charge->threshold_ms;
		/* The middle of each of FSL_FOCUS_STEPS_MAX parts. */
		if (is_listed && seen++ >= (2 * n + 1) * n_listed / (2 * FSL_FOCUS_STEPS_MAX)) {
			focus[n++] = (uint32_t)s;
		}
	}
	if (n == 0) {
		return 0;
	}
	spread_beginnings(focus, n);
	return FSL_FOCUS_STEPS_MAX;
}

static enum fsl_status alloc_proofs(struct fsl_verification *out, const struct fsl_case *facts,
				    const struct fsl_transfers *transfers, struct fsl_error *err)
{
	FSL_TRY(fsl_links_judge(&out->links, &out->n_links, &out->arena, facts, transfers, err));
	FSL_TRY(FSL_ARENA_NEW(out->ranks, &out->arena, facts->blame->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(out->link_proofs, &out->arena, out->n_links, "link_proofs", err));
	FSL_TRY(FSL_ARENA_NEW(out->is_wait, &out->arena, facts->match->n_channels, "is_wait", err));
	if (facts->match->n_channels > 0) {
		memcpy(out->is_wait, transfers->is_wait, facts->match->n_channels * sizeof(bool));
	}
	out->has_links = true;
	return FSL_OK;
}

static enum fsl_status replay(struct fsl_verification *out, const struct fsl_case *facts,
			      struct fsl_error *err)
{
	uint32_t focus[FSL_FOCUS_STEPS_MAX];
	const struct fsl_peers *peers = &facts->blame->peers;
	bool *misses_members = NULL;
	FSL_TRY(fsl_links_unseen(&misses_members, &out->arena, facts, err));
	struct fsl_replay_job input = {
		.run = facts->run,
		.steps = facts->steps,
		.match = facts->match,
		.cuts = facts->cuts,
		.own = facts->own,
		.counts_idle = facts->blame->counts_idle,
		.members = peers->members,
		.class_begin = peers->begin,
		.n_classes = peers->n_classes,
		.misses_members = misses_members,
		.steps_max = (size_t)facts->config->replay_steps_max,
		.ops_max = (size_t)facts->config->replay_budget_ms * FSL_REPLAYED_OPS_PER_MS,
		.focus_steps = focus,
		.n_focus = list_focus(focus, facts->blame),
	};
	return fsl_replay_build(&out->replay, &input, err);
}

/* All that is asked of the replay, run at once: nothing changed, proofs, what-ifs. */
static enum fsl_status run_repairs(struct fsl_verification *out, const struct fsl_case *facts,
				   struct fsl_error *err)
{
	struct fsl_arena *arena = &out->replay.arena; /* goes with the graph */
	struct fsl_repairs *repairs = NULL;
	FSL_TRY(FSL_ARENA_NEW(repairs, arena, 1, "repairs", err));
	FSL_TRY(FSL_ARENA_NEW(out->replayed_ms, &out->arena, out->replay.n_steps, "replayed_ms",
			      err));
	*repairs = (struct fsl_repairs){.arena = arena, .replay = &out->replay};
	out->repairs = repairs;
	size_t nothing_idx = fsl_repairs_add(repairs).idx;
	struct fsl_repair_flags before = fsl_repairs_add(repairs); /* fsl_verify_loss wants it */
	if (!repairs->has_failed) {
		fsl_repairs_skip_unseen(repairs, &before, out);
	}
	struct trial trial = {.n = 0};
	FSL_TRY(ask(&trial, repairs, out, facts, err));
	FSL_TRY(fsl_whatifs_ask(&out->whatifs, repairs, out, facts, err));
	FSL_TRY(fsl_repairs_run(repairs, err));
	memcpy(out->replayed_ms, repairs->step_ms + nothing_idx * out->replay.n_steps,
	       out->replay.n_steps * sizeof(*repairs->step_ms));
	for (size_t k = 0; k < trial.n; k++) {
		set_proof(out, facts, &trial.list[k], repairs, trial.all_idx, trial.weights);
	}
	return fsl_whatifs_answer(out->whatifs, err);
}

/* Levels, proofs and what-ifs of a job that could be replayed. */
static enum fsl_status prove(struct fsl_verification *out, const struct fsl_case *facts,
			     const struct fsl_transfers *transfers, struct fsl_error *err)
{
	FSL_TRY(replay(out, facts, err));
	if (out->replay.graph == NULL) {
		out->summary.doubt = "no step fits into replay.budget_ms";
		return FSL_OK;
	}
	out->summary.is_on = true;
	out->summary.n_steps = out->replay.n_steps;
	FSL_TRY(fsl_repair_levels(&out->replay, facts, transfers, out->links, out->n_links, err));
	FSL_TRY(run_repairs(out, facts, err));
	FSL_TRY(set_errors(out, err));
	out->summary.doubt = doubt_of(out);
	out->summary.is_trusted = out->summary.doubt[0] == '\0';
	return FSL_OK;
}

/* Somebody who is named, or not, by what the replay says. */
static bool has_suspects(const struct fsl_verification *out, const struct fsl_case *facts)
{
	bool is_charged = false;
	for (size_t r = 0; r < facts->blame->n_ranks && !is_charged; r++) {
		is_charged = facts->blame->charges[r].pattern != FSL_PATTERN_NONE &&
			     !fsl_fuse_is_doubted(facts, r);
	}
	return is_charged || out->n_links > 0;
}

enum fsl_status fsl_verify(struct fsl_verification *out, const struct fsl_case *facts,
			   struct fsl_error *err)
{
	struct fsl_transfers transfers;
	*out = (struct fsl_verification){0};
	fsl_replay_summary_init(&out->summary);
	if (facts->config->verification == FSL_VERIFICATION_OFF) {
		return FSL_OK;
	}
	enum fsl_status status = fsl_transfers_build(&transfers, facts, err);
	if (status == FSL_OK) {
		status = alloc_proofs(out, facts, &transfers, err);
	}
	if (status == FSL_OK && (!facts->is_brief || has_suspects(out, facts))) {
		status = prove(out, facts, &transfers, err);
	}
	fsl_transfers_fini(&transfers);
	if (status != FSL_OK) {
		fsl_verification_fini(out);
	}
	return status;
}

void fsl_verification_drop_graph(struct fsl_verification *verification)
{
	if (verification->repairs != NULL) {
		fsl_repairs_fini(verification->repairs);
		verification->repairs = NULL;
		verification->whatifs = NULL;
	}
	fsl_replay_fini(&verification->replay);
}

void fsl_verification_fini(struct fsl_verification *verification)
{
	fsl_verification_drop_graph(verification);
	fsl_arena_fini(&verification->arena);
	*verification = (struct fsl_verification){0};
}

const struct fsl_proof *fsl_proof_of_rank(const struct fsl_verification *verification,
					  size_t rank_idx)
{
	bool is_judged = verification != NULL && verification->summary.is_trusted &&
			 verification->ranks[rank_idx].is_judged;
	return is_judged ? &verification->ranks[rank_idx] : NULL;
}

const struct fsl_proof *fsl_proof_of_link(const struct fsl_verification *verification,
					  const struct fsl_link *link)
{
	if (verification == NULL || !verification->summary.is_trusted) {
		return NULL;
	}
	for (size_t k = 0; k < verification->n_links; k++) {
		if (verification->links[k].channel_idx == link->channel_idx) {
			const struct fsl_proof *proof = &verification->link_proofs[k];
			return proof->is_judged ? proof : NULL;
		}
	}
	return NULL;
}

/* The cost of all culprits together, by the replay. */
#include <math.h>

#include "blame/fuse_parts.h"
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
		lost_ms = fmax(lost_ms, fsl_fuse_least_loss(facts, charge));
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
	}
	fsl_repairs_fini(&repairs);
	fsl_arena_fini(&scratch);
	return status;
}

/* Looks for steps in the newest events, and appends those that are new. */
#include "cli/convert_steps.h"

#include <string.h>

#include "base/mem.h"
#include "base/try.h"

enum {
	/* Steps whose events are kept: enough to find a period again. */
	STEPS_KEPT = 24,
	/* Operators that are kept as long as no steps were found, 64 bytes each. */
	OPS_KEPT_MAX = 1 << 18,
};

/* The first window tells the rank: that of the steps, else the lowest with events. */
static enum fsl_status begin(struct fsl_step_chain *chain, const struct fsl_run *run,
			     struct fsl_error *err)
{
	FSL_TRY(fsl_steps_build(&chain->steps, run, err));
	chain->has_begun = true;
	chain->source_rank = chain->steps.source_rank;
	chain->steps_capacity = chain->steps.n_items;
	for (size_t r = 0; r < run->n_ranks && chain->source_rank == FSL_RANK_UNKNOWN; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		chain->source_rank =
			rank->n_ops + rank->n_stages > 0 ? rank->rank : FSL_RANK_UNKNOWN;
	}
	return FSL_OK;
}

/* Adds the events of the run to those that are kept; those that are there twice go. @needs_ops:
 * operators tell the steps. */
static enum fsl_status keep_events(struct fsl_rank *kept, const struct fsl_rank *rank,
				   bool needs_ops, struct fsl_error *err)
{
	size_t n_ops = needs_ops ? rank->n_ops : 0;
	FSL_TRY(FSL_GROW(kept->ops, kept->ops_capacity, kept->n_ops + n_ops, err));
	FSL_TRY(FSL_GROW(kept->stages, kept->stages_capacity, kept->n_stages + rank->n_stages,
			 err));
	FSL_TRY(FSL_GROW(kept->steps, kept->steps_capacity, rank->n_steps, err));
	if (n_ops > 0) {
		memcpy(kept->ops + kept->n_ops, rank->ops, n_ops * sizeof(*rank->ops));
	}
	if (rank->n_stages > 0) {
		memcpy(kept->stages + kept->n_stages, rank->stages,
		       rank->n_stages * sizeof(*rank->stages));
	}
	if (rank->n_steps > 0) {
		memcpy(kept->steps, rank->steps, rank->n_steps * sizeof(*rank->steps));
	}
	kept->rank = rank->rank;
	kept->n_restarts = rank->n_restarts;
	kept->n_ops += n_ops;
	kept->n_stages += rank->n_stages;
	kept->n_steps = rank->n_steps;
	fsl_rank_normalise(kept);
	return FSL_OK;
}

/* Forgets the events of steps that nothing depends on any more. */
static void forget_events(struct fsl_step_chain *chain)
{
	const struct fsl_steps *steps = &chain->steps;
	struct fsl_rank *kept = &chain->rank;
	struct fsl_run run = {.ranks = kept, .n_ranks = 1};
	if (steps->n_items > STEPS_KEPT) {
		fsl_run_forget(&run, steps->items[steps->n_items - STEPS_KEPT].begin_ns);
	} else if (steps->n_items == 0 && kept->n_ops > OPS_KEPT_MAX) {
		fsl_run_forget(&run, fsl_op_begin_ns(&kept->ops[kept->n_ops - OPS_KEPT_MAX / 2]));
	}
}

/* The first of the items that the chain lacks. *number: by how much their numbers are to rise. */
static size_t find_new(const struct fsl_steps *steps, const struct fsl_steps *found, int64_t *rise)
{
	size_t at = 0;
	*rise = 0;
	if (steps->n_items == 0) {
		return 0;
	}
	const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
	while (at < found->n_items && found->items[at].begin_ns <= last->begin_ns) {
		at++;
	}
	bool is_same = at > 0 && found->items[at - 1].begin_ns == last->begin_ns;
	while (!is_same && at < found->n_items &&
	       found->items[at].begin_ns < last->begin_ns + last->dur_ns / 2) {
		at++;
	}
	if (found->is_ordinal && at < found->n_items) {
		*rise = last->step + 1 - found->items[at].step;
	}
	return at;
}

/* Appends what is new in @found. Its last step is left out if it may go on. */
static enum fsl_status append(struct fsl_step_chain *chain, const struct fsl_steps *found,
			      bool is_last, struct fsl_error *err)
{
	struct fsl_steps *steps = &chain->steps;
	int64_t rise = 0;
	size_t at = find_new(steps, found, &rise);
	size_t n_most = steps->n_items + found->n_items;
	FSL_TRY(FSL_GROW(steps->items, chain->steps_capacity, n_most, err));
	size_t end = found->n_items - (found->is_last_open && !is_last && found->n_items > 0);
	for (; at < end; at++) {
		struct fsl_job_step item = found->items[at];
		item.step += rise;
		if (steps->n_items == 0 || item.step > steps->items[steps->n_items - 1].step) {
			steps->items[steps->n_items++] = item;
		}
	}
	steps->is_last_open = found->is_last_open && is_last;
	return FSL_OK;
}

/* Takes facts about the source from the first steps that are found. */
static void take_source(struct fsl_steps *steps, const struct fsl_steps *found)
{
	struct fsl_job_step *items = steps->items;
	*steps = *found;
	steps->items = items;
	steps->n_items = 0;
}

enum fsl_status fsl_step_chain_add(struct fsl_step_chain *chain, const struct fsl_run *run,
				   bool is_last, struct fsl_error *err)
{
	struct fsl_steps *steps = &chain->steps, found = {0};
	if (!chain->has_begun) {
		FSL_TRY(begin(chain, run, err));
		steps->n_items -= steps->is_last_open && !is_last && steps->n_items > 0;
	}
	const struct fsl_rank *rank = fsl_run_rank(run, chain->source_rank);
	if (rank == NULL) {
		return FSL_OK;
	}
	bool needs_ops = steps->n_items == 0 || strncmp(steps->source, "operator", 8) == 0;
	FSL_TRY(keep_events(&chain->rank, rank, needs_ops, err));
	const struct fsl_run newest = {
		.ranks = &chain->rank,
		.n_ranks = 1,
		.step_hint = {chain->source_rank, steps->is_ordinal ? steps->n_ops : 0}};
	FSL_TRY(fsl_steps_build(&found, &newest, err));
	if (steps->n_items == 0 && found.n_items > 0) {
		take_source(steps, &found);
	}
	enum fsl_status status = FSL_OK;
	if (strcmp(steps->source, found.source) == 0) {
		status = append(chain, &found, is_last, err);
	}
	fsl_steps_fini(&found);
	forget_events(chain);
	return status;
}

void fsl_step_chain_fini(struct fsl_step_chain *chain)
{
	fsl_steps_fini(&chain->steps);
	fsl_free(chain->rank.ops);
	fsl_free(chain->rank.remnants);
	fsl_free(chain->rank.stages);
	fsl_free(chain->rank.steps);
	*chain = (struct fsl_step_chain){0};
}

/* Stages: which one each moment of a rank belongs to. */
#include "match/own_stages.h"

#include "base/log.h"
#include "base/sort.h"

static enum fsl_own_part part_of_stage(enum fsl_stage_kind kind)
{
	switch (kind) {
	case FSL_STAGE_DATALOADER:
		return FSL_OWN_DATALOADER;
	case FSL_STAGE_CKPT:
		return FSL_OWN_CKPT;
	case FSL_STAGE_GC:
		return FSL_OWN_GC;
	case FSL_STAGE_FORWARD:
	case FSL_STAGE_BACKWARD:
	case FSL_STAGE_OPTIMIZER:
	case FSL_STAGE_SYNC:
	case FSL_STAGE_OTHER:
	case FSL_STAGES_N:
		break;
	}
	return FSL_OWN_COMPUTE;
}

/* Step that holds @time_ns on the rank's own clock; n_steps outside. */
static size_t step_at(const struct fsl_cuts *cuts, size_t rank_idx, int64_t time_ns)
{
	const int64_t *begin_ns = cuts->begin_ns + rank_idx * (cuts->n_steps + 1);
	size_t low = 0; /* first begin after time_ns */
	FSL_BISECT(low, cuts->n_steps + 1, mid, begin_ns[mid] <= time_ns);
	return low == 0 ? cuts->n_steps : low - 1;
}

/*
 * True when the stages of a rank carry the numbers of the job's steps: known numbers that do not
 * fall as time goes on. Collectors that count calls instead (several micro-batches a step) do not
 * pass.
 */
static bool has_step_numbers(const struct fsl_rank *rank, const struct fsl_steps *steps)
{
	size_t n_good = 0;
	int64_t last = INT64_MIN;
	for (size_t i = 0; i < rank->n_stages; i++) {
		int64_t number = rank->stages[i].step;
		if (number >= last && fsl_steps_numbered(steps, number) != SIZE_MAX) {
			last = number;
			n_good++;
		}
	}
	return !steps->is_ordinal &&
	       (double)n_good >= FSL_STAGES_NUMBERED_SHARE_MIN * (double)rank->n_stages;
}

/* The sweep over one rank's stages: which are open, and up to when time has been given out. */
struct sweep {
	struct fsl_stage_pieces *out;
	const struct fsl_rank *rank;
	const struct fsl_cuts *cuts;
	const struct fsl_steps *steps;
	size_t rank_idx;
	bool is_numbered; /* stages carry the job's step numbers */
	size_t n_open;    /* out->open: the one that began last on top; some may have ended */
	int64_t cursor_ns;
};

/*
 * Step of a stage: by its number if the numbers can be trusted, else the step that holds its
 * middle. Ranks begin a step within moments of each other, so the begin of a stage would fall on
 * either side of the boundary by chance.
 */
static size_t step_of_stage(const struct sweep *sweep, const struct fsl_stage *stage)
{
	if (sweep->is_numbered) {
		return fsl_steps_numbered(sweep->steps, stage->step);
	}
	return step_at(sweep->cuts, sweep->rank_idx,
		       stage->begin_ns + (stage->end_ns - stage->begin_ns) / 2);
}

/* Gives [cursor, to) to a stage. */
static void give(struct sweep *sweep, const struct fsl_stage *stage, int64_t to_ns)
{
	size_t step = step_of_stage(sweep, stage);
	FSL_ASSERT(sweep->cursor_ns < to_ns && sweep->out->n_items < sweep->out->capacity);
	sweep->out->items[sweep->out->n_items++] = (struct fsl_stage_piece){
		sweep->cursor_ns, to_ns, step < sweep->cuts->n_steps ? (uint32_t)step : UINT32_MAX,
		part_of_stage(stage->kind)};
	sweep->cursor_ns = to_ns;
}

static void sweep_to(struct sweep *sweep, int64_t time_ns)
{
	while (sweep->cursor_ns < time_ns && sweep->n_open > 0) {
		const struct fsl_stage *top =
			&sweep->rank->stages[sweep->out->open[sweep->n_open - 1]];
		if (top->end_ns <= sweep->cursor_ns) {
			sweep->n_open--;
			continue;
		}
		give(sweep, top, top->end_ns < time_ns ? top->end_ns : time_ns);
	}
	if (sweep->n_open == 0 && sweep->cursor_ns < time_ns) {
		sweep->cursor_ns = time_ns;
	}
}

enum fsl_status fsl_stage_pieces(struct fsl_stage_pieces *out, const struct fsl_rank *rank,
				 size_t rank_idx, const struct fsl_steps *steps,
				 const struct fsl_cuts *cuts, struct fsl_error *err)
{
	/* A stage begins at most one stretch and cuts at most one other in two. */
	FSL_TRY(FSL_GROW(out->items, out->capacity, 2 * rank->n_stages + 1, err));
	FSL_TRY(FSL_GROW(out->open, out->open_capacity, rank->n_stages + 1, err));
	out->n_items = 0;
	struct sweep sweep = {.out = out,
			      .rank = rank,
			      .cuts = cuts,
			      .steps = steps,
			      .rank_idx = rank_idx,
			      .is_numbered = has_step_numbers(rank, steps),
			      .cursor_ns = INT64_MIN};
	for (size_t i = 0; i < rank->n_stages; i++) {
		FSL_ASSERT(i == 0 || rank->stages[i - 1].begin_ns <= rank->stages[i].begin_ns);
		sweep_to(&sweep, rank->stages[i].begin_ns);
		out->open[sweep.n_open++] = (uint32_t)i;
	}
	while (sweep.n_open > 0) {
		sweep_to(&sweep, INT64_MAX);
	}
	return FSL_OK;
}

void fsl_stage_pieces_fini(struct fsl_stage_pieces *pieces)
{
	fsl_free(pieces->items);
	fsl_free(pieces->open);
	*pieces = (struct fsl_stage_pieces){0};
}

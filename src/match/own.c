/* Own time per rank, step and part: gaps between operators, or recorded stages that no operator
 * covers. */
#include "match/own.h"

#include <math.h>

#include "base/number.h"
#include "match/own_spans.h"

/* Share of the ranks with operators that must have compute stages for stages to be used. */
static const double STAGES_SHARE_MIN = 1.0;
/* Share of a rank's stages whose step numbers must make sense for the numbers to be used. */
static const double NUMBERED_SHARE_MIN = 0.95;

/* One half-open stretch of time. */
struct span {
	int64_t begin_ns, end_ns;
};

/* Grows with its rank; the communication of one rank as disjoint stretches, ascending. */
struct cover {
	struct span *spans;
	size_t n_spans;
};

/* Where the rank's numbers go. */
struct own_row {
	double *part_ms; /* [step * FSL_OWN_PARTS_N + part] */
	double *idle_ms; /* [step] */
	size_t n_steps;
};

static bool has_compute_stages(const struct fsl_rank *rank)
{
	for (size_t i = 0; i < rank->n_stages; i++) {
		enum fsl_stage_kind kind = rank->stages[i].kind;
		if (kind == FSL_STAGE_FORWARD || kind == FSL_STAGE_BACKWARD) {
			return true;
		}
	}
	return false;
}

static bool run_has_stages(const struct fsl_run *run)
{
	size_t n_ranks = 0, n_with = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (run->ranks[r].n_ops > 0) {
			n_ranks++;
			n_with += has_compute_stages(&run->ranks[r]);
		}
	}
	return n_ranks > 0 && (double)n_with >= STAGES_SHARE_MIN * (double)n_ranks;
}

/* Union of the spans; they are sorted by begin. */
static void build_cover(struct cover *cover, const struct fsl_op_span *spans, size_t n_spans)
{
	cover->n_spans = 0;
	for (size_t i = 0; i < n_spans; i++) {
		struct span *last = cover->n_spans > 0 ? &cover->spans[cover->n_spans - 1] : NULL;
		if (last != NULL && spans[i].begin_ns <= last->end_ns) {
			last->end_ns =
				spans[i].end_ns > last->end_ns ? spans[i].end_ns : last->end_ns;
		} else if (spans[i].end_ns >= spans[i].begin_ns) {
			cover->spans[cover->n_spans++] =
				(struct span){spans[i].begin_ns, spans[i].end_ns};
		}
	}
}

static void mark_unseen(const struct own_row *row, size_t step)
{
	for (size_t p = 0; p < FSL_OWN_PARTS_N; p++) {
		row->part_ms[step * FSL_OWN_PARTS_N + p] = NAN;
	}
	row->idle_ms[step] = NAN;
}

/*
 * Gaps: an operator's gap is the time from the latest end so far to its span. A step is seen whole
 * when an operator came before it, so that the gap at its head is known.
 */
static void own_from_gaps(const struct own_row *row, const struct fsl_op_span *spans,
			  size_t n_spans, const struct fsl_cuts *cuts, size_t rank_idx)
{
	for (size_t s = 0; s < row->n_steps; s++) {
		size_t begin = fsl_cuts_first(cuts, rank_idx, s);
		if (begin == 0 || begin >= fsl_cuts_first(cuts, rank_idx, s + 1)) {
			mark_unseen(row, s);
		}
	}
	size_t last_step = SIZE_MAX;
	int64_t busy_until_ns = n_spans > 0 ? spans[0].begin_ns : 0;
	for (size_t i = 0; i < n_spans; i++) {
		size_t step = fsl_cuts_step_of(cuts, rank_idx, spans[i].op_idx);
		int64_t gap_ns = spans[i].begin_ns - busy_until_ns;
		if (gap_ns > 0 && step != SIZE_MAX) {
			double *parts = row->part_ms + step * FSL_OWN_PARTS_N;
			parts[step != last_step ? FSL_OWN_HEAD : FSL_OWN_BODY] +=
				(double)gap_ns / FSL_NS_PER_MS;
		}
		busy_until_ns = spans[i].end_ns > busy_until_ns ? spans[i].end_ns : busy_until_ns;
		last_step = step;
	}
}

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

/* First stretch of the cover that ends after @time_ns. */
static size_t first_after(const struct cover *cover, int64_t time_ns)
{
	size_t low = 0, high = cover->n_spans;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (cover->spans[mid].end_ns <= time_ns) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* Time of [begin, end) outside the cover. */
static int64_t uncovered_ns(const struct cover *cover, int64_t begin_ns, int64_t end_ns)
{
	int64_t free_ns = end_ns - begin_ns;
	for (size_t k = first_after(cover, begin_ns); k < cover->n_spans; k++) {
		const struct span *span = &cover->spans[k];
		if (span->begin_ns >= end_ns) {
			break;
		}
		int64_t from_ns = span->begin_ns > begin_ns ? span->begin_ns : begin_ns;
		int64_t to_ns = span->end_ns < end_ns ? span->end_ns : end_ns;
		free_ns -= to_ns - from_ns;
	}
	return free_ns > 0 ? free_ns : 0;
}

/* Step that holds @time_ns on the rank's own clock; n_steps outside. */
static size_t step_at(const struct fsl_cuts *cuts, size_t rank_idx, int64_t time_ns)
{
	const int64_t *begin_ns = cuts->begin_ns + rank_idx * (cuts->n_steps + 1);
	size_t low = 0, high = cuts->n_steps + 1; /* first begin after time_ns */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (begin_ns[mid] <= time_ns) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
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
	return !steps->is_ordinal && (double)n_good >= NUMBERED_SHARE_MIN * (double)rank->n_stages;
}

/* The sweep over one rank's stages: who is open, and up to where time has been given out. */
struct sweep {
	const struct own_row *row;
	const struct fsl_rank *rank;
	const struct cover *cover;
	const struct fsl_cuts *cuts;
	const struct fsl_steps *steps;
	size_t rank_idx;
	bool is_numbered; /* stages carry the job's step numbers */
	uint32_t *open;   /* stack of stages, the one that began last on top; some may have ended */
	size_t n_open;
	int64_t cursor_ns;
};

/*
 * Step of a stage: by its number where that can be trusted, else the step that holds its middle.
 * Ranks begin a step within moments of each other, so the begin of a stage would fall on either
 * side of the boundary by chance.
 */
static size_t step_of_stage(const struct sweep *sweep, const struct fsl_stage *stage)
{
	if (sweep->is_numbered) {
		return fsl_steps_numbered(sweep->steps, stage->step);
	}
	return step_at(sweep->cuts, sweep->rank_idx,
		       stage->begin_ns + (stage->end_ns - stage->begin_ns) / 2);
}

/* Gives [from, to) to a stage. */
static void give(const struct sweep *sweep, const struct fsl_stage *stage, int64_t from_ns,
		 int64_t to_ns)
{
	size_t s = step_of_stage(sweep, stage);
	if (s < sweep->row->n_steps) {
		sweep->row->part_ms[s * FSL_OWN_PARTS_N + part_of_stage(stage->kind)] +=
			(double)uncovered_ns(sweep->cover, from_ns, to_ns) / FSL_NS_PER_MS;
	}
}

static void sweep_to(struct sweep *sweep, int64_t time_ns)
{
	while (sweep->cursor_ns < time_ns && sweep->n_open > 0) {
		const struct fsl_stage *top = &sweep->rank->stages[sweep->open[sweep->n_open - 1]];
		if (top->end_ns <= sweep->cursor_ns) {
			sweep->n_open--;
			continue;
		}
		int64_t to_ns = top->end_ns < time_ns ? top->end_ns : time_ns;
		give(sweep, top, sweep->cursor_ns, to_ns);
		sweep->cursor_ns = to_ns;
	}
	if (sweep->n_open == 0 && sweep->cursor_ns < time_ns) {
		sweep->cursor_ns = time_ns;
	}
}

/*
 * Stages: each moment counts once, for the stage that began last (a GC inside forward is GC); what
 * operators cover does not count. Stages are sorted by begin; one sweep, linear in their number.
 */
static void own_from_stages(struct sweep *sweep)
{
	sweep->cursor_ns = INT64_MIN;
	for (size_t i = 0; i < sweep->rank->n_stages; i++) {
		sweep_to(sweep, sweep->rank->stages[i].begin_ns);
		sweep->open[sweep->n_open++] = (uint32_t)i;
	}
	while (sweep->n_open > 0) {
		sweep_to(sweep, INT64_MAX);
	}
}

/* Idle: the part of each step that neither operators nor stages explain. */
static void idle_of_steps(const struct own_row *row, const struct cover *cover,
			  const struct fsl_cuts *cuts, size_t rank_idx)
{
	const int64_t *begin_ns = cuts->begin_ns + rank_idx * (cuts->n_steps + 1);
	for (size_t s = 0; s < row->n_steps; s++) {
		double own_ms = 0.0;
		for (size_t p = 0; p < FSL_OWN_PARTS_N; p++) {
			own_ms += row->part_ms[s * FSL_OWN_PARTS_N + p];
		}
		if (own_ms <= 0.0) {
			mark_unseen(row, s);
			continue;
		}
		double free_ms =
			(double)uncovered_ns(cover, begin_ns[s], begin_ns[s + 1]) / FSL_NS_PER_MS;
		row->idle_ms[s] = fmax(0.0, free_ms - own_ms);
	}
}

static enum fsl_status alloc_own(struct fsl_own *out, const struct fsl_run *run,
				 const struct fsl_cuts *cuts, struct fsl_error *err)
{
	size_t n_cells = 0, n_parts = 0;
	*out = (struct fsl_own){.n_ranks = run->n_ranks, .n_steps = cuts->n_steps};
	if (fsl_mul_size(run->n_ranks, cuts->n_steps, &n_cells) &&
	    fsl_mul_size(n_cells, FSL_OWN_PARTS_N * sizeof(double), &n_parts)) {
		out->part_ms = fsl_arena_alloc(&out->arena, n_parts);
		out->idle_ms = fsl_arena_alloc(&out->arena, n_cells * sizeof(double));
	}
	if (out->part_ms == NULL || out->idle_ms == NULL) {
		fsl_own_fini(out);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu, steps=%zu",
				run->n_ranks, cuts->n_steps);
	}
	return FSL_OK;
}

enum fsl_status fsl_own_build(struct fsl_own *out, const struct fsl_run *run,
			      const struct fsl_steps *steps, const struct fsl_cuts *cuts,
			      struct fsl_error *err)
{
	enum fsl_status status = alloc_own(out, run, cuts, err);
	if (status != FSL_OK) {
		return status;
	}
	out->has_stages = run_has_stages(run);
	struct cover cover = {0};
	struct fsl_op_span *spans = NULL;
	uint32_t *open = NULL;
	size_t capacity = 0, span_capacity = 0, open_capacity = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		struct own_row row = {out->part_ms + r * out->n_steps * FSL_OWN_PARTS_N,
				      out->idle_ms + r * out->n_steps, out->n_steps};
		status = FSL_GROW(spans, span_capacity, rank->n_ops + 1, err);
		if (status == FSL_OK) {
			status = FSL_GROW(cover.spans, capacity, rank->n_ops + 1, err);
		}
		if (status == FSL_OK) {
			status = FSL_GROW(open, open_capacity, rank->n_stages + 1, err);
		}
		if (status != FSL_OK) {
			fsl_own_fini(out);
			break;
		}
		fsl_op_spans(spans, rank);
		if (!out->has_stages) {
			own_from_gaps(&row, spans, rank->n_ops, cuts, r);
			continue;
		}
		build_cover(&cover, spans, rank->n_ops);
		own_from_stages(&(struct sweep){.row = &row,
						.rank = rank,
						.cover = &cover,
						.cuts = cuts,
						.steps = steps,
						.rank_idx = r,
						.is_numbered = has_step_numbers(rank, steps),
						.open = open});
		idle_of_steps(&row, &cover, cuts, r);
	}
	fsl_free(spans);
	fsl_free(cover.spans);
	fsl_free(open);
	return status;
}

void fsl_own_fini(struct fsl_own *own)
{
	fsl_arena_fini(&own->arena);
	*own = (struct fsl_own){0};
}

double fsl_own_total_ms(const struct fsl_own *own, size_t rank_idx, size_t step)
{
	double total_ms = 0.0;
	for (size_t p = 0; p < FSL_OWN_PARTS_N; p++) {
		total_ms += fsl_own_part_ms(own, rank_idx, step, (enum fsl_own_part)p);
	}
	return total_ms;
}

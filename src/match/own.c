/* Own time per rank, step and part: gaps between operators, or recorded stages that no operator
 * covers. */
#include "match/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/own_spans.h"

/* Stages: which one each moment of a rank belongs to. */

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

/* One half-open stretch of time. */
struct span {
	int64_t begin_ns, end_ns;
};

/* Grows with its rank; the communication of one rank as disjoint stretches, ascending. */
struct cover {
	struct span *spans;
	size_t n_spans;
};

/* The rank's rows in struct fsl_own. */
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
	return n_ranks > 0 && n_with == n_ranks;
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
			FSL_ASSERT(last == NULL || last->end_ns < spans[i].begin_ns);
			cover->spans[cover->n_spans++] =
				(struct span){spans[i].begin_ns, spans[i].end_ns};
		}
	}
}

static struct own_row row_of(const struct fsl_own *own, size_t rank_idx)
{
	return (struct own_row){own->part_ms + rank_idx * own->n_steps * FSL_OWN_PARTS_N,
				own->idle_ms + rank_idx * own->n_steps, own->n_steps};
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
	int64_t first_ns = busy_until_ns, gaps_ns = 0, busy_ns = 0;
	for (size_t i = 0; i < n_spans; i++) {
		size_t step = fsl_cuts_step_after(cuts, rank_idx, spans[i].op_idx, last_step);
		int64_t gap_ns = spans[i].begin_ns - busy_until_ns;
		if (gap_ns > 0 && step != SIZE_MAX) {
			double *parts = row->part_ms + step * FSL_OWN_PARTS_N;
			parts[step != last_step ? FSL_OWN_HEAD : FSL_OWN_BODY] +=
				(double)gap_ns / FSL_NS_PER_MS;
		}
		gaps_ns += gap_ns > 0 ? gap_ns : 0;
		int64_t from_ns = gap_ns > 0 ? spans[i].begin_ns : busy_until_ns;
		busy_ns += spans[i].end_ns > from_ns ? spans[i].end_ns - from_ns : 0;
		busy_until_ns = spans[i].end_ns > busy_until_ns ? spans[i].end_ns : busy_until_ns;
		last_step = step;
	}
	/* Work and communication are all of the time. */
	FSL_ASSERT(gaps_ns + busy_ns == busy_until_ns - first_ns);
}

/* First stretch of the cover that ends after @time_ns. */
static size_t first_after(const struct cover *cover, int64_t time_ns)
{
	size_t low = 0;
	FSL_BISECT(low, cover->n_spans, mid, cover->spans[mid].end_ns <= time_ns);
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

/* The part of a stage that operators cover is communication and does not count. */
static void own_from_stages(const struct own_row *row, const struct fsl_stage_pieces *pieces,
			    const struct cover *cover)
{
	for (size_t i = 0; i < pieces->n_items; i++) {
		const struct fsl_stage_piece *piece = &pieces->items[i];
		if (piece->step_idx < row->n_steps) {
			row->part_ms[piece->step_idx * FSL_OWN_PARTS_N + piece->part] +=
				(double)uncovered_ns(cover, piece->begin_ns, piece->end_ns) /
				FSL_NS_PER_MS;
		}
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
		FSL_ASSERT(begin_ns[s] <= begin_ns[s + 1]);
		row->idle_ms[s] = fmax(0.0, free_ms - own_ms);
	}
}

static enum fsl_status alloc_own(struct fsl_own *out, const struct fsl_run *run,
				 const struct fsl_cuts *cuts, struct fsl_error *err)
{
	size_t n_cells = 0, n_parts = 0;
	bool is_short = false;
	/* Not zeroed here: each rank's rows are on its thread. */
	*out = (struct fsl_own){.n_ranks = run->n_ranks, .n_steps = cuts->n_steps};
	if (fsl_mul_size(run->n_ranks, cuts->n_steps, &n_cells) &&
	    fsl_mul_size(n_cells, FSL_OWN_PARTS_N * sizeof(double), &n_parts)) {
		out->part_ms = fsl_arena_take(&out->arena, n_parts);
		out->idle_ms = fsl_arena_take(&out->arena, n_cells * sizeof(double));
	}
	out->holds = fsl_arena_alloc(&out->arena, run->n_ranks * sizeof(*out->holds));
	for (size_t r = 0; r < run->n_ranks && out->holds != NULL; r++) {
		out->holds[r] = fsl_arena_take(&out->arena, run->ranks[r].n_ops);
		is_short |= out->holds[r] == NULL;
	}
	if (is_short || out->part_ms == NULL || out->idle_ms == NULL || out->holds == NULL) {
		fsl_own_fini(out);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu, steps=%zu",
				run->n_ranks, cuts->n_steps);
	}
	return FSL_OK;
}

/* Scratch of one thread; grows with its ranks. */
struct bench {
	struct cover cover;
	struct fsl_op_span *spans;
	struct fsl_stage_pieces pieces;
	size_t cover_capacity, spans_capacity;
	bool has_async; /* some rank so far */
};

static void set_holds(uint8_t *holds, const struct fsl_op_span *spans, size_t n_spans)
{
	for (size_t i = 0; i < n_spans; i++) {
		enum fsl_hold hold = spans[i].is_beside ? FSL_HOLD_BESIDE : FSL_HOLD_RANK;
		holds[spans[i].op_idx] = (uint8_t)(spans[i].is_free ? FSL_HOLD_NEVER : hold);
	}
}

static enum fsl_status own_of_rank(struct fsl_own *out, struct bench *bench,
				   const struct fsl_rank *rank, size_t r,
				   const struct fsl_steps *steps, const struct fsl_cuts *cuts,
				   const struct fsl_launched *launched)
{
	struct own_row row = row_of(out, r);
	FSL_TRY(FSL_GROW(bench->spans, bench->spans_capacity, rank->n_ops + 1, NULL));
	memset(row.part_ms, 0, out->n_steps * FSL_OWN_PARTS_N * sizeof(*row.part_ms));
	memset(row.idle_ms, 0, out->n_steps * sizeof(*row.idle_ms));
	memset(out->holds[r], 0, rank->n_ops);
	if (out->has_stages) {
		FSL_TRY(FSL_GROW(bench->cover.spans, bench->cover_capacity, rank->n_ops + 1, NULL));
		FSL_TRY(fsl_stage_pieces(&bench->pieces, rank, r, steps, cuts, NULL));
	}
	if (fsl_op_spans(bench->spans, rank, cuts, r, launched)) {
		set_holds(out->holds[r], bench->spans, rank->n_ops);
		bench->has_async = true;
	}
	if (!out->has_stages || rank->n_ops == 0) { /* without operators all is unseen */
		own_from_gaps(&row, bench->spans, rank->n_ops, cuts, r);
		return FSL_OK;
	}
	build_cover(&bench->cover, bench->spans, rank->n_ops);
	own_from_stages(&row, &bench->pieces, &bench->cover);
	idle_of_steps(&row, &bench->cover, cuts, r);
	return FSL_OK;
}

/* Ranks on threads; each has its own rows. */
enum fsl_status fsl_own_build(struct fsl_own *out, const struct fsl_run *run,
			      const struct fsl_steps *steps, const struct fsl_cuts *cuts,
			      struct fsl_error *err)
{
	struct fsl_launched launched = {.kinds = NULL};
	bool is_short = false, has_async = false;
	enum fsl_status status = alloc_own(out, run, cuts, err);
	if (status == FSL_OK) {
		status = fsl_launched_find(&launched, run, cuts, err);
	}
	if (status != FSL_OK) {
		fsl_own_fini(out);
		return status;
	}
	out->has_stages = run_has_stages(run);
#pragma omp parallel reduction(|| : is_short, has_async)
	{
		struct bench bench = {.spans = NULL};
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t r = 0; r < run->n_ranks; r++) {
			is_short |= own_of_rank(out, &bench, &run->ranks[r], r, steps, cuts,
						&launched) != FSL_OK;
		}
		has_async = has_async || bench.has_async;
		fsl_free(bench.spans);
		fsl_free(bench.cover.spans);
		fsl_stage_pieces_fini(&bench.pieces);
	}
	fsl_launched_fini(&launched);
	out->has_async = has_async;
	if (is_short) {
		fsl_own_fini(out);
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu, steps=%zu",
				  run->n_ranks, cuts->n_steps);
	}
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

/* Lost records: a wait that was not recorded looks like work, so the steps that hold one are not
 * seen whole. */

/* End of an instance on the reference clock: the latest of its members that were recorded. */
static int64_t end_of_instance(const struct fsl_match *match, const struct fsl_channel *channel,
			       const struct fsl_run *run, size_t instance)
{
	int64_t end_ns = INT64_MIN;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		if (op_idx != FSL_NO_OP) {
			uint32_t rank_idx = channel->members[m];
			int64_t ns = fsl_op_end_ns(&run->ranks[rank_idx].ops[op_idx]) -
				     match->clock_ns[rank_idx];
			end_ns = ns > end_ns ? ns : end_ns;
		}
	}
	return end_ns;
}

static void hide(const struct fsl_own *own, size_t rank_idx, size_t step)
{
	struct own_row row = row_of(own, rank_idx);
	FSL_ASSERT(rank_idx < own->n_ranks && step < own->n_steps);
	mark_unseen(&row, step);
}

/*
 * The gap that holds the lost operator ends at the next one; there is none before the first
 * operator and behind the last. If the gap goes over the end of a step, the operator may have been
 * the last of that step, which then lacks the work before it.
 */
static void hide_step(struct fsl_own *own, const struct fsl_run *run, const struct fsl_cuts *cuts,
		      size_t rank_idx, int64_t time_ns)
{
	size_t k = fsl_first_op_at(&run->ranks[rank_idx], time_ns);
	size_t step = fsl_cuts_step_of(cuts, rank_idx, k);
	if (k == 0 || k == run->ranks[rank_idx].n_ops || step >= own->n_steps) {
		return;
	}
	hide(own, rank_idx, step);
	size_t before = fsl_cuts_step_of(cuts, rank_idx, k - 1);
	if (before < own->n_steps) {
		hide(own, rank_idx, before);
	}
}

/* Hides the steps of the members that lack an instance which others recorded. */
static void hide_instance(struct fsl_own *own, const struct fsl_run *run,
			  const struct fsl_match *match, const struct fsl_cuts *cuts,
			  const struct fsl_channel *channel, size_t instance)
{
	const uint32_t *row = channel->op_idx + instance * channel->n_members;
	int64_t end_ns = INT64_MIN;
	for (size_t m = 0; m < channel->n_members; m++) {
		if (row[m] != FSL_NO_OP) {
			continue;
		}
		if (end_ns == INT64_MIN) {
			end_ns = end_of_instance(match, channel, run, instance);
		}
		if (end_ns == INT64_MIN) {
			return; /* all members were left out of it: nobody recorded it */
		}
		uint32_t rank_idx = channel->members[m];
		hide_step(own, run, cuts, rank_idx, end_ns + match->clock_ns[rank_idx]);
	}
}

/* False also if a lost operator was put back. */
static bool is_recorded(const struct fsl_channel *channel, const struct fsl_run *run,
			size_t instance, bool has_restored)
{
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		if (op_idx == FSL_NO_OP ||
		    (has_restored &&
		     run->ranks[channel->members[m]].ops[op_idx].id == FSL_OP_ID_RESTORED)) {
			return false;
		}
	}
	return true;
}

/*
 * Hides a step if a channel that loses records has fewer instances in it than usual: all members
 * lost the record of one. @counts, @sorted: steps.
 */
static void hide_short_steps(struct fsl_own *own, const struct fsl_run *run,
			     const struct fsl_channel *channel, bool has_restored, int64_t *counts,
			     int64_t *sorted)
{
	size_t n_lost = 0, n_usual = 0, n_steps = own->n_steps;
	memset(counts, 0, n_steps * sizeof(*counts));
	for (size_t i = 0; i < channel->n_instances; i++) {
		n_lost += !is_recorded(channel, run, i, has_restored);
		if (channel->step_idx[i] < n_steps) {
			counts[channel->step_idx[i]]++;
		}
	}
	if (n_lost == 0 || n_steps == 0) {
		return;
	}
	memcpy(sorted, counts, n_steps * sizeof(*counts));
	qsort(sorted, n_steps, sizeof(*sorted), fsl_compare_i64);
	int64_t usual = sorted[n_steps / 2];
	for (size_t s = 0; s < n_steps; s++) {
		n_usual += counts[s] == usual;
	}
	for (size_t s = 0; s < n_steps; s++) {
		bool is_short = counts[s] < usual &&
				(double)n_usual >= FSL_LOST_REGULAR_SHARE_MIN * (double)n_steps;
		for (size_t m = 0; m < channel->n_members && is_short; m++) {
			hide(own, channel->members[m], s);
		}
	}
}

/* Hides a step if more than half of its operators were put back. */
static void hide_restored(struct fsl_own *own, const struct fsl_run *run,
			  const struct fsl_cuts *cuts)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		for (size_t s = 0; s < own->n_steps; s++) {
			size_t begin = fsl_cuts_first(cuts, r, s),
			       end = fsl_cuts_first(cuts, r, s + 1), n_restored = 0;
			for (size_t k = begin; k < end; k++) {
				n_restored += run->ranks[r].ops[k].id == FSL_OP_ID_RESTORED;
			}
			if (2 * n_restored > end - begin) {
				hide(own, r, s);
			}
		}
	}
}

static bool is_near(int64_t left_ns, int64_t right_ns)
{
	return left_ns != FSL_NS_ABSENT && llabs(left_ns - right_ns) <= FSL_CLOCK_TOLERANCE_NS;
}

/* True when an operator was put back that begins or ends with @remnant. */
static bool is_put_back(const struct fsl_rank *rank, const struct fsl_op *remnant)
{
	size_t behind = fsl_first_op_at(rank, fsl_remnant_ns(remnant)) + 1;
	behind = behind < rank->n_ops ? behind : rank->n_ops;
	for (size_t k = behind, n = 0; k-- > 0 && n < FSL_LOST_LOOK_BACK_OPS; n++) {
		const struct fsl_op *op = &rank->ops[k];
		if (op->id == FSL_OP_ID_RESTORED &&
		    (is_near(remnant->dev_begin_ns, fsl_op_begin_ns(op)) ||
		     is_near(remnant->dev_end_ns, fsl_op_end_ns(op)))) {
			return true;
		}
	}
	return false;
}

static bool loses_many(const struct fsl_rank *rank)
{
	return (double)rank->n_remnants >= FSL_LOST_MANY_SHARE * (double)rank->n_ops;
}

/*
 * If a rank loses many operators, hides the steps that have a remnant of one that was not put back:
 * no other rank recorded it, or its instance is not known. With few losses, hidden steps would cost
 * more than the waits that pass for work.
 */
static void hide_remnants(struct fsl_own *own, const struct fsl_run *run,
			  const struct fsl_cuts *cuts)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		size_t n_remnants = loses_many(rank) ? rank->n_remnants : 0;
		for (size_t i = 0; i < n_remnants; i++) {
			if (!is_put_back(rank, &rank->remnants[i])) {
				hide_step(own, run, cuts, r, fsl_remnant_ns(&rank->remnants[i]));
			}
		}
	}
}

static size_t n_ops_in(const struct fsl_cuts *cuts, size_t rank_idx, size_t step)
{
	return fsl_cuts_first(cuts, rank_idx, step + 1) - fsl_cuts_first(cuts, rank_idx, step);
}

/* Some operators leave nothing at all: if a rank loses many, hides its steps that do not have as
 * many operators as most. Without a number that most steps have, it hides none. @counts: steps. */
static void hide_odd_steps(struct fsl_own *own, const struct fsl_run *run,
			   const struct fsl_cuts *cuts, int64_t *counts)
{
	for (size_t r = 0; r < run->n_ranks && own->n_steps > 0; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (!loses_many(rank)) {
			continue;
		}
		for (size_t s = 0; s < own->n_steps; s++) {
			counts[s] = (int64_t)n_ops_in(cuts, r, s);
		}
		qsort(counts, own->n_steps, sizeof(*counts), fsl_compare_i64);
		size_t usual = (size_t)counts[own->n_steps / 2], n_usual = 0;
		for (size_t s = 0; s < own->n_steps; s++) {
			n_usual += n_ops_in(cuts, r, s) == usual;
		}
		for (size_t s = 0; s < own->n_steps && 2 * n_usual > own->n_steps; s++) {
			if (n_ops_in(cuts, r, s) != usual) {
				hide(own, r, s);
			}
		}
	}
}

enum fsl_status fsl_own_hide_lost(struct fsl_own *own, const struct fsl_run *run,
				  const struct fsl_match *match, const struct fsl_cuts *cuts,
				  struct fsl_error *err)
{
	int64_t *counts = fsl_calloc(2 * own->n_steps + 1, sizeof(*counts));
	if (counts == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", own->n_steps);
	}
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		if (channel->disagrees || channel->is_complete) {
			continue;
		}
		for (size_t i = 0; i < channel->n_instances; i++) {
			hide_instance(own, run, match, cuts, channel, i);
		}
		hide_short_steps(own, run, channel, match->n_restored > 0, counts,
				 counts + own->n_steps);
	}
	if (match->n_restored > 0) {
		hide_restored(own, run, cuts);
	}
	hide_remnants(own, run, cuts);
	hide_odd_steps(own, run, cuts, counts);
	fsl_free(counts);
	return FSL_OK;
}

/* Own time per rank, step and part: gaps between operators, or recorded stages that no operator
 * covers. */
#include "match/own.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/own_spans.h"
#include "match/own_stages.h"

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
	struct own_row row = {out->part_ms + r * out->n_steps * FSL_OWN_PARTS_N,
			      out->idle_ms + r * out->n_steps, out->n_steps};
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

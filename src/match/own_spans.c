/* Spans: operators that run beside computation hold their rank only at their end. */
#include "match/own_spans.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/sort.h"
#include "match/own.h"

/* Mean and variance of a series as it comes (Welford 1962). */
struct spread {
	double mean, sum_squares;
	size_t n;
};

/* One use per step: how steady the time to the next begin is, from the last end inside the operator
 * and from its own end. */
struct turn {
	struct spread from_inside, from_end;
};

/* Uses of one operator of one communicator. */
struct kind {
	uint32_t op_id, group_id;
	size_t n_uses, n_containing;
	const struct fsl_launched_kind *launched; /* NULL: not launched ahead */
	size_t step, turn;                        /* of the use that was met last */
	size_t n_in_step;                         /* uses in that step */
	/* Likewise: its end, and the begin of the uses that followed each other up to it. */
	int64_t last_end_ns, row_begin_ns;
	struct turn turns[FSL_SPAN_TURNS_MAX];
};

static void add(struct spread *spread, double value)
{
	double before = value - spread->mean;
	spread->n++;
	spread->mean += before / (double)spread->n;
	spread->sum_squares += before * (value - spread->mean);
}

static struct kind *find_kind(struct kind *kinds, size_t *n_kinds, const struct fsl_op *op)
{
	for (size_t k = 0; k < *n_kinds; k++) {
		if (kinds[k].op_id == op->op_id && kinds[k].group_id == op->group_id) {
			return &kinds[k];
		}
	}
	if (*n_kinds == FSL_OP_KINDS_MAX) {
		return NULL;
	}
	kinds[*n_kinds] = (struct kind){.op_id = op->op_id, .group_id = op->group_id};
	return &kinds[(*n_kinds)++];
}

static bool contains_others(const struct kind *kind)
{
	return (double)kind->n_containing > FSL_ASYNC_SHARE_MIN * (double)kind->n_uses;
}

static bool is_async(const struct kind *kind)
{
	return kind != NULL && (kind->launched != NULL || contains_others(kind));
}

/* Counts per kind; true when some kind is asynchronous. */
static bool count_kinds(struct kind *kinds, size_t *n_kinds, const struct fsl_rank *rank,
			const struct fsl_launched *launched)
{
	bool has_async = false;
	for (size_t i = 0; i < rank->n_ops; i++) {
		struct kind *kind = find_kind(kinds, n_kinds, &rank->ops[i]);
		if (kind != NULL) {
			kind->n_uses++;
			kind->n_containing +=
				i + 1 < rank->n_ops &&
				fsl_op_begin_ns(&rank->ops[i + 1]) < fsl_op_end_ns(&rank->ops[i]);
		}
	}
	for (size_t k = 0; k < *n_kinds; k++) {
		if (!contains_others(&kinds[k])) {
			kinds[k].launched =
				fsl_launched_of(launched, kinds[k].op_id, kinds[k].group_id);
		}
		has_async |= is_async(&kinds[k]);
	}
	return has_async;
}

static int compare_spans(const void *a, const void *b)
{
	const struct fsl_op_span *x = a, *y = b;
	FSL_ORDER_BY(x->begin_ns, y->begin_ns);
	return FSL_ORDER(x->op_idx, y->op_idx);
}

/* The rank's own operators around the end of an asynchronous one; all on the rank's clock. */
struct around {
	int64_t last_end_ns;   /* of a synchronous operator by then; FSL_NS_ABSENT: none */
	int64_t next_begin_ns; /* of the next one; FSL_NS_ABSENT: none */
	bool is_busy;          /* one of them was running: the rank had gone on */
};

/* @before_ns: last end of a synchronous operator that begins before operator @i. spans[k].is_beside
 * tells which operators are asynchronous. */
static struct around look_around(const struct fsl_op_span *spans, const struct fsl_rank *rank,
				 size_t i, int64_t before_ns)
{
	int64_t end_ns = fsl_op_end_ns(&rank->ops[i]);
	struct around around = {.last_end_ns = before_ns, .next_begin_ns = FSL_NS_ABSENT};
	if (before_ns > end_ns) {
		around.is_busy = true;
		return around;
	}
	for (size_t k = i + 1; k < rank->n_ops && k - i <= FSL_SPAN_INSIDE_MAX; k++) {
		if (spans[k].is_beside) {
			continue;
		}
		if (fsl_op_begin_ns(&rank->ops[k]) >= end_ns) {
			around.next_begin_ns = fsl_op_begin_ns(&rank->ops[k]);
			break;
		}
		if (fsl_op_end_ns(&rank->ops[k]) > end_ns) {
			around.is_busy = true;
			break;
		}
		around.last_end_ns = fsl_op_end_ns(&rank->ops[k]);
	}
	return around;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The turn of the use that comes next in @step. */
static struct turn *turn_of(struct kind *kind, size_t step)
{
	kind->turn = step == kind->step ? kind->turn + 1 : 0;
	kind->step = step;
	return &kind->turns[kind->turn < FSL_SPAN_TURNS_MAX ? kind->turn : FSL_SPAN_TURNS_MAX - 1];
}

static bool is_steadily_free(const struct turn *turn)
{
	return turn->from_end.n >= FSL_SPAN_STEPS_MIN &&
	       turn->from_inside.sum_squares < FSL_SPAN_STEADIER_RATIO * turn->from_end.sum_squares;
}

static void restart_turns(struct kind *kinds, size_t n_kinds)
{
	for (size_t k = 0; k < n_kinds; k++) {
		kinds[k].step = SIZE_MAX;
		kinds[k].turn = 0;
		kinds[k].last_end_ns = FSL_NS_ABSENT;
	}
}

/* Marks the asynchronous operators and measures what follows each of their uses. */
static void measure_turns(struct fsl_op_span *spans, struct kind *kinds, size_t n_kinds,
			  const struct fsl_rank *rank, const struct fsl_cuts *cuts, size_t rank_idx)
{
	int64_t before_ns = FSL_NS_ABSENT;
	size_t step = SIZE_MAX;
	for (size_t i = 0; i < rank->n_ops; i++) {
		spans[i].is_beside = is_async(find_kind(kinds, &n_kinds, &rank->ops[i]));
	}
	restart_turns(kinds, n_kinds);
	for (size_t i = 0; i < rank->n_ops; i++) {
		if (!spans[i].is_beside) {
			before_ns = later(before_ns, fsl_op_end_ns(&rank->ops[i]));
			continue;
		}
		struct kind *kind = find_kind(kinds, &n_kinds, &rank->ops[i]);
		step = fsl_cuts_step_after(cuts, rank_idx, i, step);
		struct turn *turn = turn_of(kind, step);
		struct around around = look_around(spans, rank, i, before_ns);
		if (around.last_end_ns != FSL_NS_ABSENT && around.next_begin_ns != FSL_NS_ABSENT) {
			int64_t end_ns = fsl_op_end_ns(&rank->ops[i]);
			add(&turn->from_inside,
			    (double)(around.next_begin_ns - around.last_end_ns));
			add(&turn->from_end, (double)(around.next_begin_ns - end_ns));
		}
	}
}

/*
 * Since when the operator may have been waited for. One that begins when the use before it ends was
 * launched while that one ran: what its rank did until then does not show, and the two held it as
 * one would. @before_ns: last end of a synchronous operator that begins before.
 */
static int64_t row_begin(struct kind *kind, const struct fsl_op_span *span, int64_t before_ns)
{
	bool is_row = kind->last_end_ns != FSL_NS_ABSENT && before_ns != FSL_NS_ABSENT &&
		      fsl_op_is_in_row(before_ns, kind->last_end_ns, span->begin_ns);
	kind->row_begin_ns = is_row ? kind->row_begin_ns : span->begin_ns;
	kind->last_end_ns = span->end_ns;
	return kind->row_begin_ns;
}

static struct fsl_op_span whole_span(const struct fsl_op *op, size_t op_idx)
{
	return (struct fsl_op_span){.begin_ns = fsl_op_begin_ns(op),
				    .end_ns = fsl_op_end_ns(op),
				    .op_idx = (uint32_t)op_idx};
}

/* Counts the uses of all kinds in @step; none in SIZE_MAX. */
static void count_step(struct kind *kinds, size_t n_kinds, const struct fsl_rank *rank,
		       const struct fsl_cuts *cuts, size_t rank_idx, size_t step)
{
	for (size_t k = 0; k < n_kinds; k++) {
		kinds[k].n_in_step = 0;
	}
	if (step == SIZE_MAX) {
		return;
	}
	size_t end = fsl_cuts_first(cuts, rank_idx, step + 1);
	for (size_t i = fsl_cuts_first(cuts, rank_idx, step); i < end; i++) {
		struct kind *kind = find_kind(kinds, &n_kinds, &rank->ops[i]);
		if (kind != NULL) {
			kind->n_in_step++;
		}
	}
}

static bool is_free(const struct kind *kind, const struct turn *turn)
{
	return kind->launched != NULL
		       ? fsl_launched_is_free(kind->launched, kind->turn, kind->n_in_step)
		       : is_steadily_free(turn);
}

static void set_async_spans(struct fsl_op_span *spans, struct kind *kinds, size_t n_kinds,
			    const struct fsl_rank *rank, const struct fsl_cuts *cuts,
			    size_t rank_idx)
{
	int64_t before_ns = FSL_NS_ABSENT;
	size_t step = SIZE_MAX, counted = SIZE_MAX;
	measure_turns(spans, kinds, n_kinds, rank, cuts, rank_idx);
	restart_turns(kinds, n_kinds);
	for (size_t i = 0; i < rank->n_ops; i++) {
		struct fsl_op_span span = whole_span(&rank->ops[i], i);
		if (spans[i].is_beside) {
			struct kind *kind = find_kind(kinds, &n_kinds, &rank->ops[i]);
			step = fsl_cuts_step_after(cuts, rank_idx, i, step);
			if (step != counted) {
				count_step(kinds, n_kinds, rank, cuts, rank_idx, step);
				counted = step;
			}
			struct turn *turn = turn_of(kind, step);
			struct around around = look_around(spans, rank, i, before_ns);
			int64_t begin_ns = row_begin(kind, &span, before_ns);
			span.is_free = around.is_busy || is_free(kind, turn);
			span.is_beside = span.is_free ||
					 (kind->launched == NULL && around.last_end_ns > begin_ns);
			span.begin_ns =
				span.is_free ? span.end_ns : later(begin_ns, around.last_end_ns);
		} else {
			before_ns = later(before_ns, span.end_ns);
		}
		spans[i] = span;
	}
	qsort(spans, rank->n_ops, sizeof(*spans), compare_spans);
	for (size_t i = 0; i < rank->n_ops; i++) {
		FSL_ASSERT(!spans[i].is_free || spans[i].begin_ns == spans[i].end_ns);
	}
}

/* Operators as they are; true when one contains the begin of the next, which most jobs have not. */
static bool set_whole_spans(struct fsl_op_span *spans, const struct fsl_rank *rank)
{
	bool has_containing = false;
	int64_t before_ns = INT64_MIN;
	for (size_t i = 0; i < rank->n_ops; i++) {
		fsl_op_fetch_ahead(&rank->ops[i]);
		spans[i] = whole_span(&rank->ops[i], i);
		has_containing |= spans[i].begin_ns < before_ns;
		before_ns = spans[i].end_ns;
	}
	return has_containing;
}

bool fsl_op_spans(struct fsl_op_span *spans, const struct fsl_rank *rank,
		  const struct fsl_cuts *cuts, size_t rank_idx, const struct fsl_launched *launched)
{
	struct kind kinds[FSL_OP_KINDS_MAX];
	size_t n_kinds = 0;
	bool may_be_async = set_whole_spans(spans, rank) || launched->n_kinds > 0;
	bool has_async = may_be_async && count_kinds(kinds, &n_kinds, rank, launched);
	if (has_async) {
		set_async_spans(spans, kinds, n_kinds, rank, cuts, rank_idx);
	}
	return has_async;
}

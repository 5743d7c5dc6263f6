/* Spans: operators that run beside computation hold their rank only at their end. */
#include "match/own_spans.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
	KINDS_MAX = 64,   /* different operators of one rank that are told apart; the rest is
			     synchronous */
	INSIDE_MAX = 256, /* operators looked at inside one */
};

/* An operator of a communicator is asynchronous when this share of its uses contains the begin of
 * another. */
static const double ASYNC_SHARE_MIN = 0.1;

/* Uses of one operator of one communicator. */
struct kind {
	uint32_t op_id, group_id;
	size_t n_uses, n_containing;
};

static struct kind *find_kind(struct kind *kinds, size_t *n_kinds, const struct fsl_op *op)
{
	for (size_t k = 0; k < *n_kinds; k++) {
		if (kinds[k].op_id == op->op_id && kinds[k].group_id == op->group_id) {
			return &kinds[k];
		}
	}
	if (*n_kinds == KINDS_MAX) {
		return NULL;
	}
	kinds[*n_kinds] = (struct kind){op->op_id, op->group_id, 0, 0};
	return &kinds[(*n_kinds)++];
}

static bool is_async(const struct kind *kind)
{
	return kind != NULL && (double)kind->n_containing > ASYNC_SHARE_MIN * (double)kind->n_uses;
}

/* Counts per kind; true when some kind is asynchronous. */
static bool count_kinds(struct kind *kinds, size_t *n_kinds, const struct fsl_rank *rank)
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
		has_async |= is_async(&kinds[k]);
	}
	return has_async;
}

/* The last end of another operator inside operator @i; its own begin when there is none. */
static int64_t last_end_inside(const struct fsl_rank *rank, size_t i)
{
	int64_t begin_ns = fsl_op_begin_ns(&rank->ops[i]);
	int64_t end_ns = fsl_op_end_ns(&rank->ops[i]), last_ns = begin_ns;
	for (size_t k = i + 1; k < rank->n_ops && k - i <= INSIDE_MAX; k++) {
		if (fsl_op_begin_ns(&rank->ops[k]) >= end_ns) {
			break;
		}
		int64_t other_ns = fsl_op_end_ns(&rank->ops[k]);
		last_ns = other_ns < end_ns && other_ns > last_ns ? other_ns : last_ns;
	}
	return last_ns;
}

static int compare_spans(const void *a, const void *b)
{
	const struct fsl_op_span *x = a, *y = b;
	if (x->begin_ns != y->begin_ns) {
		return x->begin_ns < y->begin_ns ? -1 : 1;
	}
	return (x->op_idx > y->op_idx) - (x->op_idx < y->op_idx);
}

void fsl_op_spans(struct fsl_op_span *spans, const struct fsl_rank *rank)
{
	struct kind kinds[KINDS_MAX];
	size_t n_kinds = 0;
	bool has_async = count_kinds(kinds, &n_kinds, rank);
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		bool is_beside = has_async && is_async(find_kind(kinds, &n_kinds, op));
		spans[i] = (struct fsl_op_span){is_beside ? last_end_inside(rank, i)
							  : fsl_op_begin_ns(op),
						fsl_op_end_ns(op), (uint32_t)i};
	}
	if (has_async) {
		qsort(spans, rank->n_ops, sizeof(*spans), compare_spans);
	}
}

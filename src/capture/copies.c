/* A union of copies, and its overlap with slices. */
#include "capture/copies.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

enum { SPANS_MAX = 1 << 18 }; /* some MB; few captures have more gaps */

enum fsl_status fsl_spans_add(struct fsl_spans *spans, int64_t begin_ns, int64_t end_ns,
			      int64_t step, struct fsl_error *err)
{
	const struct fsl_span span = {begin_ns, end_ns, step};
	spans->is_full |= spans->n_items == SPANS_MAX;
	return spans->is_full ? FSL_OK : FSL_APPEND(spans, items, &span, err);
}

void fsl_spans_fini(struct fsl_spans *spans)
{
	fsl_free(spans->items);
	*spans = (struct fsl_spans){0};
}

static int compare_spans(const void *left, const void *right)
{
	const struct fsl_span *a = left, *b = right;
	return FSL_ORDER(a->begin_ns, b->begin_ns);
}

static void unite(struct fsl_spans *copies)
{
	size_t n = 0;
	qsort(copies->items, copies->n_items, sizeof(*copies->items), compare_spans);
	for (size_t i = 0; i < copies->n_items; i++) {
		const struct fsl_span span = copies->items[i];
		struct fsl_span *last = n > 0 ? &copies->items[n - 1] : NULL;
		if (last != NULL && span.begin_ns <= last->end_ns) {
			last->end_ns = span.end_ns > last->end_ns ? span.end_ns : last->end_ns;
		} else {
			copies->items[n++] = span;
		}
	}
	copies->n_items = n;
}

/* Time of copies in the slice. */
static int64_t within(const struct fsl_spans *copies, const struct fsl_span *slice)
{
	int64_t sum_ns = 0;
	size_t at = 0;
	FSL_BISECT(at, copies->n_items, i, copies->items[i].end_ns <= slice->begin_ns);
	for (; at < copies->n_items && copies->items[at].begin_ns < slice->end_ns; at++) {
		const struct fsl_span *copy = &copies->items[at];
		int64_t from_ns =
			copy->begin_ns > slice->begin_ns ? copy->begin_ns : slice->begin_ns;
		int64_t to_ns = copy->end_ns < slice->end_ns ? copy->end_ns : slice->end_ns;
		sum_ns += to_ns - from_ns;
	}
	return sum_ns;
}

static enum fsl_status add(struct fsl_profile_rank *rank, int64_t step, int64_t exposed_ns,
			   struct fsl_error *err)
{
	const struct fsl_profile_copies of_step = {step, exposed_ns};
	for (size_t i = rank->n_copies; i-- > 0;) { /* slices of a step come together */
		if (rank->copies[i].step == step) {
			rank->copies[i].exposed_ns =
				fsl_sum_i64(rank->copies[i].exposed_ns, exposed_ns);
			return FSL_OK;
		}
	}
	return FSL_APPEND(rank, copies, &of_step, err);
}

enum fsl_status fsl_copies_tell(struct fsl_spans *copies, const struct fsl_spans *free,
				struct fsl_profile_rank *rank, struct fsl_error *err)
{
	rank->n_copies = 0;
	if (copies->n_items == 0 || copies->is_full || free->is_full) {
		return FSL_OK;
	}
	unite(copies);
	for (size_t i = 0; i < free->n_items; i++) {
		int64_t exposed_ns = within(copies, &free->items[i]);
		if (exposed_ns > 0) {
			FSL_TRY(add(rank, free->items[i].step, exposed_ns, err));
		}
	}
	return FSL_OK;
}

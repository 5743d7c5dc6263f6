/* Cuts each rank's operators into the steps of the job. */
#include "match/cut.h"

#include <stdlib.h>

#include "base/sort.h"

/* Share of the steps that must fit a constant number of operators for the cuts to be moved to it.
 */
static const double REGULAR_SHARE_MIN = 0.9;

size_t fsl_first_op_at(const struct fsl_rank *rank, int64_t time_ns)
{
	size_t low = 0, high = rank->n_ops;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (fsl_op_begin_ns(&rank->ops[mid]) < time_ns) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* Most frequent number of operators per step; @counts is sorted in place. */
static int64_t mode_of(int64_t *counts, size_t n)
{
	qsort(counts, n, sizeof(*counts), fsl_compare_i64);
	int64_t best = counts[0];
	size_t best_run = 0;
	for (size_t begin = 0; begin < n;) {
		size_t end = begin;
		while (end < n && counts[end] == counts[begin]) {
			end++;
		}
		if (end - begin > best_run) {
			best_run = end - begin;
			best = counts[begin];
		}
		begin = end;
	}
	return best;
}

/*
 * Moves the cuts first[0 .. n_steps) to offset + mode * step when nearly all of them are within one
 * operator of it: what is left is jitter of the boundary against the operator. @work holds n_steps
 * + 1 numbers.
 */
static bool snap_to_period(uint32_t *first, size_t n_steps, size_t n_ops, int64_t *work)
{
	if (n_steps < 3) {
		return false;
	}
	for (size_t s = 0; s + 1 < n_steps; s++) {
		work[s] = (int64_t)first[s + 1] - (int64_t)first[s];
	}
	int64_t mode = mode_of(work, n_steps - 1);
	if (mode < 1) {
		return false;
	}
	for (size_t s = 0; s < n_steps; s++) {
		work[s] = (int64_t)first[s] - mode * (int64_t)s;
	}
	qsort(work, n_steps, sizeof(*work), fsl_compare_i64);
	int64_t offset = work[n_steps / 2];
	size_t n_near = 0;
	for (size_t s = 0; s < n_steps; s++) {
		n_near += llabs(work[s] - offset) <= 1;
	}
	if (offset < 0 || (double)n_near < REGULAR_SHARE_MIN * (double)n_steps ||
	    (uint64_t)offset + (uint64_t)mode * (n_steps - 1) > n_ops) {
		return false;
	}
	for (size_t s = 0; s < n_steps; s++) {
		first[s] = (uint32_t)(offset + mode * (int64_t)s);
	}
	int64_t end = offset + mode * (int64_t)n_steps;
	first[n_steps] = (uint32_t)((uint64_t)end < n_ops ? (size_t)end : n_ops);
	return true;
}

enum fsl_status fsl_cuts_build(struct fsl_cuts *out, const struct fsl_run *run,
			       const struct fsl_steps *steps, const int64_t *clock_ns,
			       struct fsl_error *err)
{
	size_t n_cuts = steps->n_items + 1, n_total = 0;
	*out = (struct fsl_cuts){.n_steps = steps->n_items, .n_ranks = run->n_ranks};
	int64_t *work = fsl_calloc(n_cuts, sizeof(*work));
	if (fsl_mul_size(run->n_ranks, n_cuts, &n_total) && work != NULL) {
		out->first_op = fsl_arena_alloc(&out->arena, n_total * sizeof(*out->first_op));
		out->begin_ns = fsl_arena_alloc(&out->arena, n_total * sizeof(*out->begin_ns));
		out->is_regular =
			fsl_arena_alloc(&out->arena, run->n_ranks * sizeof(*out->is_regular));
	}
	if (out->first_op == NULL || out->begin_ns == NULL || out->is_regular == NULL) {
		fsl_free(work);
		fsl_cuts_fini(out);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: cuts=%zu", n_total);
	}
	size_t source = fsl_run_rank_idx(run, steps->source_rank);
	int64_t source_clock_ns = source != SIZE_MAX ? clock_ns[source] : 0;
	for (size_t r = 0; r < run->n_ranks && steps->n_items > 0; r++) {
		uint32_t *first = out->first_op + r * n_cuts;
		int64_t *begin_ns = out->begin_ns + r * n_cuts;
		int64_t shift_ns = clock_ns[r] - source_clock_ns;
		for (size_t s = 0; s <= steps->n_items; s++) {
			const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
			begin_ns[s] =
				shift_ns + (s < steps->n_items ? steps->items[s].begin_ns
							       : last->begin_ns + last->dur_ns);
			first[s] = (uint32_t)fsl_first_op_at(&run->ranks[r], begin_ns[s]);
		}
		out->is_regular[r] =
			snap_to_period(first, steps->n_items, run->ranks[r].n_ops, work);
	}
	fsl_free(work);
	return FSL_OK;
}

void fsl_cuts_fini(struct fsl_cuts *cuts)
{
	fsl_arena_fini(&cuts->arena);
	*cuts = (struct fsl_cuts){0};
}

size_t fsl_cuts_step_of(const struct fsl_cuts *cuts, size_t rank_idx, size_t op_idx)
{
	const uint32_t *first = cuts->first_op + rank_idx * (cuts->n_steps + 1);
	if (cuts->n_steps == 0 || op_idx < first[0] || op_idx >= first[cuts->n_steps]) {
		return SIZE_MAX;
	}
	size_t low = 0, high = cuts->n_steps; /* first[low] <= op_idx < first[high] */
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		if (first[mid] <= op_idx) {
			low = mid;
		} else {
			high = mid;
		}
	}
	return low;
}

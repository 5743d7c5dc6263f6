/* Cuts each rank's operators into the steps of the job. */
#include "match/cut.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/sort.h"
#include "match/limits.h"

/* As fsl_first_op_at, in ops[low .. high). */
static size_t first_op_between(const struct fsl_rank *rank, size_t low, size_t high,
			       int64_t time_ns)
{
	FSL_BISECT(low, high, mid, fsl_op_begin_ns(&rank->ops[mid]) < time_ns);
	return low;
}

size_t fsl_first_op_at(const struct fsl_rank *rank, int64_t time_ns)
{
	return first_op_between(rank, 0, rank->n_ops, time_ns);
}

/* The same in ops[low ..), looked for in steps of twice the size. */
static size_t first_op_from(const struct fsl_rank *rank, size_t low, int64_t time_ns)
{
	size_t reach = 1;
	while (rank->n_ops - low > reach &&
	       fsl_op_begin_ns(&rank->ops[low + reach - 1]) < time_ns) {
		low += reach;
		reach *= 2;
	}
	size_t high = rank->n_ops - low > reach ? low + reach - 1 : rank->n_ops;
	return first_op_between(rank, low, high, time_ns);
}

/* The same in ops[.. high); @high when all of those begin before. */
static size_t first_op_until(const struct fsl_rank *rank, size_t high, int64_t time_ns)
{
	size_t reach = 1;
	while (high > reach && fsl_op_begin_ns(&rank->ops[high - reach]) >= time_ns) {
		high -= reach;
		reach *= 2;
	}
	return first_op_between(rank, high > reach ? high - reach + 1 : 0, high, time_ns);
}

/* The same, near @guess: each operator looked at is memory to wait for. */
static size_t first_op_near(const struct fsl_rank *rank, size_t guess, int64_t time_ns)
{
	size_t n_ops = rank->n_ops;
	return guess < n_ops && fsl_op_begin_ns(&rank->ops[guess]) < time_ns
		       ? first_op_from(rank, guess + 1, time_ns)
		       : first_op_until(rank, guess < n_ops ? guess : n_ops, time_ns);
}

/* Jitter mostly leaves the numbers in order, or all the same. */
static void sort_numbers(int64_t *numbers, size_t n)
{
	size_t i = 1;
	while (i < n && numbers[i - 1] <= numbers[i]) {
		i++;
	}
	if (i < n) {
		qsort(numbers, n, sizeof(*numbers), fsl_compare_i64);
	}
}

/* Most frequent number of operators per step; @counts is sorted in place. */
static int64_t mode_of(int64_t *counts, size_t n)
{
	sort_numbers(counts, n);
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

/* Median of the numbers around @at; fewer at the begin and end. */
static int64_t median_around(const int64_t *numbers, size_t n, size_t at)
{
	int64_t window[2 * FSL_BESIDE_MAX + 1] = {0};
	size_t reach = at < n - 1 - at ? at : n - 1 - at, k = 0;
	reach = reach < FSL_BESIDE_MAX ? reach : FSL_BESIDE_MAX;
	for (size_t i = at - reach; i <= at + reach; i++) {
		window[k++] = numbers[i];
	}
	return fsl_select_i64(window, k, k / 2);
}

/*
 * Offset of each step's cut against @work. It is one for all steps, or that of the steps beside: if
 * all ranks lost an operator, the following ones come one earlier. The offsets that the cuts are
 * nearer to are right; jitter is as far from either. Returns the number of steps that are within
 * one operator.
 */
static size_t find_offsets(int64_t *offsets, const int64_t *work, size_t n_steps, int64_t usual)
{
	int64_t from_usual = 0, from_beside = 0;
	size_t n_near = 0;
	for (size_t s = 0; s < n_steps; s++) {
		offsets[s] = median_around(work, n_steps, s);
		from_usual += llabs(work[s] - usual);
		from_beside += llabs(work[s] - offsets[s]);
	}
	for (size_t s = 0; s < n_steps; s++) {
		offsets[s] = 2 * from_beside < from_usual ? offsets[s] : usual;
		n_near += llabs(work[s] - offsets[s]) <= 1;
	}
	return n_near;
}

/*
 * Moves the cuts first[0 .. n_steps) to offset + mode * step when nearly all of them are within one
 * operator of it: what is left is jitter of the boundary against the operator. @work holds 3 *
 * (n_steps + 1) numbers.
 */
static bool snap_to_period(uint32_t *first, size_t n_steps, size_t n_ops, int64_t *work)
{
	int64_t *offsets = work + n_steps + 1, *sorted = offsets + n_steps + 1;
	if (n_steps < 3) {
		return false;
	}
	for (size_t s = 0; s + 1 < n_steps; s++) {
		work[s] = (int64_t)first[s + 1] - (int64_t)first[s];
	}
	int64_t mode = mode_of(work, n_steps - 1), end = 0;
	if (mode < 1) {
		return false;
	}
	for (size_t s = 0; s < n_steps; s++) {
		work[s] = sorted[s] = (int64_t)first[s] - mode * (int64_t)s;
	}
	sort_numbers(sorted, n_steps);
	size_t n_near = find_offsets(offsets, work, n_steps, sorted[n_steps / 2]);
	bool is_possible = (double)n_near >= FSL_CUT_REGULAR_SHARE_MIN * (double)n_steps;
	for (size_t s = 0; s < n_steps; s++) {
		int64_t cut = offsets[s] + mode * (int64_t)s;
		is_possible &= cut >= end && (uint64_t)cut <= n_ops;
		end = cut;
	}
	for (size_t s = 0; s < n_steps && is_possible; s++) {
		first[s] = (uint32_t)(offsets[s] + mode * (int64_t)s);
	}
	if (is_possible) {
		end += mode;
		first[n_steps] = (uint32_t)((uint64_t)end < n_ops ? (size_t)end : n_ops);
	}
	return is_possible;
}

/* Every operator is of one step at most. */
static bool do_cuts_ascend(const uint32_t *first, size_t n_steps, size_t n_ops)
{
	for (size_t s = 0; s < n_steps; s++) {
		if (first[s] > first[s + 1]) {
			return false;
		}
	}
	return first[n_steps] <= n_ops;
}

/* The cuts of one rank, whose clock is @shift_ns ahead of that of the steps. @work: 3 * (n_steps +
 * 1) numbers. */
static void cut_rank(struct fsl_cuts *out, const struct fsl_rank *rank, size_t rank_idx,
		     const struct fsl_steps *steps, int64_t shift_ns, int64_t *work)
{
	uint32_t *first = out->first_op + rank_idx * (steps->n_items + 1);
	int64_t *begin_ns = out->begin_ns + rank_idx * (steps->n_items + 1);
	const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
	for (size_t s = 0; s <= steps->n_items; s++) {
		begin_ns[s] = shift_ns + (s < steps->n_items ? steps->items[s].begin_ns
							     : last->begin_ns + last->dur_ns);
		/* A step mostly has as many operators as the one before. */
		size_t guess = s > 1 ? 2 * (size_t)first[s - 1] - first[s - 2] : 0;
		first[s] = (uint32_t)first_op_near(rank, guess, begin_ns[s]);
	}
	out->is_regular[rank_idx] = snap_to_period(first, steps->n_items, rank->n_ops, work);
	FSL_ASSERT(do_cuts_ascend(first, steps->n_items, rank->n_ops));
}

/* Ranks on threads; false: out of memory. */
static bool cut_ranks(struct fsl_cuts *out, const struct fsl_run *run,
		      const struct fsl_steps *steps, const int64_t *clock_ns)
{
	size_t source = fsl_run_rank_idx(run, steps->source_rank);
	int64_t source_clock_ns = source != SIZE_MAX ? clock_ns[source] : 0;
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		int64_t *work = fsl_calloc(3 * (steps->n_items + 1), sizeof(*work));
		is_short = work == NULL;
#pragma omp for schedule(static) nowait
		for (size_t r = 0; r < run->n_ranks; r++) {
			if (work != NULL) {
				cut_rank(out, &run->ranks[r], r, steps,
					 clock_ns[r] - source_clock_ns, work);
			}
		}
		fsl_free(work);
	}
	return !is_short;
}

enum fsl_status fsl_cuts_build(struct fsl_cuts *out, const struct fsl_run *run,
			       const struct fsl_steps *steps, const int64_t *clock_ns,
			       struct fsl_error *err)
{
	size_t n_cuts = steps->n_items + 1, n_total = 0;
	*out = (struct fsl_cuts){.n_steps = steps->n_items, .n_ranks = run->n_ranks};
	if (fsl_mul_size(run->n_ranks, n_cuts, &n_total)) {
		out->first_op = fsl_arena_alloc(&out->arena, n_total * sizeof(*out->first_op));
		out->begin_ns = fsl_arena_alloc(&out->arena, n_total * sizeof(*out->begin_ns));
		out->is_regular =
			fsl_arena_alloc(&out->arena, run->n_ranks * sizeof(*out->is_regular));
	}
	bool is_short = out->first_op == NULL || out->begin_ns == NULL || out->is_regular == NULL;
	if (!is_short && steps->n_items > 0) {
		is_short = !cut_ranks(out, run, steps, clock_ns);
	}
	if (is_short) {
		fsl_cuts_fini(out);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: cuts=%zu", n_total);
	}
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
	FSL_ASSERT(rank_idx < cuts->n_ranks);
	size_t step = 0;
	FSL_BISECT(step, cuts->n_steps, s, first[s + 1] <= op_idx);
	return step;
}

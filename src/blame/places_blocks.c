/* Steps of ranks as rows of places, so that ranks that run the same operators can be compared. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/try.h"
#include "blame/places_parts.h"

static enum fsl_status no_memory(const struct fsl_places_job *job, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", job->run->n_ranks);
}

static int compare_work(const struct fsl_place_block *a, const struct fsl_place_block *b)
{
	int order = FSL_ORDER(a->class_idx, b->class_idx);
	order = order != 0 ? order : FSL_ORDER(a->n, b->n);
	return order != 0 ? order : FSL_ORDER(a->sequence, b->sequence);
}

static int compare_ranks_first(const void *left, const void *right)
{
	const struct fsl_place_block *a = left, *b = right;
	int order = compare_work(a, b);
	order = order != 0 ? order : FSL_ORDER(a->rank_idx, b->rank_idx);
	return order != 0 ? order : FSL_ORDER(a->first, b->first);
}

static int compare_steps_first(const void *left, const void *right)
{
	const struct fsl_place_block *a = left, *b = right;
	int order = compare_work(a, b);
	order = order != 0 ? order : FSL_ORDER(a->step, b->step);
	order = order != 0 ? order : FSL_ORDER(a->rank_idx, b->rank_idx);
	return order != 0 ? order : FSL_ORDER(a->first, b->first);
}

static bool is_same_work(const struct fsl_place_block *a, const struct fsl_place_block *b)
{
	return compare_work(a, b) == 0;
}

static int compare_uses(const void *left, const void *right, void *context)
{
	const struct fsl_op *ops = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	FSL_ORDER_BY(ops[a].op_id, ops[b].op_id);
	FSL_ORDER_BY(ops[a].group_id, ops[b].group_id);
	return FSL_ORDER(a, b);
}

/*
 * Kind of each operator of a rank: what it does, and the how-many-th it is of the groups in which
 * the rank does that, by first use. Operators of different types may begin at the same time, as a
 * send and a receive behind one kernel do, so that their order tells nothing. @uses: scratch, per
 * operator; @n_groups: scratch, per name of the run.
 */
static void set_kinds(uint64_t *kinds, const struct fsl_rank *rank, uint32_t *uses,
		      uint32_t *n_groups, size_t n_names)
{
	const struct fsl_op *ops = rank->ops;
	memset(n_groups, 0, n_names * sizeof(*n_groups));
	for (size_t i = 0; i < rank->n_ops; i++) {
		uses[i] = (uint32_t)i;
	}
	qsort_r(uses, rank->n_ops, sizeof(*uses), compare_uses, rank->ops);
	for (size_t k = 0, first = 0; k < rank->n_ops; k++) {
		bool is_same = k > 0 && ops[uses[k]].op_id == ops[uses[first]].op_id &&
			       ops[uses[k]].group_id == ops[uses[first]].group_id;
		first = is_same ? first : k;
		kinds[uses[k]] = uses[first];
	}
	for (size_t i = 0; i < rank->n_ops; i++) {
		kinds[i] = kinds[i] == i ? (uint64_t)ops[i].op_id << 32 | ++n_groups[ops[i].op_id]
					 : kinds[kinds[i]];
	}
}

static int compare_kinds(const void *left, const void *right, void *context)
{
	const uint64_t *kinds = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = FSL_ORDER(kinds[a], kinds[b]);
	return order != 0 ? order : FSL_ORDER(a, b);
}

/* Orders the operators of a step by kind and time. */
static void sort_block(struct fsl_place_block *block, uint32_t *order, uint64_t *kinds)
{
	const uint64_t prime = UINT64_C(1099511628211); /* of FNV-1a */
	block->sequence = UINT64_C(14695981039346656037);
	qsort_r(order + block->first, block->n, sizeof(*order), compare_kinds, kinds);
	for (size_t i = 0; i < block->n; i++) {
		block->sequence = (block->sequence ^ kinds[order[block->first + i]]) * prime;
	}
}

/* The steps of one rank. @kinds: of its operators. */
static size_t add_blocks(struct fsl_place_block *blocks, const struct fsl_places_job *job, size_t r,
			 uint32_t *order, uint64_t *kinds)
{
	const struct fsl_rank *rank = &job->run->ranks[r];
	size_t n = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		if (i == 0 || rank->ops[i].step != rank->ops[i - 1].step) {
			blocks[n++] = (struct fsl_place_block){.class_idx = job->class_of[r],
							       .rank_idx = (uint32_t)r,
							       .first = (uint32_t)i,
							       .step = rank->ops[i].step};
		}
		blocks[n - 1].n++;
		order[i] = (uint32_t)i;
	}
	for (size_t b = 0; b < n; b++) {
		sort_block(&blocks[b], order, kinds);
		blocks[b].follows_alike = b > 0 && is_same_work(&blocks[b - 1], &blocks[b]);
	}
	return n;
}

static enum fsl_status list_blocks(struct fsl_place_work *work, struct fsl_error *err)
{
	const struct fsl_run *run = work->job->run;
	size_t n_ops = fsl_run_count_ops(run, INT64_MIN);
	size_t n_names = fsl_strpool_size(run->names);
	work->blocks = fsl_arena_alloc(&work->arena, (n_ops + 1) * sizeof(*work->blocks));
	work->by_step = fsl_arena_alloc(&work->arena, (n_ops + 1) * sizeof(*work->by_step));
	uint64_t *kinds = fsl_arena_alloc(&work->arena, (n_ops + 1) * sizeof(*kinds));
	uint32_t *uses = fsl_arena_alloc(&work->arena, (n_ops + 1) * sizeof(*uses));
	uint32_t *n_groups = fsl_arena_alloc(&work->arena, (n_names + 1) * sizeof(*n_groups));
	if (work->blocks == NULL || work->by_step == NULL || kinds == NULL || uses == NULL ||
	    n_groups == NULL) {
		return no_memory(work->job, err);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		set_kinds(kinds, &run->ranks[r], uses, n_groups, n_names);
		work->n_blocks += add_blocks(work->blocks + work->n_blocks, work->job, r,
					     work->order[r], kinds);
	}
	memcpy(work->by_step, work->blocks, work->n_blocks * sizeof(*work->blocks));
	if (work->n_blocks > 1) {
		qsort(work->blocks, work->n_blocks, sizeof(*work->blocks), compare_ranks_first);
		qsort(work->by_step, work->n_blocks, sizeof(*work->by_step), compare_steps_first);
	}
	return FSL_OK;
}

size_t fsl_places_same_work_end(const struct fsl_place_work *work, size_t begin)
{
	size_t end = begin + 1;
	while (end < work->n_blocks && is_same_work(&work->blocks[begin], &work->blocks[end])) {
		end++;
	}
	return end;
}

static int compare_time(const void *left, const void *right, void *context)
{
	const uint32_t *op_of = context;
	return FSL_ORDER(op_of[*(const uint32_t *)left], op_of[*(const uint32_t *)right]);
}

/* Places come in the order in which the first of the ranks compared ran its operators. */
static enum fsl_status line_up(struct fsl_place_work *work, struct fsl_error *err)
{
	for (size_t begin = 0, end = 0; begin < work->n_blocks; begin = end) {
		const struct fsl_place_block *first = &work->blocks[begin];
		size_t n = first->n;
		uint32_t *by_time = fsl_arena_alloc(&work->arena, 2 * n * sizeof(*by_time));
		if (by_time == NULL) {
			return no_memory(work->job, err);
		}
		uint32_t *ops = by_time + n;
		for (size_t i = 0; i < n; i++) {
			by_time[i] = (uint32_t)i;
		}
		qsort_r(by_time, n, sizeof(*by_time), compare_time,
			work->order[first->rank_idx] + first->first);
		end = fsl_places_same_work_end(work, begin);
		for (size_t b = begin; b < end; b++) {
			const struct fsl_place_block *block = &work->blocks[b];
			uint32_t *order = work->order[block->rank_idx] + block->first;
			memcpy(ops, order, n * sizeof(*ops));
			for (size_t i = 0; i < n; i++) {
				order[i] = ops[by_time[i]];
			}
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_places_list_blocks(struct fsl_place_work *work, struct fsl_error *err)
{
	FSL_TRY(list_blocks(work, err));
	return line_up(work, err);
}

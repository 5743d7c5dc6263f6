/* Each pointer is followed by itself; the sum over all of them are the held bytes. */
#include "source/systrace/memory_replay.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/try.h"

/* What is known of one pointer, record by record. */
struct pointer {
	struct fsl_memory_block *live; /* NULL: it is free */
	/* Blocks whose free is still to come, as the pointer was allocated again: those frees have
	 * at most this step. */
	size_t n_owed;
	uint32_t owed_step;
	/* Frees that came before their allocation, which has at most this step. */
	size_t n_early;
	uint32_t early_step;
};

static int compare_pointers(const void *left, const void *right, void *context)
{
	const struct fsl_memory_record *records = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	FSL_ORDER_BY(records[a].pointer, records[b].pointer);
	return FSL_ORDER(a, b);
}

static void allocate(struct pointer *pointer, struct fsl_memory_replay *replay,
		     const struct fsl_memory_record *record, size_t number)
{
	struct fsl_memory_block *block = &replay->blocks[replay->n_blocks++];
	*block = (struct fsl_memory_block){.n_bytes = record->n_bytes,
					   .path_id = record->path_id,
					   .step = record->step,
					   .begin = number,
					   .end = SIZE_MAX};
	if (pointer->live != NULL) {
		pointer->live->end = number;
		pointer->n_owed++;
		pointer->owed_step = record->step;
	}
	pointer->live = block;
	if (pointer->n_early > 0 && record->step <= pointer->early_step) {
		block->end = number; /* it is free by now */
		pointer->live = NULL;
		pointer->n_early--;
		replay->n_unknown_frees--;
	}
}

static void release(struct pointer *pointer, struct fsl_memory_replay *replay,
		    const struct fsl_memory_record *record, size_t number)
{
	if (pointer->n_owed > 0 && record->step <= pointer->owed_step) {
		pointer->n_owed--;
	} else if (pointer->live != NULL) {
		pointer->live->end = number;
		pointer->live = NULL;
		pointer->n_owed = 0;
	} else {
		pointer->n_early++;
		pointer->early_step = record->step;
		replay->n_unknown_frees++;
	}
}

static int compare_begins(const void *left, const void *right)
{
	const struct fsl_memory_block *a = left, *b = right;
	return FSL_ORDER(a->begin, b->begin);
}

/* Fills the blocks. @order: numbers of all records by their pointers. */
static void follow(struct fsl_memory_replay *replay, const struct fsl_memory_record *records,
		   const size_t *order)
{
	struct pointer pointer = {0};
	for (size_t i = 0; i < replay->n_records; i++) {
		const struct fsl_memory_record *record = &records[order[i]];
		if (i > 0 && records[order[i - 1]].pointer != record->pointer) {
			pointer = (struct pointer){0};
		}
		if (record->pointer == 0) {
			continue;
		}
		if (record->n_bytes == FSL_MEMORY_FREE) {
			release(&pointer, replay, record, order[i]);
		} else {
			allocate(&pointer, replay, record, order[i]);
		}
	}
	if (replay->n_blocks > 0) {
		qsort(replay->blocks, replay->n_blocks, sizeof(*replay->blocks), compare_begins);
	}
}

/* Held bytes behind each record, and the first record with the most. */
static void sum_up(struct fsl_memory_replay *replay)
{
	int64_t held = 0;
	for (size_t b = 0; b < replay->n_blocks; b++) {
		const struct fsl_memory_block *block = &replay->blocks[b];
		replay->held[block->begin] += block->n_bytes;
		if (block->end != SIZE_MAX) {
			replay->held[block->end] -= block->n_bytes;
		}
	}
	for (size_t i = 0; i < replay->n_records; i++) {
		held += replay->held[i];
		replay->held[i] = held;
		if (held > replay->peak_bytes) {
			replay->peak_bytes = held;
			replay->peak = i;
		}
	}
}

/* An allocation that failed has no pointer. */
static void find_failures(struct fsl_memory_replay *replay, const struct fsl_memory_record *records)
{
	for (size_t i = 0; i < replay->n_records; i++) {
		const struct fsl_memory_record *record = &records[i];
		if (record->step > replay->last_step) {
			replay->last_step = record->step;
		}
		if (record->pointer == 0 && record->n_bytes > 0 && replay->n_failed++ == 0) {
			replay->first_failed = i;
			replay->failed_bytes = record->n_bytes;
		}
	}
}

enum fsl_status fsl_memory_replay(struct fsl_memory_replay *replay,
				  const struct fsl_memory_process *process, struct fsl_error *err)
{
	size_t n = process->n_records;
	size_t *order = NULL;
	*replay = (struct fsl_memory_replay){.n_records = n};
	FSL_TRY(FSL_NEW(replay->held, n + 1, "records", err));
	FSL_TRY(FSL_NEW(replay->blocks, n + 1, "records", err));
	FSL_TRY(FSL_NEW(order, n + 1, "records", err));
	for (size_t i = 0; i < n; i++) {
		order[i] = i;
	}
	if (n > 0) {
		qsort_r(order, n, sizeof(*order), compare_pointers, process->records);
		follow(replay, process->records, order);
		find_failures(replay, process->records);
	}
	sum_up(replay);
	fsl_free(order);
	return FSL_OK;
}

void fsl_memory_replay_fini(struct fsl_memory_replay *replay)
{
	fsl_free(replay->held);
	fsl_free(replay->blocks);
	*replay = (struct fsl_memory_replay){0};
}

static int compare_paths(const void *left, const void *right)
{
	const struct fsl_memory_holder *a = left, *b = right;
	FSL_ORDER_BY(a->path_id, b->path_id);
	return FSL_ORDER(a->first_step, b->first_step);
}

static int compare_bytes(const void *left, const void *right)
{
	const struct fsl_memory_holder *a = left, *b = right;
	FSL_ORDER_BY(b->n_bytes, a->n_bytes);
	return FSL_ORDER(a->path_id, b->path_id);
}

/* Adds the blocks of holders of one path, sorted by step, into the first of them. */
static size_t merge(struct fsl_memory_holder *holders, size_t n)
{
	size_t last = 0;
	for (size_t i = 1; i < n; i++) {
		struct fsl_memory_holder *into = &holders[last];
		const struct fsl_memory_holder *one = &holders[i];
		if (one->path_id != into->path_id) {
			holders[++last] = *one;
			continue;
		}
		into->n_steps += one->first_step != into->last_step;
		into->last_step = one->last_step;
		into->n_blocks++;
		into->n_bytes += one->n_bytes;
	}
	return last + 1;
}

enum fsl_status fsl_memory_holders(struct fsl_memory_holder **out, size_t *n_out,
				   const struct fsl_memory_replay *replay,
				   bool (*is_meant)(const struct fsl_memory_replay *replay,
						    const struct fsl_memory_block *block),
				   struct fsl_error *err)
{
	size_t n = 0;
	struct fsl_memory_holder *holders = NULL;
	FSL_TRY(FSL_NEW(holders, replay->n_blocks + 1, "blocks", err));
	for (size_t b = 0; b < replay->n_blocks; b++) {
		const struct fsl_memory_block *block = &replay->blocks[b];
		if (is_meant(replay, block)) {
			holders[n++] = (struct fsl_memory_holder){.path_id = block->path_id,
								  .first_step = block->step,
								  .last_step = block->step,
								  .n_steps = 1,
								  .n_blocks = 1,
								  .n_bytes = block->n_bytes};
		}
	}
	if (n > 0) {
		qsort(holders, n, sizeof(*holders), compare_paths);
		n = merge(holders, n);
		qsort(holders, n, sizeof(*holders), compare_bytes);
	}
	*out = holders;
	*n_out = n;
	return FSL_OK;
}

/*
 * Packs rows: a mask of the columns that differ from the row before, then the differences. Each
 * block begins anew, so that it is read alone.
 */
#include "capture/packed_rows.h"

#include <string.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/varint.h"

enum {
	ROW_BYTES_MAX = (1 + FSL_PACKED_COLUMNS_MAX) * FSL_VARINT_MAX,
	BLOCK_BYTES_MAX = FSL_PACKED_BLOCK * ROW_BYTES_MAX,
};

int fsl_packed_compare_first(const void *left, const void *right)
{
	const struct fsl_packed_row *a = left, *b = right;
	return FSL_ORDER(a->cells[0], b->cells[0]);
}

/* Moves the newest block to where it stays. */
static enum fsl_status end_block(struct fsl_packed_rows *rows, struct fsl_error *err)
{
	struct fsl_spill_chunk *chunk = NULL;
	FSL_TRY(fsl_spill_room(&rows->bytes, rows->n_newest_bytes, FSL_SPILL_CHUNK, &chunk, err));
	uint64_t block = (uint64_t)(rows->bytes.n_chunks - 1) * FSL_SPILL_CHUNK + chunk->n_bytes;
	FSL_TRY(FSL_APPEND(rows, blocks, &block, err));
	memcpy(chunk->bytes + chunk->n_bytes, rows->newest, rows->n_newest_bytes);
	chunk->n_bytes += rows->n_newest_bytes;
	rows->n_newest = rows->n_newest_bytes = 0;
	return FSL_OK;
}

static enum fsl_status pack(struct fsl_packed_rows *rows, const struct fsl_packed_row *row,
			    struct fsl_error *err)
{
	static const struct fsl_packed_row zero = {{0}};
	uint64_t deltas[FSL_PACKED_COLUMNS_MAX], mask = 0;
	const struct fsl_packed_row *last = rows->n_newest > 0 ? &rows->last : &zero;
	if (rows->newest == NULL) {
		FSL_TRY(FSL_NEW(rows->newest, BLOCK_BYTES_MAX, "bytes", err));
	}
	for (size_t c = 0; c < rows->n_columns; c++) {
		/* Without a sign, because a difference may be beyond the limits of the type. */
		deltas[c] = (uint64_t)row->cells[c] - (uint64_t)last->cells[c];
		mask |= (uint64_t)(deltas[c] != 0) << c;
	}
	unsigned char *at = fsl_varint_put(rows->newest + rows->n_newest_bytes, mask);
	for (size_t c = 0; c < rows->n_columns; c++) {
		if (deltas[c] != 0) {
			at = fsl_varint_put(at, fsl_varint_fold((int64_t)deltas[c]));
		}
	}
	rows->n_newest_bytes = (size_t)(at - rows->newest);
	rows->n_newest++;
	rows->last = *row;
	return rows->n_newest == FSL_PACKED_BLOCK ? end_block(rows, err) : FSL_OK;
}

/* Sorts the window and packs the first @n rows of it. */
static enum fsl_status pack_window(struct fsl_packed_rows *rows, size_t n, struct fsl_error *err)
{
	size_t n_packed = rows->n_blocks * FSL_PACKED_BLOCK + rows->n_newest;
	fsl_sort_runs(rows->window, rows->n_window, sizeof(*rows->window), rows->compare);
	if (n_packed > 0 && n > 0 && rows->compare(&rows->last, rows->window) > 0) {
		FSL_TRY(FSL_APPEND(rows, runs, &n_packed, err));
	}
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(pack(rows, &rows->window[i], err));
	}
	rows->n_window -= n;
	memmove(rows->window, rows->window + n, rows->n_window * sizeof(*rows->window));
	return FSL_OK;
}

enum fsl_status fsl_packed_add(struct fsl_packed_rows *rows, const struct fsl_packed_row *row,
			       struct fsl_error *err)
{
	if (rows->compare != NULL && rows->n_window == 2 * (size_t)FSL_PACKED_WINDOW) {
		FSL_TRY(pack_window(rows, FSL_PACKED_WINDOW, err));
	}
	FSL_TRY(rows->compare == NULL ? pack(rows, row, err) : FSL_APPEND(rows, window, row, err));
	rows->n++;
	return FSL_OK;
}

/* Runs by the first of their rows that are left. */
struct merge {
	const struct fsl_packed_rows *rows;
	struct fsl_packed_reader *readers; /* of each run */
	size_t *next, *ends;               /* rows of each run */
	uint32_t *heap;
	size_t n_heap;
};

static bool is_before(const void *context, uint32_t a, uint32_t b)
{
	const struct merge *merge = context;
	int order = merge->rows->compare(fsl_packed_at(&merge->readers[a], merge->next[a]),
					 fsl_packed_at(&merge->readers[b], merge->next[b]));
	return order != 0 ? order < 0 : a < b;
}

static enum fsl_status begin_merge(struct merge *merge, struct fsl_error *err)
{
	const struct fsl_packed_rows *rows = merge->rows;
	size_t n = rows->n_runs + 1;
	FSL_TRY(FSL_NEW(merge->readers, n, "runs", err));
	FSL_TRY(FSL_NEW(merge->next, n, "runs", err));
	FSL_TRY(FSL_NEW(merge->ends, n, "runs", err));
	FSL_TRY(FSL_NEW(merge->heap, n, "runs", err));
	for (size_t i = 0; i < n; i++) {
		merge->readers[i].rows = rows;
		merge->next[i] = i > 0 ? rows->runs[i - 1] : 0;
		merge->ends[i] = i < rows->n_runs ? rows->runs[i] : rows->n;
		fsl_heap_push(merge->heap, merge->n_heap++, (uint32_t)i, is_before, merge);
	}
	return FSL_OK;
}

static enum fsl_status run_merge(struct merge *merge, struct fsl_packed_rows *merged,
				 struct fsl_error *err)
{
	while (merge->n_heap > 0) {
		uint32_t run = merge->heap[0];
		size_t at = merge->next[run]++;
		FSL_TRY(pack(merged, fsl_packed_at(&merge->readers[run], at), err));
		if (merge->next[run] == merge->ends[run]) {
			merge->heap[0] = merge->heap[--merge->n_heap];
		}
		fsl_heap_sink(merge->heap, merge->n_heap, 0, is_before, merge);
	}
	return merged->n_newest > 0 ? end_block(merged, err) : FSL_OK;
}

/* Packs the rows of all runs again, in order. */
static enum fsl_status merge_runs(struct fsl_packed_rows *rows, struct fsl_error *err)
{
	struct merge merge = {.rows = rows};
	struct fsl_packed_rows merged = {.n_columns = rows->n_columns,
					 .compare = rows->compare,
					 .n = rows->n,
					 .bytes.spill = rows->bytes.spill};
	enum fsl_status status = begin_merge(&merge, err);
	FSL_THEN(status, run_merge(&merge, &merged, err));
	fsl_free(merge.readers);
	fsl_free(merge.next);
	fsl_free(merge.ends);
	fsl_free(merge.heap);
	fsl_packed_fini(rows);
	*rows = merged;
	return status;
}

enum fsl_status fsl_packed_settle(struct fsl_packed_rows *rows, struct fsl_error *err)
{
	if (rows->n_window > 0) {
		FSL_TRY(pack_window(rows, rows->n_window, err));
	}
	fsl_free(rows->window);
	rows->window = NULL;
	rows->window_capacity = 0;
	if (rows->n_newest > 0) {
		FSL_TRY(end_block(rows, err));
	}
	if (rows->n_runs > 0) {
		FSL_TRY(merge_runs(rows, err));
	}
	fsl_free(rows->newest);
	rows->newest = NULL;
	return FSL_OK;
}

void fsl_packed_fini(struct fsl_packed_rows *rows)
{
	fsl_spill_fini(&rows->bytes);
	fsl_free(rows->window);
	fsl_free(rows->runs);
	fsl_free(rows->newest);
	fsl_free(rows->blocks);
	*rows = (struct fsl_packed_rows){0};
}

void fsl_packed_unpack(struct fsl_packed_reader *reader, size_t i)
{
	const struct fsl_packed_rows *rows = reader->rows;
	struct fsl_packed_row row = {{0}};
	uint64_t block = rows->blocks[i / FSL_PACKED_BLOCK];
	size_t chunk = (size_t)(block / FSL_SPILL_CHUNK);
	const unsigned char *at = rows->bytes.chunks[chunk].bytes + block % FSL_SPILL_CHUNK;
	if (reader->n > 0 && chunk != reader->chunk) {
		fsl_spill_rest(&rows->bytes, reader->chunk);
	}
	reader->chunk = chunk;
	reader->first = i / FSL_PACKED_BLOCK * FSL_PACKED_BLOCK;
	reader->n = rows->n - reader->first;
	reader->n = reader->n < FSL_PACKED_BLOCK ? reader->n : FSL_PACKED_BLOCK;
	for (size_t k = 0; k < reader->n; k++) {
		uint64_t mask = 0, delta = 0;
		at = fsl_varint_take(at, &mask);
		for (; mask != 0; mask &= mask - 1) { /* without its lowest bit */
			int64_t *cell = &row.cells[__builtin_ctzll(mask)];
			at = fsl_varint_take(at, &delta);
			delta = (uint64_t)fsl_varint_unfold(delta);
			*cell = (int64_t)((uint64_t)*cell + delta);
		}
		reader->block[k] = row;
	}
}

enum fsl_status fsl_packed_finder_begin(struct fsl_packed_finder *finder,
					const struct fsl_packed_rows *rows, struct fsl_error *err)
{
	*finder = (struct fsl_packed_finder){.rows = rows};
	FSL_TRY(FSL_NEW(finder->firsts, rows->n_blocks + 1, "blocks", err));
	for (size_t k = 0; k < FSL_PACKED_FINDER_BLOCKS; k++) {
		finder->readers[k].rows = rows;
	}
	for (size_t b = 0; b < rows->n_blocks; b++) {
		finder->firsts[b] =
			fsl_packed_at(&finder->readers[0], b * FSL_PACKED_BLOCK)->cells[0];
	}
	return FSL_OK;
}

static const struct fsl_packed_row *look_at(struct fsl_packed_finder *finder, size_t i)
{
	size_t reader = i / FSL_PACKED_BLOCK % FSL_PACKED_FINDER_BLOCKS;
	return fsl_packed_at(&finder->readers[reader], i);
}

const struct fsl_packed_row *fsl_packed_find(struct fsl_packed_finder *finder, int64_t key)
{
	const struct fsl_packed_rows *rows = finder->rows;
	size_t block = 0;
	FSL_LOWER_BOUND(block, rows->n_blocks, finder->firsts[block] < key);
	/* The row may be the first of the block, or lie in the block before. */
	size_t at = block > 0 ? (block - 1) * FSL_PACKED_BLOCK : 0;
	size_t end = block < rows->n_blocks ? block * FSL_PACKED_BLOCK : rows->n;
	FSL_BISECT(at, end, i, look_at(finder, i)->cells[0] < key);
	const struct fsl_packed_row *row = at < rows->n ? look_at(finder, at) : NULL;
	return row != NULL && row->cells[0] == key ? row : NULL;
}

void fsl_packed_finder_end(struct fsl_packed_finder *finder)
{
	fsl_free(finder->firsts);
	*finder = (struct fsl_packed_finder){0};
}

/*
 * Packs rows: a mask of the columns that differ from the row before, then the differences. Each
 * block begins anew, so that it is read alone.
 */
#include "capture/packed_rows.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/try.h"
#include "capture/varint.h"

enum {
	CHUNK_BYTES = 64 * 1024, /* less than the kernel gives at once */
	ROW_BYTES_MAX = (1 + FSL_PACKED_COLUMNS_MAX) * FSL_VARINT_MAX,
	BLOCK_BYTES_MAX = FSL_PACKED_BLOCK * ROW_BYTES_MAX,
};

struct fsl_packed_chunk {
	struct fsl_packed_chunk *next;
	size_t n_bytes;
	unsigned char bytes[CHUNK_BYTES];
};

/* Moves the newest block to where it stays. */
static enum fsl_status end_block(struct fsl_packed_rows *rows, struct fsl_error *err)
{
	struct fsl_packed_chunk *chunk = rows->chunks;
	if (chunk == NULL || CHUNK_BYTES - chunk->n_bytes < rows->n_newest_bytes) {
		chunk = fsl_calloc(1, sizeof(*chunk));
		FSL_TRY(FSL_MADE(chunk, sizeof(*chunk), "bytes", err));
		chunk->next = rows->chunks;
		rows->chunks = chunk;
	}
	const unsigned char *block = chunk->bytes + chunk->n_bytes;
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
	bool is_first = rows->n_blocks + rows->n_newest == 0;
	fsl_sort_runs(rows->window, rows->n_window, sizeof(*rows->window), rows->compare);
	rows->is_unsorted |= !is_first && n > 0 && rows->compare(&rows->last, rows->window) > 0;
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

static void forget_packed(struct fsl_packed_rows *rows)
{
	while (rows->chunks != NULL) {
		struct fsl_packed_chunk *next = rows->chunks->next;
		fsl_free(rows->chunks);
		rows->chunks = next;
	}
	rows->n_blocks = rows->n_newest = rows->n_newest_bytes = 0;
}

/* Unpacks all rows, which are packed as a whole, and packs them again in order. */
static enum fsl_status sort_all(struct fsl_packed_rows *rows, struct fsl_error *err)
{
	struct fsl_packed_row *all = NULL;
	struct fsl_packed_reader reader = {.rows = rows};
	FSL_TRY(FSL_NEW(all, rows->n + 1, "rows", err));
	for (size_t i = 0; i < rows->n; i++) {
		all[i] = *fsl_packed_at(&reader, i);
	}
	forget_packed(rows);
	fsl_sort_runs(all, rows->n, sizeof(*all), rows->compare);
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < rows->n && status == FSL_OK; i++) {
		status = pack(rows, &all[i], err);
	}
	FSL_THEN(status, rows->n_newest > 0 ? end_block(rows, err) : FSL_OK);
	rows->is_unsorted = false;
	fsl_free(all);
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
	if (rows->is_unsorted) {
		FSL_TRY(sort_all(rows, err));
	}
	fsl_free(rows->newest);
	rows->newest = NULL;
	return FSL_OK;
}

void fsl_packed_fini(struct fsl_packed_rows *rows)
{
	forget_packed(rows);
	fsl_free(rows->window);
	fsl_free(rows->newest);
	fsl_free(rows->blocks);
	*rows = (struct fsl_packed_rows){0};
}

void fsl_packed_unpack(struct fsl_packed_reader *reader, size_t i)
{
	const struct fsl_packed_rows *rows = reader->rows;
	struct fsl_packed_row row = {{0}};
	const unsigned char *at = rows->blocks[i / FSL_PACKED_BLOCK];
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

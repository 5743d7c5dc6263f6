/*
 * Rows of numbers that resemble the rows before them, such as events of a trace: sorted, some bytes
 * each, and read by index.
 */
#ifndef FSL_CAPTURE_PACKED_ROWS_H
#define FSL_CAPTURE_PACKED_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "capture/spill.h"

enum {
	FSL_PACKED_COLUMNS_MAX = 12,
	FSL_PACKED_BLOCK = 64, /* rows that are unpacked at a time */
	/* Rows that are sorted before they are packed. If a row comes later, a new run begins, and
	 * runs are merged in the end. Writers of traces have the work of one stream behind that of
	 * another. */
	FSL_PACKED_WINDOW = 4096,
	FSL_PACKED_FINDER_BLOCKS = 8, /* that stay unpacked */
};

struct fsl_packed_row {
	int64_t cells[FSL_PACKED_COLUMNS_MAX];
};

/* Start with the first two members set, and bytes.spill if they may lie in a file. */
struct fsl_packed_rows {
	size_t n_columns; /* the first cells of a row */
	/* Order of two rows, as for qsort; equal rows keep theirs. NULL: that of adding. */
	int (*compare)(const void *left, const void *right);
	size_t n;
	struct fsl_packed_row *window; /* rows that are not packed yet */
	size_t n_window, window_capacity;
	struct fsl_packed_row last; /* that is packed */
	size_t *runs;               /* where runs behind the first begin */
	size_t n_runs, runs_capacity;
	uint64_t *blocks; /* where each begins: chunk * FSL_SPILL_CHUNK + place in it */
	size_t n_blocks, blocks_capacity;
	struct fsl_spill_list bytes;
	unsigned char *newest;           /* block that is not full */
	size_t n_newest, n_newest_bytes; /* rows and bytes of it */
};

/* By the first cell. */
int fsl_packed_compare_first(const void *left, const void *right);

/* FSL_ERR_MEMORY only. */
enum fsl_status fsl_packed_add(struct fsl_packed_rows *rows, const struct fsl_packed_row *row,
			       struct fsl_error *err);
/* Ends adding: only now rows can be read. FSL_ERR_MEMORY only. */
enum fsl_status fsl_packed_settle(struct fsl_packed_rows *rows, struct fsl_error *err);
void fsl_packed_fini(struct fsl_packed_rows *rows);

/* Unpacks a block at a time. Start with the first member set. */
struct fsl_packed_reader {
	const struct fsl_packed_rows *rows;
	size_t n;     /* rows that are unpacked; 0: none yet */
	size_t first; /* index of the first of them */
	size_t chunk; /* that they are in */
	struct fsl_packed_row block[FSL_PACKED_BLOCK];
};
/* Unpacks the block that has row @i, which is below rows->n. */
void fsl_packed_unpack(struct fsl_packed_reader *reader, size_t i);
/* @i is below rows->n. The row is borrowed until the next call. */
static inline const struct fsl_packed_row *fsl_packed_at(struct fsl_packed_reader *reader, size_t i)
{
	if (i - reader->first >= reader->n) { /* also if @i is before the first */
		fsl_packed_unpack(reader, i);
	}
	return &reader->block[i - reader->first];
}

/* Finds rows that are sorted by their first cell. Start as {0}. */
struct fsl_packed_finder {
	const struct fsl_packed_rows *rows;
	int64_t *firsts; /* first cell of each block */
	struct fsl_packed_reader readers[FSL_PACKED_FINDER_BLOCKS];
};
/* FSL_ERR_MEMORY only. */
enum fsl_status fsl_packed_finder_begin(struct fsl_packed_finder *finder,
					const struct fsl_packed_rows *rows, struct fsl_error *err);
/* The first row whose first cell is @key; NULL: there is none. Borrowed until the next call. */
const struct fsl_packed_row *fsl_packed_find(struct fsl_packed_finder *finder, int64_t key);
void fsl_packed_finder_end(struct fsl_packed_finder *finder);

#endif

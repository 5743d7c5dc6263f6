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

enum {
	FSL_PACKED_COLUMNS_MAX = 12,
	FSL_PACKED_BLOCK = 64, /* rows that are unpacked at a time */
	/* Rows that are sorted before they are packed. If a row comes later, all are sorted in the
	 * end. Writers of traces have the work of one stream behind that of another. */
	FSL_PACKED_WINDOW = 4096,
};

struct fsl_packed_row {
	int64_t cells[FSL_PACKED_COLUMNS_MAX];
};

struct fsl_packed_chunk; /* opaque */

/* Start with the first two members set. */
struct fsl_packed_rows {
	size_t n_columns; /* the first cells of a row */
	/* Order of two rows, as for qsort; equal rows keep theirs. NULL: that of adding. */
	int (*compare)(const void *left, const void *right);
	size_t n;
	struct fsl_packed_row *window; /* rows that are not packed yet */
	size_t n_window, window_capacity;
	struct fsl_packed_row last; /* that is packed */
	bool is_unsorted;           /* it was not in order */
	const unsigned char **blocks;
	size_t n_blocks, blocks_capacity;
	struct fsl_packed_chunk *chunks; /* the newest first */
	unsigned char *newest;           /* block that is not full */
	size_t n_newest, n_newest_bytes; /* rows and bytes of it */
};

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

#endif

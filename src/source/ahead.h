/*
 * Rows that threads without a file of their own read ahead of those that have one. The operators of
 * a file are put together in its order, by one thread; scanning its rows is most of the work, and
 * parts of it can be done elsewhere, before that thread comes to them. A part is used only where it
 * begins at the very row that the reader has come to (a quoted line break may have misled it), so
 * what is read never depends on who helped, or where.
 */
#ifndef FSL_SOURCE_AHEAD_H
#define FSL_SOURCE_AHEAD_H

#include "base/csv_scan.h"
#include "base/mem.h"
#include "source/marker.h"

enum {
	/* Of a file: with a row it fits into a block, so that the reader goes on at a whole one. */
	FSL_AHEAD_PART_BYTES = FSL_FILE_BLOCK_BYTES - 4096,
};

struct fsl_ahead;      /* of one batch of files; opaque */
struct fsl_ahead_file; /* one that is being read; opaque */

struct fsl_ahead_row {
	struct fsl_marker marker; /* its name lies in the bytes of the part */
	uint32_t at;              /* index there of the row's first byte */
};

/* A stretch of a file. Rows belong to the part in which they begin. */
struct fsl_ahead_part {
	uint64_t offset; /* in the file, of bytes[0] */
	char *bytes;
	size_t capacity;
	size_t n_bytes;    /* a plain row that belongs to the part can be read, and no other */
	size_t begin, end; /* index of the first row, and behind the last one that was read */
	struct fsl_ahead_row *rows;
	size_t n_rows, rows_capacity;
	struct fsl_ahead_part *next; /* of its file, or of the spare ones */
	size_t idx;                  /* in its file */
	bool is_ready;
};

/*
 * Sets rows and end of a part whose bytes and begin are set: up to its first row that cannot be
 * told without what stands in front of it. Several threads do so at once.
 */
struct fsl_ahead_scanner {
	bool (*scan)(const void *context, struct fsl_ahead_part *part); /* false: out of memory */
	const void *context; /* borrowed until the file is withdrawn */
};
/* Where the next row goes, to be counted when it is one; NULL: out of memory. */
static inline struct fsl_ahead_row *fsl_ahead_part_room(struct fsl_ahead_part *part)
{
	bool has_room = part->n_rows < part->rows_capacity ||
			FSL_GROW(part->rows, part->rows_capacity, part->n_rows + 1, NULL) == FSL_OK;
	return has_room ? &part->rows[part->n_rows] : NULL;
}

/* For @n_files; at most @n_parts stand in memory at the same time. NULL (also for 0 parts): nobody
 * helps, which costs no more than time; everything below takes it. */
struct fsl_ahead *fsl_ahead_create(size_t n_files, size_t n_parts, size_t part_bytes);
void fsl_ahead_destroy(struct fsl_ahead *ahead);

/*
 * The threads' side. One of the files has been read, or will not be.
 */
void fsl_ahead_note_done(struct fsl_ahead *ahead);
/* Scans parts until nothing is left that could be. */
void fsl_ahead_help(struct fsl_ahead *ahead);

/*
 * The readers' side. Offers the rows of @reader from @offset, where one begins, up to @end or the
 * end of the file; NULL: there are too few, or nobody helps. Withdraw it before the reader closes.
 */
struct fsl_ahead_file *fsl_ahead_offer(struct fsl_ahead *ahead, const struct fsl_reader *reader,
				       uint64_t offset, uint64_t end,
				       struct fsl_ahead_scanner scanner);
void fsl_ahead_withdraw(struct fsl_ahead_file *file);
/* Where the next part begins: at the first row there or behind it the reader has to ask for it.
 * UINT64_MAX: there is none, also for NULL. */
uint64_t fsl_ahead_fence(const struct fsl_ahead_file *file);
/*
 * The part that begins with the row at @offset, which is not in front of the fence; NULL: the
 * reader has to scan the rows itself. The fence moves on. Borrowed until the next call.
 */
const struct fsl_ahead_part *fsl_ahead_meet(struct fsl_ahead_file *file, uint64_t offset);

#endif

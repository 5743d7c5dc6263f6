/*
 * Idle threads scan rows of a file ahead of the thread that reads it. One thread, the reader, puts
 * the operators of a file together in the order of the file; scanning the rows is most of its work.
 * Helpers scan parts of the file before the reader comes to them. The reader uses a part only if
 * the part begins at the very row that the reader has come to (a quoted line break may mislead a
 * helper). So the result never depends on which thread helped.
 */
#ifndef FSL_SOURCE_AHEAD_H
#define FSL_SOURCE_AHEAD_H

#include "base/csv_scan.h"
#include "base/mem.h"
#include "source/marker.h"

enum {
	/* Bytes of a part. A part and one more row fit into a block of the reader, so that the
	 * reader goes on at a whole block. */
	FSL_AHEAD_PART_BYTES = FSL_FILE_BLOCK_BYTES - 4096,
};

struct fsl_ahead;      /* the helpers of one batch of files; opaque */
struct fsl_ahead_file; /* a file of the batch that is being read; opaque */

struct fsl_ahead_row {
	struct fsl_marker marker; /* its name lies in the bytes of the part */
	uint32_t at;              /* index of the row's first byte in the bytes of the part */
};

/* A stretch of a file. Rows belong to the part in which they begin. */
struct fsl_ahead_part {
	uint64_t offset; /* in the file, of bytes[0] */
	char *bytes;
	size_t capacity;
	size_t n_bytes;    /* holds every plain row that begins in the part, and no other row */
	size_t begin, end; /* index of the first row, and behind the last one that was read */
	struct fsl_ahead_row *rows;
	size_t n_rows, rows_capacity;
	struct fsl_ahead_part *next; /* of its file, or of the spare ones */
	size_t idx;                  /* in its file */
	bool is_ready;
};

/*
 * Sets rows and end of a part whose bytes and begin are set. Scanning stops at the first row whose
 * content depends on the text in front of it. Several threads call scan() at once.
 */
struct fsl_ahead_scanner {
	bool (*scan)(const void *context, struct fsl_ahead_part *part); /* false: out of memory */
	const void *context; /* borrowed until the file is withdrawn */
};
/* Room for the next row of @part; the caller raises n_rows if the row is good. NULL: out of
 * memory. */
static inline struct fsl_ahead_row *fsl_ahead_part_room(struct fsl_ahead_part *part)
{
	bool has_room = part->n_rows < part->rows_capacity ||
			FSL_GROW(part->rows, part->rows_capacity, part->n_rows + 1, NULL) == FSL_OK;
	return has_room ? &part->rows[part->n_rows] : NULL;
}

/* Helpers for @n_files files. At most @n_parts parts of @part_bytes are in memory at the same time.
 * NULL if memory is short or @n_parts is 0: nobody helps, which costs only time. All functions
 * below accept NULL. End it with fsl_ahead_destroy(). */
struct fsl_ahead *fsl_ahead_create(size_t n_files, size_t n_parts, size_t part_bytes);
void fsl_ahead_destroy(struct fsl_ahead *ahead);

/*
 * For threads: one of the files has been read, or will not be read.
 */
void fsl_ahead_note_done(struct fsl_ahead *ahead);
/* For threads: scans parts, and waits for further ones, until no file has a part left to scan. */
void fsl_ahead_help(struct fsl_ahead *ahead);

/*
 * For readers: offers the rows of @reader to the helpers, from @offset (the begin of a row) up to
 * @end or the end of the file. NULL: there are too few rows, or nobody helps. Call
 * fsl_ahead_withdraw() before the reader closes.
 */
struct fsl_ahead_file *fsl_ahead_offer(struct fsl_ahead *ahead, const struct fsl_reader *reader,
				       uint64_t offset, uint64_t end,
				       struct fsl_ahead_scanner scanner);
void fsl_ahead_withdraw(struct fsl_ahead_file *file);
/* Offset of the next part in the file. The reader calls fsl_ahead_meet() at the first row at or
 * behind this offset. UINT64_MAX: there is no further part, or @file is NULL. */
uint64_t fsl_ahead_fence(const struct fsl_ahead_file *file);
/*
 * The part that begins with the row at @offset, which is at or behind the fence. NULL: the reader
 * has to scan the rows itself. The fence moves on to the next part. Borrowed until the next call.
 */
const struct fsl_ahead_part *fsl_ahead_meet(struct fsl_ahead_file *file, uint64_t offset);

#endif

/* Which part of a file to read for a time range: bisection on the times of its rows. */
#ifndef FSL_SOURCE_ENTRY_H
#define FSL_SOURCE_ENTRY_H

#include "source/ingest.h"

enum {
	/* Seconds. A row stands in the file at most this long behind newer rows, and an operator
	 * that ends in the range began at most this long before the range. */
	FSL_ENTRY_SLACK_S = 120,
	/* Bytes at the end of a file that are always read: they tell what a rank was doing that
	 * went silent before the range. */
	FSL_ENTRY_TAIL_BYTES = 1 << 20,
	/* Bytes that are read behind a range beside the slack: after a longer silence, the first
	 * rows are the ends of operators that began in the range. */
	FSL_ENTRY_MARGIN_BYTES = 1 << 20,
	/* Bytes behind a place at which reading went on. In them the end of an operator may stand
	 * in front of its begin, and so in front of the place. */
	FSL_ENTRY_DOUBT_BYTES = 64 << 10,
};

/* Bytes of a file that are left out behind a time range: [begin, end). */
struct fsl_entry_gap {
	uint64_t begin; /* the gap begins with the first row at or behind this offset; UINT64_MAX:
			   there is no gap */
	uint64_t end;   /* a row begins here */
};

/* One row in a block. */
struct fsl_entry_row {
	const char *begin, *end;
	int64_t time_ns;
};

/* How a format finds rows in the middle of a file. */
struct fsl_entry_rows {
	const void *context;
	/* Finds the first row within [text, end) that is surely a row and has a time; false if
	 * there is none. The search for the next row begins at the end of this row. */
	bool (*next)(const void *context, const char *text, const char *end,
		     struct fsl_entry_row *row);
};

/*
 * Sets *entry to the offset of a row such that all rows before it are older than @from_ns by the
 * slack. *entry is @first, the offset of the first row, if the file is small, compressed, not in
 * order of time or otherwise not understood. If @from_ns is FSL_TIME_MAX_NS, *entry is the first of
 * the last rows, which tell when the file ends. Reads about 30 blocks of 16 KiB; the reader does
 * not move.
 */
enum fsl_status fsl_entry_find(const struct fsl_reader *reader, const struct fsl_entry_rows *rows,
			       int64_t from_ns, uint64_t first, uint64_t *entry,
			       struct fsl_error *err);

/* The same without a slack, and at most up to @most, the offset of a row. */
enum fsl_status fsl_entry_find_before(const struct fsl_reader *reader,
				      const struct fsl_entry_rows *rows, int64_t from_ns,
				      uint64_t first, uint64_t most, uint64_t *entry,
				      struct fsl_error *err);

/*
 * Sets *gap to bytes whose rows are all newer than @to_ns by the slack. There is no gap if the file
 * is small, compressed or not understood (as above), or if little would be left out. The search
 * begins at the row at @first; cost as above.
 */
enum fsl_status fsl_entry_find_gap(const struct fsl_reader *reader,
				   const struct fsl_entry_rows *rows, int64_t to_ns, uint64_t first,
				   struct fsl_entry_gap *gap, struct fsl_error *err);

#endif

/* Which part of a file to read for a time range: bisection on the times of its rows. */
#ifndef FSL_SOURCE_ENTRY_H
#define FSL_SOURCE_ENTRY_H

#include "source/ingest.h"

enum {
	/* Rows stand in the file at most this long behind newer ones, and an operator that ends in
	 * the range began at most this long before it. */
	FSL_ENTRY_SLACK_S = 120,
	/* The end of a file is always read: what a rank that went silent before the range was doing
	 * stands there. */
	FSL_ENTRY_TAIL_BYTES = 1 << 20,
	/* Behind a range, so much is read beside the slack: after a longer silence, the ends of
	 * operators that began in the range are the first rows. */
	FSL_ENTRY_MARGIN_BYTES = 1 << 20,
	/* Behind a place where reading went on, the end of an operator may stand in front of its
	 * begin, and so in front of the place, for so long. */
	FSL_ENTRY_DOUBT_BYTES = 64 << 10,
};

/* What of a file is left out behind a time range: [begin, end). */
struct fsl_entry_gap {
	uint64_t begin; /* left at the first row from here on; UINT64_MAX: there is no gap */
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
	/* The first row within [text, end) that is known to be one and has a time; false when there
	 * is none. The next is looked for from its end on. */
	bool (*next)(const void *context, const char *text, const char *end,
		     struct fsl_entry_row *row);
};

/*
 * *entry: the begin of a row, such that all rows before it are older than @from_ns by the slack;
 * @first, the offset of the first row, where the file is small, compressed, not in order of time or
 * otherwise not to be understood. Of FSL_TIME_MAX_NS the first of the last rows, which tell when
 * the file ends. Reads some 30 blocks of 16 KiB; the reader does not move.
 */
enum fsl_status fsl_entry_find(const struct fsl_reader *reader, const struct fsl_entry_rows *rows,
			       int64_t from_ns, uint64_t first, uint64_t *entry,
			       struct fsl_error *err);

/* The same without a slack, in front of @most, where a row begins. */
enum fsl_status fsl_entry_find_before(const struct fsl_reader *reader,
				      const struct fsl_entry_rows *rows, int64_t from_ns,
				      uint64_t first, uint64_t most, uint64_t *entry,
				      struct fsl_error *err);

/*
 * *gap: all rows in it are newer than @to_ns by the slack; none where the file is as above, or
 * little would be left out. Looked for from the row at @first on; likewise.
 */
enum fsl_status fsl_entry_find_gap(const struct fsl_reader *reader,
				   const struct fsl_entry_rows *rows, int64_t to_ns, uint64_t first,
				   struct fsl_entry_gap *gap, struct fsl_error *err);

#endif

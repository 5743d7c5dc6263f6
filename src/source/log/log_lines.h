/* The lines of a log, of any length and with any bytes; lines without wanted bytes cost little. */
#ifndef FSL_SOURCE_LOG_LOG_LINES_H
#define FSL_SOURCE_LOG_LOG_LINES_H

#include "base/file.h"

enum {
	FSL_LOG_LINE_BYTES = 8192,        /* of a longer line only a part is looked at */
	FSL_LOG_LINE_BYTES_MAX = 1 << 20, /* a longer line is left out */
	FSL_LOG_TAIL_BYTES = 1 << 16,     /* behind the last step */
};

/* Start it as {.reader = reader}. */
struct fsl_log_lines {
	struct fsl_reader *reader;
	const char *data; /* window of the reader */
	size_t n, at;     /* bytes in the window, in whole lines; bytes that are done */
	bool is_last;     /* the window ends with the file */
	bool is_cut;      /* the window begins inside of a line that is left out */
	uint64_t n_too_long;
	char clean[FSL_LOG_LINE_BYTES]; /* a line without its colours */
};

struct fsl_log_line {
	const char *text; /* without line break and colours; borrowed until the next call; NULL: no
			     more lines */
	size_t length;
	uint64_t offset;    /* in the file */
	bool is_terminated; /* a line break follows */
};

/* Next line, or next line with @anchor; a carriage return ends a line, too. Empty lines are left
 * out. "": any line. */
enum fsl_status fsl_log_lines_next(struct fsl_log_lines *lines, const char *anchor, size_t n_anchor,
				   struct fsl_log_line *line, struct fsl_error *err);

/*
 * Bytes behind @offset, at most the last FSL_LOG_TAIL_BYTES of the file; call it behind the last
 * line. Of a file that cannot seek these are the bytes of the last window. *tail is borrowed until
 * the reader is used again.
 */
enum fsl_status fsl_log_lines_tail(struct fsl_log_lines *lines, uint64_t offset, const char **tail,
				   size_t *n_tail, struct fsl_error *err);

#endif

/* Scans events that follow each other in memory: one scanner for each thread. */
#ifndef FSL_CHROME_TRACE_SCANNER_H
#define FSL_CHROME_TRACE_SCANNER_H

#include "chrome/trace_shapes.h"

enum { FSL_TRACE_SEPARATOR_MAX = 16 };

/* The text between two events. */
struct fsl_trace_separator {
	size_t length; /* 0: none was seen */
	uint64_t n_newlines;
	char text[FSL_TRACE_SEPARATOR_MAX];
};

struct fsl_trace_scanner {
	const struct fsl_trace_vocabulary *vocabulary; /* borrowed */
	struct fsl_trace_shapes *shapes;
	struct fsl_trace_separator separator; /* the last one */
};

/* False when out of memory. */
bool fsl_trace_scanner_init(struct fsl_trace_scanner *scanner,
			    const struct fsl_trace_vocabulary *vocabulary);
void fsl_trace_scanner_fini(struct fsl_trace_scanner *scanner);

/* The event at @text by comparing it with those before, else byte by byte; its length, 0: neither
 * can read it. *event: as for fsl_trace_shapes_scan(). */
size_t fsl_trace_scanner_event(struct fsl_trace_scanner *scanner, const char *text, size_t n_bytes,
			       struct fsl_trace_event *event, uint64_t *n_newlines);
/* Finds the separator between an event's end at @text and the "{" of the next event; false if what
 * is between them is to be read by the tokenizer. */
bool fsl_trace_scanner_next(struct fsl_trace_scanner *scanner, const char *text, size_t n_bytes);

/*
 * Index of the "{" of an object that follows a comma and has a key. A match inside a string is
 * impossible, because the key's quote would have a backslash there. @n_bytes if there is none; the
 * last *n_left bytes may then begin a match.
 */
size_t fsl_trace_find_item(const char *data, size_t n_bytes, size_t *n_left);

#endif

/*
 * A second thread that scans the blocks of a large file in front of the walk. It guesses the begin
 * of an event in each block. The walk takes an event only from the very byte that it has come to,
 * where an event is the next thing, so a wrong guess costs time and changes no answer.
 */
#ifndef FSL_CHROME_TRACE_AHEAD_H
#define FSL_CHROME_TRACE_AHEAD_H

#include "chrome/trace_walk.h"

struct fsl_trace_ahead; /* opaque */

/* Places around an event that was scanned. */
struct fsl_trace_scanned {
	uint64_t end_offset, next_offset; /* behind its "}"; of the next "{", 0: not known */
	uint64_t n_newlines, n_newlines_between;
};

/*
 * The listener says whether there is a second thread; listener->fault_of is called on both. NULL if
 * there is none, if the file is small or cannot be read at any place, or if memory is short: the
 * walk then scans alone. Borrows @reader and @listener. The thread starts with the first call of
 * fsl_trace_ahead_find().
 */
struct fsl_trace_ahead *fsl_trace_ahead_create(const struct fsl_reader *reader,
					       const struct fsl_trace_listener *listener);
void fsl_trace_ahead_destroy(struct fsl_trace_ahead *ahead); /* NULL is fine */
/* False for NULL, if no thread could be made, or if it was given up: few events were of use. */
bool fsl_trace_ahead_is_on(const struct fsl_trace_ahead *ahead);

/*
 * The event without a fault whose "{" is at @offset; false if no thread could scan it. Offsets rise
 * from call to call. May wait for the other thread, and scans further blocks in the meantime.
 * *event was cleared as for fsl_trace_shapes_scan(); its texts are borrowed until the next call.
 */
bool fsl_trace_ahead_find(struct fsl_trace_ahead *ahead, uint64_t offset,
			  struct fsl_trace_event *event, struct fsl_trace_scanned *scanned);

#endif

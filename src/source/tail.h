/*
 * The newest events of a file, kept for a later run: those that reading from a mark gives up to the
 * mark at the end. A run that goes on from the earlier mark takes them from the tail and reads what
 * was appended since, where it would else read the rows behind the mark again. What it finds is the
 * same; a tail that is missing or damaged costs time.
 *
 * A tail has a segment for each run that made it longer, and for each mark in it, so that none of
 * it is read for nothing when a run begins at a later mark. Segments stand in a file of their own
 * (the state file would have to be looked through whenever it is opened), as the arrays that they
 * are in memory: only the program that wrote them may read them, and whoever keeps them sees to
 * that. Nobody waits for the disk when they are written, as each has a checksum.
 */
#ifndef FSL_SOURCE_TAIL_H
#define FSL_SOURCE_TAIL_H

#include "source/ingest.h"

/* Of all files of a run together; what is more is read again. */
#define FSL_TAILS_BYTES_MAX ((size_t)64 << 20)

/* So many events of each kind: in a tail, or in front of a place. */
struct fsl_event_counts {
	uint64_t n_ops, n_remnants, n_stages;
};

enum { FSL_TAIL_SEGMENTS_MAX = 12 }; /* then a new tail is begun */

struct fsl_tail_segment {
	struct fsl_event_counts n;
	uint64_t offset, checksum; /* in the file of tails; not set before it is written */
};

struct fsl_tail {
	struct fsl_event_counts n; /* of all segments */
	struct fsl_tail_segment segments[FSL_TAIL_SEGMENTS_MAX];
	size_t n_segments;
	size_t n_written; /* the first so many stand in the file of tails */
	/* Those of the others, behind some that it turned out not to need; owned. */
	struct fsl_op *ops, *remnants;
	struct fsl_stage *stages;
	struct fsl_event_counts n_passed;
};

struct fsl_marks;      /* source/mark.h */
struct fsl_mark_taker; /* source/mark_take.h */

/* How many events the sink holds. */
struct fsl_event_counts fsl_sink_counts(const struct fsl_sink *sink);
/* Events behind the first @b of @a. */
struct fsl_event_counts fsl_counts_behind(struct fsl_event_counts a, struct fsl_event_counts b);
struct fsl_event_counts fsl_counts_sum(struct fsl_event_counts a, struct fsl_event_counts b);
size_t fsl_counts_bytes(struct fsl_event_counts counts);

void fsl_tail_fini(struct fsl_tail *tail);
/* Leaves out the first segments, which hold just @n events; false when no segment ends there. */
bool fsl_tail_pass(struct fsl_tail *tail, struct fsl_event_counts n);

/*
 * Copies the events between a mark from which the next run may have to go on and the one at the end
 * into the taker, or what came behind the tail that was begun with, and makes its marks count from
 * the begin of the tail. Where the file has no mark at its end, or these are more than
 * taker->tail_bytes_max or a quarter of the file, there is no tail.
 */
void fsl_tail_take(struct fsl_mark_taker *taker, const struct fsl_sink *sink);

/* True when the old tail has the events between the mark at which reading would begin and the one
 * at the end, and no row between them was broken. */
bool fsl_tail_has(const struct fsl_mark_taker *taker);
/* Puts them into the empty sink. False, with the sink as it was, when they cannot be read; the log
 * says so when they are damaged. */
bool fsl_tail_load(struct fsl_sink *sink, const struct fsl_mark_taker *taker);
/* True when times and names of the events are none that could do harm; sink->names has to hold the
 * names by now. Looks whether operators rise. */
bool fsl_tail_check(struct fsl_sink *sink);

/*
 * Writes the segments that @marks took this run, from the mark for @boundary_ns on, and notes where
 * they stand: behind those of the run before, whose marks @old are, in the file that these have
 * open, or in a new file at @path when none of them is of use any longer (*is_anew). When that
 * fails @marks have no tails, and a message says why. No file is left where there is no tail. Once.
 */
enum fsl_status fsl_tails_write(struct fsl_marks *marks, const struct fsl_marks *old,
				const char *path, int64_t boundary_ns, bool *is_anew,
				struct fsl_error *err);
/* Opens the tails that an earlier run wrote, where that is a file with one name; without it all is
 * read again. */
void fsl_tails_open(struct fsl_marks *marks, const char *path);

#endif

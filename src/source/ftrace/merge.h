/* Files of one kernel trace (one for each CPU, or one for all) as one row of events by time. */
#ifndef FSL_SOURCE_FTRACE_MERGE_H
#define FSL_SOURCE_FTRACE_MERGE_H

#include "source/ftrace/read.h"

enum {
	FSL_FTRACE_FILES_MAX = FSL_SCHED_CPUS_MAX, /* one for each CPU */
	/* Events that may come late, with @sorts. trace_pipe hands out what each CPU has, a page of
	 * some 100 events at a time. */
	FSL_FTRACE_SORTED_MAX = 1 << 15,
};

struct fsl_ftrace_merge; /* opaque */

/*
 * Opens all files. @sorts: events that come up to SORTED_MAX events late are put in order; without
 * it they come as they stand in their file. FSL_ERR_FORMAT names a file that is not read. *out is
 * owned by the caller: fsl_ftrace_merge_close.
 */
enum fsl_status fsl_ftrace_merge_open(struct fsl_ftrace_merge **out, const char *const *paths,
				      size_t n_paths, bool sorts, struct fsl_error *err);
void fsl_ftrace_merge_close(struct fsl_ftrace_merge *merge);

/* Next event, borrowed until the next call; *event is NULL at the end. Times never decrease: an
 * event that comes too late gets the time of the one before, and is counted. */
enum fsl_status fsl_ftrace_merge_next(struct fsl_ftrace_merge *merge,
				      const struct fsl_sched_event **event, struct fsl_error *err);

/* Events that came too late so far. */
uint64_t fsl_ftrace_merge_late(const struct fsl_ftrace_merge *merge);
/* Facts of all files so far; the entries of headers are summed if all files have them. */
struct fsl_ftrace_facts fsl_ftrace_merge_facts(const struct fsl_ftrace_merge *merge);

#endif

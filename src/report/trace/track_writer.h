/*
 * One way to write a timeline into a file: chrome_writer.c (Chrome trace events, JSON),
 * pftrace_writer.c (Perfetto's protobuf) and mindstudio_writer.c (SQLite). The caller gives
 * processes and tracks first, then events in the order of their begins; a slice before the slices
 * in it.
 */
#ifndef FSL_REPORT_TRACE_TRACK_WRITER_H
#define FSL_REPORT_TRACE_TRACK_WRITER_H

#include "base/strpool.h"
#include "report/trace/track_event.h"
#include "report/trace/track_output.h"

struct fsl_track_writing; /* state of a writer; opaque */

struct fsl_track_writer {
	const char *name; /* "chrome" */
	/* Begins the file. @base_ns, no later than any event: times in the file count from it.
	 * @texts: of all ids, borrowed; it may grow meanwhile. *out is to be ended also if later
	 * calls fail. */
	enum fsl_status (*begin)(struct fsl_track_writing **out, struct fsl_track_output *output,
				 const struct fsl_strpool *texts, int64_t base_ns,
				 struct fsl_error *err);
	enum fsl_status (*process)(struct fsl_track_writing *writing,
				   const struct fsl_track_process *process, struct fsl_error *err);
	enum fsl_status (*track)(struct fsl_track_writing *writing, const struct fsl_track *track,
				 struct fsl_error *err);
	enum fsl_status (*event)(struct fsl_track_writing *writing,
				 const struct fsl_track_event *event, struct fsl_error *err);
	/* Writes what is left of the file. */
	enum fsl_status (*finish)(struct fsl_track_writing *writing, struct fsl_error *err);
	/* Frees @writing; NULL is fine. */
	void (*end)(struct fsl_track_writing *writing);
};

extern const struct fsl_track_writer fsl_track_writer_chrome;
extern const struct fsl_track_writer fsl_track_writer_pftrace;
/* The same with ids of processes and threads that no task of Linux has, for a file that holds the
 * kernel's own events as well (ftrace_bundles.h). */
extern const struct fsl_track_writer fsl_track_writer_pftrace_with_kernel;
extern const struct fsl_track_writer fsl_track_writer_mindstudio;

#endif

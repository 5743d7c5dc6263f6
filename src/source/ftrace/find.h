/* Kernel traces below files and folders, and what lies beside them: clocks, ranks, processes. */
#ifndef FSL_SOURCE_FTRACE_FIND_H
#define FSL_SOURCE_FTRACE_FIND_H

#include "source/ftrace/marks.h"
#include "source/ftrace/prof_clocks.h"

enum {
	FSL_FTRACE_CLOCKS_N = 5,
	FSL_FTRACE_TRACES_MAX = 1024, /* hosts of one look */
};

/* The trace of one host: one file, or one file for each CPU. */
struct fsl_ftrace_trace {
	const char **paths; /* arena of the list */
	size_t n_paths;
	const char *refusal; /* why it cannot be read, with the remedy; NULL: it can */
};

/* Start as {0}. */
struct fsl_ftrace_traces {
	struct fsl_arena arena;
	struct fsl_ftrace_trace *items; /* by path */
	size_t n_items, items_capacity;
};

/*
 * Finds kernel traces by content: in @paths that are files, and below folders in files with names
 * that traces have ("*.txt", "*.ftrace", "trace", "trace_pipe", "trace.dat", also compressed).
 * Files below one folder per_cpu are one trace. @is_brief: only files in folders named ftrace*, or
 * with ftrace or sched in their name, as other files of a job may be many.
 */
enum fsl_status fsl_ftrace_find(struct fsl_ftrace_traces *traces, const char *const *paths,
				size_t n_paths, bool is_brief, struct fsl_error *err);
void fsl_ftrace_traces_fini(struct fsl_ftrace_traces *traces);

/* Length of the path without what tells the form: "x/trace.txt.gz" has the stem "x/trace". */
size_t fsl_ftrace_stem(const char *path);

/* Facts from files beside a trace. */
struct fsl_ftrace_beside {
	bool has_offset;     /* what to add to the trace's times for UTC is known */
	int64_t offset_ns;   /* UTC minus the clock of the trace */
	int64_t drift_ns;    /* how much offset_ns changed from begin to end; 0: not told */
	const char *clock;   /* "mono_raw"; "" if nothing names it, or none of ours; static */
	bool is_clock_told;  /* false: it is the clock that fits the times */
	bool has_start_info; /* the offset is that of a profile of Ascend */
	bool is_not_raw;     /* the trace names a clock that profiles do not tell */
};

/*
 * Reads ranks.json ("pids": {pid: rank}, "realtime_minus_mono_ns"), NAME.clocks.json (five clocks,
 * "trace_clock"), NAME.pid_mapping.json (threads of ranks), start_info and end_info beside the
 * trace. Ranks come into @ranks. @clock: what the trace says of its clock, or "". @first_ns: its
 * first time, to tell which clock it has if nothing names it. Files that cannot be used are ignored
 * with a warning. FSL_ERR_MEMORY.
 */
enum fsl_status fsl_ftrace_read_beside(struct fsl_ftrace_beside *beside,
				       struct fsl_ftrace_ranks *ranks, const char *path,
				       const char *clock, int64_t first_ns, struct fsl_error *err);
/* The trace has CLOCK_MONOTONIC_RAW, and a profile tells what that is in UTC. */
void fsl_ftrace_beside_take(struct fsl_ftrace_beside *beside, const struct fsl_prof_clock *clock);

#endif

/* One file of a kernel trace as events, in the order of its lines. */
#ifndef FSL_SOURCE_FTRACE_READ_H
#define FSL_SOURCE_FTRACE_READ_H

#include <failslow/error.h>

#include "base/file.h"
#include "sched/event.h"
#include "source/ftrace/prefix.h"

enum { FSL_FTRACE_CLOCK_BYTES = 16 };

/* Facts that lines of a file tell beside events. */
struct fsl_ftrace_facts {
	int64_t n_kept, n_written; /* entries by the header; -1: it does not tell */
	int32_t n_cpus;            /* by the header; 0: it does not tell */
	uint64_t n_lines, n_events;
	uint64_t n_runtime;  /* sched_stat_runtime among the events */
	uint64_t n_switches; /* sched_switch among the events */
	uint64_t n_ignored;  /* events of other kinds */
	uint64_t n_broken;   /* lines that cannot be read; the first is told */
	uint64_t first_broken;
	uint64_t n_lost, n_losses; /* events that LOST lines tell, and these lines */
	uint64_t n_started;        /* "CPU 2 buffer started": oldest events are overwritten */
	enum fsl_ftrace_stamp stamp;
	char clock[FSL_FTRACE_CLOCK_BYTES]; /* as in trace_clock; "": text of the kernel does not
					       tell */
};

struct fsl_ftrace_reader; /* opaque */

/* Opens a trace, compressed or not. FSL_ERR_FORMAT names the form that is not read, and says what
 * to do. *out is owned by the caller: fsl_ftrace_close. */
enum fsl_status fsl_ftrace_open(struct fsl_ftrace_reader **out, const char *path,
				struct fsl_error *err);
/* The same for a file that is open already, which the reader owns from now on, also if the call
 * fails. */
enum fsl_status fsl_ftrace_adopt(struct fsl_ftrace_reader **out, struct fsl_reader *file,
				 struct fsl_error *err);
void fsl_ftrace_close(struct fsl_ftrace_reader *reader);

/* Time of the first event of a file; FSL_NS_ABSENT: it has none, or cannot be read. *facts: those
 * that come before it. */
int64_t fsl_ftrace_first_ns(const char *path, struct fsl_ftrace_facts *facts);

/* Next event, borrowed until the next call; *event is NULL at the end. */
enum fsl_status fsl_ftrace_next(struct fsl_ftrace_reader *reader,
				const struct fsl_sched_event **event, struct fsl_error *err);

/* The same for events of kind FSL_SCHED_MARK that may be marks of steps alone. All others are
 * passed over ten times as fast as fsl_ftrace_next() reads them, and not counted in facts. */
enum fsl_status fsl_ftrace_next_mark(struct fsl_ftrace_reader *reader,
				     const struct fsl_sched_event **event, struct fsl_error *err);

/* Facts of the lines so far; borrowed. */
const struct fsl_ftrace_facts *fsl_ftrace_facts(const struct fsl_ftrace_reader *reader);
const char *fsl_ftrace_path(const struct fsl_ftrace_reader *reader);

#endif

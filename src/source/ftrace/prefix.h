/* The fields before the event in a line of a kernel trace: task, process, CPU, flags, time. */
#ifndef FSL_SOURCE_FTRACE_PREFIX_H
#define FSL_SOURCE_FTRACE_PREFIX_H

#include "sched/event.h"
#include "source/ftrace/scan.h"

enum fsl_ftrace_stamp {
	FSL_FTRACE_SECONDS,  /* 1336.642173 or 1336.642173202 */
	FSL_FTRACE_RELATIVE, /* 12610us, 12.024ms: since the begin of the trace */
	FSL_FTRACE_COUNTS,   /* 132913: events, ticks or cycles */
};

struct fsl_ftrace_prefix {
	struct fsl_sched_text comm;
	int32_t tid, tgid, cpu;
	bool is_in_interrupt;
	enum fsl_ftrace_stamp stamp;
	int64_t time_ns; /* COUNTS: the number as it is */
};

/*
 * Reads the begin of a line in any form: text of the kernel with or without flags and processes,
 * its latency formats, reports of trace-cmd, scripts of perf. *rest is then the text from the
 * event's name on. False if the line is no event. The name of a task may hold any bytes.
 */
bool fsl_ftrace_read_prefix(const char *line, size_t length, struct fsl_ftrace_prefix *out,
			    struct fsl_ftrace_scan *rest);

#endif

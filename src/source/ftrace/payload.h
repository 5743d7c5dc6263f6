/* The text behind the event's name in a line of a kernel trace. */
#ifndef FSL_SOURCE_FTRACE_PAYLOAD_H
#define FSL_SOURCE_FTRACE_PAYLOAD_H

#include "sched/event.h"
#include "source/ftrace/scan.h"

enum fsl_ftrace_payload {
	FSL_FTRACE_READ,    /* the event is filled */
	FSL_FTRACE_IGNORED, /* an event that the model does not need */
	FSL_FTRACE_BROKEN,  /* a known event with fields that cannot be read */
};

/*
 * Reads the event at @scan, from its name on: as the kernel prints it, with the option "fields", as
 * trace-cmd prints it with and without its plug-ins and with -R, as perf prints it. Fills kind and
 * all fields from `task` on; texts point into the line.
 */
enum fsl_ftrace_payload fsl_ftrace_read_payload(struct fsl_ftrace_scan scan,
						struct fsl_sched_event *event);

#endif

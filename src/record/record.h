/* Records what the kernel's scheduler and interrupts do, as text, with the clocks of the host and
 * its threads beside it. */
#ifndef FSL_RECORD_RECORD_H
#define FSL_RECORD_RECORD_H

#include <stdint.h>

#include <failslow/error.h>

#include "record/trace_buffer.h"

enum fsl_record_end {
	FSL_RECORD_STOPPED,  /* by a signal */
	FSL_RECORD_TIME,     /* the time is over */
	FSL_RECORD_NO_SPACE, /* the disk is nearly full */
};

struct fsl_record_plan {
	struct fsl_trace_plan trace;
	const char *tracefs;     /* folder; NULL: where it is mounted */
	const char *path;        /* of the trace; must not exist. Others stand beside it. */
	const char *host;        /* name of this host */
	double seconds;          /* <= 0: until a signal */
	int64_t keep_free_bytes; /* of the disk */
	/* Called once, as soon as recording has begun; NULL: not. */
	enum fsl_status (*begun)(void *context, struct fsl_error *err);
	void *context;
};

struct fsl_record_result {
	enum fsl_record_end end;
	double seconds; /* in which events were recorded */
	uint64_t n_lines, n_bytes, n_lost;
	size_t n_cpus;
};

/*
 * Records until the time is over, SIGINT, SIGTERM or SIGHUP comes, or the disk is nearly full. The
 * trace is called PATH.part until it is whole. Beside it appear PATH without its suffix and
 * ".clocks.json" (five clocks at begin and end, what was recorded) and ".pid_mapping.json" (threads
 * of the host). The kernel's tracer is as before afterwards, also after a failure. FSL_ERR_IO,
 * FSL_ERR_USAGE (fsl_trace_buffer_open()).
 */
enum fsl_status fsl_record_run(const struct fsl_record_plan *plan, struct fsl_record_result *result,
			       struct fsl_error *err);

#endif

/*
 * The kernel's trace buffer, set for a recording: an instance of our own, so that nobody else's
 * tracing is touched. If the kernel has no instances, the global buffer; a guard then puts back
 * what it was, also after kill -9.
 */
#ifndef FSL_RECORD_TRACE_BUFFER_H
#define FSL_RECORD_TRACE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "record/guard.h"
#include "record/tracefs.h"

/* Settings of a recording. */
struct fsl_trace_plan {
	const int64_t *cpus; /* [n_cpus] */
	size_t n_cpus;       /* 0: all */
	const int64_t *pids; /* [n_pids]: threads, as the host numbers them */
	size_t n_pids;       /* 0: all */
	int64_t buffer_kib;  /* for each CPU */
	const char *clock;   /* name of the kernel: mono_raw, ... */
	bool has_runtime;    /* sched_stat_runtime, which fills the buffer, too */
};

/* One file of tracefs, and what to write into it. */
enum { FSL_TRACE_NAME_BYTES = 96 };
struct fsl_trace_setting {
	char name[FSL_TRACE_NAME_BYTES];
	char value[FSL_TRACEFS_TEXT_MAX];
};

struct fsl_trace_buffer {
	char tracefs[FSL_TRACEFS_PATH_MAX]; /* as mounted */
	char root[FSL_TRACEFS_PATH_MAX];    /* of the buffer: an instance, or tracefs */
	bool is_own;                        /* an instance */
	int lock;                           /* of tracefs: one recording at a time */
	int64_t *cpus;                      /* [n_cpus]: those that are recorded; owned */
	size_t n_cpus;
	/* Settings of the global buffer, which the guard writes back in this order; owned. */
	struct fsl_trace_setting *before;
	size_t n_before, before_capacity;
	struct fsl_guard guard;
};

/* Longest setting of pids, with its end: so many threads of some 8 digits each. */
enum { FSL_TRACE_PIDS_MAX = 8192 };

/*
 * Takes a buffer of the tracefs at @tracefs and sets it as planned; recording is off. FSL_ERR_IO: a
 * file of tracefs cannot be used, another recording goes on, or somebody else uses the global
 * buffer. FSL_ERR_USAGE: the plan names a CPU or clock that is not there. Nothing is changed then.
 */
enum fsl_status fsl_trace_buffer_open(struct fsl_trace_buffer *buffer, const char *tracefs,
				      const struct fsl_trace_plan *plan, struct fsl_error *err);
/* Begins or ends recording into the buffer. */
enum fsl_status fsl_trace_buffer_switch(const struct fsl_trace_buffer *buffer, bool is_on,
					struct fsl_error *err);
/* Events that were lost because the buffer was full. */
uint64_t fsl_trace_buffer_n_lost(const struct fsl_trace_buffer *buffer);
/* Puts back what was before, and releases everything. Files of the buffer must be closed.
 * FSL_ERR_IO says what could not be put back. */
enum fsl_status fsl_trace_buffer_close(struct fsl_trace_buffer *buffer, struct fsl_error *err);

#endif

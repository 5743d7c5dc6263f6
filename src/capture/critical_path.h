/*
 * The critical path of one rank: the chain of host and device work, each of which waited for the
 * one before it, that takes most time. As in HolisticTraceAnalysis: operators and calls of a thread
 * follow each other; a work of the device follows its launch if its stream was idle, else the work
 * before it; calls that wait follow the work that they wait for. Time between operators of no
 * caller, and within calls that wait, does not count.
 */
#ifndef FSL_CAPTURE_CRITICAL_PATH_H
#define FSL_CAPTURE_CRITICAL_PATH_H

#include "capture/worker_figures.h"

/* A work that begins later behind the one before it had another reason to wait. */
#define FSL_PATH_BETWEEN_MAX_NS (INT64_C(1500) * FSL_NS_PER_US)

enum fsl_path_action {
	FSL_PATH_NO_ACTION,
	FSL_PATH_LAUNCHES,     /* @detail: index of the work */
	FSL_PATH_RECORDS,      /* an event of CUDA behind what its stream got: index of the event */
	FSL_PATH_STREAM_WAITS, /* the next work of a stream waits for an event: index of the sync */
	FSL_PATH_EVENT_WAIT,   /* the call waits for an event: index of the sync */
	FSL_PATH_STREAM_WAIT,  /* the call waits for a stream: index of the sync */
	FSL_PATH_DEVICE_WAIT,  /* the call waits for all streams */
	FSL_PATH_OTHER_WAIT, /* the call waits for what nobody recorded: the newest work that ended
			      */
};

/* An operator, a call or the loading of data, on a thread of the host. */
struct fsl_path_host {
	int64_t begin_ns, end_ns;
	uint32_t thread; /* below n_threads */
	uint32_t detail;
	enum fsl_path_action action : 8;
	bool is_loading : 1;
	bool is_wait : 1;     /* its own time does not count */
	bool is_autograd : 1; /* of a backward pass, which may have a thread of its own */
};

/* Order of hosts: by begin, callers before what they call. For qsort. */
int fsl_path_host_compare(const void *left, const void *right);

struct fsl_path_work {
	int64_t begin_ns, end_ns;
	int32_t device, stream;
	enum fsl_path_part part;
};

/* An event of CUDA that somebody waits for, or a stream. */
struct fsl_path_sync {
	int32_t device, stream; /* that waits, or that is waited for */
	uint32_t event;         /* index of the event; FSL_STR_NONE: none */
};
struct fsl_path_event {
	int32_t device, stream; /* on which it is recorded */
};

struct fsl_path_input {
	/* Tells the next host in their order; *has is false behind the last. FSL_ERR_MEMORY. */
	enum fsl_status (*next_host)(void *context, struct fsl_path_host *host, bool *has,
				     struct fsl_error *err);
	void *hosts; /* context of the function */
	/* Tells work @index, which does not begin before the one in front of it; false: it is left
	 * out. Launches are among the hosts. */
	bool (*work)(const void *context, uint32_t index, struct fsl_path_work *out);
	const void *works; /* context of the function */
	size_t n_works;
	const struct fsl_path_sync *syncs;
	size_t n_syncs;
	const struct fsl_path_event *events;
	size_t n_events;
	const bool *has_autograd; /* of each thread: one of its hosts is_autograd */
	size_t n_threads;
};

/* Fills length and parts. FSL_ERR_MEMORY only. */
enum fsl_status fsl_critical_path_find(struct fsl_critical_path *path,
				       const struct fsl_path_input *input, struct fsl_error *err);

#endif

/* Parts of a trace that are kept while it is read: work of the device, calls of the host, steps,
 * facts of collectives. Joined by settle.c when all was read. */
#ifndef FSL_SOURCE_KINETO_EVENTS_H
#define FSL_SOURCE_KINETO_EVENTS_H

#include "capture/call_paths.h"
#include "capture/capture_files.h"
#include "capture/functions.h"
#include "capture/shares.h"
#include "source/kineto/names.h"
#include "source/kineto/rows.h"
#include "source/kineto/seen.h"

/* Work of the device: a kernel, a collective or a copy. */
struct fsl_kineto_work {
	int64_t begin_ns, dur_ns;
	int64_t correlation;   /* -1: none */
	int64_t launch_ns;     /* begin of the call that launched it; FSL_NS_ABSENT: not recorded */
	int64_t launch_dur_ns; /* of that call */
	int64_t step;          /* once it is settled */
	uint32_t name_id;      /* in the rank's names */
	uint32_t shape_id;     /* "132_1_1|384_1_1"; FSL_STR_NONE: not told */
	uint32_t facts;        /* of a collective, in events->facts; of a copy, in events->copies;
				  FSL_STR_NONE: none */
	uint32_t external;     /* of a collective: external id, cut to 32 bits; 0: none */
	uint32_t whole_id;     /* the name with its arguments, if functions are wanted */
	int32_t device, stream; /* -1: not told */
	enum fsl_kineto_category category : 8;
	bool is_collective : 1;
};

/* A call of the runtime. */
struct fsl_kineto_call {
	int64_t correlation; /* -1: none */
	int64_t begin_ns, dur_ns;
	uint32_t name_id;
	uint32_t thread; /* as of frames, if functions are wanted */
};

/* Bytes that a copy moved. */
struct fsl_kineto_copy {
	int64_t n_bytes, bytes_per_s; /* -1: not told */
};

/* A call or a stream that waits. */
struct fsl_kineto_sync {
	int64_t correlation;       /* of the call */
	int64_t event;             /* correlation of the call that recorded it; -1: not told */
	int32_t device, stream;    /* the one that waits, or is waited for; -1: none */
	int32_t event_stream;      /* on which the event was recorded; -1: not told */
	enum fsl_kineto_name kind; /* FSL_KINETO_STREAM_SYNC and following */
};

/* Facts of a collective: from its kernel, or from its host side. */
struct fsl_kineto_facts {
	uint32_t external;  /* of a host side; 0: none */
	uint32_t about_id;  /* description of the process group; FSL_STR_NONE: not told */
	const char *type;   /* "ncclAllReduce"; static */
	uint32_t group_id;  /* name of the process group; FSL_STR_NONE: not told */
	uint32_t ranks_id;  /* "[0, 1, 2, 3]"; FSL_STR_NONE: not told */
	int64_t sequence;   /* number within its group; -1: not told */
	int64_t n_elements; /* that a rank gives; -1: not told */
};

/* Operations and bytes of the kernels of one name and shape, if the trace tells them. */
struct fsl_kineto_operations {
	uint32_t name_id, shape_id;
	int64_t count;
	double flops, bytes; /* sums */
};

/* A shape of kernels that was met. */
struct fsl_kineto_shape {
	int64_t grid, block; /* as in the event's args; both 0: none yet */
	uint32_t id;         /* of its text in the rank's names */
};

/* Source of the newest sample of a counter. */
struct fsl_kineto_origin {
	bool is_known;
	uint64_t pid, tid;
	int32_t device; /* -1: not told */
};

/* Hashes of processes and threads that are devices; see counters.c. */
enum { FSL_KINETO_DEVICES_MAX = 32 }; /* of a host */
struct fsl_kineto_devices {
	bool is_known;
	uint64_t pids[FSL_KINETO_DEVICES_MAX], tids[FSL_KINETO_DEVICES_MAX];
};

/* The thread of the newest call or frame. */
struct fsl_kineto_last_thread {
	bool is_known;
	uint64_t pid, tid;
	uint32_t id; /* in events->threads */
};

struct fsl_kineto_events {
	struct fsl_profile_rank *rank; /* its names are used */
	struct fsl_spill spill;        /* of rows and frames */
	struct fsl_packed_rows works, launches, calls;
	int64_t first_work_ns; /* begin of the first work in the file */
	int64_t shift_ns;      /* that is added to begins of works and calls when they are read */
	struct fsl_kineto_facts *facts;
	size_t n_facts, facts_capacity;
	struct fsl_profile_range *device_steps; /* as the device ran them */
	size_t n_device_steps, device_steps_capacity;
	struct fsl_frames frames;                  /* of the host, if functions are wanted */
	struct fsl_kineto_seen kernels, functions; /* names of work, and of frames */
	struct fsl_kineto_shape shapes[FSL_KINETO_SHAPES_N];
	struct fsl_kineto_sync *syncs; /* if functions are wanted */
	size_t n_syncs, syncs_capacity;
	struct fsl_kineto_copy *copies; /* likewise */
	size_t n_copies, copies_capacity;
	struct fsl_link_counters counters; /* likewise */
	struct fsl_kineto_origin origin;
	struct fsl_kineto_devices devices;        /* of counters, if functions are wanted */
	struct fsl_kineto_operations *operations; /* if functions are wanted */
	size_t n_operations, operations_capacity;
	struct fsl_strpool *operation_keys; /* of them; NULL: none yet */
	struct fsl_strpool *threads;        /* of frames; NULL: none yet */
	struct fsl_strpool *groups;         /* ids of their names; NULL: none yet */
	struct fsl_kineto_last_thread last_thread;
	int64_t begin_ns, end_ns;                /* of all events; both 0: none yet */
	int64_t allocated_bytes, reserved_bytes; /* greatest; -1: not told */
	int64_t base_ns;                         /* added to all times; 0: not told */
};

/* As fsl_trace_event_fault, and an end to which a base may be added without overflow. */
const char *fsl_kineto_event_fault(const struct fsl_trace_event *event);
/* Adds an event without a fault. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_kineto_events_add(struct fsl_kineto_events *events,
				      const struct fsl_trace_event *event, struct fsl_error *err);
/* Fills the rank from all events: steps, collectives, kernels, launches, idle time. No event may
 * follow. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_kineto_settle(struct fsl_kineto_events *events,
				  const struct fsl_profile_input *input, struct fsl_error *err);
/* Gives memory of a long trace back behind a step of settling that needed more than what follows:
 * arrays that grew or were freed left holes. */
void fsl_kineto_give_back(const struct fsl_kineto_events *events);
void fsl_kineto_events_fini(struct fsl_kineto_events *events);

#endif

/*
 * Figures of one rank that explain how its host feeds its device, as HolisticTraceAnalysis of Meta
 * defines them: launches, idle time and queue of each stream, bandwidth of copies, critical path.
 * Only `failslow functions` wants them.
 */
#ifndef FSL_CAPTURE_WORKER_FIGURES_H
#define FSL_CAPTURE_WORKER_FIGURES_H

#include "capture/capture.h"
#include "capture/packed_rows.h"

enum {
	FSL_STREAMS_MAX = 256,        /* of a rank; usual are some tens. Further ones are one */
	FSL_STREAM_QUEUE_FULL = 1024, /* launches that CUDA queues before a call waits */
};
/* A gap below this limit is what the device needs from one work to the next. */
#define FSL_STREAM_KERNEL_WAIT_NS (INT64_C(30) * FSL_NS_PER_US)
/* A call of the runtime that takes longer, and a delay behind it that is longer, are counted. */
#define FSL_LAUNCH_SLOW_CALL_NS  (INT64_C(50) * FSL_NS_PER_US)
#define FSL_LAUNCH_LONG_DELAY_NS (INT64_C(100) * FSL_NS_PER_US)

/* Work whose launch was recorded. The delay lasts from the end of the call to the begin of the
 * work; 0 if the work began within the call. */
struct fsl_launch_figures {
	int64_t count;
	int64_t call_ns, work_ns, delay_ns; /* sums */
	int64_t delay_median_ns, delay_p95_ns, delay_max_ns;
	int64_t n_short; /* works that take less time than the call that launched them */
	int64_t n_slow_calls, n_long_delays;
};

/* Why a stream was idle between two works. */
enum fsl_stream_wait {
	FSL_STREAM_HOST_WAIT,   /* the second work was launched when the first had ended */
	FSL_STREAM_KERNEL_WAIT, /* it was launched before, and the gap is short */
	FSL_STREAM_OTHER_WAIT,  /* it was launched before, or its launch was not recorded */
	FSL_STREAM_WAITS_N
};

struct fsl_stream_figures {
	int32_t device, stream; /* -1: not told; both -1 for all streams beyond FSL_STREAMS_MAX */
	int64_t count, busy_ns; /* busy: sum of all works */
	int64_t n_waits[FSL_STREAM_WAITS_N], wait_ns[FSL_STREAM_WAITS_N];
	/* Launched works that have not begun: the length after each launch and each begin. */
	int64_t n_lengths, length_sum, length_max;
	int64_t full_ns; /* time with FSL_STREAM_QUEUE_FULL or more */
};

enum fsl_copy_kind {
	FSL_COPY_TO_DEVICE,
	FSL_COPY_TO_HOST,
	FSL_COPY_ON_DEVICE,
	FSL_COPY_TO_PEER, /* from one device to another */
	FSL_COPY_FILL,
	FSL_COPY_OTHER,
	FSL_COPY_KINDS_N
};
/* "to_device"; NULL-terminated. */
extern const char *const fsl_copy_kind_texts[];
/* Kind of "Memcpy HtoD (Pinned -> Device)". */
enum fsl_copy_kind fsl_copy_kind_of(const char *name, size_t length);

struct fsl_copy_figures {
	int64_t count, n_bytes, time_ns;
	int64_t n_told;                      /* copies with a bandwidth */
	double bandwidth_sum, bandwidth_max; /* GB/s, of these */
};
/* Counts a copy. @bytes, @bytes_per_s: -1: not told; the first and the time tell the second. */
void fsl_copy_count(struct fsl_copy_figures *copies, int64_t dur_ns, int64_t bytes,
		    int64_t bytes_per_s);

/* Parts of the critical path. */
enum fsl_path_part {
	FSL_PATH_HOST, /* operators and calls of the runtime, but for calls that wait */
	FSL_PATH_LOADING,
	FSL_PATH_COMPUTE,
	FSL_PATH_COMMUNICATION,
	FSL_PATH_MEMORY,
	FSL_PATH_LAUNCH,  /* from the begin of a launch to the begin of its work, on an idle stream
			   */
	FSL_PATH_BETWEEN, /* from one work to the next of a stream */
	FSL_PATH_PARTS_N
};
/* "host"; NULL-terminated. */
extern const char *const fsl_path_part_texts[];

struct fsl_critical_path {
	int64_t window_ns; /* from the begin of the first step to the end of the last one; without
			      steps the whole trace; 0: nothing in it */
	int64_t length_ns; /* sum of the parts */
	int64_t parts_ns[FSL_PATH_PARTS_N];
};

struct fsl_worker_figures {
	struct fsl_launch_figures launches;
	struct fsl_stream_figures *streams; /* by device and stream */
	size_t n_streams, streams_capacity;
	struct fsl_copy_figures copies[FSL_COPY_KINDS_N];
	struct fsl_critical_path path;
};
/* NULL is fine. */
void fsl_worker_figures_destroy(struct fsl_worker_figures *figures);

/* A work of the device. */
struct fsl_stream_work {
	int64_t begin_ns, end_ns;
	int64_t call_ns, call_end_ns; /* that launched it; FSL_NS_ABSENT: not recorded */
	int32_t device, stream;       /* -1: not told */
};

/* Works while they are taken. Start with the first two members set. */
struct fsl_streams {
	struct fsl_worker_figures *figures;
	struct fsl_spill *spill;              /* NULL: all stays in memory */
	size_t last;                          /* index of the newest work's stream */
	int64_t last_end_ns[FSL_STREAMS_MAX]; /* of the newest work of each stream */
	/* Times of works whose launch was recorded, with the indices of their streams. */
	struct fsl_packed_rows launches, begins;
	struct fsl_packed_rows delays;
};
/* Takes a work that does not begin before the last one. FSL_ERR_MEMORY only. */
enum fsl_status fsl_streams_add(struct fsl_streams *streams, const struct fsl_stream_work *work,
				struct fsl_error *err);
/* Ends the figures of launches and streams; sorts the streams. FSL_ERR_MEMORY only. */
enum fsl_status fsl_streams_settle(struct fsl_streams *streams, struct fsl_error *err);
void fsl_streams_fini(struct fsl_streams *streams);

#endif

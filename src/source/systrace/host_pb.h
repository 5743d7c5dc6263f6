/*
 * Records of sysTrace of a host beside a rank: threads that left their processor, page faults,
 * swapping, compaction and reclaim of memory (os_trace_*.pb), input and output (io_trace_*.pb), and
 * waits for locks (mutex_trace_*.pb).
 */
#ifndef FSL_SOURCE_SYSTRACE_HOST_PB_H
#define FSL_SOURCE_SYSTRACE_HOST_PB_H

#include "base/strpool.h"
#include "model/run.h"

enum fsl_host_kind {
	FSL_HOST_PAGE_FAULT, /* 0 to 4: types of os_trace */
	FSL_HOST_SWAP,
	FSL_HOST_COMPACTION,
	FSL_HOST_RECLAIM,
	FSL_HOST_OFF_CPU,
	FSL_HOST_IO,
	FSL_HOST_MUTEX,
	FSL_HOST_KINDS_N
};
/* True for events of the whole host: their rank says nothing. */
static inline bool fsl_host_is_of_node(enum fsl_host_kind kind)
{
	return kind >= FSL_HOST_SWAP && kind <= FSL_HOST_RECLAIM;
}

struct fsl_host_event {
	int64_t begin_ns, end_ns;
	int64_t run_delay_ns; /* part in which the thread was ready to run; -1: not known */
	int64_t step;         /* -1: not told */
	uint32_t key;         /* thread or processor; type of I/O; 0: of a mutex */
	uint32_t name_id;     /* task, file, or caller of a lock */
	uint32_t next_id;     /* task that took the processor; FSL_STR_NONE: not told */
	uint32_t next_pid;    /* the same, as the host numbers it; 0: idle, or not told */
	uint32_t path_id;     /* call path (host_stack.h); FSL_STR_NONE: not told */
	uint32_t file;        /* in the order of reading: files of several hosts stand apart */
	int32_t rank;
	enum fsl_host_kind kind;
};

/* Start with fsl_host_events_init(). */
struct fsl_host_events {
	struct fsl_strpool *names;
	struct fsl_host_event *items;
	size_t n_items, items_capacity;
	uint64_t n_dropped[FSL_DROPS_N];
	size_t n_files, n_cut;
};

enum fsl_status fsl_host_events_init(struct fsl_host_events *events, struct fsl_error *err);
void fsl_host_events_fini(struct fsl_host_events *events);

struct fsl_reader;
/* The number behind "rank" or "rank_" in the name of a file of records; FSL_RANK_UNKNOWN: none. */
int32_t fsl_host_rank_of_name(const char *file_name);
/* True if the name is that of such a file. */
bool fsl_host_knows(const char *file_name);
/* Adds the events of a file, of which fsl_host_knows() is true. Broken entries are counted and left
 * out; behind bytes that are no entry the file counts as cut. Fails if memory is short or there are
 * too many events. */
enum fsl_status fsl_host_read(struct fsl_host_events *events, struct fsl_reader *reader,
			      const char *file_name, struct fsl_error *err);

#endif

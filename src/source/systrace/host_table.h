/*
 * Threads of each rank by sysTrace's records of a host: how long they were off their
 * processors, how much of that they were ready to run, and who ran instead. Times are those of the
 * records, the sums are exact.
 */
#ifndef FSL_SOURCE_SYSTRACE_HOST_TABLE_H
#define FSL_SOURCE_SYSTRACE_HOST_TABLE_H

#include "model/steps.h"
#include "source/systrace/host_pb.h"

/* Times off a processor. */
struct fsl_off_cpu {
	uint64_t n;
	int64_t off_ns;
	int64_t queue_ns; /* of off_ns: ready to run, while others had the processor */
};

/* The task that took the processor when a thread left it. Another may have followed it there: the
 * records do not tell. */
struct fsl_host_occupant {
	size_t thread;    /* whose place it took: index */
	uint32_t name_id; /* FSL_STR_NONE: not told */
	uint32_t pid;
	struct fsl_off_cpu sum; /* over the times after which it came */
};

struct fsl_host_thread {
	int32_t rank;
	uint32_t tid;
	uint32_t name_id;         /* newest name */
	int64_t begin_ns, end_ns; /* first leave, last return */
	struct fsl_off_cpu sum;
	uint64_t n_untold; /* of sum.n: their queue_ns is not known and counts as 0 */
	uint64_t n_faults;
	int64_t fault_ns; /* page faults */
	/* The greatest queue_ns first; their sums are that of the thread. */
	size_t first_occupant, n_occupants;
};

/* One rank in one step: all its threads together. */
struct fsl_host_cell {
	int32_t rank;
	int64_t step;
	struct fsl_off_cpu sum; /* parts of times inside the step; n: times that reach into it */
	size_t occupant;        /* index; with the greatest occupant_ns */
	int64_t occupant_ns;    /* queue_ns in this step after which it came */
};

/* Memory management on one processor of a host. */
struct fsl_host_stall {
	uint32_t file; /* that told it */
	uint32_t cpu;
	enum fsl_host_kind kind; /* swap, compaction or reclaim */
	uint64_t n;
	uint64_t n_overlapping; /* lasted until after the next one began, which cannot be: cut there
				 */
	int64_t sum_ns;
};

/* Start as {0}. */
struct fsl_host_table {
	struct fsl_host_thread *threads; /* by rank, then thread */
	size_t n_threads, threads_capacity;
	struct fsl_host_occupant *occupants;
	size_t n_occupants, occupants_capacity;
	struct fsl_host_cell *cells; /* by rank, then step; only those with any time */
	size_t n_cells, cells_capacity;
	struct fsl_host_stall *stalls; /* by file, kind, processor */
	size_t n_stalls, stalls_capacity;
};

/* Fills @table from @events. @steps: of the job, on the clock of the hosts; NULL or none: no cells.
 * FSL_ERR_MEMORY only; release with fsl_host_table_fini() in any case. */
enum fsl_status fsl_host_table_build(struct fsl_host_table *table,
				     const struct fsl_host_events *events,
				     const struct fsl_steps *steps, struct fsl_error *err);
void fsl_host_table_fini(struct fsl_host_table *table);

#endif

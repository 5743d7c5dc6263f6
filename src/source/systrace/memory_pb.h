/*
 * sysTrace's records of device memory (hbm_trace_*.pb): allocations with their call paths, and
 * frees. They have the step of the job and no time.
 */
#ifndef FSL_SOURCE_SYSTRACE_MEMORY_PB_H
#define FSL_SOURCE_SYSTRACE_MEMORY_PB_H

#include "base/strpool.h"
#include "model/run.h"

enum { FSL_MEMORY_FREE = -1 }; /* n_bytes of a record that frees */

struct fsl_memory_record {
	uint64_t pointer;
	int64_t n_bytes;  /* FSL_MEMORY_FREE: what @pointer held is free */
	uint32_t step;    /* of the job */
	uint32_t path_id; /* call path; FSL_STR_NONE: of a free, which has none */
};

/* The records of one process, in the order of events as far as it is known. */
struct fsl_memory_process {
	int32_t rank;
	struct fsl_memory_record *records;
	size_t n_records, records_capacity;
};

/* Start with fsl_memory_init(). */
struct fsl_memory {
	struct fsl_strpool *paths; /* call paths: host_stack.h */
	struct fsl_memory_process *items;
	size_t n_items, items_capacity;
	size_t n_records; /* of all processes */
	uint64_t n_dropped[FSL_DROPS_N];
	size_t n_cut; /* files that end in bytes that are no record */
};

enum fsl_status fsl_memory_init(struct fsl_memory *memory, struct fsl_error *err);
void fsl_memory_fini(struct fsl_memory *memory);

struct fsl_reader;
/* True if the name is that of such a file. */
bool fsl_memory_knows(const char *file_name);
/*
 * Adds the process of a file. The recorder writes a batch of records at a time: its allocations,
 * then its frees. Both are merged by their steps, the allocations of a step first. Broken records
 * are counted and left out. Fails if memory is short or there are too many records.
 */
enum fsl_status fsl_memory_read(struct fsl_memory *memory, struct fsl_reader *reader,
				const char *file_name, struct fsl_error *err);

#endif

/* Held device memory by call paths, for viewers of flame graphs. */
#ifndef FSL_REPORT_TRACE_MEMORY_STACKS_H
#define FSL_REPORT_TRACE_MEMORY_STACKS_H

#include <stdio.h>

#include "source/systrace/memory_replay.h"

/* All borrowed. */
struct fsl_memory_stacks {
	const struct fsl_memory *memory;
	const struct fsl_memory_replay *replays; /* [memory->n_items] */
	/* True for ranks that are wanted. */
	bool (*is_wanted)(const void *context, int64_t rank);
	const void *context;
};

/* Writes a line "rank 3;frame;frame bytes" for each call path that holds memory at the peak of its
 * process. Write errors stay in @stream. FSL_ERR_MEMORY. */
enum fsl_status fsl_memory_write_folded(FILE *stream, const struct fsl_memory_stacks *stacks,
					struct fsl_error *err);
/* Writes a document of speedscope with two profiles for each process: bytes held at the peak, and
 * bytes that were never freed. */
enum fsl_status fsl_memory_write_speedscope(FILE *stream, const struct fsl_memory_stacks *stacks,
					    struct fsl_error *err);

#endif

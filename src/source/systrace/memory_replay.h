/* What the records of one process say of its device memory: held bytes, peak, blocks never freed.
 */
#ifndef FSL_SOURCE_SYSTRACE_MEMORY_REPLAY_H
#define FSL_SOURCE_SYSTRACE_MEMORY_REPLAY_H

#include "source/systrace/memory_pb.h"

enum {
	/* A block that was not freed is a candidate for a leak if it is older than so many steps:
	 * what a step needs is freed with the step or the next one. */
	FSL_LEAK_AGE_STEPS = 3,
};

/* A block from its allocation to its end. */
struct fsl_memory_block {
	int64_t n_bytes;
	uint32_t path_id, step;
	size_t begin, end; /* numbers of records; end SIZE_MAX: never freed */
};

struct fsl_memory_replay {
	int64_t *held; /* [n_records]: bytes held behind each record */
	size_t n_records;
	struct fsl_memory_block *blocks; /* [n_blocks], by the record of their begin */
	size_t n_blocks;
	size_t peak; /* record at which most is held; 0 if there is none */
	int64_t peak_bytes;
	uint32_t last_step;
	/* Allocations that gave no pointer. */
	uint64_t n_failed;
	size_t first_failed;      /* record */
	int64_t failed_bytes;     /* of the first one */
	uint64_t n_unknown_frees; /* frees of blocks that no record allocated */
};

/*
 * Replays the records of @process. A pointer that is allocated again was freed in between, also if
 * the free stands behind in the file; and a free may stand in front of its allocation, if another
 * thread wrote it. Steps tell which free belongs to which block. End @replay with
 * fsl_memory_replay_fini() in any case. FSL_ERR_MEMORY.
 */
enum fsl_status fsl_memory_replay(struct fsl_memory_replay *replay,
				  const struct fsl_memory_process *process, struct fsl_error *err);
void fsl_memory_replay_fini(struct fsl_memory_replay *replay);

/* True if the block is held at the peak. */
static inline bool fsl_memory_is_at_peak(const struct fsl_memory_replay *replay,
					 const struct fsl_memory_block *block)
{
	return block->begin <= replay->peak && replay->peak < block->end;
}

/* True if the block is a candidate for a leak. */
static inline bool fsl_memory_may_leak(const struct fsl_memory_replay *replay,
				       const struct fsl_memory_block *block)
{
	return block->end == SIZE_MAX && block->step <= replay->last_step &&
	       replay->last_step - block->step > FSL_LEAK_AGE_STEPS;
}

/* The blocks of one call path. */
struct fsl_memory_holder {
	uint32_t path_id;
	uint32_t first_step, last_step; /* in which the blocks were allocated */
	size_t n_steps;                 /* different ones */
	size_t n_blocks;
	int64_t n_bytes;
};

/*
 * Sums up the blocks of which @is_meant is true by their call paths, most bytes first. *out: heap
 * memory, NULL if there are none. FSL_ERR_MEMORY.
 */
enum fsl_status fsl_memory_holders(struct fsl_memory_holder **out, size_t *n_out,
				   const struct fsl_memory_replay *replay,
				   bool (*is_meant)(const struct fsl_memory_replay *replay,
						    const struct fsl_memory_block *block),
				   struct fsl_error *err);

#endif

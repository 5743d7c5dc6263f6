/* Names and shapes that were met before: what is made of a text is made once per text. */
#ifndef FSL_SOURCE_KINETO_SEEN_H
#define FSL_SOURCE_KINETO_SEEN_H

#include "base/strpool.h"
#include "chrome/trace_event.h"

/* The owner's record of a text. */
struct fsl_kineto_seen_name {
	uint32_t id, whole_id; /* in the rank's names; FSL_STR_NONE: not made yet */
	bool is_collective;
};

/* Start as {0}. */
struct fsl_kineto_seen {
	struct fsl_strpool *texts;          /* as they stand in the trace; NULL: none yet */
	struct fsl_kineto_seen_name *names; /* of these */
	size_t n_names, names_capacity;
	struct fsl_kineto_seen_name too_many; /* of a text that found no room */
};

/* The record of @text; its id is FSL_STR_NONE if nothing was. Borrowed until the next call.
 * FSL_ERR_MEMORY. */
enum fsl_status fsl_kineto_seen_find(struct fsl_kineto_seen *seen,
				     const struct fsl_trace_text *text,
				     struct fsl_kineto_seen_name **out, struct fsl_error *err);
void fsl_kineto_seen_fini(struct fsl_kineto_seen *seen);

enum { FSL_KINETO_SHAPES_N = 128 /* places for grids and blocks: a step of a job has as many */ };

/* The place of a grid with its block. */
static inline size_t fsl_kineto_shape_place(int64_t grid, int64_t block)
{
	uint64_t mixed = ((uint64_t)grid * 31 + (uint64_t)block) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(mixed >> 32) % FSL_KINETO_SHAPES_N;
}

#endif

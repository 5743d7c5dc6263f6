/* Adds one stage of a timeline to the sink: the rules that the protobuf and JSON forms share. */
#ifndef FSL_SOURCE_SYSTRACE_TIMELINE_STAGE_H
#define FSL_SOURCE_SYSTRACE_TIMELINE_STAGE_H

#include "source/ingest.h"

enum {
	FSL_STAGE_STACK_BYTES = 2048, /* of a stack as text */
	FSL_STAGE_FRAMES_MAX = 32,    /* of a stack, the innermost ones */
};

/* Frames of a stage as one text at the end of @text; begin with fsl_stage_stack_clear(). */
struct fsl_stage_stack {
	size_t n_frames, length;
	bool is_full; /* further frames are left out */
	char text[FSL_STAGE_STACK_BYTES];
};

/* No frames; the text needs no clearing. */
static inline void fsl_stage_stack_clear(struct fsl_stage_stack *stack)
{
	stack->n_frames = stack->length = 0;
	stack->is_full = false;
}

/* Puts the next frame, which called the last one, in front. */
void fsl_stage_stack_add(struct fsl_stage_stack *stack, const char *frame, size_t n_frame);

/* As written in the input. */
struct fsl_timeline_stage {
	uint64_t step; /* stage_id */
	uint64_t begin_us, end_us;
	const char *type; /* need not end with NUL */
	size_t n_type;
	const char *frame; /* innermost frame of the stack; need not end with NUL */
	size_t n_frame;    /* 0: none */
	const struct fsl_stage_stack *stack; /* NULL: not kept */
	uint64_t n_collected, n_uncollectable;
};

/* Checks @stage and adds it to @sink. @offset: place of the stage in the file, for the message of
 * the first broken stage. Fails only when out of memory or over a limit of the sink. */
enum fsl_status fsl_timeline_stage_add(struct fsl_sink *sink,
				       const struct fsl_timeline_stage *stage, uint64_t offset,
				       struct fsl_error *err);
/* Sets the rank that the content tells; a number over FSL_RANKS_MAX (-1 as unsigned) is unknown. */
void fsl_timeline_rank_set(struct fsl_sink *sink, uint64_t rank);

#endif

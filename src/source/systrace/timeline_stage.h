/* Adds one stage of a timeline to the sink: the rules that the protobuf and JSON forms share. */
#ifndef FSL_SOURCE_SYSTRACE_TIMELINE_STAGE_H
#define FSL_SOURCE_SYSTRACE_TIMELINE_STAGE_H

#include "source/ingest.h"

/* As written in the input. */
struct fsl_timeline_stage {
	uint64_t step; /* stage_id */
	uint64_t begin_us, end_us;
	const char *type; /* need not end with NUL */
	size_t n_type;
	const char *frame; /* innermost frame of the stack; need not end with NUL */
	size_t n_frame;    /* 0: none */
	uint64_t n_collected;
};

/* Checks @stage and adds it to @sink. @offset: place of the stage in the file, for the message of
 * the first broken stage. Fails only when out of memory or over a limit of the sink. */
enum fsl_status fsl_timeline_stage_add(struct fsl_sink *sink,
				       const struct fsl_timeline_stage *stage, uint64_t offset,
				       struct fsl_error *err);
/* Sets the rank that the content tells; a number over FSL_RANKS_MAX (-1 as unsigned) is unknown. */
void fsl_timeline_rank_set(struct fsl_sink *sink, uint64_t rank);

#endif

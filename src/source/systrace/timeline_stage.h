/* One stage of a timeline into the sink: the rules that its protobuf and JSON forms share. */
#ifndef FSL_SOURCE_SYSTRACE_TIMELINE_STAGE_H
#define FSL_SOURCE_SYSTRACE_TIMELINE_STAGE_H

#include "source/ingest.h"

/* As written in the input. */
struct fsl_timeline_stage {
	uint64_t step; /* stage_id */
	uint64_t begin_us, end_us;
	const char *type; /* need not end with NUL */
	size_t n_type;
};

/* @offset: where the stage stands, for the message of the first broken one. */
enum fsl_status fsl_timeline_stage_add(struct fsl_sink *sink,
				       const struct fsl_timeline_stage *stage, uint64_t offset,
				       struct fsl_error *err);
/* Rank as the content has it; a number over FSL_RANKS_MAX (-1 as unsigned) is unknown. */
void fsl_timeline_rank_set(struct fsl_sink *sink, uint64_t rank);

#endif

/* Recorded stages as stretches of time that each belong to one stage. */
#ifndef FSL_MATCH_OWN_STAGES_H
#define FSL_MATCH_OWN_STAGES_H

#include "match/own.h"

/* A half-open stretch of a rank's time and whose it is. */
struct fsl_stage_piece {
	int64_t begin_ns, end_ns; /* the rank's own clock */
	uint32_t step_idx;        /* index into fsl_steps; UINT32_MAX outside all steps */
	enum fsl_own_part part;
};

/* Grows with its rank; start it as {0}, release it with fsl_stage_pieces_fini. */
struct fsl_stage_pieces {
	struct fsl_stage_piece *items; /* ascending, disjoint */
	size_t n_items, capacity;
	uint32_t *open; /* scratch */
	size_t open_capacity;
};

/*
 * Replaces @out by the stretches of one rank: each moment counts once, for the stage that began
 * last (a GC inside forward is GC). One sweep, linear in the number of stages.
 */
enum fsl_status fsl_stage_pieces(struct fsl_stage_pieces *out, const struct fsl_rank *rank,
				 size_t rank_idx, const struct fsl_steps *steps,
				 const struct fsl_cuts *cuts, struct fsl_error *err);
void fsl_stage_pieces_fini(struct fsl_stage_pieces *pieces);

#endif

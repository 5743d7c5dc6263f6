/*
 * Own time: the work of each rank between its communication operators, per step. If all ranks have
 * recorded stages, it is the time inside stages that no operator covers, and a gap that no stage
 * explains is idle (neither work nor blame); without stages it is the gaps.
 */
#ifndef FSL_MATCH_OWN_H
#define FSL_MATCH_OWN_H

#include "match/cut.h"
#include "match/limits.h"
#include "match/match.h"

/* Parts of own time that point at different causes. */
enum fsl_own_part {
	FSL_OWN_HEAD,    /* gaps: before the first operator of the step (data loading, checkpoint,
			    first compute) */
	FSL_OWN_BODY,    /* gaps: all others */
	FSL_OWN_COMPUTE, /* stages: forward, backward, optimizer, others */
	FSL_OWN_DATALOADER, /* stages */
	FSL_OWN_CKPT,       /* stages */
	FSL_OWN_GC,         /* stages */
	FSL_OWN_PARTS_N
};

/* How an operator held its rank, see own_spans.h. */
enum fsl_hold {
	FSL_HOLD_RANK,   /* from begin to end */
	FSL_HOLD_BESIDE, /* at most from the last end of those beside which it ran */
	FSL_HOLD_NEVER,
};

struct fsl_own {
	struct fsl_arena arena;
	size_t n_ranks, n_steps;
	bool has_stages; /* true: from stages; false: from gaps */
	bool has_async;  /* some rank works on beneath operators */
	/* [(rank_idx * n_steps + step) * FSL_OWN_PARTS_N + part], ms; NaN if the step was not seen
	 * whole. */
	double *part_ms;
	double *idle_ms; /* [rank_idx * n_steps + step] */
	uint8_t **holds; /* [rank_idx][op_idx]: enum fsl_hold */
};

/*
 * True when an operator that begins at @begin_ns was launched while the one before it of its
 * communicator, which ended at @end_ns, still ran: no more lies between them than a tenth of the
 * time that this one hides, since the rank was held last, until @held_ns. One clock.
 */
static inline bool fsl_op_is_in_row(int64_t held_ns, int64_t end_ns, int64_t begin_ns)
{
	return end_ns > held_ns && begin_ns >= end_ns &&
	       (double)(begin_ns - end_ns) <= FSL_ROW_GAP_SHARE_MAX * (double)(end_ns - held_ns);
}

enum fsl_status fsl_own_build(struct fsl_own *out, const struct fsl_run *run,
			      const struct fsl_steps *steps, const struct fsl_cuts *cuts,
			      struct fsl_error *err);
void fsl_own_fini(struct fsl_own *own);

/*
 * Marks a step of a rank as not seen whole if the rank lost an operator in it: other members of the
 * group recorded theirs, or other steps have more. The unrecorded wait would pass for work.
 */
enum fsl_status fsl_own_hide_lost(struct fsl_own *own, const struct fsl_run *run,
				  const struct fsl_match *match, const struct fsl_cuts *cuts,
				  struct fsl_error *err);

static inline double fsl_own_part_ms(const struct fsl_own *own, size_t rank_idx, size_t step,
				     enum fsl_own_part part)
{
	return own->part_ms[(rank_idx * own->n_steps + step) * FSL_OWN_PARTS_N + part];
}
/* False if own time is gaps between operators, some of which ranks work beneath: then a gap may be
 * less than the work, and a level that always was tells nothing. */
static inline bool fsl_own_is_work(const struct fsl_own *own)
{
	return own->has_stages || !own->has_async;
}
/* Sum of the parts; NaN if the step was not seen whole. */
double fsl_own_total_ms(const struct fsl_own *own, size_t rank_idx, size_t step);

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

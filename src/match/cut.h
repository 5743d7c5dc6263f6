/* Cuts: which operators of each rank belong to which step. */
#ifndef FSL_MATCH_CUT_H
#define FSL_MATCH_CUT_H

#include "model/run.h"
#include "model/steps.h"

struct fsl_cuts {
	struct fsl_arena arena;
	size_t n_steps, n_ranks;
	/* [rank_idx * (n_steps + 1) + step]: index of the first operator of the step; the last
	 * entry ends the last. */
	uint32_t *first_op;
	int64_t *begin_ns; /* same layout: begin of each step on the rank's own clock */
	bool *is_regular;  /* per rank: every step has the same number of operators */
};

/*
 * Cuts each rank's operators at the steps' begins, carried to the rank's clock by @clock_ns (per
 * rank, as of fsl_match). If a rank uses the same number of operators in every step, the cuts are
 * moved to exact multiples of it, so that jitter of the boundary never moves an operator to the
 * next step.
 */
enum fsl_status fsl_cuts_build(struct fsl_cuts *out, const struct fsl_run *run,
			       const struct fsl_steps *steps, const int64_t *clock_ns,
			       struct fsl_error *err);
void fsl_cuts_fini(struct fsl_cuts *cuts);

static inline size_t fsl_cuts_first(const struct fsl_cuts *cuts, size_t rank_idx, size_t step)
{
	return cuts->first_op[rank_idx * (cuts->n_steps + 1) + step];
}

/* Index of the first operator of a rank that begins at or after @time_ns (its clock); n_ops when
 * none does. */
size_t fsl_first_op_at(const struct fsl_rank *rank, int64_t time_ns);

/* Step of an operator, SIZE_MAX before the first or after the last. */
size_t fsl_cuts_step_of(const struct fsl_cuts *cuts, size_t rank_idx, size_t op_idx);

/*
 * The same for one operator after the other, without a search if it is of step @last or the next.
 */
static inline size_t fsl_cuts_step_after(const struct fsl_cuts *cuts, size_t rank_idx,
					 size_t op_idx, size_t last)
{
	const uint32_t *first = cuts->first_op + rank_idx * (cuts->n_steps + 1);
	for (size_t s = last; s < cuts->n_steps && s <= last + 1; s++) {
		if (op_idx >= first[s] && op_idx < first[s + 1]) {
			return s;
		}
	}
	return fsl_cuts_step_of(cuts, rank_idx, op_idx);
}

#endif

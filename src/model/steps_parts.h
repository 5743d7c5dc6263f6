/* Shared by the sources of steps; private to src/model/steps*.c. */
#ifndef FSL_MODEL_STEPS_PARTS_H
#define FSL_MODEL_STEPS_PARTS_H

#include "model/steps.h"

/* Least repeats of an operator that are evidence of a period. */
enum { FSL_STEP_PERIODS_MIN = 8 };
/* Least operators of a period by which one period is told from two. */
enum { FSL_STEP_COUNTED_OPS_MIN = 4 };
/* Distances that differ by this part of the usual one are equal: with a hundred operators in a
 * step, most steps lose some records. Short periods must be exact. */
#define FSL_STEP_DISTANCE_SLACK (1.0 / 16.0)

/* Sorts by step. Of equal steps the one that begins first stays. A step that begins before its
 * predecessor is dropped, because its clock jumped back. */
void fsl_steps_make_unique(struct fsl_steps *steps);
/* Sets dur_ns from begin to begin; FSL_NS_ABSENT for a step whose successor was not seen. */
void fsl_steps_close(struct fsl_steps *steps);
/* Ends open steps at the end of their last record, @ends[i], and drops steps that had not come half
 * way: the part of a step before the recording stopped says little about its length. */
enum fsl_status fsl_steps_end_open(struct fsl_steps *steps, const int64_t *ends,
				   struct fsl_error *err);

/* The operator at which steps begin. */
struct fsl_step_mark {
	const size_t *uses; /* positions in the rank's operators */
	size_t n_uses;      /* 0: none */
	size_t per_period;  /* uses in one period, which is a step or a part of it */
	size_t n_ops;       /* operators in one period, by the median */
	double slack;       /* distances that differ by up to this part of n_ops are equal */
};

/*
 * Looks for the mark in all operators of the rank; the same operator with another size counts as
 * another one. If none is regular, sizes are ignored, because the size of messages may change. No
 * mark if too many records were lost. Uses lie in @arena. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_step_mark_find(struct fsl_step_mark *mark, const struct fsl_rank *rank,
				   struct fsl_arena *arena, struct fsl_error *err);

/* Sources of steps. They leave n_items 0 if the rank shows no steps. */
enum fsl_status fsl_steps_from_op_steps(struct fsl_steps *steps, const struct fsl_rank *rank,
					struct fsl_error *err);
/* @n_ops: operators of a step if known, else 0. */
enum fsl_status fsl_steps_from_op_period(struct fsl_steps *steps, const struct fsl_rank *rank,
					 size_t n_ops, struct fsl_error *err);

#endif

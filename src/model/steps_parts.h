/* What the sources of steps share; private to src/series/steps*.c. */
#ifndef FSL_MODEL_STEPS_PARTS_H
#define FSL_MODEL_STEPS_PARTS_H

#include "model/steps.h"

/* Fewer repeats of an operator are no evidence of a period. */
enum { FSL_STEP_PERIODS_MIN = 8 };
/* Operators of a period by which it is told from two. */
enum { FSL_STEP_COUNTED_OPS_MIN = 4 };
/* Distances that differ by this part of the usual one are equal: of a hundred operators in a step
 * some records are lost in most steps. Short periods must be exact. */
#define FSL_STEP_DISTANCE_SLACK (1.0 / 16.0)

/* Room for @n items; n_items stays 0. */
enum fsl_status fsl_steps_alloc(struct fsl_steps *steps, size_t n, struct fsl_error *err);
/* Sorts by step. Of equal steps the first begin stays; a step that begins before its predecessor
 * goes, its clock jumped back. */
void fsl_steps_make_unique(struct fsl_steps *steps);
/* Sets dur_ns from begin to begin, FSL_NS_ABSENT for a step whose successor was not seen. */
void fsl_steps_close(struct fsl_steps *steps);
/*
 * Gives open steps the end of their last record, @ends[i], and drops those that had not come half
 * way: what a step did until the recording stopped says little about its length.
 */
enum fsl_status fsl_steps_end_open(struct fsl_steps *steps, const int64_t *ends,
				   struct fsl_error *err);

/* The operator at which steps begin. */
struct fsl_step_mark {
	const size_t *uses; /* positions in the rank's operators */
	size_t n_uses;      /* 0: none */
	size_t per_period;  /* uses in one period, which is a step or a part of it */
	size_t n_ops;       /* operators in one period, as the median says */
	double slack;       /* distances that differ by this part of n_ops are equal */
};

/* Looks for it in all operators of the rank, those of another size apart; where none is regular, by
 * their names alone, as messages may change their size; none where too many records were lost. Uses
 * lie in @arena. */
enum fsl_status fsl_step_mark_find(struct fsl_step_mark *mark, const struct fsl_rank *rank,
				   struct fsl_arena *arena, struct fsl_error *err);

/* The periods of a rank's operators, one after the other. */
struct fsl_period_times {
	const double *times; /* between the ends of operators that follow each other, any unit */
	/* [n + 1], never falling: period k has the times from begins[k] to begins[k + 1]. */
	const size_t *begins;
	size_t n;
	double usual; /* median of the times */
};

/* How many periods one step has, 128 at most: the shortest number after which times repeat better
 * than after fewer; 1 when they do not. */
size_t fsl_step_periods(const struct fsl_period_times *periods);

/* Sources; leave n_items 0 when the rank shows no steps. */
enum fsl_status fsl_steps_from_op_steps(struct fsl_steps *steps, const struct fsl_rank *rank,
					struct fsl_error *err);
/* @n_ops: operators of a step where they are known, else 0. */
enum fsl_status fsl_steps_from_op_period(struct fsl_steps *steps, const struct fsl_rank *rank,
					 size_t n_ops, struct fsl_error *err);

#endif

/*
 * The gain of a job without stragglers, from a table of its operations: the steps are replayed
 * with operations at the level that all workers have on average, as in "Understanding Stragglers in
 * Large Model Training Using What-if Analysis" (OSDI 2025).
 */
#ifndef FSL_REPLAY_WHAT_IF_H
#define FSL_REPLAY_WHAT_IF_H

#include "model/op_table.h"

/* Classes of operations: transfers of a direction are one. */
enum { FSL_OP_CLASSES_N = FSL_OP_TYPES_N - 2 };
/* "forward-pp-comm". */
const char *fsl_op_class_text(size_t class);

/* A worker is a stage of a replica. */
struct fsl_what_if_worker {
	int32_t dp, stage, rank;
	double slowdown; /* the lesser one of its replica and its stage; NaN: not asked */
};

/*
 * Slowdowns are step times over the ideal one: of the job as it ran without delays of launches, and
 * of a job in which only some operations are as they ran.
 */
struct fsl_what_if {
	size_t n_replicas, n_stages, n_steps,
		n_operations;               /* operations: of all workers and steps */
	double step_s, ideal_s;             /* means over the steps */
	double slowdown;                    /* S */
	double *by_step;                    /* [n_steps] */
	int32_t *steps;                     /* [n_steps]: their numbers */
	double *by_replica;                 /* [n_replicas]; NaN below FSL_WHAT_IF_SLOWDOWN_MIN */
	double *by_stage;                   /* [n_stages]; likewise */
	double by_class[FSL_OP_CLASSES_N];  /* likewise; NaN also for classes that it has not */
	struct fsl_what_if_worker *workers; /* [n_workers]: the slowest first */
	size_t n_workers, n_slowest;        /* slowest: 3 % of them, at least one */
	/* Share of the lost time that is won if the slowest workers, or the last stage, are ideal;
	 * NaN: likewise. */
	double slowest_share, last_stage_share; /* M_W, M_S */
};

/*
 * FSL_ERR_INPUT if operations do not fit together, or a worker lacks one in a step. Release @out in
 * any case.
 */
enum fsl_status fsl_what_if_ask(struct fsl_what_if *out, const struct fsl_op_table *table,
				struct fsl_error *err);
void fsl_what_if_fini(struct fsl_what_if *what_if);

#endif

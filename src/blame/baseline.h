/* A capture beside an earlier one of the same job: how much longer a step takes, which part of it
 * grew, and on which ranks beyond the others. Ranks are compared with themselves. */
#ifndef FSL_BLAME_BASELINE_H
#define FSL_BLAME_BASELINE_H

#include "capture/capture.h"

enum fsl_baseline_part {
	FSL_BASELINE_STEP,
	FSL_BASELINE_COMPUTING,
	FSL_BASELINE_EXPOSED,
	FSL_BASELINE_FREE,
	FSL_BASELINE_PARTS_N
};

/*
 * A rank whose computing or free time grew, and that of the others did not. Its peers wait for it
 * in communication, so that part tells nothing about a rank. That others became faster is no growth
 * of this one.
 */
struct fsl_grown_rank {
	int32_t rank;
	enum fsl_baseline_part part;
	double now_ms, then_ms;
	double others_ms; /* by which the part usually grew */
	double beyond_ms; /* by which it grew more than on the others */
};

/* A kernel or collective that takes longer than before; per step and rank. */
struct fsl_grown_sum {
	const char *name; /* the baseline's arena */
	double now_ms, now_count;
	double then_ms, then_count; /* 0: was not there */
};

enum { FSL_GROWN_SUMS_MAX = 5 };
struct fsl_grown_sums {
	struct fsl_grown_sum items[FSL_GROWN_SUMS_MAX]; /* by growth, most first */
	size_t n_items;
};

struct fsl_baseline {
	struct fsl_arena arena;
	size_t n_ranks; /* that have step times in both captures */
	double now_ms[FSL_BASELINE_PARTS_N], then_ms[FSL_BASELINE_PARTS_N]; /* their medians */
	double change_ms;             /* of the step; NaN: less than what counts */
	enum fsl_baseline_part most;  /* that changed most */
	struct fsl_grown_rank *grown; /* by part, then rank */
	size_t n_grown;
	const struct fsl_grown_rank *worst; /* of them; NULL: none */
	bool is_waited_for;                 /* the others wait for it in what changed */
	/* All ranks run the same kernels as before at a lower speed: one thing. Then no kernel is
	 * told alone. */
	bool is_even;
	double kernels_now_ms, kernels_then_ms; /* those that both captures have, as often */
	/* Share of the time of kernels in those of the other capture; NaN: kernels are not known.
	 */
	double model_share;
	bool is_other_model; /* another model ran: nothing above is filled but n_ranks */
	struct fsl_grown_sums kernels, comms;
};

/* Fills @out (overwritten). Fails with FSL_ERR_MEMORY only; @out is then empty. */
enum fsl_status fsl_baseline_compare(struct fsl_baseline *out, const struct fsl_profile *now,
				     const struct fsl_profile *then, struct fsl_error *err);
void fsl_baseline_fini(struct fsl_baseline *baseline);

#endif

/* Named amounts of time of a whole set: what its ranks spend on each thing, per step and rank. */
#ifndef FSL_CAPTURE_SUMS_H
#define FSL_CAPTURE_SUMS_H

#include "capture/capture.h"

/* One thing and what it takes. */
struct fsl_profile_sum {
	const char *name; /* "MatMulV2 4096,1024;1024,1024 (AI_CORE)"; the sums' arena */
	double ms;        /* per step, mean of the ranks */
	double count;     /* likewise */
};

struct fsl_profile_sums {
	struct fsl_arena arena;
	struct fsl_profile_sum *items; /* sorted by name, each once */
	size_t n_items, capacity;
};

/* How long a step takes and where it goes; per step, median of the ranks, in ms. */
struct fsl_profile_step_mean {
	double step_ms, computing_ms, exposed_ms, free_ms;
	size_t n_ranks; /* 0: no rank has steps */
};

/* Mean over the steps of one rank; n_ranks 1, or 0 without steps. */
struct fsl_profile_step_mean fsl_profile_rank_mean(const struct fsl_profile_rank *rank);

/* Kernels by type, shapes and core; communication by operator and group. Start @sums as {0}. */
enum fsl_status fsl_profile_sum_kernels(struct fsl_profile_sums *sums,
					const struct fsl_profile *profile, struct fsl_error *err);
enum fsl_status fsl_profile_sum_comms(struct fsl_profile_sums *sums,
				      const struct fsl_profile *profile, struct fsl_error *err);
/* Over the whole capture, of ranks that tell: calls of the host (those of AscendCL where there are
 * any: these contain the lower levels), and what operators of the framework take by themselves on
 * the host. */
enum fsl_status fsl_profile_sum_calls(struct fsl_profile_sums *sums,
				      const struct fsl_profile *profile, struct fsl_error *err);
enum fsl_status fsl_profile_sum_operators(struct fsl_profile_sums *sums,
					  const struct fsl_profile *profile, struct fsl_error *err);
/* Sorts by time instead, longest first. */
void fsl_profile_sums_rank(struct fsl_profile_sums *sums);
void fsl_profile_sums_fini(struct fsl_profile_sums *sums);

#endif

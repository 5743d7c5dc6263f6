/* Named amounts of time of a whole set: the time of its ranks on each name, per step and rank. */
#ifndef FSL_CAPTURE_SUMS_H
#define FSL_CAPTURE_SUMS_H

#include "capture/capture.h"

/* One name and its amount. */
struct fsl_profile_sum {
	const char *name; /* "MatMulV2 4096,1024;1024,1024 (AI_CORE)"; the sums' arena */
	double ms;        /* per step, mean of the ranks */
	double count;     /* per step, mean of the ranks */
};

struct fsl_profile_sums {
	struct fsl_arena arena;
	struct fsl_profile_sum *items; /* sorted by name, each once */
	size_t n_items, capacity;
};

/* Length of a step and its parts; per step, median of the ranks, ms. */
struct fsl_profile_step_mean {
	double step_ms, computing_ms, exposed_ms, free_ms;
	size_t n_ranks; /* 0: no rank has steps */
};

/* Mean over the steps of one rank; n_ranks is 1, or 0 without steps. */
struct fsl_profile_step_mean fsl_profile_rank_mean(const struct fsl_profile_rank *rank);

/*
 * Sums kernels by type, shapes and core, and communication by operator and group, of the ranks that
 * have such data in @beside, too: what is compared is of the same ranks. Start @sums as {0}.
 * FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_profile_sum_kernels(struct fsl_profile_sums *sums,
					const struct fsl_profile *profile,
					const struct fsl_profile *beside, struct fsl_error *err);
enum fsl_status fsl_profile_sum_comms(struct fsl_profile_sums *sums,
				      const struct fsl_profile *profile,
				      const struct fsl_profile *beside, struct fsl_error *err);
/*
 * Sums over the whole capture, of ranks that have the data: host calls (those of AscendCL if there
 * are any, because they contain the lower levels), and the host self time of framework operators.
 * FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_profile_sum_calls(struct fsl_profile_sums *sums,
				      const struct fsl_profile *profile, struct fsl_error *err);
enum fsl_status fsl_profile_sum_operators(struct fsl_profile_sums *sums,
					  const struct fsl_profile *profile, struct fsl_error *err);
/* Sorts by time, longest first, instead of by name. */
void fsl_profile_sums_rank(struct fsl_profile_sums *sums);
void fsl_profile_sums_fini(struct fsl_profile_sums *sums);

#endif

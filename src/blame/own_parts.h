/* Which part of its own time a slow rank of a capture has more of than the others of its class, and
 * whether it only has more to do. */
#ifndef FSL_BLAME_OWN_PARTS_H
#define FSL_BLAME_OWN_PARTS_H

#include "blame/kernel_peers.h"

/* Input; borrowed during the call. Arrays are per rank. */
struct fsl_own_parts_job {
	const struct fsl_kernels_job *kernels; /* with the places */
	const uint32_t *class_of;
	const double *computing_ms, *idle_ms; /* per step; NaN: not told */
};

struct fsl_own_part {
	/* Per step: how much more than the median of the others of its class that are no suspects;
	 * NaN: not told. */
	double computing_more_ms, idle_more_ms;
	bool is_compute; /* it computes longer, which explains what it works longer */
	/* Named by its places; but the same kernels explain little of what it computes longer. It
	 * has more of them, or larger ones: how work is cut is no fault of a rank. */
	bool has_more_work;
};

struct fsl_own_parts {
	struct fsl_arena arena;
	struct fsl_own_part *ranks; /* of ranks that are named or suspects */
	size_t n_more_work;
	double more_work_ms; /* per step: comes back with even work */
};

/* Fills @out (overwritten). Fails with FSL_ERR_MEMORY only; @out is then empty. */
enum fsl_status fsl_own_parts_find(struct fsl_own_parts *out, const struct fsl_own_parts_job *job,
				   struct fsl_error *err);
void fsl_own_parts_fini(struct fsl_own_parts *parts);

#endif

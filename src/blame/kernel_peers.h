/* Kernels of a rank beside the same kernels (type, shapes, data types, core) of its peers. */
#ifndef FSL_BLAME_KERNEL_PEERS_H
#define FSL_BLAME_KERNEL_PEERS_H

#include "blame/counts.h"
#include "blame/places.h"
#include "capture/cluster.h"

/* Input; borrowed during the call. */
struct fsl_kernels_job {
	const struct fsl_profile *profile;
	const struct fsl_profile_cluster *cluster;
	const struct fsl_places *places; /* who is suspected; NULL: nobody */
	struct fsl_look look;            /* sets how slow kernels have to be */
};

/* One rank beside the median of the other ranks of its stage that are not suspected, if there are
 * any; times in ms per step. */
struct fsl_kernel_peers {
	double compared_ms; /* time of the kernels that a peer has, too; 0: none */
	double excess_ms;   /* time by which they take longer than on the peers; below 0: shorter */
	bool is_slow;
	/* The kernel with the largest excess. */
	uint32_t type_id, shape_id; /* rank->names */
	double top_excess_ms, top_count;
	double top_mean_ms, top_peers_ms; /* of one call, here and on the peers */
	/* The type of operator with the largest excess, over all its shapes. */
	double top_type_ms, top_type_excess_ms;
};

/* Compares the kernels of each rank with its peers. @out has room for one item per rank of the
 * profile. Fails only when memory is short. */
enum fsl_status fsl_kernel_peers_compare(struct fsl_kernel_peers *out,
					 const struct fsl_kernels_job *job, struct fsl_error *err);

/*
 * Sets @ms [n_ranks] to the time of a step, ms, that the FSL_LONG_RUNS_MAX longest single runs of
 * kernels take beyond the usual, if the other runs of the same kernel in the same step take as long
 * as usual: a kernel takes far longer now and then on any device, which makes no rank slow. 0:
 * there are none, or they take FSL_LONG_RUNS_SHARE_MAX of the capture. Fails only when memory is
 * short.
 */
enum fsl_status fsl_kernel_peers_find_long_runs(double *ms, const struct fsl_kernels_job *job,
						struct fsl_error *err);

#endif

/* Sizes of the groups of a job, with the ranks that left no data; private to src/blame. */
#ifndef FSL_BLAME_SIZES_H
#define FSL_BLAME_SIZES_H

#include "model/run.h"
#include "model/topology.h"

/* Ranks that a group of each kind has; 0 if no rank of the job is missing. */
struct fsl_group_sizes {
	size_t n_ranks[FSL_GROUP_KINDS_N];
};

void fsl_group_sizes_find(struct fsl_group_sizes *out, const struct fsl_run *run,
			  const struct fsl_topology *topology);
/* A member left no data. */
bool fsl_group_misses_members(const struct fsl_group_sizes *sizes, const struct fsl_group *group);
/* Members that left no data. A group of unknown kind counts one if one member was seen. */
size_t fsl_group_n_unseen(const struct fsl_group_sizes *sizes, const struct fsl_group *group);

#endif

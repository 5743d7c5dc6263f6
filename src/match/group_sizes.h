/* How many ranks the groups of a job have, those without data too. */
#ifndef FSL_MATCH_GROUP_SIZES_H
#define FSL_MATCH_GROUP_SIZES_H

#include <stdbool.h>
#include <stddef.h>

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

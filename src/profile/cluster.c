/* Groups, stages and places of a set of ranks. */
#include "profile/cluster.h"

enum fsl_status fsl_profile_cluster_build(struct fsl_profile_cluster *out,
					  const struct fsl_profile *profile, struct fsl_error *err)
{
	(void)out;
	(void)profile;
	(void)err;
	return FSL_OK;
}

void fsl_profile_cluster_fini(struct fsl_profile_cluster *cluster)
{
	fsl_arena_fini(&cluster->arena);
	*cluster = (struct fsl_profile_cluster){0};
}

size_t fsl_profile_stage_of(const struct fsl_profile_cluster *cluster, int32_t rank)
{
	for (size_t s = 0; s < cluster->n_stages; s++) {
		const struct fsl_profile_stage *stage = &cluster->stages[s];
		for (size_t i = 0; i < stage->n_ranks; i++) {
			if (stage->ranks[i] == rank) {
				return s;
			}
		}
	}
	return SIZE_MAX;
}

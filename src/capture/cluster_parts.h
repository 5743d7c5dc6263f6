/* Shared by the parts of cluster.c. */
#ifndef FSL_CAPTURE_CLUSTER_PARTS_H
#define FSL_CAPTURE_CLUSTER_PARTS_H

#include "capture/cluster.h"

/* Sizes of the parallel layout; world = tp * cp * dp * pp. */
struct fsl_layout {
	int64_t tp, cp, dp, pp, world;
};

/* Finds the sizes in the ranks' metadata; false if there are none or they contradict each other. */
bool fsl_layout_find(const struct fsl_profile *profile, struct fsl_layout *layout);
/* Place of a rank; all -1 if it is outside the layout. */
struct fsl_profile_place fsl_layout_place(const struct fsl_layout *layout, int32_t rank);

/* Each function fills its fields of @out. Stages need the groups. */
enum fsl_status fsl_cluster_find_groups(struct fsl_profile_cluster *out,
					const struct fsl_profile *profile, struct fsl_error *err);
enum fsl_status fsl_cluster_find_stages(struct fsl_profile_cluster *out,
					const struct fsl_profile *profile, struct fsl_error *err);
enum fsl_status fsl_cluster_find_places(struct fsl_profile_cluster *out,
					const struct fsl_profile *profile, struct fsl_error *err);

#endif

/* Counters of devices that stand out among those of other ranks. */
#ifndef FSL_BLAME_COUNTERS_H
#define FSL_BLAME_COUNTERS_H

#include "capture/capture.h"

/* One counter of one rank. */
struct fsl_counter_outlier {
	enum fsl_profile_counter counter;
	int32_t rank;
	double value;
	double peers_value; /* median; without peers, that of sound devices */
	size_t n_peers;
	bool is_sure; /* enough peers, or sound devices, tell the usual value */
};

struct fsl_counter_outliers {
	struct fsl_arena arena;
	struct fsl_counter_outlier *items; /* by rank, then counter */
	size_t n_items;
};

/* Fills @out (overwritten). Fails with FSL_ERR_MEMORY only; @out is then empty. */
enum fsl_status fsl_counters_compare(struct fsl_counter_outliers *out,
				     const struct fsl_profile *profile, struct fsl_error *err);
void fsl_counter_outliers_fini(struct fsl_counter_outliers *outliers);

#endif

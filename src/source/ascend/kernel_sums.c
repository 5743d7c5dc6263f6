/* Sums over the tasks of a rank. */
#include "source/ascend/kernel_sums.h"

struct fsl_kernel_sums *fsl_kernel_sums_create(const struct fsl_profile_rank *rank, size_t window)
{
	struct fsl_kernel_sums *sums = fsl_calloc(1, sizeof(*sums));
	struct fsl_breakdown *breakdown = fsl_breakdown_create(window);
	if (sums == NULL || breakdown == NULL) {
		fsl_free(sums);
		fsl_breakdown_destroy(breakdown);
		return NULL;
	}
	*sums = (struct fsl_kernel_sums){breakdown, -1, rank->n_comms == 0};
	return sums;
}

void fsl_kernel_sums_destroy(struct fsl_kernel_sums *sums)
{
	if (sums != NULL) {
		fsl_breakdown_destroy(sums->breakdown);
		fsl_free(sums);
	}
}

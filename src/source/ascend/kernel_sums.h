/* Sums over the tasks of one rank while kernel_details.csv is read, which may come in slices. */
#ifndef FSL_SOURCE_ASCEND_KERNEL_SUMS_H
#define FSL_SOURCE_ASCEND_KERNEL_SUMS_H

#include "source/ascend/breakdown.h"

struct fsl_kernel_sums {
	struct fsl_breakdown *breakdown;
	int64_t device_id; /* first device in the rows; -1: none yet */
	bool wants_comms;  /* communication.json had no operators */
};

/* Makes empty sums. @window: of the breakdown. NULL: out of memory. */
struct fsl_kernel_sums *fsl_kernel_sums_create(const struct fsl_profile_rank *rank, size_t window);
void fsl_kernel_sums_destroy(struct fsl_kernel_sums *sums);

#endif

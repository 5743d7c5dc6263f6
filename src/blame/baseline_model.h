/* Whether two captures are of one model: by the kernels that both run. */
#ifndef FSL_BLAME_BASELINE_MODEL_H
#define FSL_BLAME_BASELINE_MODEL_H

#include "capture/capture.h"

/*
 * Share of the time of kernels, on ranks that have some in both captures, that is in kernels of the
 * other capture: of one name and shape, or of one name that run as often in a step, the greater of
 * both. The greater share of both captures counts, so that one kernel that takes most of the time
 * now makes no other model. NaN: no rank has kernels in both. FSL_ERR_MEMORY, FSL_ERR_LIMIT.
 */
enum fsl_status fsl_baseline_liken(double *share, const struct fsl_profile *now,
				   const struct fsl_profile *then, struct fsl_error *err);

#endif

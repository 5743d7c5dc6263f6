/* Kernels that communicate although their names are not known. */
#ifndef FSL_SOURCE_ASCEND_UNKNOWN_COMMS_H
#define FSL_SOURCE_ASCEND_UNKNOWN_COMMS_H

#include "capture/capture.h"

/*
 * Compares the first calls of each type across the ranks that could meet in it: those of the stage
 * (or all), of tensor parallelism, or of the experts. A kernel that only computes ends as far apart
 * as it begins. If ends are together and begins are not, its members wait for each other in it.
 * Clocks are set by collectives that are known, if the ranks share any. Sets profile->found; NULL:
 * none. FSL_ERR_MEMORY, FSL_ERR_LIMIT.
 */
enum fsl_status fsl_profile_find_comms(struct fsl_profile *profile, struct fsl_error *err);

#endif

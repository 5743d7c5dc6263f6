/* Shared by the files about stalls. */
#ifndef FSL_ACCOUNT_STALLS_PARTS_H
#define FSL_ACCOUNT_STALLS_PARTS_H

#include "model/verdict.h"

/* Sets the reason of a verdict of stalls, which cost @share of the time. FSL_ERR_MEMORY only. */
enum fsl_status fsl_stalls_tell(struct fsl_perception *out, double share, struct fsl_error *err);

#endif

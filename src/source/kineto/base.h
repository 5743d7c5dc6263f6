/* The base of a trace's times, if the file was cut before it. */
#ifndef FSL_SOURCE_KINETO_BASE_H
#define FSL_SOURCE_KINETO_BASE_H

#include "capture/capture.h"

/*
 * Kineto writes times behind a base that stands at the end of the file and is the same for all
 * processes of a quarter of a year. Traces without one, cut or damaged, get that of the other ranks
 * if those have one base.
 */
void fsl_kineto_share_base(struct fsl_profile *profile);

/* Times of a running clock are below; those since 1970 are above. */
#define FSL_KINETO_SINCE_1970_MIN_NS INT64_C(1000000000000000000)

#endif

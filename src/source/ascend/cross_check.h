/* Checks that values from two files agree, and that all ranks were captured alike. */
#ifndef FSL_SOURCE_ASCEND_CROSS_CHECK_H
#define FSL_SOURCE_ASCEND_CROSS_CHECK_H

#include "capture/capture.h"

/*
 * Adds remarks on:
 * - steps whose parts differ between the profiler's rows and the kernels by more than 1 % of the
 *   step
 * - steps that some ranks have and others lack
 * - ranks that were captured a minute or more apart
 * - steps that the schedule asked for and no rank has, unless @has_choice (only some steps were
 *   read)
 *
 * FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_profile_cross_check(struct fsl_profile *profile, bool has_choice,
					struct fsl_error *err);

#endif

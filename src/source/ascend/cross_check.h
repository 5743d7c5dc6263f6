/* Whether what a set tells in two places agrees, and whether its ranks were captured alike. */
#ifndef FSL_SOURCE_ASCEND_CROSS_CHECK_H
#define FSL_SOURCE_ASCEND_CROSS_CHECK_H

#include "capture/capture.h"

/*
 * Adds remarks: steps whose parts differ between the profiler's rows and the kernels by more than
 * 1 % of the step; steps that some ranks have and others lack; ranks that were captured a minute
 * and more apart; steps that a schedule asked for and nobody has, unless @has_choice (only some
 * steps were read). Fails only when memory is short.
 */
enum fsl_status fsl_profile_cross_check(struct fsl_profile *profile, bool has_choice,
					struct fsl_error *err);

#endif

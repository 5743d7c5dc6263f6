/* Every threshold of src/blame: value, unit, why. */
#ifndef FSL_BLAME_LIMITS_H
#define FSL_BLAME_LIMITS_H

#include <math.h>

#include "config/config.h"

/*
 * Healthy devices of one kind differ by 8 % on average and by 22 % at most (Sinha et al., SC22). A
 * rank that is so much slower than its peers all along is slow; less where it stands apart from
 * them. What a rank was before it changed is taken for healthy up to the last of these.
 */
#define FSL_SLOW_RATIO_MIN   1.20
#define FSL_APART_RATIO_MIN  1.12
#define FSL_UNEVEN_RATIO_MAX 1.15
/* Work is uneven where the spread of a class is this large (ByteDance's traces: 18-27 % with uneven
 * sequences, 1.5-3.1 % without). */
#define FSL_WORK_SPREAD_MIN 0.08

/* Least loss per step that counts: what makes steps of @step_ms longer by slow_ratio_min. */
static inline double fsl_least_loss_ms(const struct fsl_config *config, double step_ms)
{
	return (1.0 - 1.0 / config->slow_ratio_min) * step_ms;
}

/* Part of the healthy ratio that is no fault: slower than peers by as much as devices may be. */
static inline double fsl_uneven_ratio(double healthy_ratio)
{
	return isnan(healthy_ratio) ? 1.0 : fmin(fmax(healthy_ratio, 1.0), FSL_UNEVEN_RATIO_MAX);
}

#endif

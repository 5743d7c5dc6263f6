/*
 * Steady growth of a series. A segmentation cuts a slope into steps; here both are models of the
 * same values, and the one with the lower Bayesian information criterion is told (Schwarz, 1978;
 * absolute errors, as of Laplace noise). No domain knowledge.
 */
#ifndef FSL_BASE_GROWTH_H
#define FSL_BASE_GROWTH_H

#include "base/shift.h"

/* The level was @from up to @begin, changes steadily, and is @to from @end on. */
struct fsl_growth {
	bool is_found;
	size_t begin, end; /* positions in the series */
	double from, to;
};

/* Compares the levels that @shifts found in @values with a level, a slope and a level. Not found
 * below 24 values, if one is not positive, or if the change is less than @change_min of the level.
 * FSL_ERR_MEMORY only. */
enum fsl_status fsl_growth_find(struct fsl_growth *out, const double *values, size_t n,
				const struct fsl_shifts *shifts, double change_min,
				struct fsl_error *err);

#endif

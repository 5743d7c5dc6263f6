/* A series as bars, with its changes marked on the axis below. */
#ifndef FSL_CLI_SERIES_CHART_H
#define FSL_CLI_SERIES_CHART_H

#include <stdio.h>

#include "base/growth.h"
#include "base/shift.h"

/* All borrowed. */
struct fsl_series_chart {
	const double *values; /* [n]; NaN: missing */
	size_t n;
	size_t first; /* index of values[0] in its file */
	const struct fsl_shifts *shifts;
	const struct fsl_growth *drift;
	int width; /* of the terminal, columns */
	bool has_blocks;
};

/* Prints a few lines of bars, each for one value or for the greatest of several, between the values
 * of both edges; below them ^ stands at changes and ~ along a drift. Nothing if there is no value.
 */
void fsl_series_chart_print(FILE *stream, const struct fsl_series_chart *chart);

#endif

/* Shared by the parts of the search for level shifts: preparation, segmentation, verification. */
#ifndef FSL_BASE_SHIFT_PARTS_H
#define FSL_BASE_SHIFT_PARTS_H

#include <stdint.h>

#include "base/shift.h"

/* The state of the search in one series; arrays of n, owned. */
struct fsl_shift_work {
	const struct fsl_shift_options *options;
	size_t n;           /* number of values that are not missing */
	size_t segment_min; /* as it applies to this series */
	double *values;     /* as given, or their logarithms; minus their median */
	double *capped;     /* values without spikes */
	double *scratch;    /* 2 n */
	size_t *positions;  /* of the values in the series as given */
	double offset;      /* median that was taken off the values */
	double sigma;       /* noise of the values */
	double correlation; /* of neighbours, from differences, so that shifts do not count */
	double spread;      /* standard deviation of capped */
};

/* A candidate: the first value behind the change. */
struct fsl_shift_cut {
	size_t at;
	double change; /* difference of the medians on either side */
	double p_value;
	bool stands;
};

/* Candidates by PELT, sorted; @cuts has room for fsl_shift_cuts_max(n). */
enum fsl_status fsl_shift_segment(const struct fsl_shift_work *work, struct fsl_shift_cut *cuts,
				  size_t *n_cuts, struct fsl_error *err);
size_t fsl_shift_cuts_max(const struct fsl_shift_work *work);
/* Cuts lie at multiples of this stride: 1 except in long series. */
size_t fsl_shift_stride(const struct fsl_shift_work *work);

#endif

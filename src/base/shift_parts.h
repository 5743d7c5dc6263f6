/* What the parts of the search for level shifts share: preparation, segmentation, verification. */
#ifndef FSL_BASE_SHIFT_PARTS_H
#define FSL_BASE_SHIFT_PARTS_H

#include <stdint.h>

#include "base/shift.h"

/* One series on its way; arrays of n, owned. */
struct fsl_shift_work {
	const struct fsl_shift_options *options;
	size_t n;           /* values that are not missing */
	size_t segment_min; /* of this series */
	double *values;     /* as given, or their logarithms; relative to their median */
	double *capped;     /* without spikes */
	double *scratch;    /* 2 n */
	size_t *positions;  /* in the series as given */
	double offset;      /* was taken off values: their median */
	double sigma;       /* of values */
	double correlation; /* of neighbours, from differences: shifts do not count */
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
/* Cuts can only be at multiples of it: 1 in all but long series. */
size_t fsl_shift_stride(const struct fsl_shift_work *work);
/* Takes out the least cut that does not stand until all stand, and moves the others to where the
 * absolute deviations from the levels on either side are least. */
void fsl_shift_verify(const struct fsl_shift_work *work, struct fsl_shift_cut *cuts,
		      size_t *n_cuts);

#endif

/* The steps of a rank: as the profiler told them, else as they were rebuilt from its kernels. */
#ifndef FSL_CAPTURE_STEP_ROWS_H
#define FSL_CAPTURE_STEP_ROWS_H

#include "capture/capture.h"

/* Parts of a step. Computing, exposed and free make up the whole. */
enum fsl_profile_part {
	FSL_PART_COMPUTING,
	FSL_PART_EXPOSED, /* communication that nothing overlaps */
	FSL_PART_FREE,
	FSL_PART_OVERLAPPED,
	FSL_PART_COMMUNICATION,
	FSL_PART_PREPARING,
	FSL_PARTS_N
};
const char *fsl_profile_part_text(enum fsl_profile_part part); /* "computing" */

/* Borrowed from @rank; *n_rows 0: neither was there. */
const struct fsl_profile_step *fsl_profile_step_rows(const struct fsl_profile_rank *rank,
						     size_t *n_rows);
/* FSL_NS_ABSENT when the file does not tell. */
int64_t fsl_profile_part_ns(const struct fsl_profile_step *row, enum fsl_profile_part part);
/* Computing, exposed and free together; FSL_NS_ABSENT when one of them is. */
int64_t fsl_profile_step_ns(const struct fsl_profile_step *row);

/* Steps that amounts of the rank are spread over: of its rows, of its kernels or of its operators,
 * whichever are of most steps; at least 1. Looks at all of them: ask once for a rank. */
size_t fsl_profile_n_steps(const struct fsl_profile_rank *rank);
/* Steps in the whole capture, whatever was asked for: what its statistics are sums of; at least 1.
 */
size_t fsl_profile_steps_captured(const struct fsl_profile_rank *rank);

/* Means over the rank's steps, ms; NaN when no step tells. */
double fsl_profile_part_ms(const struct fsl_profile_rank *rank, enum fsl_profile_part part);
double fsl_profile_step_ms(const struct fsl_profile_rank *rank);

#endif

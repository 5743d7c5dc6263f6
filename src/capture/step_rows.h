/* The steps of a rank: as the profiler wrote them, else as rebuilt from its kernels or its
 * trace. */
#ifndef FSL_CAPTURE_STEP_ROWS_H
#define FSL_CAPTURE_STEP_ROWS_H

#include "capture/capture.h"

/* Parts of a step. Computing, exposed and free sum to the step. */
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

/* Rows of the rank's steps, borrowed from @rank. *n_rows is 0 if neither table has any. */
const struct fsl_profile_step *fsl_profile_step_rows(const struct fsl_profile_rank *rank,
						     size_t *n_rows);
/* Likewise those rebuilt: from a whole trace, else from the kernels, else from what there is of a
 * trace. */
const struct fsl_profile_step *fsl_profile_rebuilt_rows(const struct fsl_profile_rank *rank,
							size_t *n_rows);
/* Time of one part, ns, with communication of kernels counted as such; FSL_NS_ABSENT if the file
 * does not tell it. */
int64_t fsl_profile_part_ns(const struct fsl_profile_step *row, enum fsl_profile_part part);
/* Length of a step, ns: computing, exposed and free; FSL_NS_ABSENT if one of them is absent. */
int64_t fsl_profile_step_ns(const struct fsl_profile_step *row);

/* Number of steps over which amounts of the rank are spread: the most steps among its rows, its
 * kernels and its operators; at least 1. Scans all of them: call once per rank. */
size_t fsl_profile_n_steps(const struct fsl_profile_rank *rank);
/* Number of steps in the whole capture, also of steps that are not wanted: its statistics are sums
 * over all of them. At least 1. */
size_t fsl_profile_steps_captured(const struct fsl_profile_rank *rank);

/* Means over the rank's steps, ms; NaN if no step tells it. */
double fsl_profile_part_ms(const struct fsl_profile_rank *rank, enum fsl_profile_part part);
double fsl_profile_step_ms(const struct fsl_profile_rank *rank);

/* Time inside point-to-point operators, mean per step, ms; NaN when the rank has no operators. */
double fsl_profile_p2p_ms(const struct fsl_profile_rank *rank);
/* Over the ranks of a set: the longest mean step of a rank, ms (NaN if no rank tells it); the most
 * steps of a rank. */
double fsl_profile_longest_step_ms(const struct fsl_profile *profile);
size_t fsl_profile_most_steps(const struct fsl_profile *profile);

#endif

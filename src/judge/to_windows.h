/*
 * The windows of a capture, which detectors look at: ranks that do the same work beside each other.
 * Ranks of windows are places in profile->ranks.
 */
#ifndef FSL_JUDGE_TO_WINDOWS_H
#define FSL_JUDGE_TO_WINDOWS_H

#include "capture/step_rows.h"
#include "model/windows.h"

/*
 * Fills @out with the part of @all that concerns the members at the places members[0, @n)
 * (ascending): the members of a channel that do the same work. Fails only when memory is short.
 */
enum fsl_status fsl_profile_pick_windows(struct fsl_windows *out, const struct fsl_windows *all,
					 const uint32_t *members, size_t n, struct fsl_error *err);

/*
 * Fills @out with a part of the mean step of the ranks at the places ranks[0, @n) (ascending), as
 * FSL_METRIC_OWN. It has one window, as a capture has too few steps to compare steps. n_samples:
 * the steps of the rank. Fails only when memory is short.
 */
enum fsl_status fsl_profile_part_windows(struct fsl_windows *out, const struct fsl_profile *profile,
					 const uint32_t *ranks, size_t n,
					 enum fsl_profile_part part, struct fsl_error *err);

/* Counts the members that have a value, for each window; @out has room for windows->n_windows
 * numbers. */
void fsl_profile_count_members(const struct fsl_windows *windows, uint32_t *out);

#endif

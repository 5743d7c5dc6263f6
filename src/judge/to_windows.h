/*
 * The windows of a capture, which detectors look at: ranks that do the same work beside each other.
 * Ranks of windows are places in profile->ranks.
 */
#ifndef FSL_JUDGE_TO_WINDOWS_H
#define FSL_JUDGE_TO_WINDOWS_H

#include "capture/step_rows.h"
#include "model/windows.h"

/*
 * The members of @all at the places members[0, @n) alone (ascending): of a channel those that do
 * the same work.
 */
enum fsl_status fsl_profile_pick_windows(struct fsl_windows *out, const struct fsl_windows *all,
					 const uint32_t *members, size_t n, struct fsl_error *err);

/*
 * A part of the mean step of the ranks at the places ranks[0, @n) (ascending), FSL_METRIC_OWN: one
 * window, as a capture has too few steps to tell one from another. n_samples: the rank's steps.
 */
enum fsl_status fsl_profile_part_windows(struct fsl_windows *out, const struct fsl_profile *profile,
					 const uint32_t *ranks, size_t n,
					 enum fsl_profile_part part, struct fsl_error *err);

/* Members with a value in each window; @out: windows->n_windows. */
void fsl_profile_count_members(const struct fsl_windows *windows, uint32_t *out);

#endif

/* Captures of other runs in one set: they are no ranks of one job. */
#ifndef FSL_SOURCE_ASCEND_OTHER_RUNS_H
#define FSL_SOURCE_ASCEND_OTHER_RUNS_H

#include "capture/capture.h"

/* Time of a rank's capture, ns since the epoch: from its communication operators, else from its
 * device's tasks, else from the gaps between its kernels. False if nothing tells it. */
bool fsl_profile_find_span(const struct fsl_profile_rank *rank, int64_t *begin_ns, int64_t *end_ns);

/*
 * Keeps the ranks of one run: of captures that lie far apart in time, those of most ranks, else the
 * newest. Frees the others with a remark. Ranks whose time nothing tells stay.
 */
enum fsl_status fsl_profile_leave_out_runs(struct fsl_profile *profile, struct fsl_error *err);

#endif

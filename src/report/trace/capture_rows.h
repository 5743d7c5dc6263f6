/* Single rows of a captured rank as tracks: kernels, calls and functions of the host on lanes,
 * memory of components as counters. */
#ifndef FSL_REPORT_TRACE_CAPTURE_ROWS_H
#define FSL_REPORT_TRACE_CAPTURE_ROWS_H

#include "capture/kept_rows.h"
#include "report/trace/capture_tracks.h"

/* Adds the tracks of a rank whose process is in the plan. All is borrowed as long as the plan
 * lives. @shift_ns: to be taken from all times. */
enum fsl_status fsl_capture_rows_add(struct fsl_track_plan *plan,
				     const struct fsl_capture_source *source,
				     const struct fsl_profile_rank *rank, int64_t shift_ns,
				     uint64_t *n_left_out, struct fsl_error *err);

#endif

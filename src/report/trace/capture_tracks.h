/* Captures of a profiler as tracks: communication operators of ranks, and their steps. */
#ifndef FSL_REPORT_TRACE_CAPTURE_TRACKS_H
#define FSL_REPORT_TRACE_CAPTURE_TRACKS_H

#include "capture/capture.h"
#include "match/meetings.h"
#include "report/trace/run_tracks.h"

/* Adds a process for each rank of the capture. All is borrowed as long as the plan lives.
 * @operators: result, what was left out. */
enum fsl_status fsl_capture_tracks_add(struct fsl_track_plan *plan,
				       const struct fsl_profile *profile,
				       const struct fsl_profile_meetings *meetings, bool is_aligned,
				       struct fsl_run_tracks *operators, struct fsl_error *err);

#endif

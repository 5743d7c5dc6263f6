/* Captures of a profiler as tracks: communication operators of ranks, their steps, kernels and
 * memory. */
#ifndef FSL_REPORT_TRACE_CAPTURE_TRACKS_H
#define FSL_REPORT_TRACE_CAPTURE_TRACKS_H

#include "capture/capture.h"
#include "match/meetings.h"
#include "report/trace/run_tracks.h"

/* All borrowed as long as the plan lives. */
struct fsl_capture_source {
	const struct fsl_profile *profile;
	const struct fsl_profile_meetings *meetings;
	bool is_aligned;
	int64_t from_ns, to_ns; /* events that end in this range are shown; INT64_MIN, INT64_MAX:
				   open */
};

/* Adds a process for each rank of the capture: steps, operators, and single rows if they were kept
 * (capture/kept_rows.h). @operators: result, what was left out. */
enum fsl_status fsl_capture_tracks_add(struct fsl_track_plan *plan,
				       const struct fsl_capture_source *source,
				       struct fsl_run_tracks *operators, struct fsl_error *err);

#endif

/* Events of hosts as tracks: beside the lanes of a rank, and of the process "node". */
#ifndef FSL_REPORT_TRACE_HOST_TRACKS_H
#define FSL_REPORT_TRACE_HOST_TRACKS_H

#include "report/trace/track_plan.h"
#include "source/systrace/host_pb.h"

/* Adds @events, borrowed as long as the plan lives, of ranks for which is_wanted() is true. */
enum fsl_status fsl_host_tracks_add(struct fsl_track_plan *plan,
				    const struct fsl_host_events *events,
				    bool (*is_wanted)(const void *context, int64_t rank),
				    const void *context, uint64_t *n_left_out,
				    struct fsl_error *err);

#endif

/*
 * Device memory of processes as tracks: a counter of held bytes, and instants at the peak and at
 * the first allocation that failed. Records have no times: they stand one a microsecond.
 */
#ifndef FSL_REPORT_TRACE_MEMORY_TRACKS_H
#define FSL_REPORT_TRACE_MEMORY_TRACKS_H

#include "report/trace/track_plan.h"
#include "source/systrace/memory_replay.h"

/* All borrowed as long as the plan lives. */
struct fsl_memory_tracks {
	const struct fsl_memory *memory;
	const struct fsl_memory_replay *replays; /* [memory->n_items] */
	int64_t device_bytes;                    /* memory of a device; 0: not known */
	int64_t begin_ns;                        /* time of the first record of each process */
};

/* True if an allocation failed or the peak reaches the memory of the device; *record: where. */
bool fsl_memory_is_out(const struct fsl_memory_replay *replay, int64_t device_bytes,
		       size_t *record);

/* Adds the tracks of the processes of ranks for which @is_wanted is true. */
enum fsl_status fsl_memory_tracks_add(struct fsl_track_plan *plan,
				      const struct fsl_memory_tracks *source,
				      bool (*is_wanted)(const void *context, int64_t rank),
				      const void *context, struct fsl_error *err);

#endif

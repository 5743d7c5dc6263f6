/*
 * The run of a job as tracks: one process per rank, with lanes of stages, of launches on the host
 * and of operators on the device, and the flows between them.
 */
#ifndef FSL_REPORT_TRACE_RUN_TRACKS_H
#define FSL_REPORT_TRACE_RUN_TRACKS_H

#include "match/match.h"
#include "model/run.h"
#include "model/topology.h"
#include "report/trace/track_plan.h"

/* All borrowed as long as the plan lives. */
struct fsl_run_tracks {
	const struct fsl_run *run;
	const struct fsl_topology *topology; /* lanes have the names of its kinds of groups */
	const struct fsl_match *match;       /* collectives of this very run */
	const bool *is_wanted;               /* [run->n_ranks]: NULL: all ranks */
	/* By number of a rank in the run: the number under which it is shown. NULL: the same, with
	 * the address of its host. */
	const int32_t *numbers;
	bool is_aligned; /* times are on the clock of the reference rank of match */
	/* Only operators that end in this range are shown; false: all. */
	bool has_range;
	int64_t from_ns, to_ns;
	uint64_t n_left_out;  /* result: slices that found no lane */
	uint64_t n_no_device; /* result: operators without times of the device */
};

/* Adds processes, tracks and streams of all wanted ranks. */
enum fsl_status fsl_run_tracks_add(struct fsl_track_plan *plan, struct fsl_run_tracks *source,
				   struct fsl_error *err);

/* Adds the process of a rank: its name is "rank 3 (10.0.0.1)". @server_ip: NULL if not known. */
enum fsl_status fsl_track_add_rank(struct fsl_track_plan *plan, int32_t rank, const char *server_ip,
				   struct fsl_error *err);

#endif

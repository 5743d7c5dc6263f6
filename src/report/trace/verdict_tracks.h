/*
 * The verdict as tracks: culprits and steps as slices of the process "job" and of their ranks, own
 * time, lateness and loss of each rank as counters.
 */
#ifndef FSL_REPORT_TRACE_VERDICT_TRACKS_H
#define FSL_REPORT_TRACE_VERDICT_TRACKS_H

#include "model/matrices.h"
#include "model/steps.h"
#include "model/verdict.h"
#include "report/trace/track_plan.h"

/* All borrowed as long as the plan lives. */
struct fsl_verdict_tracks {
	const char *headline;                   /* label of the job; NULL: none */
	const struct fsl_localisation *verdict; /* NULL: none is shown */
	const struct fsl_steps *steps;          /* of the job */
	const struct fsl_matrices *matrices;    /* [n_matrices]: one after the other in time */
	size_t n_matrices;
	const int32_t *ranks; /* [n_ranks]: ranks that are shown, rising */
	size_t n_ranks;
	int64_t shift_ns; /* to be taken from all times */
};

/* Adds the tracks. The processes of the shown ranks are in the plan. */
enum fsl_status fsl_verdict_tracks_add(struct fsl_track_plan *plan,
				       const struct fsl_verdict_tracks *source,
				       struct fsl_error *err);

#endif

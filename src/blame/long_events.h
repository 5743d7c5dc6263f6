/* Single events of a capture: collectives that take far longer than all others like them, also for
 * the member that came last to them, and steps that take longer than the other steps. */
#ifndef FSL_BLAME_LONG_EVENTS_H
#define FSL_BLAME_LONG_EVENTS_H

#include "match/meetings.h"

struct fsl_long_collective {
	const char *group, *name; /* borrowed from the meetings and the profile */
	int64_t step;
	int32_t rank;        /* of the member that came last */
	size_t n_members;    /* that are seen */
	size_t n_like;       /* collectives like it, itself too */
	double ms, usual_ms; /* from when the last had come; median of those like it */
	double cost_ms;      /* per step */
};

struct fsl_long_step {
	int64_t step;
	int32_t rank; /* whose own time grew so much that it explains the step; -1: nobody's */
	size_t n_others;
	double ms, usual_ms, cost_ms; /* cost: per step of the capture */
	double grown_ms;              /* greatest growth of the computing and free time of a rank */
};

struct fsl_long_events {
	struct fsl_long_collective *collectives; /* by kind, group and size; longest first */
	struct fsl_long_step *steps;             /* ascending */
	size_t n_collectives, collectives_capacity, n_steps, steps_capacity;
};

/* Fills @out (overwritten). Fails with FSL_ERR_MEMORY only; @out is then empty. */
enum fsl_status fsl_long_events_find(struct fsl_long_events *out, const struct fsl_profile *profile,
				     const struct fsl_profile_meetings *meetings,
				     struct fsl_error *err);
void fsl_long_events_fini(struct fsl_long_events *events);

#endif

/*
 * The step breakdown from trace_view.json: slices of the Overlap Analysis, each credited to the
 * step that holds its begin, as the profiler does for step_trace_time.csv.
 */
#ifndef FSL_SOURCE_ASCEND_TRACE_STEPS_H
#define FSL_SOURCE_ASCEND_TRACE_STEPS_H

#include "chrome/trace_event.h"
#include "source/ascend/files.h"

/* A step so far. */
struct fsl_trace_step {
	int64_t step;
	int64_t computing_ns, communication_ns, exposed_ns, free_ns, receive_ns;
	int64_t begin_ns, end_ns; /* of its slices; FSL_NS_ABSENT: none yet */
	int64_t busy_ns;          /* begin of the first one that is not free */
};

/* Start as {0}. */
struct fsl_trace_steps {
	struct fsl_trace_step *items; /* sorted by step */
	size_t n_items, capacity;
	size_t last; /* index of the item used last */
	size_t n_idle;
	struct fsl_profile_idle idle[FSL_PROFILE_GAPS_MAX]; /* longest first, then by begin */
};

/* The step whose range holds @ts_ns; FSL_STEP_ABSENT when none does. */
int64_t fsl_trace_step_at(const struct fsl_profile_trace *trace, int64_t ts_ns);
/* That of its begin, else of its end: begins of communication.json are rounded to 0.25 us. */
int64_t fsl_trace_step_of(const struct fsl_profile_trace *trace, int64_t begin_ns, int64_t dur_ns);

/* A slice, or a receive, of the kind @event->name. */
enum fsl_status fsl_trace_steps_add(struct fsl_trace_steps *steps, int64_t step,
				    const struct fsl_trace_event *event, struct fsl_error *err);
/* Appends the rows to rank->rebuilt: those of known steps, or when there are none the one row. */
enum fsl_status fsl_trace_steps_finish(const struct fsl_trace_steps *steps,
				       struct fsl_profile_rank *rank,
				       const struct fsl_profile_input *input,
				       struct fsl_error *err);
void fsl_trace_steps_fini(struct fsl_trace_steps *steps);

#endif

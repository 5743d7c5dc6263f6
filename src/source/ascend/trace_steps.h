/* Step breakdown from trace_view.json. Each slice of the Overlap Analysis counts for the step that
 * holds its begin, as in the profiler's step_trace_time.csv. */
#ifndef FSL_SOURCE_ASCEND_TRACE_STEPS_H
#define FSL_SOURCE_ASCEND_TRACE_STEPS_H

#include "capture/copies.h"
#include "capture/ranges.h"
#include "chrome/trace_event.h"
#include "source/ascend/files.h"

/* Sums of a step so far. */
struct fsl_trace_step {
	int64_t step;
	int64_t computing_ns, communication_ns, exposed_ns, free_ns, receive_ns;
	int64_t begin_ns, end_ns; /* range of its slices; FSL_NS_ABSENT: none yet */
	int64_t busy_ns;          /* begin of the first slice that is not free */
};

/* Start as {0}. */
struct fsl_trace_steps {
	struct fsl_trace_step *items; /* sorted by step */
	size_t n_items, capacity;
	size_t last; /* index of the item used last */
	struct fsl_spans free;
	size_t n_idle;
	struct fsl_profile_idle idle[FSL_PROFILE_GAPS_MAX]; /* longest first, then by begin */
};

/* Step whose range holds @ts_ns; FSL_STEP_ABSENT if none does. */
int64_t fsl_trace_step_at(const struct fsl_profile_trace *trace, int64_t ts_ns);
/* Step at the begin of an event, else at its end, because begins in communication.json are rounded
 * to 0.25 us. */
int64_t fsl_trace_step_of(const struct fsl_profile_trace *trace, int64_t begin_ns, int64_t dur_ns);

/* Adds a slice or a receive; @event->name tells the kind. */
enum fsl_status fsl_trace_steps_add(struct fsl_trace_steps *steps, int64_t step,
				    const struct fsl_trace_event *event, struct fsl_error *err);
/* Appends rows to rank->rebuilt: those of the known steps, or one row if no step is known. */
enum fsl_status fsl_trace_steps_finish(const struct fsl_trace_steps *steps,
				       struct fsl_profile_rank *rank,
				       const struct fsl_profile_input *input,
				       struct fsl_error *err);
void fsl_trace_steps_fini(struct fsl_trace_steps *steps);

#endif

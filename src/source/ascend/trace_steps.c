/* Slices of the Overlap Analysis, summed by step. */
#include "source/ascend/trace_steps.h"

#include <string.h>

#include "base/try.h"
#include "source/ascend/trace_names.h"

enum { STEPS_MAX = 1 << 16 }; /* more are no steps: sums of a hostile file */

int64_t fsl_trace_step_at(const struct fsl_profile_trace *trace, int64_t ts_ns)
{
	return fsl_range_at(trace->ranges, trace->n_ranges, ts_ns);
}

int64_t fsl_trace_step_of(const struct fsl_profile_trace *trace, int64_t begin_ns, int64_t dur_ns)
{
	int64_t end_ns = 0, step = fsl_trace_step_at(trace, begin_ns);
	if (step == FSL_STEP_ABSENT && !__builtin_add_overflow(begin_ns, dur_ns, &end_ns)) {
		step = fsl_trace_step_at(trace, end_ns);
	}
	return step;
}

/* Index of the first item whose step is >= @step. */
static size_t place_of(const struct fsl_trace_steps *steps, int64_t step)
{
	size_t low = 0, high = steps->n_items;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (steps->items[middle].step < step) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Item of @step, made if new; NULL if there are too many. */
static enum fsl_status find(struct fsl_trace_steps *steps, int64_t step,
			    struct fsl_trace_step **out, struct fsl_error *err)
{
	*out = NULL;
	if (steps->last < steps->n_items && steps->items[steps->last].step == step) {
		*out = &steps->items[steps->last];
		return FSL_OK;
	}
	size_t i = place_of(steps, step);
	if (i == steps->n_items || steps->items[i].step != step) {
		if (steps->n_items == STEPS_MAX) {
			return FSL_OK;
		}
		FSL_TRY(FSL_GROW(steps->items, steps->capacity, steps->n_items + 1, err));
		memmove(&steps->items[i + 1], &steps->items[i],
			(steps->n_items - i) * sizeof(*steps->items));
		steps->n_items++;
		steps->items[i] = (struct fsl_trace_step){.step = step,
							  .begin_ns = FSL_NS_ABSENT,
							  .end_ns = FSL_NS_ABSENT,
							  .busy_ns = FSL_NS_ABSENT};
	}
	steps->last = i;
	*out = &steps->items[i];
	return FSL_OK;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a == FSL_NS_ABSENT || b < a ? b : a;
}

/* Extends the range of the slices, and of those in which the device works. */
static void stretch(struct fsl_trace_step *item, const struct fsl_trace_event *event)
{
	int64_t end_ns = event->ts_ns + event->dur_ns;
	item->begin_ns = earlier(item->begin_ns, event->ts_ns);
	item->end_ns = end_ns > item->end_ns ? end_ns : item->end_ns;
	if (event->name != FSL_TRACE_NAME_FREE) {
		item->busy_ns = earlier(item->busy_ns, event->ts_ns);
	}
}

enum fsl_status fsl_trace_steps_add(struct fsl_trace_steps *steps, int64_t step,
				    const struct fsl_trace_event *event, struct fsl_error *err)
{
	struct fsl_trace_step *item = NULL;
	FSL_TRY(find(steps, step, &item, err));
	if (item == NULL) {
		return FSL_OK;
	}
	if (event->name == FSL_TRACE_NAME_RECEIVE) {
		item->receive_ns += event->dur_ns;
		return FSL_OK;
	}
	if (event->name == FSL_TRACE_NAME_COMPUTING) {
		item->computing_ns += event->dur_ns;
	} else if (event->name == FSL_TRACE_NAME_COMMUNICATION) {
		item->communication_ns += event->dur_ns;
	} else if (event->name == FSL_TRACE_NAME_EXPOSED) {
		item->exposed_ns += event->dur_ns;
	} else {
		item->free_ns += event->dur_ns;
		FSL_TRY(fsl_spans_add(&steps->free, event->ts_ns, event->ts_ns + event->dur_ns,
				      step, err));
		fsl_trace_keep_idle(steps->idle, &steps->n_idle, event->ts_ns, event->dur_ns);
	}
	stretch(item, event);
	return FSL_OK;
}

static struct fsl_profile_step row_of(const struct fsl_trace_step *item, int64_t framework_ns)
{
	int64_t stage_ns = item->end_ns - item->begin_ns - item->receive_ns;
	int64_t overlapped_ns = item->communication_ns - item->exposed_ns;
	int64_t rest_ns = item->exposed_ns - item->receive_ns;
	bool has_preparing = framework_ns != FSL_NS_ABSENT && item->busy_ns != FSL_NS_ABSENT;
	return (struct fsl_profile_step){
		.step = item->step,
		.device_id = -1,
		.computing_ns = item->computing_ns,
		.exposed_ns = item->exposed_ns,
		.overlapped_ns = overlapped_ns > 0 ? overlapped_ns : 0,
		.communication_ns = item->communication_ns,
		.free_ns = item->free_ns,
		.stage_ns = stage_ns > 0 ? stage_ns : 0,
		.bubble_ns = item->receive_ns,
		.exposed_not_receive_ns = rest_ns > 0 ? rest_ns : 0,
		.preparing_ns = has_preparing ? item->busy_ns - framework_ns : FSL_NS_ABSENT,
	};
}

enum fsl_status fsl_trace_steps_finish(const struct fsl_trace_steps *steps,
				       struct fsl_profile_rank *rank,
				       const struct fsl_profile_input *input, struct fsl_error *err)
{
	bool is_numbered = rank->trace.n_ranges > 0;
	size_t n_ranges =
		rank->trace.has_iterations ? 0 : rank->trace.n_ranges; /* of the framework */
	for (size_t i = 0; i < steps->n_items; i++) {
		const struct fsl_trace_step *item = &steps->items[i];
		/* Time between numbered steps belongs to none of them. */
		bool is_kept = item->begin_ns != FSL_NS_ABSENT &&
			       (item->step != FSL_STEP_ABSENT || !is_numbered) &&
			       fsl_profile_wants_step(input, item->step);
		if (!is_kept) {
			continue;
		}
		FSL_TRY(FSL_GROW(rank->rebuilt, rank->rebuilt_capacity, rank->n_rebuilt + 1, err));
		rank->rebuilt[rank->n_rebuilt++] =
			row_of(item, fsl_range_begin(rank->trace.ranges, n_ranges, item->step));
	}
	return FSL_OK;
}

void fsl_trace_steps_fini(struct fsl_trace_steps *steps)
{
	fsl_spans_fini(&steps->free);
	fsl_free(steps->items);
	*steps = (struct fsl_trace_steps){0};
}

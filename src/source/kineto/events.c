/* Takes events by their category. */
#include "source/kineto/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "capture/ranges.h"
#include "source/kineto/counters.h"
#include "source/kineto/functions.h"
#include "source/kineto/operations.h"
#include "source/kineto/worker.h"
#include "text/json_walk.h"

enum {
	RANGES_MAX = 4096,
	NAME_BYTES_MAX = 200, /* of a kernel; templates have kilobytes */
	/* Process groups of a rank: a job has tens, and sends one for each pair of ranks. Groups
	 * are compared with each other. */
	GROUPS_MAX = 1024,
};

static enum fsl_status intern(struct fsl_kineto_events *events, const struct fsl_trace_text *text,
			      uint32_t *id, struct fsl_error *err)
{
	*id = FSL_STR_NONE;
	return text->length > 0
		       ? fsl_strpool_intern(events->rank->names, text->text, text->length, id, err)
		       : FSL_OK;
}

/* A kernel's name without its arguments; templates stay, as they tell kernels apart. */
static struct fsl_trace_text plain_name(struct fsl_trace_text name)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t depth = 0, i = 0;
	for (; i < name.length; i++) {
		char c = name.text[i];
		bool is_inner = name.length - i >= sizeof(anonymous) - 1 &&
				memcmp(name.text + i, anonymous, sizeof(anonymous) - 1) == 0;
		if (c == '(' && depth == 0 && i > 0 && !is_inner) {
			break;
		}
		i += is_inner ? sizeof(anonymous) - 2 : 0;
		depth += c == '<' ? 1 : 0;
		depth -= c == '>' && depth > 0 ? 1 : 0;
	}
	name.length = i < NAME_BYTES_MAX ? i : NAME_BYTES_MAX;
	return name;
}

static enum fsl_status intern_shape(struct fsl_kineto_events *events,
				    const struct fsl_trace_event *event, uint32_t *id,
				    struct fsl_error *err)
{
	char text[96];
	uint64_t grid = (uint64_t)event->args[FSL_KINETO_GRID];
	uint64_t block = (uint64_t)event->args[FSL_KINETO_BLOCK];
	struct fsl_kineto_shape *seen = &events->shapes[fsl_kineto_shape_place(
		event->args[FSL_KINETO_GRID], event->args[FSL_KINETO_BLOCK])];
	*id = FSL_STR_NONE;
	if (event->args[FSL_KINETO_GRID] < 0 || event->args[FSL_KINETO_BLOCK] < 0) {
		return FSL_OK;
	}
	bool is_seen = grid != 0 && seen->grid == event->args[FSL_KINETO_GRID] &&
		       seen->block == event->args[FSL_KINETO_BLOCK];
	if (is_seen) {
		*id = seen->id;
		return FSL_OK;
	}
	int length =
		snprintf(text, sizeof(text),
			 "%" PRIu64 "_%" PRIu64 "_%" PRIu64 "|%" PRIu64 "_%" PRIu64 "_%" PRIu64,
			 grid >> 32, grid >> 16 & UINT16_MAX, grid & UINT16_MAX, block >> 32,
			 block >> 16 & UINT16_MAX, block & UINT16_MAX);
	FSL_TRY(fsl_strpool_intern(events->rank->names, text, (size_t)length, id, err));
	*seen = (struct fsl_kineto_shape){(int64_t)grid, (int64_t)block, *id};
	return FSL_OK;
}

/* The names of a work in the rank's names, with its arguments if functions are wanted. */
static enum fsl_status name_work(struct fsl_kineto_events *events,
				 const struct fsl_trace_event *event, struct fsl_kineto_work *work,
				 struct fsl_error *err)
{
	struct fsl_kineto_seen_name *seen = NULL;
	FSL_TRY(fsl_kineto_seen_find(&events->kernels, &event->whole_name, &seen, err));
	if (seen->id == FSL_STR_NONE) {
		struct fsl_trace_text name = plain_name(event->whole_name);
		FSL_TRY(intern(events, &name, &seen->id, err));
		seen->is_collective = fsl_kineto_is_collective(&event->whole_name);
		if (events->rank->functions != NULL) {
			FSL_TRY(intern(events, &event->whole_name, &seen->whole_id, err));
		}
	}
	work->name_id = seen->id;
	work->whole_id = seen->whole_id;
	work->is_collective = event->category == FSL_KINETO_KERNEL && seen->is_collective;
	return FSL_OK;
}

static uint32_t external_of(const struct fsl_trace_event *event)
{
	int64_t id = event->args[FSL_KINETO_EXTERNAL] >= 0 ? event->args[FSL_KINETO_EXTERNAL]
							   : event->args[FSL_KINETO_EXTERNAL_OLD];
	return id > 0 ? (uint32_t)id : 0;
}

/* FSL_ERR_LIMIT: the rank has too many process groups. */
static enum fsl_status count_group(struct fsl_kineto_events *events, uint32_t group_id,
				   struct fsl_error *err)
{
	uint32_t number = 0;
	bool is_last =
		events->n_facts > 0 && events->facts[events->n_facts - 1].group_id == group_id;
	if (group_id == FSL_STR_NONE || is_last) {
		return FSL_OK;
	}
	if (events->groups == NULL && (events->groups = fsl_strpool_create()) == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: groups=0");
	}
	FSL_TRY(fsl_strpool_intern(events->groups, (const char *)&group_id, sizeof(group_id),
				   &number, err));
	return number < GROUPS_MAX
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_LIMIT,
				  "too many process groups of a rank: at_most=%d", GROUPS_MAX);
}

/* Adds what the event tells of a collective; *at: FSL_STR_NONE if it tells nothing. */
static enum fsl_status add_facts(struct fsl_kineto_events *events,
				 const struct fsl_trace_event *event, uint32_t external,
				 uint32_t *at, struct fsl_error *err)
{
	const struct fsl_trace_text *name = &event->texts[FSL_KINETO_COLLECTIVE_NAME];
	struct fsl_kineto_facts facts = {.external = external,
					 .type = fsl_kineto_collective(name->text, name->length),
					 .sequence = event->args[FSL_KINETO_SEQUENCE],
					 .n_elements = event->args[FSL_KINETO_ELEMENTS]};
	*at = FSL_STR_NONE;
	FSL_TRY(intern(events, &event->texts[FSL_KINETO_GROUP_NAME], &facts.group_id, err));
	FSL_TRY(intern(events, &event->texts[FSL_KINETO_GROUP_RANKS], &facts.ranks_id, err));
	FSL_TRY(count_group(events, facts.group_id, err));
	FSL_TRY(intern(events, &event->texts[FSL_KINETO_GROUP_DESCRIPTION], &facts.about_id, err));
	if (name->length == 0 && facts.group_id == FSL_STR_NONE) {
		return FSL_OK;
	}
	*at = (uint32_t)events->n_facts;
	return FSL_APPEND(events, facts, &facts, err);
}

static enum fsl_status add_work(struct fsl_kineto_events *events,
				const struct fsl_trace_event *event, struct fsl_error *err)
{
	struct fsl_kineto_work work = {
		.begin_ns = event->ts_ns,
		.dur_ns = event->dur_ns,
		.correlation = event->args[FSL_KINETO_CORRELATION],
		.launch_ns = FSL_NS_ABSENT,
		.facts = FSL_STR_NONE,
		.device = (int32_t)event->args[FSL_KINETO_DEVICE],
		.stream = (int32_t)event->args[FSL_KINETO_STREAM],
		.category = (enum fsl_kineto_category)event->category,
	};
	FSL_TRY(name_work(events, event, &work, err));
	FSL_TRY(intern_shape(events, event, &work.shape_id, err));
	if (events->rank->functions != NULL) {
		FSL_TRY(fsl_kineto_add_copy(events, event, &work.facts, err));
		FSL_TRY(fsl_kineto_add_operations(events, event, &work, err));
	}
	if (work.is_collective) {
		work.external = external_of(event);
		FSL_TRY(add_facts(events, event, 0, &work.facts, err));
	}
	return work.name_id != FSL_STR_NONE ? fsl_kineto_keep_work(events, &work, err) : FSL_OK;
}

static enum fsl_status add_call(struct fsl_kineto_events *events,
				const struct fsl_trace_event *event, struct fsl_error *err)
{
	struct fsl_kineto_call call = {.correlation = event->args[FSL_KINETO_CORRELATION],
				       .begin_ns = event->ts_ns,
				       .dur_ns = event->dur_ns};
	FSL_TRY(intern(events, &event->whole_name, &call.name_id, err));
	FSL_TRY(fsl_kineto_thread(events, event, &call.thread, err));
	return call.name_id != FSL_STR_NONE ? fsl_kineto_keep_call(events, &call, err) : FSL_OK;
}

/* Adds a step sorted by begin; of two of one number the first in the file stays. */
static enum fsl_status add_range(struct fsl_profile_range **ranges, size_t *n, size_t *capacity,
				 const struct fsl_trace_event *event, struct fsl_error *err)
{
	size_t i = *n;
	if (event->number < 0 || *n == RANGES_MAX) {
		return FSL_OK;
	}
	for (size_t k = 0; k < *n; k++) {
		if ((*ranges)[k].step == event->number) {
			return FSL_OK;
		}
	}
	FSL_TRY(FSL_GROW(*ranges, *capacity, *n + 1, err));
	for (; i > 0 && (*ranges)[i - 1].begin_ns > event->ts_ns; i--) {
		(*ranges)[i] = (*ranges)[i - 1];
	}
	(*ranges)[i] = (struct fsl_profile_range){event->number, event->ts_ns,
						  event->ts_ns + event->dur_ns};
	++*n;
	return FSL_OK;
}

static enum fsl_status add_step(struct fsl_kineto_events *events,
				const struct fsl_trace_event *event, struct fsl_error *err)
{
	struct fsl_profile_trace *trace = &events->rank->trace;
	return event->category == FSL_KINETO_DEVICE_ANNOTATION
		       ? add_range(&events->device_steps, &events->n_device_steps,
				   &events->device_steps_capacity, event, err)
		       : add_range(&trace->ranges, &trace->n_ranges, &trace->ranges_capacity, event,
				   err);
}

static void add_memory(struct fsl_kineto_events *events, const struct fsl_trace_event *event)
{
	int64_t allocated = event->args[FSL_KINETO_ALLOCATED];
	int64_t reserved = event->args[FSL_KINETO_RESERVED];
	events->allocated_bytes =
		allocated > events->allocated_bytes ? allocated : events->allocated_bytes;
	events->reserved_bytes =
		reserved > events->reserved_bytes ? reserved : events->reserved_bytes;
}

const char *fsl_kineto_event_fault(const struct fsl_trace_event *event)
{
	const char *fault = fsl_trace_event_fault(event);
	bool is_late = fault == NULL && event->phase == 'X' &&
		       event->dur_ns > FSL_JSON_TIME_MAX_NS - event->ts_ns;
	return is_late ? "an event that ends behind the year 2100" : fault;
}

enum fsl_status fsl_kineto_events_add(struct fsl_kineto_events *events,
				      const struct fsl_trace_event *event, struct fsl_error *err)
{
	uint32_t at = 0;
	events->rank->trace.n_events++;
	if (event->category == FSL_KINETO_INSTANT && event->name == FSL_KINETO_MEMORY) {
		add_memory(events, event);
	}
	if (event->phase != 'X') {
		return event->phase == 'C' ? fsl_kineto_add_sample(events, event, err) : FSL_OK;
	}
	fsl_kineto_widen(events, event);
	switch ((enum fsl_kineto_category)event->category) {
	case FSL_KINETO_KERNEL:
	case FSL_KINETO_COPY:
		return add_work(events, event, err);
	case FSL_KINETO_RUNTIME:
		return add_call(events, event, err);
	case FSL_KINETO_OPERATOR:
		if (event->name == FSL_KINETO_PARAMS) {
			return add_facts(events, event, external_of(event), &at, err);
		}
		/* Steps were operators in 2021. */
		return event->name == FSL_KINETO_STEP ? add_step(events, event, err)
						      : fsl_kineto_add_frame(events, event, err);
	case FSL_KINETO_ANNOTATION:
	case FSL_KINETO_DEVICE_ANNOTATION:
		if (event->name == FSL_KINETO_DATALOADER) {
			fsl_trace_count_call(&events->rank->trace, FSL_HOST_DATALOADER,
					     event->dur_ns);
			FSL_TRY(fsl_kineto_add_frame(events, event, err));
		}
		return event->name == FSL_KINETO_STEP ? add_step(events, event, err) : FSL_OK;
	case FSL_KINETO_PYTHON:
	case FSL_KINETO_SYSCALL:
		return fsl_kineto_add_frame(events, event, err);
	case FSL_KINETO_SYNC:
		return fsl_kineto_add_sync(events, event, err);
	case FSL_KINETO_NONE:
	case FSL_KINETO_SPAN:
	case FSL_KINETO_INSTANT:
	case FSL_KINETO_CPU:
		break;
	}
	return FSL_OK;
}

void fsl_kineto_events_fini(struct fsl_kineto_events *events)
{
	fsl_packed_fini(&events->works);
	fsl_packed_fini(&events->launches);
	fsl_packed_fini(&events->calls);
	fsl_free(events->facts);
	fsl_free(events->device_steps);
	fsl_frames_fini(&events->frames);
	fsl_spill_close(&events->spill);
	fsl_kineto_seen_fini(&events->kernels);
	fsl_kineto_seen_fini(&events->functions);
	fsl_free(events->syncs);
	fsl_free(events->copies);
	fsl_link_counters_fini(&events->counters);
	fsl_free(events->operations);
	fsl_strpool_destroy(events->operation_keys);
	fsl_strpool_destroy(events->threads);
	fsl_strpool_destroy(events->groups);
	*events = (struct fsl_kineto_events){0};
}

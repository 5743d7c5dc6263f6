/* Threads off their processors, memory of the host, input and output. */
#include "report/trace/host_tracks.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "report/trace/run_tracks.h"
#include "report/trace/track_slices.h"

/* All events, with the texts of the plan. */
struct view {
	const struct fsl_host_events *events;
	uint32_t *names; /* by name id */
	uint32_t category, key, delay, next, step, path;
};

static const char *const lanes[FSL_HOST_KINDS_N] = {
	"page faults", "swapping", "compaction", "reclaim", "off cpu", "i/o", "mutex"};
_Static_assert((int)FSL_HOST_KINDS_N <= (int)FSL_SLICE_FAMILIES_MAX, "a lane for each kind");

static void times_of(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct fsl_host_event *event = &((const struct view *)context)->events->items[idx];
	*begin_ns = event->begin_ns;
	*end_ns = event->end_ns;
}

static uint8_t family_of(const void *context, uint32_t idx)
{
	return (uint8_t)((const struct view *)context)->events->items[idx].kind;
}

static void add_arg(struct fsl_track_event *event, uint32_t key, uint32_t text, int64_t number)
{
	event->args[event->n_args++] =
		(struct fsl_track_arg){.key = key, .text = text, .number = number};
}

static void fill(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct view *view = context;
	const struct fsl_host_event *from = &view->events->items[idx];
	event->name = view->names[from->name_id];
	event->category = view->category;
	if (from->kind != FSL_HOST_MUTEX) {
		add_arg(event, view->key, FSL_STR_NONE, from->key);
	}
	if (from->run_delay_ns >= 0) {
		add_arg(event, view->delay, FSL_STR_NONE, from->run_delay_ns);
	}
	if (from->next_id != FSL_STR_NONE) {
		add_arg(event, view->next, view->names[from->next_id], 0);
	}
	if (from->step >= 0) {
		add_arg(event, view->step, FSL_STR_NONE, from->step);
	}
	if (from->path_id != FSL_STR_NONE) {
		add_arg(event, view->path, view->names[from->path_id], 0);
	}
}

static enum fsl_status make_view(struct view **out, struct fsl_track_plan *plan,
				 const struct fsl_host_events *events, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	struct view *view = NULL;
	size_t n = fsl_strpool_size(events->names);
	FSL_TRY(FSL_ARENA_NEW(view, arena, 1, "views", err));
	view->events = events;
	FSL_TRY(FSL_ARENA_NEW(view->names, arena, n + 1, "names", err));
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(fsl_track_plan_text(plan, fsl_strpool_text(events->names, (uint32_t)i),
					    &view->names[i], err));
	}
	FSL_TRY(fsl_track_plan_text(plan, "host events", &view->category, err));
	FSL_TRY(fsl_track_plan_text(plan, "key", &view->key, err));
	FSL_TRY(fsl_track_plan_text(plan, "run_delay_ns", &view->delay, err));
	FSL_TRY(fsl_track_plan_text(plan, "next_task", &view->next, err));
	FSL_TRY(fsl_track_plan_text(plan, "step", &view->step, err));
	FSL_TRY(fsl_track_plan_text(plan, "call_path", &view->path, err));
	*out = view;
	return FSL_OK;
}

/* The process of an event: -1 for that of the node, which comes first, else the rank. */
static int32_t owner_of(const struct fsl_host_event *event)
{
	return fsl_host_is_of_node(event->kind) ? -1 : event->rank;
}

static int compare_owners(const void *left, const void *right, void *context)
{
	const struct fsl_host_events *events = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	FSL_ORDER_BY(owner_of(&events->items[a]), owner_of(&events->items[b]));
	return FSL_ORDER(a, b);
}

static enum fsl_status add_owner(struct fsl_track_plan *plan, const struct view *view,
				 const uint32_t *from, size_t n, uint64_t *n_left_out,
				 struct fsl_error *err)
{
	const struct fsl_slice_source source = {.context = view,
						.times = times_of,
						.family = family_of,
						.fill = fill,
						.families = lanes};
	int32_t owner = owner_of(&view->events->items[from[0]]);
	uint32_t pid = owner < 0 ? FSL_TRACK_PID_NODE : fsl_track_pid_of_rank(owner);
	uint32_t *order = NULL;
	if (owner < 0) {
		FSL_TRY(fsl_track_plan_add_process(plan, pid, "node", NULL, -1, err));
	} else {
		FSL_TRY(fsl_track_add_rank(plan, owner, NULL, err));
	}
	FSL_TRY(FSL_NEW(order, n, "events", err));
	memcpy(order, from, n * sizeof(*order));
	return fsl_slices_add(plan, pid, &source, order, n, n_left_out, err);
}

enum fsl_status fsl_host_tracks_add(struct fsl_track_plan *plan,
				    const struct fsl_host_events *events,
				    bool (*is_wanted)(const void *context, int64_t rank),
				    const void *context, uint64_t *n_left_out,
				    struct fsl_error *err)
{
	struct view *view = NULL;
	uint32_t *order = NULL;
	size_t n = 0, end = 0;
	FSL_TRY(make_view(&view, plan, events, err));
	FSL_TRY(FSL_NEW(order, events->n_items + 1, "events", err));
	for (size_t i = 0; i < events->n_items; i++) {
		order[n] = (uint32_t)i;
		n += fsl_host_is_of_node(events->items[i].kind) ||
		     is_wanted(context, events->items[i].rank);
	}
	qsort_r(order, n, sizeof(*order), compare_owners, (void *)(uintptr_t)(const void *)events);
	enum fsl_status status = FSL_OK;
	for (size_t at = 0; at < n && status == FSL_OK; at = end) {
		int32_t owner = owner_of(&events->items[order[at]]);
		for (end = at; end < n && owner_of(&events->items[order[end]]) == owner; end++) {
		}
		status = add_owner(plan, view, order + at, end - at, n_left_out, err);
	}
	fsl_free(order);
	return status;
}

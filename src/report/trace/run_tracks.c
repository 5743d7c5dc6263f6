/* Stages, launches and operators of ranks. */
#include "report/trace/run_tracks.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "report/trace/run_tracks_parts.h"

/* Made once for all ranks; lives in the arena of the plan. */
struct view {
	struct fsl_run_words words;
	struct fsl_rank_view *ranks; /* [run->n_ranks] */
};

static const char *const stage_lanes[] = {"stages"};
static const char *const host_lanes[] = {"host"};
static const char *const open_lanes[] = {"open operator"};
static const char *const device_lanes[FSL_GROUP_KINDS_N] = {
	"device: world", "device: tp", "device: dp",           "device: pp",
	"device: ep",    "device: cp", "device: communication"};
_Static_assert((int)FSL_GROUP_KINDS_N <= (int)FSL_SLICE_FAMILIES_MAX, "a lane for each kind");

enum fsl_status fsl_track_add_rank(struct fsl_track_plan *plan, int32_t rank, const char *server_ip,
				   struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	const char *name = server_ip != NULL
				   ? fsl_arena_printf(arena, "rank %d (%s)", rank, server_ip)
				   : fsl_arena_printf(arena, "rank %d", rank);
	if (name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", rank);
	}
	return fsl_track_plan_add_process(plan, fsl_track_pid_of_rank(rank), name, NULL, rank, err);
}

static inline const struct fsl_op *op_of(const void *context, uint32_t idx)
{
	return &((const struct fsl_rank_view *)context)->ops[idx];
}

/* True if the operator has a slice on both lanes. */
static inline bool has_launch(const struct fsl_op *op)
{
	return op->host_begin_ns != FSL_NS_ABSENT && op->host_end_ns > op->host_begin_ns &&
	       op->dev_begin_ns != FSL_NS_ABSENT && op->dev_end_ns > op->dev_begin_ns &&
	       op->dev_begin_ns >= op->host_begin_ns;
}

static void host_times(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct fsl_rank_view *view = context;
	const struct fsl_op *op = op_of(context, idx);
	*begin_ns = op->host_begin_ns - view->shift_ns;
	*end_ns = (op->host_end_ns > op->host_begin_ns ? op->host_end_ns : op->host_begin_ns) -
		  view->shift_ns;
}

static void device_times(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct fsl_rank_view *view = context;
	const struct fsl_op *op = op_of(context, idx);
	*begin_ns = op->dev_begin_ns - view->shift_ns;
	*end_ns = op->dev_end_ns - view->shift_ns;
}

static void stage_times(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct fsl_rank_view *view = context;
	*begin_ns = view->rank->stages[idx].begin_ns - view->shift_ns;
	*end_ns = view->rank->stages[idx].end_ns - view->shift_ns;
}

static uint8_t device_family(const void *context, uint32_t idx)
{
	const struct fsl_rank_view *view = context;
	uint32_t group = op_of(context, idx)->group_id;
	return group != FSL_STR_NONE ? view->kind_of[group] : (uint8_t)FSL_GROUP_UNKNOWN;
}

static inline void add_text(struct fsl_track_event *event, uint32_t key, uint32_t text)
{
	event->args[event->n_args++] = (struct fsl_track_arg){.key = key, .text = text};
}

static inline void add_number(struct fsl_track_event *event, uint32_t key, uint64_t number)
{
	event->args[event->n_args++] =
		(struct fsl_track_arg){.key = key,
				       .text = FSL_STR_NONE,
				       .number = number < INT64_MAX ? (int64_t)number : INT64_MAX};
}

static void fill_op(const struct fsl_rank_view *view, uint32_t idx, struct fsl_track_event *event)
{
	event->name = view->names[view->ops[idx].op_id];
	event->launch_id = 2 * view->marks[idx].launch;
}

/* Events of many lanes are taken in turn, so that the operators of one come from far apart. */
static void fetch_op(const void *context, uint32_t idx)
{
	const struct fsl_rank_view *view = context;
	__builtin_prefetch(&view->ops[idx].host_begin_ns);
	__builtin_prefetch(&view->ops[idx].step); /* an operator may lie across two lines */
	__builtin_prefetch(&view->marks[idx]);
}

static void fill_host(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct fsl_rank_view *view = context;
	const struct fsl_op *op = op_of(context, idx);
	fill_op(view, idx, event);
	event->category = view->words->host;
	if (has_launch(op)) {
		event->launch = FSL_FLOW_BEGINS; /* leads to a slice that tells the id */
	} else {
		add_number(event, view->words->id, op->id);
	}
}

static void fill_device(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct fsl_rank_view *view = context;
	const struct fsl_run_words *words = view->words;
	const struct fsl_op *op = op_of(context, idx);
	fill_op(view, idx, event);
	event->category = words->device;
	event->launch = has_launch(op) ? FSL_FLOW_ENDS : FSL_FLOW_NONE;
	if (view->marks[idx].meeting != 0) {
		event->meeting = (enum fsl_track_flow)view->marks[idx].meeting_place;
		event->meeting_id = 2 * (uint64_t)view->marks[idx].meeting + 1;
	}
	if (op->group_id != FSL_STR_NONE) {
		add_text(event, words->group, view->names[op->group_id]);
	}
	if (op->dtype_id != FSL_STR_NONE) {
		add_text(event, words->dtype, view->names[op->dtype_id]);
	}
	if (op->n_elements > 0) {
		add_number(event, words->elements, op->n_elements);
	}
	if (op->step >= 0) {
		add_number(event, words->step, (uint64_t)op->step);
	}
	add_number(event, words->id, op->id);
}

static void fill_stage(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct fsl_rank_view *view = context;
	const struct fsl_run_words *words = view->words;
	const struct fsl_stage *stage = &view->rank->stages[idx];
	event->name = view->names[stage->type_id];
	event->category = words->stage;
	if (stage->step >= 0) {
		add_number(event, words->step, (uint64_t)stage->step);
	}
	if (stage->frame > 0) {
		add_text(event, words->frame, view->names[stage->frame - 1]);
	}
	if (stage->stack > 0) {
		add_text(event, words->stack, view->names[stage->stack - 1]);
	}
	if (stage->n_collected > 0) {
		add_number(event, words->collected, stage->n_collected);
	}
	if (stage->n_uncollectable > 0) {
		add_number(event, words->uncollectable, stage->n_uncollectable);
	}
}

/* The operator that had begun and not ended. */
static void open_times(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct fsl_rank_view *view = context;
	(void)idx;
	*begin_ns = *end_ns = view->rank->open_begin_ns - view->shift_ns;
}

static void fill_open(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct fsl_rank_view *view = context;
	(void)idx;
	event->name = view->names[view->rank->open_op_id];
	event->category = view->words->open;
	if (view->rank->open_group_id != FSL_STR_NONE) {
		add_text(event, view->words->group, view->names[view->rank->open_group_id]);
	}
}

enum fsl_status fsl_run_words_find(struct fsl_run_words *words, struct fsl_track_plan *plan,
				   struct fsl_error *err)
{
	const struct {
		uint32_t *id;
		const char *text;
	} table[] = {
		{&words->open, "open operator"},
		{&words->host, "host"},
		{&words->device, "communication"},
		{&words->stage, "stage"},
		{&words->group, "group"},
		{&words->dtype, "dtype"},
		{&words->elements, "elements"},
		{&words->step, "step"},
		{&words->id, "id"},
		{&words->frame, "stack_frame"},
		{&words->stack, "call_path"},
		{&words->collected, "collected"},
		{&words->uncollectable, "uncollectable"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		FSL_TRY(fsl_track_plan_text(plan, table[i].text, table[i].id, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_run_names_update(struct fsl_run_names *names, struct fsl_track_plan *plan,
				     const struct fsl_run_tracks *source, struct fsl_error *err)
{
	const struct fsl_topology *topology = source->topology;
	size_t n = fsl_strpool_size(source->run->names);
	FSL_TRY(FSL_GROW(names->texts, names->texts_capacity, n + 1, err));
	FSL_TRY(FSL_GROW(names->kind_of, names->kinds_capacity, n + 1, err));
	for (; names->n < n; names->n++) {
		const char *name = fsl_strpool_text(source->run->names, (uint32_t)names->n);
		FSL_TRY(fsl_track_plan_text(plan, name, &names->texts[names->n], err));
		names->kind_of[names->n] = FSL_GROUP_UNKNOWN;
	}
	for (size_t g = 0; g < topology->n_groups; g++) {
		uint32_t id = topology->groups[g].name_id;
		if (id < n && names->kind_of[id] == FSL_GROUP_UNKNOWN) {
			names->kind_of[id] = (uint8_t)topology->groups[g].kind;
		}
	}
	return FSL_OK;
}

void fsl_run_names_fini(struct fsl_run_names *names)
{
	fsl_free(names->texts);
	fsl_free(names->kind_of);
	*names = (struct fsl_run_names){0};
}

/* A member of a collective. */
struct member {
	int64_t begin_ns, end_ns;
	uint32_t rank_idx, op_idx;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	FSL_ORDER_BY(b->end_ns, a->end_ns);
	return FSL_ORDER(a->rank_idx, b->rank_idx);
}

/* Groups are small, and ranks often come in the same order. */
static void sort_members(struct member *members, size_t n)
{
	enum { SMALL = 32 };
	if (n > SMALL) {
		qsort(members, n, sizeof(*members), compare_members);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct member moved = members[i];
		size_t at = i;
		for (; at > 0 && compare_members(&moved, &members[at - 1]) < 0; at--) {
			members[at] = members[at - 1];
		}
		members[at] = moved;
	}
}

bool fsl_rank_view_has_device(const struct fsl_rank_view *view, const struct fsl_op *op)
{
	return op->dev_begin_ns != FSL_NS_ABSENT && op->dev_end_ns >= view->from_ns &&
	       op->dev_end_ns <= view->to_ns;
}

bool fsl_rank_view_begins_before(const struct fsl_rank_view *view, const struct fsl_op *op,
				 int64_t until_ns)
{
	return (op->host_begin_ns != FSL_NS_ABSENT &&
		op->host_begin_ns - view->shift_ns < until_ns) ||
	       (op->dev_begin_ns != FSL_NS_ABSENT && op->dev_begin_ns - view->shift_ns < until_ns);
}

/* The members of an instance whose operators have slices; 0 if none begins before @until_ns. */
static size_t find_members(struct member *members, const struct fsl_rank_view *views,
			   const struct fsl_channel *channel, size_t instance, int64_t until_ns)
{
	size_t n = 0;
	bool is_due = false;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		const struct fsl_rank_view *rank = &views[channel->members[m]];
		if (op_idx == FSL_NO_OP || rank->marks == NULL) {
			continue;
		}
		const struct fsl_op *op = &rank->ops[op_idx];
		if (fsl_rank_view_has_device(rank, op) && op->dev_end_ns > op->dev_begin_ns &&
		    rank->marks[op_idx].meeting == 0) {
			is_due = is_due || fsl_rank_view_begins_before(rank, op, until_ns);
			members[n++] = (struct member){op->dev_begin_ns - rank->shift_ns,
						       op->dev_end_ns - rank->shift_ns,
						       channel->members[m], op_idx};
		}
	}
	return is_due ? n : 0;
}

/* Joins the members of instances, in the order in which they begin. */
static void link_channel(const struct fsl_rank_view *views, const struct fsl_channel *channel,
			 int64_t until_ns, struct member *members, uint32_t *n_meetings)
{
	for (size_t i = 0; i < channel->n_instances && *n_meetings < UINT32_MAX - 1; i++) {
		size_t n = find_members(members, views, channel, i, until_ns);
		if (n < 2) {
			continue;
		}
		sort_members(members, n);
		++*n_meetings;
		for (size_t m = 0; m < n; m++) {
			struct fsl_op_mark *mark =
				&views[members[m].rank_idx].marks[members[m].op_idx];
			mark->meeting = *n_meetings;
			mark->meeting_place = m == 0       ? FSL_FLOW_BEGINS
					      : m + 1 == n ? FSL_FLOW_ENDS
							   : FSL_FLOW_GOES_ON;
		}
	}
}

enum fsl_status fsl_run_link_members(const struct fsl_rank_view *views,
				     const struct fsl_match *match, int64_t until_ns,
				     uint32_t *n_meetings, struct fsl_error *err)
{
	size_t n_most = 1;
	struct member *members = NULL;
	for (size_t c = 0; c < match->n_channels; c++) {
		size_t n = match->channels[c].n_members;
		n_most = n > n_most ? n : n_most;
	}
	FSL_TRY(FSL_NEW(members, n_most, "members", err));
	for (size_t c = 0; c < match->n_channels; c++) {
		if (!match->channels[c].disagrees) {
			link_channel(views, &match->channels[c], until_ns, members, n_meetings);
		}
	}
	fsl_free(members);
	return FSL_OK;
}

struct fsl_rank_view fsl_rank_view_of(const struct fsl_run_tracks *source, size_t r,
				      const struct fsl_run_words *words)
{
	const struct fsl_rank *rank = &source->run->ranks[r];
	int32_t number = source->numbers != NULL ? source->numbers[rank->rank] : rank->rank;
	return (struct fsl_rank_view){
		.rank = rank,
		.words = words,
		.pid = fsl_track_pid_of_rank(number),
		.shift_ns = source->is_aligned ? source->match->clock_ns[r] : 0,
		.from_ns = source->has_range ? source->from_ns : INT64_MIN,
		.to_ns = source->has_range ? source->to_ns : INT64_MAX,
	};
}

static bool is_wanted(const struct fsl_run_tracks *source, size_t r)
{
	return source->is_wanted == NULL || source->is_wanted[r];
}

/* Operators are borrowed from the run; all else lives in the arena of the plan. */
static enum fsl_status make_views(struct view **out, struct fsl_track_plan *plan,
				  const struct fsl_run_tracks *source, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	const struct fsl_run *run = source->run;
	struct view *view = NULL;
	uint64_t n_launches = 0;
	uint32_t n_meetings = 0;
	FSL_TRY(FSL_ARENA_NEW(view, arena, 1, "views", err));
	FSL_TRY(fsl_run_words_find(&view->words, plan, err));
	FSL_TRY(FSL_ARENA_NEW(view->ranks, arena, run->n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < run->n_ranks; r++) {
		struct fsl_rank_view *made = &view->ranks[r];
		*made = fsl_rank_view_of(source, r, &view->words);
		made->ops = run->ranks[r].ops;
		made->n_ops = run->ranks[r].n_ops;
		if (made->n_ops > 0 && is_wanted(source, r)) {
			FSL_TRY(FSL_ARENA_NEW(made->marks, arena, made->n_ops, "ops", err));
		}
		for (size_t i = 0; made->marks != NULL && i < made->n_ops; i++) {
			made->marks[i].launch = n_launches + i + 1;
		}
		n_launches += made->n_ops;
	}
	*out = view;
	return fsl_run_link_members(view->ranks, source->match, INT64_MAX, &n_meetings, err);
}

/* Names as the streams of the whole plan need them. */
static enum fsl_status keep_names(struct view *view, struct fsl_track_plan *plan,
				  const struct fsl_run_tracks *source, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	struct fsl_run_names names = {0};
	uint32_t *texts = NULL;
	uint8_t *kind_of = NULL;
	enum fsl_status status = fsl_run_names_update(&names, plan, source, err);
	FSL_THEN(status, FSL_ARENA_NEW(texts, arena, names.n + 1, "names", err));
	FSL_THEN(status, FSL_ARENA_NEW(kind_of, arena, names.n + 1, "names", err));
	if (status == FSL_OK && names.n > 0) {
		memcpy(texts, names.texts, names.n * sizeof(*texts));
		memcpy(kind_of, names.kind_of, names.n * sizeof(*kind_of));
	}
	for (size_t r = 0; r < source->run->n_ranks; r++) {
		view->ranks[r].names = texts;
		view->ranks[r].kind_of = kind_of;
	}
	fsl_run_names_fini(&names);
	return status;
}

static enum fsl_status add_stages(struct fsl_track_plan *plan, const struct fsl_rank_view *view,
				  struct fsl_slice_lanes *lanes, int64_t until_ns,
				  struct fsl_run_tracks *source, struct fsl_error *err)
{
	const struct fsl_slice_source stages = {
		.context = view, .times = stage_times, .fill = fill_stage, .families = stage_lanes};
	uint32_t *order = NULL;
	size_t n = 0;
	FSL_TRY(FSL_NEW(order, view->rank->n_stages + 1, "stages", err));
	while (n < view->rank->n_stages &&
	       view->rank->stages[n].begin_ns - view->shift_ns < until_ns) {
		order[n] = (uint32_t)n;
		n++;
	}
	return fsl_slices_go_on(plan, view->pid, &stages, lanes, order, n, &source->n_left_out,
				err);
}

/* The launches that begin before @until_ns and are not shown yet. */
static size_t choose_launches(const struct fsl_rank_view *view, int64_t until_ns, uint32_t *order)
{
	size_t n = 0;
	for (size_t i = 0; i < view->n_ops; i++) {
		const struct fsl_op *op = &view->ops[i];
		struct fsl_op_mark *mark = &view->marks[i];
		order[n] = (uint32_t)i;
		if (op->host_begin_ns != FSL_NS_ABSENT && !mark->is_host_shown &&
		    op->host_begin_ns - view->shift_ns < until_ns) {
			mark->is_host_shown = true;
			n++;
		}
	}
	return n;
}

/* The same for the work on the device. */
static size_t choose_work(const struct fsl_rank_view *view, int64_t until_ns, uint32_t *order)
{
	size_t n = 0;
	for (size_t i = 0; i < view->n_ops; i++) {
		const struct fsl_op *op = &view->ops[i];
		struct fsl_op_mark *mark = &view->marks[i];
		order[n] = (uint32_t)i;
		if (fsl_rank_view_has_device(view, op) && !mark->is_device_shown &&
		    op->dev_begin_ns - view->shift_ns < until_ns) {
			mark->is_device_shown = true;
			n++;
		}
	}
	return n;
}

/* Adds the lanes of the host or of the device. */
static enum fsl_status add_ops(struct fsl_track_plan *plan, const struct fsl_rank_view *view,
			       bool is_device, struct fsl_slice_lanes *lanes, int64_t until_ns,
			       struct fsl_run_tracks *source, struct fsl_error *err)
{
	const struct fsl_slice_source host = {.context = view,
					      .times = host_times,
					      .fill = fill_host,
					      .fetch = fetch_op,
					      .families = host_lanes};
	const struct fsl_slice_source device = {.context = view,
						.times = device_times,
						.family = device_family,
						.fill = fill_device,
						.fetch = fetch_op,
						.families = device_lanes};
	uint32_t *order = NULL;
	FSL_TRY(FSL_NEW(order, view->n_ops + 1, "operators", err));
	size_t n = is_device ? choose_work(view, until_ns, order)
			     : choose_launches(view, until_ns, order);
	return fsl_slices_go_on(plan, view->pid, is_device ? &device : &host, lanes, order, n,
				&source->n_left_out, err);
}

enum fsl_status fsl_rank_view_add(struct fsl_track_plan *plan, const struct fsl_rank_view *view,
				  struct fsl_rank_lanes *lanes, int64_t until_ns,
				  struct fsl_run_tracks *source, struct fsl_error *err)
{
	FSL_TRY(add_stages(plan, view, lanes != NULL ? &lanes->stages : NULL, until_ns, source,
			   err));
	FSL_TRY(add_ops(plan, view, false, lanes != NULL ? &lanes->host : NULL, until_ns, source,
			err));
	return add_ops(plan, view, true, lanes != NULL ? &lanes->device : NULL, until_ns, source,
		       err);
}

/* Nobody knows how long the rank will wait in it: an instant. */
enum fsl_status fsl_rank_view_add_open(struct fsl_track_plan *plan,
				       const struct fsl_rank_view *view,
				       struct fsl_run_tracks *source, struct fsl_error *err)
{
	const struct fsl_slice_source open = {
		.context = view, .times = open_times, .fill = fill_open, .families = open_lanes};
	uint32_t *order = NULL;
	if (view->rank->open_op_id == FSL_STR_NONE || view->rank->open_begin_ns == FSL_NS_ABSENT) {
		return FSL_OK;
	}
	FSL_TRY(FSL_NEW(order, 1, "operators", err));
	return fsl_slices_add(plan, view->pid, &open, order, 1, &source->n_left_out, err);
}

enum fsl_status fsl_run_tracks_add(struct fsl_track_plan *plan, struct fsl_run_tracks *source,
				   struct fsl_error *err)
{
	struct view *view = NULL;
	FSL_TRY(make_views(&view, plan, source, err));
	FSL_TRY(keep_names(view, plan, source, err));
	for (size_t r = 0; r < source->run->n_ranks; r++) {
		const struct fsl_rank *rank = &source->run->ranks[r];
		if (!is_wanted(source, r) || rank->n_ops + rank->n_stages == 0) {
			continue;
		}
		if (source->numbers == NULL) {
			FSL_TRY(fsl_track_add_rank(plan, rank->rank, rank->server_ip, err));
		}
		for (size_t i = 0; i < rank->n_ops; i++) {
			source->n_no_device += rank->ops[i].dev_begin_ns == FSL_NS_ABSENT;
		}
		FSL_TRY(fsl_rank_view_add(plan, &view->ranks[r], NULL, INT64_MAX, source, err));
		if (source->numbers == NULL) {
			FSL_TRY(fsl_rank_view_add_open(plan, &view->ranks[r], source, err));
		}
	}
	return FSL_OK;
}

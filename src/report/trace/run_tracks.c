/* Stages, launches and operators of ranks. */
#include "report/trace/run_tracks.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/sort.h"
#include "report/trace/track_slices.h"

/* Ids of texts that all ranks need. */
struct words {
	uint32_t host, device, stage, open; /* categories */
	uint32_t group, dtype, elements, step, id, frame, stack, collected,
		uncollectable; /* keys */
};

/* A rank of the run, as its streams see it. */
struct rank_view {
	const struct fsl_rank *rank;
	const struct words *words;
	const uint32_t *names;  /* by name id of the run: text of the plan */
	const uint8_t *kind_of; /* by name id of a communicator: enum fsl_group_kind */
	uint32_t pid;
	int64_t shift_ns;       /* to be taken from all times */
	int64_t from_ns, to_ns; /* operators that end in this range are shown */
	uint64_t launch_base;   /* id of the first operator's launch */
	uint32_t *meeting;      /* [n_ops]: number of the collective + 1; 0: none */
	uint8_t *meeting_place; /* [n_ops]: enum fsl_track_flow */
};

/* Made once for all ranks; lives in the arena of the plan. */
struct view {
	struct words words;
	uint32_t *names;
	uint8_t *kind_of;
	struct rank_view *ranks; /* [run->n_ranks] */
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
	return &((const struct rank_view *)context)->rank->ops[idx];
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
	const struct rank_view *view = context;
	const struct fsl_op *op = op_of(context, idx);
	*begin_ns = op->host_begin_ns - view->shift_ns;
	*end_ns = (op->host_end_ns > op->host_begin_ns ? op->host_end_ns : op->host_begin_ns) -
		  view->shift_ns;
}

static void device_times(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct rank_view *view = context;
	const struct fsl_op *op = op_of(context, idx);
	*begin_ns = op->dev_begin_ns - view->shift_ns;
	*end_ns = op->dev_end_ns - view->shift_ns;
}

static void stage_times(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct rank_view *view = context;
	*begin_ns = view->rank->stages[idx].begin_ns - view->shift_ns;
	*end_ns = view->rank->stages[idx].end_ns - view->shift_ns;
}

static uint8_t device_family(const void *context, uint32_t idx)
{
	const struct rank_view *view = context;
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

static void fill_op(const struct rank_view *view, uint32_t idx, struct fsl_track_event *event)
{
	const struct fsl_op *op = &view->rank->ops[idx];
	event->name = view->names[op->op_id];
	event->launch_id = 2 * (view->launch_base + idx);
}

static void fill_host(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct rank_view *view = context;
	const struct fsl_op *op = op_of(context, idx);
	fill_op(view, idx, event);
	event->category = view->words->host;
	event->launch = has_launch(op) ? FSL_FLOW_BEGINS : FSL_FLOW_NONE;
	add_number(event, view->words->id, op->id);
}

static void fill_device(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct rank_view *view = context;
	const struct words *words = view->words;
	const struct fsl_op *op = op_of(context, idx);
	fill_op(view, idx, event);
	event->category = words->device;
	event->launch = has_launch(op) ? FSL_FLOW_ENDS : FSL_FLOW_NONE;
	if (view->meeting != NULL && view->meeting[idx] != 0) {
		event->meeting = (enum fsl_track_flow)view->meeting_place[idx];
		event->meeting_id = 2 * (uint64_t)view->meeting[idx] + 1;
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
	const struct rank_view *view = context;
	const struct words *words = view->words;
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
	const struct rank_view *view = context;
	(void)idx;
	*begin_ns = *end_ns = view->rank->open_begin_ns - view->shift_ns;
}

static void fill_open(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct rank_view *view = context;
	(void)idx;
	event->name = view->names[view->rank->open_op_id];
	event->category = view->words->open;
	if (view->rank->open_group_id != FSL_STR_NONE) {
		add_text(event, view->words->group, view->names[view->rank->open_group_id]);
	}
}

static enum fsl_status find_words(struct words *words, struct fsl_track_plan *plan,
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

/* The names of the run as texts of the plan, and the kind of group of each communicator. */
static enum fsl_status map_names(struct view *view, struct fsl_track_plan *plan,
				 const struct fsl_run_tracks *source, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	const struct fsl_topology *topology = source->topology;
	size_t n = fsl_strpool_size(source->run->names);
	FSL_TRY(FSL_ARENA_NEW(view->names, arena, n + 1, "names", err));
	FSL_TRY(FSL_ARENA_NEW(view->kind_of, arena, n + 1, "names", err));
	for (size_t i = 0; i < n; i++) {
		const char *name = fsl_strpool_text(source->run->names, (uint32_t)i);
		FSL_TRY(fsl_track_plan_text(plan, name, &view->names[i], err));
		view->kind_of[i] = FSL_GROUP_UNKNOWN;
	}
	for (size_t g = 0; g < topology->n_groups; g++) {
		if (topology->groups[g].name_id < n) {
			view->kind_of[topology->groups[g].name_id] =
				(uint8_t)topology->groups[g].kind;
		}
	}
	return FSL_OK;
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

/* True if the operator has work of the device that is shown. */
static inline bool has_device(const struct rank_view *view, const struct fsl_op *op)
{
	return op->dev_begin_ns != FSL_NS_ABSENT && op->dev_end_ns >= view->from_ns &&
	       op->dev_end_ns <= view->to_ns;
}

/* The members of an instance whose operators have slices. */
static size_t find_members(struct member *members, const struct view *view,
			   const struct fsl_channel *channel, size_t instance)
{
	size_t n = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		uint32_t op_idx = channel->op_idx[instance * channel->n_members + m];
		const struct rank_view *rank = &view->ranks[channel->members[m]];
		if (op_idx == FSL_NO_OP || rank->meeting == NULL) {
			continue;
		}
		const struct fsl_op *op = &rank->rank->ops[op_idx];
		if (has_device(rank, op) && op->dev_end_ns > op->dev_begin_ns &&
		    rank->meeting[op_idx] == 0) {
			members[n++] = (struct member){op->dev_begin_ns - rank->shift_ns,
						       op->dev_end_ns - rank->shift_ns,
						       channel->members[m], op_idx};
		}
	}
	return n;
}

/* Joins the members of all instances, in the order in which they begin. */
static void link_channel(const struct view *view, const struct fsl_channel *channel,
			 struct member *members, uint32_t *n_meetings)
{
	for (size_t i = 0; i < channel->n_instances && *n_meetings < UINT32_MAX - 1; i++) {
		size_t n = find_members(members, view, channel, i);
		if (n < 2) {
			continue;
		}
		qsort(members, n, sizeof(*members), compare_members);
		++*n_meetings;
		for (size_t m = 0; m < n; m++) {
			const struct rank_view *rank = &view->ranks[members[m].rank_idx];
			rank->meeting[members[m].op_idx] = *n_meetings;
			rank->meeting_place[members[m].op_idx] = m == 0       ? FSL_FLOW_BEGINS
								 : m + 1 == n ? FSL_FLOW_ENDS
									      : FSL_FLOW_GOES_ON;
		}
	}
}

static enum fsl_status link_members(const struct view *view, const struct fsl_match *match,
				    struct fsl_error *err)
{
	size_t n_most = 1;
	uint32_t n_meetings = 0;
	struct member *members = NULL;
	for (size_t c = 0; c < match->n_channels; c++) {
		size_t n = match->channels[c].n_members;
		n_most = n > n_most ? n : n_most;
	}
	FSL_TRY(FSL_NEW(members, n_most, "members", err));
	for (size_t c = 0; c < match->n_channels; c++) {
		if (!match->channels[c].disagrees) {
			link_channel(view, &match->channels[c], members, &n_meetings);
		}
	}
	fsl_free(members);
	return FSL_OK;
}

static enum fsl_status make_view(struct view **out, struct fsl_track_plan *plan,
				 const struct fsl_run_tracks *source, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	const struct fsl_run *run = source->run;
	struct view *view = NULL;
	uint64_t n_ops = 1;
	FSL_TRY(FSL_ARENA_NEW(view, arena, 1, "views", err));
	FSL_TRY(find_words(&view->words, plan, err));
	FSL_TRY(map_names(view, plan, source, err));
	FSL_TRY(FSL_ARENA_NEW(view->ranks, arena, run->n_ranks + 1, "ranks", err));
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		struct rank_view *made = &view->ranks[r];
		*made = (struct rank_view){.rank = rank,
					   .words = &view->words,
					   .names = view->names,
					   .kind_of = view->kind_of,
					   .launch_base = n_ops,
					   .from_ns =
						   source->has_range ? source->from_ns : INT64_MIN,
					   .to_ns = source->has_range ? source->to_ns : INT64_MAX};
		made->pid = fsl_track_pid_of_rank(
			source->numbers != NULL ? source->numbers[rank->rank] : rank->rank);
		made->shift_ns = source->is_aligned ? source->match->clock_ns[r] : 0;
		n_ops += rank->n_ops;
		if (rank->n_ops > 0 && (source->is_wanted == NULL || source->is_wanted[r])) {
			FSL_TRY(FSL_ARENA_NEW(made->meeting, arena, rank->n_ops, "ops", err));
			FSL_TRY(FSL_ARENA_NEW(made->meeting_place, arena, rank->n_ops, "ops", err));
		}
	}
	*out = view;
	return link_members(view, source->match, err);
}

static enum fsl_status add_stages(struct fsl_track_plan *plan, const struct rank_view *view,
				  struct fsl_run_tracks *source, struct fsl_error *err)
{
	const struct fsl_slice_source stages = {
		.context = view, .times = stage_times, .fill = fill_stage, .families = stage_lanes};
	uint32_t *order = NULL;
	size_t n = view->rank->n_stages;
	FSL_TRY(FSL_NEW(order, n + 1, "stages", err));
	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)i;
	}
	return fsl_slices_add(plan, view->pid, &stages, order, n, &source->n_left_out, err);
}

/* Adds the lanes of the host or of the device. */
static enum fsl_status add_ops(struct fsl_track_plan *plan, const struct rank_view *view,
			       bool is_device, struct fsl_run_tracks *source, struct fsl_error *err)
{
	const struct fsl_slice_source host = {
		.context = view, .times = host_times, .fill = fill_host, .families = host_lanes};
	const struct fsl_slice_source device = {.context = view,
						.times = device_times,
						.family = device_family,
						.fill = fill_device,
						.families = device_lanes};
	uint32_t *order = NULL;
	size_t n = 0;
	FSL_TRY(FSL_NEW(order, view->rank->n_ops + 1, "operators", err));
	for (size_t i = 0; i < view->rank->n_ops; i++) {
		const struct fsl_op *op = &view->rank->ops[i];
		order[n] = (uint32_t)i;
		source->n_no_device += is_device && op->dev_begin_ns == FSL_NS_ABSENT;
		n += is_device ? has_device(view, op) : op->host_begin_ns != FSL_NS_ABSENT;
	}
	return fsl_slices_add(plan, view->pid, is_device ? &device : &host, order, n,
			      &source->n_left_out, err);
}

/* Nobody knows how long the rank will wait in it: an instant. */
static enum fsl_status add_open(struct fsl_track_plan *plan, const struct rank_view *view,
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
	FSL_TRY(make_view(&view, plan, source, err));
	for (size_t r = 0; r < source->run->n_ranks; r++) {
		const struct fsl_rank *rank = &source->run->ranks[r];
		if ((source->is_wanted != NULL && !source->is_wanted[r]) ||
		    rank->n_ops + rank->n_stages == 0) {
			continue;
		}
		if (source->numbers == NULL) {
			FSL_TRY(fsl_track_add_rank(plan, rank->rank, rank->server_ip, err));
		}
		FSL_TRY(add_stages(plan, &view->ranks[r], source, err));
		FSL_TRY(add_ops(plan, &view->ranks[r], false, source, err));
		FSL_TRY(add_ops(plan, &view->ranks[r], true, source, err));
		if (source->numbers == NULL) {
			FSL_TRY(add_open(plan, &view->ranks[r], source, err));
		}
	}
	return FSL_OK;
}

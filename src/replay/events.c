/* Events: what each rank did in the replayed steps, and what each operator followed. Ranks are
 * walked on threads: each fills its own events and pieces. */
#include <omp.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "replay/graph.h"

/* The end of an operator. */
struct ending {
	int64_t end_ns; /* the rank's own clock */
	uint32_t event; /* FSL_NO_NODE: before the window */
	bool is_beside; /* runs beside others */
};

/*
 * The last end so far: of any operator, and of one that does not run beside others. Running
 * operators lie in columns: an ending that was stored in parts and is loaded as a whole waits until
 * everything stored before it, too, has reached the cache.
 */
struct past {
	struct ending any, held;
	bool has_any, has_held;
	int64_t running_ns[FSL_REPLAY_RUNNING_MAX]; /* when it ends */
	uint32_t running_event[FSL_REPLAY_RUNNING_MAX];
	bool runs_beside[FSL_REPLAY_RUNNING_MAX];
	size_t n_running;
};

/* One communicator with operators that held nobody, which run one after the other. */
struct stream {
	uint32_t group_id;
	struct ending last; /* of them */
	struct ending held; /* what held the rank last when the row began that it is in */
	bool has_held;
};

struct streams {
	struct stream items[FSL_REPLAY_STREAMS_MAX];
	size_t n;
};

/* The operator that an operator follows, and the one that held its rank last before it was
 * launched; NULL: none. */
struct before {
	struct ending last;
	const struct ending *held;
};

/* One rank while its events are added. */
struct walk {
	struct fsl_replay *out;
	struct fsl_replay_graph *graph;
	const struct fsl_rank *rank;
	size_t rank_idx;
	int64_t clock_ns;
	struct fsl_stage_pieces stages;
	size_t next_stage;    /* pieces before it end before every coming event's past */
	const uint8_t *holds; /* [n_ops] enum fsl_hold */
	struct past past;
	struct streams streams;
	struct fsl_pieces *pieces;
	size_t next_event;
	size_t next_lost;   /* graph->lost */
	uint32_t last_step; /* of the event before */
	size_t last_cut;    /* step of the job that the operator before was in */
};

static void settle_one(struct past *past, const struct ending *ended)
{
	if (!past->has_any || ended->end_ns >= past->any.end_ns) {
		past->any = *ended;
		past->has_any = true;
	}
	if (!ended->is_beside && (!past->has_held || ended->end_ns >= past->held.end_ns)) {
		past->held = *ended;
		past->has_held = true;
	}
}

/* Moves what ended by @time_ns from running to past. */
static void settle(struct past *past, int64_t time_ns)
{
	size_t n_left = 0;
	for (size_t i = 0; i < past->n_running; i++) {
		struct ending ending = {past->running_ns[i], past->running_event[i],
					past->runs_beside[i]};
		if (ending.end_ns <= time_ns) {
			settle_one(past, &ending);
		} else {
			past->running_ns[n_left] = ending.end_ns;
			past->running_event[n_left] = ending.event;
			past->runs_beside[n_left] = ending.is_beside;
			n_left++;
		}
	}
	past->n_running = n_left;
}

static void begin_op(struct past *past, struct ending ending)
{
	size_t n = past->n_running;
	if (n < FSL_REPLAY_RUNNING_MAX) {
		past->running_ns[n] = ending.end_ns;
		past->running_event[n] = ending.event;
		past->runs_beside[n] = ending.is_beside;
		past->n_running = n + 1;
	}
}

static struct stream *find_stream(struct streams *streams, uint32_t group_id)
{
	size_t k = 0;
	while (k < streams->n && streams->items[k].group_id != group_id) {
		k++;
	}
	if (k < streams->n) {
		return &streams->items[k];
	}
	if (k == FSL_REPLAY_STREAMS_MAX || group_id == FSL_STR_NONE) {
		return NULL;
	}
	streams->items[k] =
		(struct stream){.group_id = group_id, .last = {INT64_MIN, FSL_NO_NODE, true}};
	return &streams->items[streams->n++];
}

/*
 * The operator that one which begins at @begin_ns followed. Right behind another one of its
 * communicator, it waited for that one, even if that one held nobody: how long the rank worked does
 * not show, and further work in the meantime has nothing to do with it.
 */
static struct before look_before(struct walk *walk, uint32_t group_id, int64_t begin_ns)
{
	const struct past *past = &walk->past;
	const struct stream *stream = find_stream(&walk->streams, group_id);
	bool is_behind = stream != NULL && stream->last.end_ns != INT64_MIN &&
			 fsl_op_is_in_row(past->any.end_ns, stream->last.end_ns, begin_ns);
	if (is_behind) {
		return (struct before){stream->last, stream->has_held ? &stream->held : NULL};
	}
	return (struct before){past->any, past->has_held ? &past->held : NULL};
}

static enum fsl_status add_piece(struct walk *walk, struct fsl_event *event, int64_t ns,
				 uint32_t step, uint32_t part, struct fsl_error *err)
{
	struct fsl_pieces *pieces = walk->pieces;
	FSL_TRY(FSL_GROW(pieces->items, pieces->capacity, pieces->n + 1, err));
	pieces->items[pieces->n++] = (struct fsl_piece){ns, ns, step, part};
	event->work_ns += ns;
	event->n_pieces++;
	return FSL_OK;
}

/* Splits [from, to) of the rank's own clock into stages and idle time. */
static enum fsl_status split_by_stages(struct walk *walk, struct fsl_event *event, int64_t from_ns,
				       int64_t to_ns, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	const struct fsl_stage_pieces *stages = &walk->stages;
	int64_t worked_ns = 0, last_ns = from_ns;
	while (walk->next_stage < stages->n_items &&
	       stages->items[walk->next_stage].end_ns <= from_ns) {
		walk->next_stage++;
	}
	for (size_t k = walk->next_stage; k < stages->n_items && status == FSL_OK; k++) {
		const struct fsl_stage_piece *stage = &stages->items[k];
		if (stage->begin_ns >= to_ns) {
			break;
		}
		int64_t begin_ns = stage->begin_ns > from_ns ? stage->begin_ns : from_ns;
		last_ns = stage->end_ns < to_ns ? stage->end_ns : to_ns;
		worked_ns += last_ns - begin_ns;
		uint32_t step = stage->step_idx != UINT32_MAX
					? walk->graph->step_of[stage->step_idx]
					: FSL_NO_NODE;
		status = add_piece(walk, event, last_ns - begin_ns, step, stage->part, err);
	}
	int64_t idle_ns = to_ns - from_ns - worked_ns;
	if (walk->graph->job->counts_idle) {
		return status == FSL_OK && idle_ns > 0
			       ? add_piece(walk, event, idle_ns, event->step, FSL_REPLAY_IDLE, err)
			       : status;
	}
	event->idle_ns = idle_ns;
	event->tail_ns = to_ns - last_ns;
	return status;
}

/* Own time between what ended last and the event's begin. */
static enum fsl_status add_own(struct walk *walk, struct fsl_event *event,
			       const struct before *before, bool is_first, struct fsl_error *err)
{
	int64_t begin_ns = event->begin_ns + walk->clock_ns;
	if (!walk->past.has_any) {
		event->base_ns = event->begin_ns; /* the job begins here */
		return FSL_OK;
	}
	const struct ending last = before->last;
	event->pred = last.event;
	event->base_ns = last.end_ns - walk->clock_ns;
	event->beside_ns = last.is_beside ? INT64_MAX : begin_ns - last.end_ns;
	if (last.is_beside && before->held != NULL && before->held->event != FSL_NO_NODE) {
		event->beside = before->held->event;
		event->beside_ns = begin_ns - before->held->end_ns;
	}
	if (walk->graph->job->own->has_stages) {
		return split_by_stages(walk, event, last.end_ns, begin_ns, err);
	}
	return add_piece(walk, event, begin_ns - last.end_ns, event->step,
			 is_first ? FSL_OWN_HEAD : FSL_OWN_BODY, err);
}

/* Fills the event of an operator of @group_id; it begins and ends on the rank's own clock. */
static enum fsl_status set_event(struct walk *walk, size_t event_idx, uint32_t group_id,
				 int64_t begin_ns, int64_t end_ns, uint32_t step,
				 enum fsl_hold hold, struct fsl_error *err)
{
	struct fsl_event *event = &walk->graph->events[event_idx];
	*event = (struct fsl_event){.begin_ns = begin_ns - walk->clock_ns,
				    .end_ns = end_ns - walk->clock_ns,
				    .base_ns = 0,
				    .work_ns = 0,
				    .level_ns = 0,
				    .idle_ns = 0,
				    .tail_ns = 0,
				    .beside_ns = INT64_MAX,
				    .alone_ns = end_ns - begin_ns,
				    .pred = FSL_NO_NODE,
				    .beside = FSL_NO_NODE,
				    .rank_idx = (uint32_t)walk->rank_idx,
				    .step = step,
				    .meeting = FSL_NO_NODE,
				    .is_for_unseen = false,
				    .piece_begin = (uint32_t)walk->pieces->n,
				    .n_pieces = 0};
	const struct before before = look_before(walk, group_id, begin_ns);
	FSL_TRY(add_own(walk, event, &before, step != walk->last_step, err));
	event->level_ns = event->work_ns;
	FSL_ASSERT(begin_ns <= end_ns && event->work_ns >= 0 && event->idle_ns >= 0);
	FSL_ASSERT(event->pred == FSL_NO_NODE || event->pred != event_idx);
	FSL_ASSERT(step < walk->out->n_steps);
	walk->last_step = step;
	if (hold != FSL_HOLD_NEVER) {
		begin_op(&walk->past,
			 (struct ending){end_ns, (uint32_t)event_idx, hold == FSL_HOLD_BESIDE});
		return FSL_OK;
	}
	struct stream *stream = find_stream(&walk->streams, group_id);
	if (stream != NULL) {
		stream->has_held = before.held != NULL;
		stream->held = before.held != NULL ? *before.held : stream->held;
		stream->last = (struct ending){end_ns, (uint32_t)event_idx, true};
	}
	return FSL_OK;
}

static enum fsl_status add_op(struct walk *walk, size_t op_idx, struct fsl_error *err)
{
	const struct fsl_replay_graph *graph = walk->graph;
	const struct fsl_op *op = &walk->rank->ops[op_idx];
	size_t step = fsl_cuts_step_after(graph->job->cuts, walk->rank_idx, op_idx, walk->last_cut);
	walk->last_cut = step;
	settle(&walk->past, fsl_op_begin_ns(op));
	return set_event(walk, walk->next_event++, op->group_id, fsl_op_begin_ns(op),
			 fsl_op_end_ns(op), graph->step_of[step],
			 (enum fsl_hold)walk->holds[op_idx], err);
}

/* Puts a lost operator back: behind its usual own time, no later than its transfer allows. */
static enum fsl_status add_lost(struct walk *walk, const struct fsl_lost *lost, int64_t latest_ns,
				struct fsl_error *err)
{
	int64_t end_ns = lost->end_ns < latest_ns ? lost->end_ns : latest_ns;
	int64_t begin_ns = end_ns - lost->dur_ns;
	settle(&walk->past, begin_ns);
	if (walk->past.has_any && lost->usual_ns >= 0 &&
	    walk->past.any.end_ns + lost->usual_ns < begin_ns) {
		begin_ns = walk->past.any.end_ns + lost->usual_ns;
	}
	/* Something else went on while only others were seen in it: it came later. */
	if (walk->past.has_any && walk->past.any.end_ns > begin_ns) {
		begin_ns = walk->past.any.end_ns;
		end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	}
	return set_event(walk, lost->event, FSL_STR_NONE, begin_ns, end_ns, lost->step,
			 FSL_HOLD_RANK, err);
}

/* Lost operators of the window that ended by @time_ns, or just after it as clocks have it. */
static enum fsl_status add_lost_until(struct walk *walk, uint32_t window, int64_t time_ns,
				      struct fsl_error *err)
{
	const struct fsl_replay_graph *graph = walk->graph;
	while (walk->next_lost < graph->n_lost) {
		const struct fsl_lost *lost = &graph->lost[walk->next_lost];
		if (lost->rank_idx != walk->rank_idx || lost->window != window ||
		    (lost->end_ns > time_ns && lost->end_ns - time_ns > FSL_REPLAY_CLOCK_NS)) {
			break;
		}
		FSL_TRY(add_lost(walk, lost, time_ns, err));
		walk->next_lost++;
	}
	return FSL_OK;
}

/* The operators of one rank in one window. */
static enum fsl_status walk_window(struct walk *walk, const struct fsl_window *window,
				   int64_t *start_ns, struct fsl_error *err)
{
	const struct fsl_cuts *cuts = walk->graph->job->cuts;
	size_t first = fsl_cuts_first(cuts, walk->rank_idx, walk->out->step_idx[window->begin]);
	size_t end = fsl_cuts_first(cuts, walk->rank_idx,
				    walk->out->step_idx[window->end - 1] + (size_t)1);
	uint32_t window_idx = (uint32_t)(window - walk->graph->windows);
	walk->last_step = FSL_NO_NODE;
	walk->past = (struct past){.n_running = 0};
	walk->streams.n = 0;
	for (size_t i = first > FSL_REPLAY_LOOK_BACK_OPS ? first - FSL_REPLAY_LOOK_BACK_OPS : 0;
	     i < first; i++) {
		int64_t end_ns = fsl_op_end_ns(&walk->rank->ops[i]);
		if (walk->holds[i] != FSL_HOLD_NEVER) {
			begin_op(&walk->past, (struct ending){end_ns, FSL_NO_NODE,
							      walk->holds[i] == FSL_HOLD_BESIDE});
		}
		*start_ns =
			end_ns - walk->clock_ns > *start_ns ? end_ns - walk->clock_ns : *start_ns;
	}
	if (*start_ns == INT64_MIN && first < end) {
		*start_ns = fsl_op_begin_ns(&walk->rank->ops[first]) - walk->clock_ns;
	}
	for (size_t i = first; i < end; i++) {
		FSL_TRY(add_lost_until(walk, window_idx, fsl_op_begin_ns(&walk->rank->ops[i]),
				       err));
		FSL_TRY(add_op(walk, i, err));
	}
	return add_lost_until(walk, window_idx, INT64_MAX, err);
}

/* Begin of the walk over a rank. */
static enum fsl_status prepare_rank(struct walk *walk, size_t rank_idx, struct fsl_error *err)
{
	struct fsl_replay_graph *graph = walk->graph;
	const struct fsl_replay_job *job = graph->job;
	size_t first = graph->event_begin[rank_idx * graph->n_windows];
	size_t end = graph->event_begin[(rank_idx + 1) * graph->n_windows];
	walk->rank = &job->run->ranks[rank_idx];
	walk->rank_idx = rank_idx;
	walk->last_cut = SIZE_MAX;
	walk->clock_ns = job->match->clock_ns[rank_idx];
	walk->next_stage = 0;
	walk->next_event = first;
	walk->next_lost = fsl_replay_first_lost(graph, rank_idx);
	walk->holds = job->own->holds[rank_idx];
	walk->pieces = &graph->pieces[rank_idx];
	/* Mostly one each; growing would leave holes. */
	enum fsl_status status =
		FSL_GROW(walk->pieces->items, walk->pieces->capacity, end - first + 1, err);
	if (status != FSL_OK || !job->own->has_stages) {
		return status;
	}
	return fsl_stage_pieces(&walk->stages, walk->rank, rank_idx, job->steps, job->cuts, err);
}

static enum fsl_status walk_rank(struct walk *walk, size_t rank_idx, struct fsl_error *err)
{
	struct fsl_replay_graph *graph = walk->graph;
	enum fsl_status status = prepare_rank(walk, rank_idx, err);
	for (size_t w = 0; w < graph->n_windows && status == FSL_OK; w++) {
		int64_t *start_ns = &graph->start_ns[rank_idx * graph->n_windows + w];
		*start_ns = INT64_MIN;
		status = walk_window(walk, &graph->windows[w], start_ns, err);
	}
	FSL_ASSERT(status != FSL_OK ||
		   walk->next_event == graph->event_begin[(rank_idx + 1) * graph->n_windows]);
	return status;
}

/* Ranks on threads, neighbours on the same one: two threads that begin to fill the same page of 2
 * MB both wait for it. */
static bool walk_ranks(struct fsl_replay *out, struct fsl_replay_graph *graph)
{
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		struct walk walk = {.out = out, .graph = graph};
#pragma omp for schedule(static) nowait
		for (size_t r = 0; r < out->n_ranks; r++) {
			is_short = is_short || walk_rank(&walk, r, NULL) != FSL_OK;
		}
		fsl_stage_pieces_fini(&walk.stages);
	}
	return !is_short;
}

/* Places of the operators of each rank and window, and how many there are. */
static size_t place_ops(const struct fsl_replay *out, struct fsl_replay_graph *graph)
{
	const struct fsl_cuts *cuts = graph->job->cuts;
	size_t n = 0;
	for (size_t r = 0; r < out->n_ranks; r++) {
		for (size_t w = 0; w < graph->n_windows; w++) {
			size_t first = out->step_idx[graph->windows[w].begin];
			size_t last = out->step_idx[graph->windows[w].end - 1];
			graph->event_begin[r * graph->n_windows + w] = n;
			n += fsl_cuts_first(cuts, r, last + 1) - fsl_cuts_first(cuts, r, first);
		}
	}
	graph->event_begin[out->n_ranks * graph->n_windows] = n;
	return n;
}

enum fsl_status fsl_replay_add_events(struct fsl_replay *out, struct fsl_replay_graph *graph,
				      struct fsl_error *err)
{
	size_t n_cells = 0;
	graph->pieces = fsl_arena_alloc(&out->arena, out->n_ranks * sizeof(*graph->pieces));
	if (fsl_mul_size(out->n_ranks, graph->n_windows * sizeof(*graph->event_begin), &n_cells)) {
		graph->event_begin =
			fsl_arena_alloc(&out->arena, n_cells + sizeof(*graph->event_begin));
		graph->start_ns = fsl_arena_alloc(&out->arena, n_cells);
	}
	if (graph->event_begin == NULL || graph->start_ns == NULL || graph->pieces == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n_ranks);
	}
	graph->n_ops = place_ops(out, graph);
	FSL_TRY(fsl_replay_list_lost(out, graph, err));
	FSL_TRY(FSL_GROW(graph->events, graph->events_capacity, graph->n_ops + graph->n_lost + 1,
			 err));
	if (!walk_ranks(out, graph)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: events=%zu",
				graph->n_ops + graph->n_lost);
	}
	graph->n_events = graph->n_ops + graph->n_lost;
	return FSL_OK;
}

size_t fsl_replay_step_events(const struct fsl_replay *replay, const struct fsl_replay_graph *graph,
			      size_t rank_idx, size_t i, size_t *n_events)
{
	const struct fsl_cuts *cuts = graph->job->cuts;
	size_t step = replay->step_idx[i], w = graph->window_of[step];
	size_t window_first =
		fsl_cuts_first(cuts, rank_idx, replay->step_idx[graph->windows[w].begin]);
	size_t first = fsl_cuts_first(cuts, rank_idx, step);
	*n_events = fsl_cuts_first(cuts, rank_idx, step + 1) - first;
	return graph->event_begin[rank_idx * graph->n_windows + w] + (first - window_first);
}

bool fsl_replay_is_alike(const struct fsl_replay *replay, const struct fsl_replay_graph *graph,
			 size_t rank_a, size_t rank_b, size_t i)
{
	const struct fsl_cuts *cuts = graph->job->cuts;
	const struct fsl_rank *ranks = graph->job->run->ranks;
	size_t step = replay->step_idx[i];
	size_t a = fsl_cuts_first(cuts, rank_a, step), b = fsl_cuts_first(cuts, rank_b, step);
	size_t n = fsl_cuts_first(cuts, rank_a, step + 1) - a;
	if (fsl_cuts_first(cuts, rank_b, step + 1) - b != n) {
		return false;
	}
	for (size_t k = 0; k < n; k++) {
		if (ranks[rank_a].ops[a + k].op_id != ranks[rank_b].ops[b + k].op_id) {
			return false;
		}
	}
	return true;
}

/*
 * A topological order of the graph (Kahn, CACM 1962), once; meetings in a cycle are cut. Windows do
 * not depend on each other: they are ordered one by one, on threads.
 */
#include "base/log.h"
#include "replay/graph.h"

/* The two events that an event waits for. */
enum { AFTER_PRED, AFTER_BESIDE, AFTER_N };

/* Predecessors that have not ended, and the events that follow each event. */
struct sort {
	const struct fsl_replay *replay;
	struct fsl_replay_graph *graph;
	uint8_t *n_before;   /* per event: predecessors that have not ended */
	uint32_t *n_missing; /* per meeting: members that have not arrived */
	/* Events that follow an event, as lists: event + 1; 0 ends a list. */
	uint32_t *first[AFTER_N], *next[AFTER_N];
	struct fsl_buckets late; /* events that are no operators of the cells: lost ones, waits */
	struct fsl_buckets meetings;
};

/* One window while it is put into order. */
struct queue {
	struct sort *sort;
	size_t w;
	uint32_t *nodes; /* as they can be run */
	size_t n, n_cut;
};

static void add_to_lists(struct sort *sort, size_t event_idx)
{
	const struct fsl_event *event = &sort->graph->events[event_idx];
	const uint32_t before[AFTER_N] = {event->pred, event->beside};
	for (size_t k = 0; k < AFTER_N; k++) {
		if (before[k] != FSL_NO_NODE) {
			sort->n_before[event_idx]++;
			sort->next[k][event_idx] = sort->first[k][before[k]];
			sort->first[k][before[k]] = (uint32_t)event_idx + 1;
		}
	}
}

static void clear_event(struct sort *sort, size_t event_idx)
{
	sort->n_before[event_idx] = 0;
	for (size_t k = 0; k < AFTER_N; k++) {
		sort->first[k][event_idx] = 0;
	}
}

/* The lists of a window's events are empty, and the events have their slots. */
static void begin_window(struct sort *sort, size_t w)
{
	struct fsl_replay_graph *graph = sort->graph;
	uint32_t n = 0;
	for (size_t r = 0; r < sort->replay->n_ranks; r++) {
		const size_t *cell = &graph->event_begin[r * graph->n_windows + w];
		for (size_t e = cell[0]; e < cell[1]; e++) {
			clear_event(sort, e);
			graph->slot[e] = n++;
		}
	}
	for (size_t k = sort->late.begin[w]; k < sort->late.begin[w + 1]; k++) {
		clear_event(sort, sort->late.list[k]);
		graph->slot[sort->late.list[k]] = n++;
	}
}

/* Lists what follows each event of a window; from the last event on, so that lists ascend. */
static void link_events(struct sort *sort, size_t w)
{
	const struct fsl_replay_graph *graph = sort->graph;
	for (size_t k = sort->late.begin[w + 1]; k-- > sort->late.begin[w];) {
		add_to_lists(sort, sort->late.list[k]);
	}
	for (size_t r = sort->replay->n_ranks; r-- > 0;) {
		const size_t *cell = &graph->event_begin[r * graph->n_windows + w];
		for (size_t e = cell[1]; e-- > cell[0];) {
			add_to_lists(sort, e);
		}
	}
}

static void enqueue(struct queue *queue, uint32_t node)
{
	queue->nodes[queue->n++] = node;
}

/* An event whose predecessors have ended. */
static void arrive(struct queue *queue, uint32_t event_idx)
{
	const struct fsl_replay_graph *graph = queue->sort->graph;
	uint32_t meeting = graph->events[event_idx].meeting;
	if (meeting == FSL_NO_NODE || graph->meetings[meeting].is_cut) {
		enqueue(queue, event_idx);
	} else if (--queue->sort->n_missing[meeting] == 0) {
		enqueue(queue, (uint32_t)(graph->n_events + meeting));
	}
}

static void end_event(struct queue *queue, uint32_t event_idx)
{
	struct sort *sort = queue->sort;
	for (size_t k = 0; k < AFTER_N; k++) {
		for (uint32_t next = sort->first[k][event_idx]; next > 0;
		     next = sort->next[k][next - 1]) {
			if (--sort->n_before[next - 1] == 0) {
				arrive(queue, next - 1);
			}
		}
	}
}

static void end_node(struct queue *queue, uint32_t node)
{
	const struct fsl_replay_graph *graph = queue->sort->graph;
	if (node < graph->n_events) {
		end_event(queue, node);
		return;
	}
	const struct fsl_meeting *meeting = &graph->meetings[node - graph->n_events];
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		end_event(queue, graph->members[meeting->member_begin + m].event);
	}
}

/* The members of a meeting that waits for itself go their own ways. */
static void cut(struct queue *queue, size_t meeting_idx)
{
	struct sort *sort = queue->sort;
	struct fsl_meeting *meeting = &sort->graph->meetings[meeting_idx];
	meeting->is_cut = true;
	queue->n_cut++;
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		uint32_t event = sort->graph->members[meeting->member_begin + m].event;
		if (sort->n_before[event] == 0) {
			enqueue(queue, event);
		}
	}
}

/*
 * Next meeting to cut if nothing can run: the first in the graph's order with a member that has
 * arrived. The cursor only goes forward, so all cuts together look at each meeting once, and then
 * once more at the meetings that nobody had reached.
 */
static bool cut_next(struct queue *queue, size_t *cursor, bool *wants_arrived)
{
	const struct sort *sort = queue->sort;
	size_t first = sort->meetings.begin[queue->w], end = sort->meetings.begin[queue->w + 1];
	for (;; *cursor = first, *wants_arrived = false) {
		for (; *cursor < end; (*cursor)++) {
			uint32_t at = sort->meetings.list[*cursor];
			const struct fsl_meeting *meeting = &sort->graph->meetings[at];
			uint32_t n_missing = sort->n_missing[at];
			bool is_stuck = n_missing > 0 && !meeting->is_cut;
			if (is_stuck && (!*wants_arrived || n_missing < meeting->n_members)) {
				cut(queue, at);
				return true;
			}
		}
		if (!*wants_arrived) {
			return false;
		}
	}
}

/* Events of the window that follow nothing arrive. */
static void begin_events(struct queue *queue)
{
	const struct sort *sort = queue->sort;
	const struct fsl_replay_graph *graph = sort->graph;
	for (size_t r = 0; r < sort->replay->n_ranks; r++) {
		const size_t *cell = &graph->event_begin[r * graph->n_windows + queue->w];
		for (size_t e = cell[0]; e < cell[1]; e++) {
			if (sort->n_before[e] == 0) {
				arrive(queue, (uint32_t)e);
			}
		}
	}
	for (size_t k = sort->late.begin[queue->w]; k < sort->late.begin[queue->w + 1]; k++) {
		if (sort->n_before[sort->late.list[k]] == 0) {
			arrive(queue, sort->late.list[k]);
		}
	}
}

static size_t count_events(const struct sort *sort, size_t w)
{
	const struct fsl_replay_graph *graph = sort->graph;
	size_t n = sort->late.begin[w + 1] - sort->late.begin[w];
	for (size_t r = 0; r < sort->replay->n_ranks; r++) {
		const size_t *cell = &graph->event_begin[r * graph->n_windows + w];
		n += cell[1] - cell[0];
	}
	return n;
}

/* Orders one window. Returns the number of meetings cut. */
static size_t order_window(struct sort *sort, size_t w)
{
	struct fsl_replay_graph *graph = sort->graph;
	struct queue queue = {.sort = sort, .w = w, .nodes = graph->order + graph->order_begin[w]};
	size_t next = 0, cursor = sort->meetings.begin[w];
	bool wants_arrived = true;
	begin_window(sort, w);
	link_events(sort, w);
	for (size_t k = cursor; k < sort->meetings.begin[w + 1]; k++) {
		uint32_t at = sort->meetings.list[k];
		sort->n_missing[at] = graph->meetings[at].n_members;
	}
	begin_events(&queue);
	do {
		while (next < queue.n) {
			end_node(&queue, queue.nodes[next++]);
		}
	} while (cut_next(&queue, &cursor, &wants_arrived));
	FSL_ASSERT(queue.n <= count_events(sort, w));
	graph->order_end[w] = graph->order_begin[w] + queue.n;
	return queue.n_cut;
}

/* Window of a replayed step. */
static uint32_t window_of(const struct fsl_replay *replay, const struct fsl_replay_graph *graph,
			  uint32_t step)
{
	return graph->window_of[replay->step_idx[step]];
}

/* Begins of the items of each window, from how many there are. */
static void set_begins(struct fsl_buckets *out, size_t n_windows)
{
	for (size_t w = 2; w <= n_windows; w++) {
		out->begin[w] += out->begin[w - 1];
	}
}

static bool alloc_buckets(struct fsl_buckets *out, struct fsl_arena *arena, size_t n_items,
			  size_t n_windows)
{
	out->list = fsl_arena_alloc(arena, n_items * sizeof(*out->list));
	out->begin = fsl_arena_alloc(arena, (n_windows + 2) * sizeof(*out->begin));
	return out->list != NULL && out->begin != NULL;
}

/* begin[] is one place ahead until the list is filled. */
bool fsl_replay_meetings_by_window(struct fsl_buckets *out, struct fsl_arena *arena,
				   const struct fsl_replay *replay,
				   const struct fsl_replay_graph *graph)
{
	size_t n = graph->n_meetings;
	if (!alloc_buckets(out, arena, n, graph->n_windows)) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		out->begin[window_of(replay, graph, graph->meetings[i].step) + 2]++;
	}
	set_begins(out, graph->n_windows);
	for (size_t i = 0; i < n; i++) {
		size_t w = window_of(replay, graph, graph->meetings[i].step);
		out->list[out->begin[w + 1]++] = (uint32_t)i;
	}
	return true;
}

/* The same of events that are no operators of the cells. */
static bool late_by_window(struct fsl_buckets *out, struct fsl_arena *arena,
			   const struct fsl_replay *replay, const struct fsl_replay_graph *graph)
{
	size_t n = graph->n_events - graph->n_ops;
	if (!alloc_buckets(out, arena, n, graph->n_windows)) {
		return false;
	}
	for (size_t e = graph->n_ops; e < graph->n_events; e++) {
		out->begin[window_of(replay, graph, graph->events[e].step) + 2]++;
	}
	set_begins(out, graph->n_windows);
	for (size_t e = graph->n_ops; e < graph->n_events; e++) {
		size_t w = window_of(replay, graph, graph->events[e].step);
		out->list[out->begin[w + 1]++] = (uint32_t)e;
	}
	return true;
}

static bool sort_init(struct sort *sort, struct fsl_arena *arena)
{
	const struct fsl_replay_graph *graph = sort->graph;
	size_t n = graph->n_events;
	bool has_lists = true;
	sort->n_before = fsl_arena_take(arena, n * sizeof(*sort->n_before));
	sort->n_missing = fsl_arena_take(arena, graph->n_meetings * sizeof(*sort->n_missing));
	for (size_t k = 0; k < AFTER_N; k++) {
		sort->first[k] = fsl_arena_take(arena, n * sizeof(*sort->first[k]));
		sort->next[k] = fsl_arena_take(arena, n * sizeof(*sort->next[k]));
		has_lists = has_lists && sort->first[k] != NULL && sort->next[k] != NULL;
	}
	return has_lists && sort->n_before != NULL && sort->n_missing != NULL &&
	       late_by_window(&sort->late, arena, sort->replay, graph) &&
	       fsl_replay_meetings_by_window(&sort->meetings, arena, sort->replay, graph);
}

/* Room for the nodes of each window: no more than it has events. */
static void place_windows(const struct sort *sort)
{
	struct fsl_replay_graph *graph = sort->graph;
	size_t n = 0;
	for (size_t w = 0; w < graph->n_windows; w++) {
		size_t n_slots = count_events(sort, w);
		graph->order_begin[w] = n;
		graph->n_slots = n_slots > graph->n_slots ? n_slots : graph->n_slots;
		n += n_slots;
	}
}

enum fsl_status fsl_replay_set_order(struct fsl_replay *out, struct fsl_replay_graph *graph,
				     struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	enum fsl_status status = FSL_OK;
	size_t n = graph->n_events, n_windows = graph->n_windows, n_cut = 0;
	struct sort sort = {.replay = out, .graph = graph};
	graph->order = fsl_arena_take(&out->arena, n * sizeof(*graph->order));
	graph->slot = fsl_arena_take(&out->arena, n * sizeof(*graph->slot));
	graph->order_begin = fsl_arena_alloc(&out->arena, n_windows * sizeof(*graph->order_begin));
	graph->order_end = fsl_arena_alloc(&out->arena, n_windows * sizeof(*graph->order_end));
	if (!sort_init(&sort, &scratch) || graph->order == NULL || graph->slot == NULL ||
	    graph->order_begin == NULL || graph->order_end == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: events=%zu", n);
		goto out;
	}
	place_windows(&sort);
#pragma omp parallel for schedule(static) reduction(+ : n_cut)
	for (size_t w = 0; w < n_windows; w++) { /* neighbours write to the same pages */
		n_cut += order_window(&sort, w);
	}
	out->n_cut = n_cut;
out:
	fsl_arena_fini(&scratch);
	return status;
}

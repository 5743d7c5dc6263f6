/* A topological order of the graph (Kahn, CACM 1962), once; meetings in a cycle are cut. */
#include "replay/graph.h"

/* What is still missing before a node can run. */
struct sort {
	struct fsl_replay_graph *graph;
	uint8_t *n_before;    /* per event: predecessors that have not ended */
	uint32_t *n_missing;  /* per meeting: members that have not arrived */
	uint32_t *successors; /* events that follow an event */
	size_t *begin;        /* [n_events + 1] into successors */
	uint32_t *queue;      /* nodes as they can be run */
	size_t n_queued;
	size_t n_cut;
};

static void count_before(struct sort *sort)
{
	const struct fsl_replay_graph *graph = sort->graph;
	for (size_t i = 0; i < graph->n_events; i++) {
		const struct fsl_event *event = &graph->events[i];
		const uint32_t before[] = {event->pred, event->beside};
		for (size_t k = 0; k < 2; k++) {
			if (before[k] != FSL_NO_NODE) {
				sort->n_before[i]++;
				sort->begin[before[k] + 1]++;
			}
		}
	}
	for (size_t i = 0; i < graph->n_events; i++) {
		sort->begin[i + 1] += sort->begin[i];
	}
}

/* Fills successors; begin[i] moves to the end of i's list and is moved back. */
static void list_successors(struct sort *sort)
{
	const struct fsl_replay_graph *graph = sort->graph;
	for (size_t i = 0; i < graph->n_events; i++) {
		const uint32_t before[] = {graph->events[i].pred, graph->events[i].beside};
		for (size_t k = 0; k < 2; k++) {
			if (before[k] != FSL_NO_NODE) {
				sort->successors[sort->begin[before[k]]++] = (uint32_t)i;
			}
		}
	}
	for (size_t i = graph->n_events; i > 0; i--) {
		sort->begin[i] = sort->begin[i - 1];
	}
	sort->begin[0] = 0;
}

static void enqueue(struct sort *sort, uint32_t node)
{
	sort->queue[sort->n_queued++] = node;
}

/* An event whose predecessors have ended. */
static void arrive(struct sort *sort, uint32_t event_idx)
{
	const struct fsl_replay_graph *graph = sort->graph;
	uint32_t meeting = graph->events[event_idx].meeting;
	if (meeting == FSL_NO_NODE || graph->meetings[meeting].is_cut) {
		enqueue(sort, event_idx);
	} else if (--sort->n_missing[meeting] == 0) {
		enqueue(sort, (uint32_t)(graph->n_events + meeting));
	}
}

static void end_event(struct sort *sort, uint32_t event_idx)
{
	for (size_t k = sort->begin[event_idx]; k < sort->begin[event_idx + 1]; k++) {
		uint32_t next = sort->successors[k];
		if (--sort->n_before[next] == 0) {
			arrive(sort, next);
		}
	}
}

static void end_node(struct sort *sort, uint32_t node)
{
	const struct fsl_replay_graph *graph = sort->graph;
	if (node < graph->n_events) {
		end_event(sort, node);
		return;
	}
	const struct fsl_meeting *meeting = &graph->meetings[node - graph->n_events];
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		end_event(sort, graph->members[meeting->member_begin + m].event);
	}
}

/* The members of a meeting that waits for itself go their own ways. */
static void cut(struct sort *sort, size_t meeting_idx)
{
	struct fsl_meeting *meeting = &sort->graph->meetings[meeting_idx];
	meeting->is_cut = true;
	sort->n_cut++;
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		uint32_t event = sort->graph->members[meeting->member_begin + m].event;
		if (sort->n_before[event] == 0) {
			enqueue(sort, event);
		}
	}
}

/*
 * Next meeting to cut when nothing can run: the first in the graph's order some member of which has
 * arrived. The cursor only goes forward, so all cuts together look at each meeting once, and then
 * once more for those that nobody had reached.
 */
static bool cut_next(struct sort *sort, size_t *cursor, bool *wants_arrived)
{
	const struct fsl_replay_graph *graph = sort->graph;
	for (;; *cursor = 0, *wants_arrived = false) {
		for (; *cursor < graph->n_meetings; (*cursor)++) {
			const struct fsl_meeting *meeting = &graph->meetings[*cursor];
			uint32_t n_missing = sort->n_missing[*cursor];
			bool is_stuck = n_missing > 0 && !meeting->is_cut;
			if (is_stuck && (!*wants_arrived || n_missing < meeting->n_members)) {
				cut(sort, *cursor);
				return true;
			}
		}
		if (!*wants_arrived) {
			return false;
		}
	}
}

static void run(struct sort *sort)
{
	const struct fsl_replay_graph *graph = sort->graph;
	size_t next = 0, cursor = 0;
	bool wants_arrived = true;
	for (size_t m = 0; m < graph->n_meetings; m++) {
		sort->n_missing[m] = graph->meetings[m].n_members;
	}
	for (size_t i = 0; i < graph->n_events; i++) {
		if (sort->n_before[i] == 0) {
			arrive(sort, (uint32_t)i);
		}
	}
	do {
		while (next < sort->n_queued) {
			end_node(sort, sort->queue[next++]);
		}
	} while (cut_next(sort, &cursor, &wants_arrived));
}

static size_t window_of(const struct fsl_replay *out, const struct fsl_replay_graph *graph,
			uint32_t node)
{
	uint32_t step = node < graph->n_events ? graph->events[node].step
					       : graph->meetings[node - graph->n_events].step;
	return graph->window_of[out->step_idx[step]];
}

/* Brings the queue into order of windows; inside each it stays as it is. */
static void sort_by_window(struct fsl_replay *out, struct fsl_replay_graph *graph,
			   const uint32_t *queue, size_t n_queued)
{
	size_t *begin = graph->order_begin; /* one place ahead until the windows are filled */
	for (size_t k = 0; k < n_queued; k++) {
		begin[window_of(out, graph, queue[k]) + 2]++;
	}
	for (size_t w = 2; w <= graph->n_windows; w++) {
		begin[w] += begin[w - 1];
	}
	for (size_t k = 0; k < n_queued; k++) {
		graph->order[begin[window_of(out, graph, queue[k]) + 1]++] = queue[k];
	}
}

enum fsl_status fsl_replay_set_order(struct fsl_replay *out, struct fsl_replay_graph *graph,
				     struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	enum fsl_status status = FSL_OK;
	size_t n = graph->n_events;
	struct sort sort = {.graph = graph};
	sort.n_before = fsl_arena_alloc(&scratch, n * sizeof(*sort.n_before));
	sort.n_missing = fsl_arena_alloc(&scratch, graph->n_meetings * sizeof(*sort.n_missing));
	sort.successors = fsl_arena_alloc(&scratch, 2 * n * sizeof(*sort.successors));
	sort.begin = fsl_arena_alloc(&scratch, (n + 1) * sizeof(*sort.begin));
	sort.queue = fsl_arena_alloc(&scratch, n * sizeof(*sort.queue));
	graph->order = fsl_arena_alloc(&out->arena, n * sizeof(*graph->order));
	graph->order_begin =
		fsl_arena_alloc(&out->arena, (graph->n_windows + 2) * sizeof(*graph->order_begin));
	if (sort.n_before == NULL || sort.n_missing == NULL || sort.successors == NULL ||
	    sort.begin == NULL || sort.queue == NULL || graph->order == NULL ||
	    graph->order_begin == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: events=%zu", n);
		goto out;
	}
	count_before(&sort);
	list_successors(&sort);
	run(&sort);
	sort_by_window(out, graph, sort.queue, sort.n_queued);
	out->n_cut = sort.n_cut;
out:
	fsl_arena_fini(&scratch);
	return status;
}

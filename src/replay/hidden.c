/* Waits that left no marker, told from what ended when they ended. */
#include "base/log.h"
#include "base/number.h"
#include "replay/graph.h"

/*
 * Operators that meet nobody. If a member of the communicator left no data, the operator may have
 * waited for it; its least duration is what it takes when that member is in time.
 */

/* Operators of one communicator on one rank. */
struct kind {
	uint32_t op_id, group_id;
	int64_t least_ns;
};

/* The operators of one rank in one window, and their events. */
struct stretch {
	const struct fsl_op *ops;
	struct fsl_event *events;
	size_t n;
};

static struct stretch stretch_of(const struct fsl_replay *replay, struct fsl_replay_graph *graph,
				 size_t r, size_t w)
{
	const struct fsl_cuts *cuts = graph->job->cuts;
	const struct fsl_window *window = &graph->windows[w];
	size_t cell = r * graph->n_windows + w;
	size_t first = fsl_cuts_first(cuts, r, replay->step_idx[window->begin]);
	return (struct stretch){graph->job->run->ranks[r].ops + first,
				graph->events + graph->event_begin[cell],
				graph->event_begin[cell + 1] - graph->event_begin[cell]};
}

static struct kind *find_kind(struct kind *kinds, size_t *n_kinds, const struct fsl_op *op)
{
	for (size_t k = 0; k < *n_kinds; k++) {
		if (kinds[k].op_id == op->op_id && kinds[k].group_id == op->group_id) {
			return &kinds[k];
		}
	}
	if (*n_kinds == FSL_OP_KINDS_MAX) {
		return NULL;
	}
	kinds[*n_kinds] = (struct kind){op->op_id, op->group_id, INT64_MAX};
	return &kinds[(*n_kinds)++];
}

static bool is_for_unseen(const struct fsl_replay_graph *graph, const struct fsl_op *op,
			  const struct fsl_event *event)
{
	const bool *misses_members = graph->job->misses_members;
	return misses_members != NULL && op->group_id != FSL_STR_NONE &&
	       misses_members[op->group_id] && event->meeting == FSL_NO_NODE;
}

/* Marks them and finds the least of each kind. */
static void mark(struct fsl_replay_graph *graph, const struct stretch *stretch, struct kind *kinds,
		 size_t *n_kinds)
{
	for (size_t i = 0; i < stretch->n; i++) {
		struct fsl_event *event = &stretch->events[i];
		event->is_for_unseen = is_for_unseen(graph, &stretch->ops[i], event);
		if (event->is_for_unseen) {
			struct kind *kind = find_kind(kinds, n_kinds, &stretch->ops[i]);
			if (kind != NULL && event->alone_ns < kind->least_ns) {
				kind->least_ns = event->alone_ns;
			}
		}
	}
}

static void set_least(const struct stretch *stretch, struct kind *kinds, size_t *n_kinds)
{
	for (size_t i = 0; i < stretch->n; i++) {
		struct fsl_event *event = &stretch->events[i];
		const struct kind *kind =
			event->is_for_unseen ? find_kind(kinds, n_kinds, &stretch->ops[i]) : NULL;
		if (kind != NULL) {
			FSL_ASSERT(kind->least_ns <= event->alone_ns);
			event->alone_ns = kind->least_ns;
		}
	}
}

static void set_rank(const struct fsl_replay *replay, struct fsl_replay_graph *graph, size_t r)
{
	struct kind kinds[FSL_OP_KINDS_MAX];
	size_t n_kinds = 0;
	for (size_t w = 0; w < graph->n_windows; w++) {
		struct stretch stretch = stretch_of(replay, graph, r, w);
		mark(graph, &stretch, kinds, &n_kinds);
	}
	for (size_t w = 0; w < graph->n_windows; w++) {
		struct stretch stretch = stretch_of(replay, graph, r, w);
		set_least(&stretch, kinds, &n_kinds);
	}
}

static bool has_unseen(const struct fsl_replay_job *job)
{
	size_t n_names = fsl_strpool_size(job->run->names);
	for (size_t i = 0; i < n_names && job->misses_members != NULL; i++) {
		if (job->misses_members[i]) {
			return true;
		}
	}
	return false;
}

void fsl_replay_set_alone(struct fsl_replay *out, struct fsl_replay_graph *graph)
{
	size_t n_ranks = has_unseen(graph->job) ? out->n_ranks : 0;
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t r = 0; r < n_ranks; r++) {
		set_rank(out, graph, r);
	}
}

static bool is_explained(int64_t ready_ns, int64_t begin_ns, int64_t cause_ns)
{
	int64_t waited_ns = cause_ns - ready_ns;
	double off_ns = (double)(begin_ns - cause_ns);
	return waited_ns >= FSL_HIDDEN_IDLE_NS_MIN &&
	       off_ns <= FSL_HIDDEN_COINCIDENCE_SHARE * (double)waited_ns &&
	       off_ns >= -FSL_HIDDEN_COINCIDENCE_SHARE * (double)waited_ns;
}

/* The same place of a step on all ranks of a class that use the same operators. */
struct place {
	uint32_t *events; /* [n] */
	size_t n;
	uint32_t *alike; /* [n]: rank indices */
};

/* End of recorded work before an event. */
static int64_t ready_ns(const struct fsl_event *event)
{
	return event->begin_ns - event->tail_ns;
}

/* A barrier: virtual events before those of the place; waiting ones are released by the last. */
static enum fsl_status add_barrier(struct fsl_replay *out, struct fsl_replay_graph *graph,
				   const struct place *place, int64_t release_ns,
				   struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(graph->events, graph->events_capacity, graph->n_events + place->n, err));
	FSL_TRY(FSL_GROW(graph->members, graph->members_capacity, graph->n_members + place->n,
			 err));
	FSL_TRY(FSL_GROW(graph->meetings, graph->meetings_capacity, graph->n_meetings + 1, err));
	struct fsl_meeting *meeting = &graph->meetings[graph->n_meetings];
	*meeting = (struct fsl_meeting){.member_begin = graph->n_members,
					.n_members = (uint32_t)place->n,
					.channel_idx = FSL_NO_NODE,
					.step = graph->events[place->events[0]].step};
	for (size_t k = 0; k < place->n; k++) {
		struct fsl_event *event = &graph->events[place->events[k]];
		struct fsl_event *wait = &graph->events[graph->n_events];
		bool is_waiting = is_explained(ready_ns(event), event->begin_ns, release_ns);
		*wait = *event;
		wait->end_ns = is_waiting ? release_ns : ready_ns(event);
		wait->begin_ns = ready_ns(event);
		FSL_ASSERT(wait->begin_ns <= wait->end_ns && event->tail_ns <= event->idle_ns);
		wait->alone_ns = wait->end_ns - wait->begin_ns;
		wait->idle_ns = event->idle_ns - event->tail_ns;
		wait->tail_ns = 0;
		wait->meeting = (uint32_t)graph->n_meetings;
		event->pred = (uint32_t)graph->n_events;
		event->beside = FSL_NO_NODE;
		event->work_ns = event->level_ns = 0;
		event->n_pieces = 0;
		event->idle_ns = event->tail_ns =
			is_waiting ? event->begin_ns - release_ns : event->tail_ns;
		if (is_waiting) {
			event->tail_ns = 0;
			out->n_hidden++;
		}
		graph->members[graph->n_members++] =
			(struct fsl_member){(uint32_t)graph->n_events++, is_waiting};
	}
	graph->n_meetings++;
	out->n_meetings++;
	return FSL_OK;
}

/* Looks for a barrier at one place: most ranks are idle until the last of them is ready. */
static enum fsl_status judge_place(struct fsl_replay *out, struct fsl_replay_graph *graph,
				   const struct place *place, struct fsl_error *err)
{
	int64_t release_ns = INT64_MIN;
	size_t n_waiting = 0;
	for (size_t k = 0; k < place->n; k++) {
		int64_t at_ns = ready_ns(&graph->events[place->events[k]]);
		release_ns = at_ns > release_ns ? at_ns : release_ns;
	}
	for (size_t k = 0; k < place->n; k++) {
		const struct fsl_event *event = &graph->events[place->events[k]];
		n_waiting += is_explained(ready_ns(event), event->begin_ns, release_ns);
	}
	bool is_barrier = n_waiting > 0 && (double)n_waiting >= FSL_HIDDEN_WAITING_SHARE_MIN *
									(double)(place->n - 1);
	return is_barrier ? add_barrier(out, graph, place, release_ns, err) : FSL_OK;
}

static enum fsl_status judge_class(struct fsl_replay *out, struct fsl_replay_graph *graph,
				   size_t class_idx, size_t i, struct place *place,
				   struct fsl_error *err)
{
	const struct fsl_replay_job *job = graph->job;
	size_t n_events = 0, n_alike = 0;
	uint32_t first = job->members[job->class_begin[class_idx]];
	for (size_t k = job->class_begin[class_idx]; k < job->class_begin[class_idx + 1]; k++) {
		if (fsl_replay_is_alike(out, graph, first, job->members[k], i)) {
			place->alike[n_alike++] = job->members[k];
		}
	}
	(void)fsl_replay_step_events(out, graph, first, i, &n_events);
	for (size_t e = 0; e < n_events && n_alike > 1; e++) {
		place->n = n_alike;
		for (size_t k = 0; k < n_alike; k++) {
			size_t n = 0;
			place->events[k] = (uint32_t)(fsl_replay_step_events(
							      out, graph, place->alike[k], i, &n) +
						      e);
		}
		FSL_TRY(judge_place(out, graph, place, err));
	}
	return FSL_OK;
}

/* Idle until another member of the operator that follows arrives: its arrival is when its work was
 * over. */
static void excuse_members(struct fsl_replay *out, struct fsl_replay_graph *graph)
{
	for (size_t i = 0; i < graph->n_meetings; i++) {
		const struct fsl_meeting *meeting = &graph->meetings[i];
		const struct fsl_member *members = graph->members + meeting->member_begin;
		int64_t last_ns = INT64_MIN, second_ns = INT64_MIN;
		uint32_t last = 0;
		for (uint32_t m = 0; m < meeting->n_members; m++) {
			int64_t at_ns = graph->events[members[m].event].begin_ns;
			if (at_ns > last_ns) {
				second_ns = last_ns;
				last_ns = at_ns;
				last = m;
			} else {
				second_ns = at_ns > second_ns ? at_ns : second_ns;
			}
		}
		for (uint32_t m = 0; m < meeting->n_members; m++) {
			struct fsl_event *event = &graph->events[members[m].event];
			int64_t others_ns = m == last ? second_ns : last_ns;
			if (event->tail_ns > 0 && members[m].is_waiting &&
			    is_explained(ready_ns(event), event->begin_ns, others_ns)) {
				event->idle_ns -= event->tail_ns;
				event->tail_ns = 0;
				out->n_hidden++;
			}
		}
	}
}

enum fsl_status fsl_replay_add_hidden(struct fsl_replay *out, struct fsl_replay_graph *graph,
				      struct fsl_error *err)
{
	const struct fsl_replay_job *job = graph->job;
	struct place place = {.n = 0};
	if (!job->own->has_stages || job->counts_idle) {
		return FSL_OK;
	}
	FSL_TRY(FSL_ARENA_NEW(place.events, &out->arena, out->n_ranks, "events", err));
	FSL_TRY(FSL_ARENA_NEW(place.alike, &out->arena, out->n_ranks, "alike", err));
	for (size_t c = 0; c < job->n_classes; c++) {
		for (size_t i = 0; i < out->n_steps; i++) {
			FSL_TRY(judge_class(out, graph, c, i, &place, err));
		}
	}
	excuse_members(out, graph);
	return FSL_OK;
}

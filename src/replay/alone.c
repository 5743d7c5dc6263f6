/*
 * Operators that meet nobody. If a member of the communicator left no data, the operator may have
 * waited for it; its least duration is what it takes when that member is in time.
 */
#include "base/log.h"
#include "replay/graph.h"

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

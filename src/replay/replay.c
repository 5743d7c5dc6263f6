/* Builds the graph and runs it under repairs. */
#include "replay/replay.h"

#include <math.h>
#include <omp.h>

#include "base/number.h"
#include "replay/graph.h"

static enum fsl_status alloc_levels(struct fsl_replay *out, struct fsl_error *err)
{
	size_t n_own = 0, n_transfer = 0, n_rows = 0;
	if (fsl_mul_size(out->n_ranks, out->n_steps, &n_rows) &&
	    fsl_mul_size(n_rows, FSL_REPLAY_PARTS_N * sizeof(double), &n_own) &&
	    fsl_mul_size(out->n_channels, out->n_steps * sizeof(double), &n_transfer)) {
		out->own_factor = fsl_arena_alloc(&out->arena, n_own);
		out->kind = fsl_arena_alloc(&out->arena, n_rows * sizeof(*out->kind));
		out->transfer_factor = fsl_arena_alloc(&out->arena, n_transfer);
	}
	out->measured_ms = fsl_arena_alloc(&out->arena, out->n_steps * sizeof(double));
	out->replayed_ms = fsl_arena_alloc(&out->arena, out->n_steps * sizeof(double));
	if (out->own_factor == NULL || out->kind == NULL || out->transfer_factor == NULL ||
	    out->measured_ms == NULL || out->replayed_ms == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu, steps=%zu",
				out->n_ranks, out->n_steps);
	}
	for (size_t i = 0; i < n_own / sizeof(double); i++) {
		out->own_factor[i] = 1.0;
	}
	for (size_t i = 0; i < n_transfer / sizeof(double); i++) {
		out->transfer_factor[i] = 1.0;
	}
	return FSL_OK;
}

/* Adds how far one rank is at the end of each step of a window, ns since its start there. */
static void add_rank(const struct fsl_replay_graph *graph, size_t cell, const int64_t *end_ns,
		     const struct fsl_window *window, double *reached_ns)
{
	int64_t last_ns = graph->start_ns[cell];
	size_t i = window->begin;
	for (size_t e = graph->event_begin[cell]; e < graph->event_begin[cell + 1]; e++) {
		int64_t at_ns = end_ns != NULL ? end_ns[e] : graph->events[e].end_ns;
		for (; i < graph->events[e].step; i++) {
			reached_ns[i] += (double)(last_ns - graph->start_ns[cell]);
		}
		last_ns = at_ns > last_ns ? at_ns : last_ns;
	}
	for (; i < window->end; i++) {
		reached_ns[i] += (double)(last_ns - graph->start_ns[cell]);
	}
}

/*
 * A step lasts from the last end in the step before to its own last end, mean over the ranks: where
 * a lost record has moved one rank's cuts by an operator, it hardly counts. @reached_ns: scratch,
 * n_steps.
 */
static void set_step_times(const struct fsl_replay *replay, const int64_t *end_ns,
			   double *reached_ns, double *step_ms)
{
	const struct fsl_replay_graph *graph = replay->graph;
	for (size_t i = 0; i < replay->n_steps; i++) {
		reached_ns[i] = 0.0;
	}
	for (size_t w = 0; w < graph->n_windows; w++) {
		const struct fsl_window *window = &graph->windows[w];
		size_t n_ranks = 0;
		for (size_t r = 0; r < replay->n_ranks; r++) {
			size_t cell = r * graph->n_windows + w;
			if (graph->event_begin[cell] < graph->event_begin[cell + 1]) {
				add_rank(graph, cell, end_ns, window, reached_ns);
				n_ranks++;
			}
		}
		for (size_t i = window->begin; i < window->end; i++) {
			double before_ns = i > window->begin ? reached_ns[i - 1] : 0.0;
			step_ms[i] = n_ranks > 0 ? (reached_ns[i] - before_ns) / (double)n_ranks /
							   FSL_NS_PER_MS
						 : 0.0;
		}
	}
}

/* One run of the graph under a repair. */
struct pass {
	const struct fsl_replay_graph *graph;
	const struct fsl_repair *repair;
	int64_t *end_ns; /* per event */
};

/* Own time before an event with @parts of it at their level. */
static int64_t level_of(const struct fsl_replay_graph *graph, const struct fsl_event *event,
			uint32_t parts)
{
	int64_t ns = 0;
	for (uint32_t k = 0; k < event->n_pieces; k++) {
		const struct fsl_piece *piece = &graph->pieces[event->piece_begin + k];
		bool is_level = (parts >> piece->part & UINT32_C(1)) != 0;
		ns += is_level ? piece->level_ns : piece->ns;
	}
	return ns;
}

static int64_t arrival_ns(const struct pass *pass, const struct fsl_event *event)
{
	const struct fsl_repair *repair = pass->repair;
	int64_t at_ns = event->pred != FSL_NO_NODE ? pass->end_ns[event->pred] : event->base_ns;
	bool is_level = repair->ranks != NULL && repair->ranks[event->rank_idx];
	if (!is_level) {
		at_ns += event->work_ns;
	} else if (repair->parts == FSL_REPLAY_PARTS_ALL) {
		at_ns += event->level_ns;
	} else {
		at_ns += level_of(pass->graph, event, repair->parts);
	}
	at_ns += event->idle_ns;
	if (event->beside != FSL_NO_NODE) {
		int64_t beside_ns = pass->end_ns[event->beside] + event->beside_ns;
		at_ns = beside_ns > at_ns ? beside_ns : at_ns;
	}
	return at_ns;
}

static void meet(const struct pass *pass, const struct fsl_meeting *meeting)
{
	const struct fsl_repair *repair = pass->repair;
	const struct fsl_member *members = pass->graph->members + meeting->member_begin;
	bool is_level = repair->channels != NULL && meeting->channel_idx != FSL_NO_NODE &&
			repair->channels[meeting->channel_idx];
	int64_t last_ns = INT64_MIN;
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		const struct fsl_event *event = &pass->graph->events[members[m].event];
		int64_t at_ns = arrival_ns(pass, event);
		pass->end_ns[members[m].event] = at_ns;
		last_ns = at_ns > last_ns ? at_ns : last_ns;
	}
	last_ns += is_level ? meeting->level_ns : meeting->transfer_ns;
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		const struct fsl_event *event = &pass->graph->events[members[m].event];
		if (members[m].is_waiting) {
			pass->end_ns[members[m].event] = last_ns;
		} else {
			pass->end_ns[members[m].event] += event->end_ns - event->begin_ns;
		}
	}
}

static void run_pass(const struct pass *pass)
{
	const struct fsl_replay_graph *graph = pass->graph;
	for (size_t k = 0; k < graph->n_order; k++) {
		uint32_t node = graph->order[k];
		if (node >= graph->n_events) {
			meet(pass, &graph->meetings[node - graph->n_events]);
			continue;
		}
		const struct fsl_event *event = &graph->events[node];
		int64_t dur_ns = pass->repair->skips_unseen ? event->alone_ns
							    : event->end_ns - event->begin_ns;
		pass->end_ns[node] = arrival_ns(pass, event) + dur_ns;
	}
}

enum fsl_status fsl_replay_run(const struct fsl_replay *replay, const struct fsl_repair *repairs,
			       size_t n, double *step_ms, struct fsl_error *err)
{
	size_t n_events = replay->graph->n_events, n_bytes = 0;
	size_t n_threads = (size_t)omp_get_max_threads();
	n_threads = n < n_threads ? n : n_threads;
	int64_t *work = NULL;
	double *reached_ns = fsl_calloc(n_threads, replay->n_steps * sizeof(*reached_ns));
	if (fsl_mul_size(n_threads, n_events * sizeof(*work), &n_bytes)) {
		work = fsl_calloc(1, n_bytes);
	}
	if (work == NULL || reached_ns == NULL) {
		fsl_free(work);
		fsl_free(reached_ns);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: events=%zu", n_events);
	}
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)n_threads)
	for (size_t i = 0; i < n; i++) {
		size_t thread = (size_t)omp_get_thread_num();
		int64_t *end_ns = work + thread * n_events;
		run_pass(&(struct pass){replay->graph, &repairs[i], end_ns});
		set_step_times(replay, end_ns, reached_ns + thread * replay->n_steps,
			       step_ms + i * replay->n_steps);
	}
	fsl_free(reached_ns);
	fsl_free(work);
	return FSL_OK;
}

/* Share of the replayed time that the worst rank spends in operators that meet nobody although all
 * members left data. */
static enum fsl_status set_unmatched(struct fsl_replay *out, struct fsl_error *err)
{
	const struct fsl_replay_graph *graph = out->graph;
	double *alone_ms = fsl_calloc(out->n_ranks, sizeof(*alone_ms)), total_ms = 0.0;
	if (alone_ms == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n_ranks);
	}
	for (size_t i = 0; i < out->n_steps; i++) {
		total_ms += out->measured_ms[i];
	}
	for (size_t e = 0; e < graph->n_ops; e++) {
		const struct fsl_event *event = &graph->events[e];
		bool is_alone =
			(event->meeting == FSL_NO_NODE && !event->is_for_unseen) ||
			(event->meeting != FSL_NO_NODE && graph->meetings[event->meeting].is_cut);
		double dur_ms = (double)(event->end_ns - event->begin_ns) / FSL_NS_PER_MS;
		alone_ms[event->rank_idx] += is_alone ? dur_ms : 0.0;
	}
	for (size_t r = 0; r < out->n_ranks && total_ms > 0.0; r++) {
		out->unmatched_share = fmax(out->unmatched_share, alone_ms[r] / total_ms);
	}
	fsl_free(alone_ms);
	return FSL_OK;
}

/* What the graph says of the job as it was. */
static enum fsl_status set_baseline(struct fsl_replay *out, struct fsl_error *err)
{
	double *reached_ns = fsl_calloc(out->n_steps, sizeof(*reached_ns));
	if (reached_ns == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", out->n_steps);
	}
	set_step_times(out, NULL, reached_ns, out->measured_ms);
	fsl_free(reached_ns);
	enum fsl_status status = set_unmatched(out, err);
	return status == FSL_OK
		       ? fsl_replay_run(out, &(struct fsl_repair){0}, 1, out->replayed_ms, err)
		       : status;
}

static enum fsl_status build_graph(struct fsl_replay *out, struct fsl_replay_graph *graph,
				   struct fsl_error *err)
{
	enum fsl_status status = alloc_levels(out, err);
	if (status == FSL_OK) {
		status = fsl_replay_add_events(out, graph, err);
	}
	if (status == FSL_OK) {
		status = fsl_replay_add_meetings(out, graph, err);
	}
	if (status == FSL_OK) {
		fsl_replay_set_beside(out, graph);
		status = fsl_replay_add_hidden(out, graph, err);
	}
	if (status == FSL_OK) {
		fsl_replay_set_alone(out, graph);
		status = fsl_replay_set_order(out, graph, err);
	}
	if (status == FSL_OK) {
		out->graph = graph;
		out->n_ops = graph->n_ops;
		out->n_meetings = graph->n_meetings;
		status = set_baseline(out, err);
	}
	return status;
}

static void free_graph(struct fsl_replay_graph *graph)
{
	if (graph != NULL) {
		fsl_free(graph->events);
		fsl_free(graph->pieces);
		fsl_free(graph->lost);
		fsl_free(graph->meetings);
		fsl_free(graph->members);
	}
}

enum fsl_status fsl_replay_build(struct fsl_replay *out, const struct fsl_replay_job *job,
				 struct fsl_error *err)
{
	*out = (struct fsl_replay){.n_ranks = job->run->n_ranks,
				   .n_channels = job->match->n_channels};
	struct fsl_replay_graph *graph = fsl_arena_alloc(&out->arena, sizeof(*graph));
	enum fsl_status status =
		graph != NULL ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: replay");
	if (status == FSL_OK) {
		graph->job = job;
		status = fsl_replay_sample(out, graph, err);
	}
	if (status == FSL_OK && out->n_steps > 0) {
		status = build_graph(out, graph, err);
	}
	if (status != FSL_OK) {
		out->graph = graph;
		fsl_replay_fini(out);
	}
	return status;
}

void fsl_replay_fini(struct fsl_replay *replay)
{
	free_graph(replay->graph);
	fsl_arena_fini(&replay->arena);
	*replay = (struct fsl_replay){0};
}

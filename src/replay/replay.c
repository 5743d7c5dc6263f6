/* Builds the graph and runs it under repairs. */
#include "replay/replay.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "replay/graph.h"

/* Which steps are replayed. */

static size_t count_ops(const struct fsl_cuts *cuts)
{
	size_t n = 0;
	for (size_t r = 0; r < cuts->n_ranks; r++) {
		n += fsl_cuts_first(cuts, r, cuts->n_steps) - fsl_cuts_first(cuts, r, 0);
	}
	return n;
}

/* Steps that the budget allows; 0 when not even one fits. */
static size_t steps_allowed(const struct fsl_replay_job *job)
{
	size_t n_steps = job->cuts->n_steps, n_ops = count_ops(job->cuts);
	size_t n = job->steps_max < n_steps ? job->steps_max : n_steps;
	if (n_ops > job->ops_max) {
		double share = (double)job->ops_max / (double)n_ops;
		size_t n_fit = (size_t)((double)n_steps * share);
		n = n_fit < n ? n_fit : n;
	}
	return n;
}

/* Marks a window of at most @n_left steps around a step; returns how many were not marked yet. */
static size_t mark_window(uint8_t *is_taken, size_t n_steps, size_t centre, size_t n_left)
{
	size_t length = n_left < FSL_REPLAY_WINDOW_STEPS ? n_left : FSL_REPLAY_WINDOW_STEPS, n = 0;
	size_t begin = centre > length / 2 ? centre - length / 2 : 0;
	if (begin + length > n_steps) {
		begin = n_steps - length; /* there are more steps than may be taken */
	}
	for (size_t s = begin; s < begin + length; s++) {
		n += !is_taken[s];
		is_taken[s] = 1;
	}
	return n;
}

/* Focus gets up to half of the steps, what is left is spread evenly. */
static void mark_steps(uint8_t *is_taken, const struct fsl_replay_job *job, size_t n_allowed)
{
	size_t n_steps = job->cuts->n_steps, n_left = n_allowed;
	if (n_allowed >= n_steps) {
		memset(is_taken, 1, n_steps);
		return;
	}
	for (size_t i = 0; i < job->n_focus && n_left > n_allowed / 2; i++) {
		n_left -=
			mark_window(is_taken, n_steps, job->focus_steps[i], n_left - n_allowed / 2);
	}
	size_t n_windows = (n_left + FSL_REPLAY_WINDOW_STEPS - 1) / FSL_REPLAY_WINDOW_STEPS;
	for (size_t w = 0; w < n_windows; w++) {
		size_t centre = (2 * w + 1) * n_steps / (2 * n_windows);
		n_left -= mark_window(is_taken, n_steps, centre, n_left);
	}
}

static enum fsl_status list_steps(struct fsl_replay *out, struct fsl_replay_graph *graph,
				  const uint8_t *is_taken, struct fsl_error *err)
{
	size_t n_steps = graph->job->cuts->n_steps;
	for (size_t s = 0; s < n_steps; s++) {
		out->n_steps += is_taken[s];
	}
	FSL_TRY(FSL_ARENA_NEW(out->step_idx, &out->arena, out->n_steps, "step_idx", err));
	FSL_TRY(FSL_ARENA_NEW(graph->windows, &out->arena, out->n_steps, "windows", err));
	FSL_TRY(FSL_ARENA_NEW(graph->window_of, &out->arena, n_steps, "window_of", err));
	FSL_TRY(FSL_ARENA_NEW(graph->step_of, &out->arena, n_steps, "step_of", err));
	size_t n = 0;
	for (size_t s = 0; s < n_steps; s++) {
		graph->window_of[s] = graph->step_of[s] = FSL_NO_NODE;
		if (!is_taken[s]) {
			continue;
		}
		if (s == 0 || !is_taken[s - 1]) {
			graph->windows[graph->n_windows++] = (struct fsl_window){.begin = n};
		}
		graph->window_of[s] = (uint32_t)(graph->n_windows - 1);
		graph->step_of[s] = (uint32_t)n;
		FSL_ASSERT(n < out->n_steps);
		out->step_idx[n++] = (uint32_t)s;
		graph->windows[graph->n_windows - 1].end = n;
	}
	return FSL_OK;
}

/* Which steps: all within the budget, else windows spread evenly and around the focus. */
static enum fsl_status sample_steps(struct fsl_replay *out, struct fsl_replay_graph *graph,
				    struct fsl_error *err)
{
	size_t n_allowed = steps_allowed(graph->job);
	if (n_allowed == 0) {
		return FSL_OK;
	}
	uint8_t *is_taken = NULL;
	FSL_TRY(FSL_ARENA_NEW(is_taken, &out->arena, graph->job->cuts->n_steps, "is_taken", err));
	mark_steps(is_taken, graph->job, n_allowed);
	return list_steps(out, graph, is_taken, err);
}

/* Repairs that are run at once: eight numbers fill a line of the cache. */
enum { LANES_MAX = 8 };

static enum fsl_status alloc_levels(struct fsl_replay *out, struct fsl_error *err)
{
	struct fsl_arena *arena = &out->arena;
	size_t n_rows = 0, n_own = 0, n_transfer = 0;
	if (!fsl_mul_size(out->n_ranks, out->n_steps, &n_rows) ||
	    !fsl_mul_size(n_rows, FSL_REPLAY_PARTS_N, &n_own) ||
	    !fsl_mul_size(out->n_channels, out->n_steps, &n_transfer)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu, steps=%zu",
				out->n_ranks, out->n_steps);
	}
	FSL_TRY(FSL_ARENA_NEW(out->own_factor, arena, n_own, "own_factor", err));
	FSL_TRY(FSL_ARENA_NEW(out->kind, arena, n_rows, "kind", err));
	FSL_TRY(FSL_ARENA_NEW(out->transfer_factor, arena, n_transfer, "transfer_factor", err));
	FSL_TRY(FSL_ARENA_NEW(out->measured_ms, arena, out->n_steps, "measured_ms", err));
	for (size_t i = 0; i < n_own; i++) {
		out->own_factor[i] = 1.0;
	}
	for (size_t i = 0; i < n_transfer; i++) {
		out->transfer_factor[i] = 1.0;
	}
	return FSL_OK;
}

/* Takes in how far a rank is: the sum of all, or the greatest. */
static void reach(double *reached_ns, int64_t ns, const struct fsl_replay_job *job)
{
	*reached_ns =
		job->ends_with_last ? fmax(*reached_ns, (double)ns) : *reached_ns + (double)ns;
}

/*
 * Adds how far one rank is at the end of each step of a window, ns since its start there, under
 * each of @n_lanes repairs. @end_ns: [slot * n_lanes + lane]; NULL: as measured, one lane.
 * @reached_ns: [step * n_lanes + lane].
 */
static void add_rank(const struct fsl_replay_graph *graph, size_t cell, const int64_t *end_ns,
		     size_t n_lanes, const struct fsl_window *window, double *reached_ns)
{
	int64_t last_ns[LANES_MAX], start_ns = graph->start_ns[cell];
	size_t i = window->begin;
	for (size_t lane = 0; lane < n_lanes; lane++) {
		last_ns[lane] = start_ns;
	}
	for (size_t e = graph->event_begin[cell]; e < graph->event_begin[cell + 1]; e++) {
		const int64_t *at_ns = end_ns != NULL ? end_ns + graph->slot[e] * n_lanes
						      : &graph->events[e].end_ns;
		FSL_ASSERT(graph->events[e].step >= window->begin &&
			   graph->events[e].step < window->end);
		for (; i < graph->events[e].step; i++) {
			for (size_t lane = 0; lane < n_lanes; lane++) {
				reach(&reached_ns[i * n_lanes + lane], last_ns[lane] - start_ns,
				      graph->job);
			}
		}
		/* Without a past the rank may begin earlier than it was recorded. */
		bool is_begin =
			e == graph->event_begin[cell] && graph->events[e].begin_ns == start_ns;
		for (size_t lane = 0; lane < n_lanes; lane++) {
			bool is_later = is_begin || at_ns[lane] > last_ns[lane];
			last_ns[lane] = is_later ? at_ns[lane] : last_ns[lane];
		}
	}
	for (; i < window->end; i++) {
		for (size_t lane = 0; lane < n_lanes; lane++) {
			reach(&reached_ns[i * n_lanes + lane], last_ns[lane] - start_ns,
			      graph->job);
		}
	}
}

/*
 * A step lasts from the last end in the step before to its own last end, mean over the ranks unless
 * the job says otherwise: a lost record that has moved one rank's cuts by an operator hardly
 * counts. @reached_ns: scratch, n_steps * n_lanes. @step_ms: [lane * n_steps + i]; the steps of the
 * window are filled.
 */
static void set_step_times(const struct fsl_replay *replay, size_t w, const int64_t *end_ns,
			   size_t n_lanes, double *reached_ns, double *step_ms)
{
	const struct fsl_replay_graph *graph = replay->graph;
	const struct fsl_window *window = &graph->windows[w];
	size_t n_ranks = 0, n_steps = window->end - window->begin;
	memset(reached_ns + window->begin * n_lanes, 0, n_steps * n_lanes * sizeof(*reached_ns));
	for (size_t r = 0; r < replay->n_ranks; r++) {
		size_t cell = r * graph->n_windows + w;
		if (graph->event_begin[cell] < graph->event_begin[cell + 1]) {
			add_rank(graph, cell, end_ns, n_lanes, window, reached_ns);
			n_ranks++;
		}
	}
	double n_counted = graph->job->ends_with_last ? 1.0 : (double)n_ranks;
	for (size_t i = window->begin; i < window->end; i++) {
		for (size_t lane = 0; lane < n_lanes; lane++) {
			const double *reached = reached_ns + i * n_lanes + lane;
			double before_ns = i > window->begin ? *(reached - n_lanes) : 0.0;
			step_ms[lane * replay->n_steps + i] =
				n_ranks > 0 ? (*reached - before_ns) / n_counted / FSL_NS_PER_MS
					    : 0.0;
		}
	}
}

/*
 * One run of the graph under several repairs at once: to fetch the events takes most of the time of
 * a run, and they are the same for all repairs. A mask has all bits if its lane puts the rank or
 * channel at its level, and none else.
 */
struct pass {
	const struct fsl_replay_graph *graph;
	struct fsl_repair repairs[LANES_MAX]; /* the last ones may change nothing */
	size_t n_repairs;
	bool has_parts;         /* some lane levels a part of own time only */
	int64_t *rank_masks;    /* [rank_idx * LANES_MAX + lane] */
	int64_t *channel_masks; /* likewise */
	int64_t unseen_masks[LANES_MAX];
};

/* Scratch of one thread: the times that a window has reached so far. */
struct bench {
	int64_t *end_ns; /* [slot * LANES_MAX + lane] */
	size_t capacity;
	double *reached_ns; /* [i * LANES_MAX + lane] */
	double *step_ms;    /* [lane * n_steps + i] */
};

/* Own time before an event with @parts of it at their level. */
static int64_t level_of(const struct fsl_replay_graph *graph, const struct fsl_event *event,
			uint32_t parts)
{
	const struct fsl_piece *pieces = fsl_event_pieces(graph, event);
	int64_t ns = 0;
	for (uint32_t k = 0; k < event->n_pieces; k++) {
		const struct fsl_piece *piece = &pieces[k];
		bool is_level = (parts >> piece->part & UINT32_C(1)) != 0;
		ns += is_level ? piece->level_ns : piece->ns;
	}
	return ns;
}

static size_t place_of(const struct fsl_replay_graph *graph, uint32_t event)
{
	FSL_ASSERT(event < graph->n_events && graph->slot[event] < graph->n_slots);
	return (size_t)graph->slot[event] * LANES_MAX;
}

/* When the event arrives, per lane. */
static void set_arrival(const struct pass *pass, const int64_t *end_ns,
			const struct fsl_event *event, int64_t at_ns[LANES_MAX])
{
	const int64_t *masks = pass->rank_masks + (size_t)event->rank_idx * LANES_MAX;
	int64_t least_ns = event->work_ns + event->idle_ns;
	int64_t saved_ns = event->level_ns - event->work_ns;
	if (event->pred != FSL_NO_NODE) {
		const int64_t *pred_ns = end_ns + place_of(pass->graph, event->pred);
		for (size_t lane = 0; lane < LANES_MAX; lane++) {
			at_ns[lane] = pred_ns[lane] + least_ns + (masks[lane] & saved_ns);
		}
	} else {
		for (size_t lane = 0; lane < LANES_MAX; lane++) {
			at_ns[lane] = event->base_ns + least_ns + (masks[lane] & saved_ns);
		}
	}
	for (size_t lane = 0; lane < LANES_MAX && pass->has_parts; lane++) {
		uint32_t parts = pass->repairs[lane].parts;
		if (masks[lane] != 0 && parts != FSL_REPLAY_PARTS_ALL) {
			at_ns[lane] += level_of(pass->graph, event, parts) - event->level_ns;
		}
	}
	if (event->beside != FSL_NO_NODE) {
		const int64_t *beside_ns = end_ns + place_of(pass->graph, event->beside);
		for (size_t lane = 0; lane < LANES_MAX; lane++) {
			int64_t ns = beside_ns[lane] + event->beside_ns;
			at_ns[lane] = ns > at_ns[lane] ? ns : at_ns[lane];
		}
	}
}

static void meet(const struct pass *pass, int64_t *all_ns, const struct fsl_meeting *meeting)
{
	static const int64_t NO_MASKS[LANES_MAX] = {0};
	const struct fsl_member *members = pass->graph->members + meeting->member_begin;
	const int64_t *masks =
		meeting->channel_idx == FSL_NO_NODE
			? NO_MASKS
			: pass->channel_masks + (size_t)meeting->channel_idx * LANES_MAX;
	int64_t last_ns[LANES_MAX], saved_ns = meeting->level_ns - meeting->transfer_ns;
	for (size_t lane = 0; lane < LANES_MAX; lane++) {
		last_ns[lane] = INT64_MIN;
	}
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		int64_t *at_ns = all_ns + place_of(pass->graph, members[m].event);
		set_arrival(pass, all_ns, &pass->graph->events[members[m].event], at_ns);
		for (size_t lane = 0; lane < LANES_MAX; lane++) {
			last_ns[lane] = at_ns[lane] > last_ns[lane] ? at_ns[lane] : last_ns[lane];
		}
	}
	for (size_t lane = 0; lane < LANES_MAX; lane++) {
		last_ns[lane] += meeting->transfer_ns + (masks[lane] & saved_ns);
	}
	for (uint32_t m = 0; m < meeting->n_members; m++) {
		int64_t *end_ns = all_ns + place_of(pass->graph, members[m].event);
		if (members[m].is_waiting) {
			memcpy(end_ns, last_ns, sizeof(last_ns));
			continue;
		}
		const struct fsl_event *event = &pass->graph->events[members[m].event];
		for (size_t lane = 0; lane < LANES_MAX; lane++) {
			end_ns[lane] += event->end_ns - event->begin_ns;
		}
	}
}

static void run_window(const struct pass *pass, size_t w, int64_t *all_ns)
{
	const struct fsl_replay_graph *graph = pass->graph;
	for (size_t k = graph->order_begin[w]; k < graph->order_end[w]; k++) {
		uint32_t node = graph->order[k];
		if (node >= graph->n_events) {
			meet(pass, all_ns, &graph->meetings[node - graph->n_events]);
			continue;
		}
		const struct fsl_event *event = &graph->events[node];
		int64_t *end_ns = all_ns + place_of(graph, node);
		int64_t dur_ns = event->end_ns - event->begin_ns;
		set_arrival(pass, all_ns, event, end_ns);
		for (size_t lane = 0; lane < LANES_MAX; lane++) {
			end_ns[lane] +=
				dur_ns + (pass->unseen_masks[lane] & (event->alone_ns - dur_ns));
		}
	}
}

static bool bench_init(struct bench *bench, const struct fsl_replay *replay)
{
	size_t n_ends = replay->graph->n_slots * LANES_MAX + 1;
	*bench = (struct bench){
		.reached_ns = fsl_calloc(replay->n_steps, LANES_MAX * sizeof(*bench->reached_ns)),
		.step_ms = fsl_calloc(replay->n_steps, LANES_MAX * sizeof(*bench->step_ms))};
	return FSL_GROW(bench->end_ns, bench->capacity, n_ends, NULL) == FSL_OK &&
	       bench->reached_ns != NULL && bench->step_ms != NULL;
}

static void bench_fini(struct bench *bench)
{
	fsl_free(bench->step_ms);
	fsl_free(bench->reached_ns);
	fsl_free(bench->end_ns);
}

/* One window under the repairs of a pass; @step_ms: as of fsl_replay_run, from the first of them.
 */
static void replay_window(const struct fsl_replay *replay, const struct pass *pass, size_t w,
			  const struct bench *bench, double *step_ms)
{
	const struct fsl_window *window = &replay->graph->windows[w];
	run_window(pass, w, bench->end_ns);
	set_step_times(replay, w, bench->end_ns, LANES_MAX, bench->reached_ns, bench->step_ms);
	for (size_t lane = 0; lane < pass->n_repairs; lane++) {
		size_t first = lane * replay->n_steps + window->begin;
		memcpy(step_ms + first, bench->step_ms + first,
		       (window->end - window->begin) * sizeof(*step_ms));
	}
}

static int64_t mask_of(const bool *flags, size_t i)
{
	return flags != NULL && flags[i] ? -1 : 0;
}

/* False: out of memory. */
static bool pass_init(struct pass *pass, struct fsl_arena *arena, const struct fsl_replay *replay,
		      const struct fsl_repair *repairs, size_t n)
{
	*pass = (struct pass){
		.graph = replay->graph,
		.n_repairs = n < LANES_MAX ? n : LANES_MAX,
		.rank_masks = fsl_arena_alloc(arena, replay->n_ranks * LANES_MAX *
							     sizeof(*pass->rank_masks)),
		.channel_masks = fsl_arena_alloc(arena, replay->n_channels * LANES_MAX *
								sizeof(*pass->channel_masks))};
	memcpy(pass->repairs, repairs, pass->n_repairs * sizeof(*repairs));
	for (size_t lane = 0; lane < LANES_MAX; lane++) {
		const struct fsl_repair *repair = &pass->repairs[lane];
		pass->has_parts |= repair->ranks != NULL && repair->parts != FSL_REPLAY_PARTS_ALL;
		pass->unseen_masks[lane] = repair->skips_unseen ? -1 : 0;
		for (size_t r = 0; r < replay->n_ranks && pass->rank_masks != NULL; r++) {
			pass->rank_masks[r * LANES_MAX + lane] = mask_of(repair->ranks, r);
		}
		for (size_t c = 0; c < replay->n_channels && pass->channel_masks != NULL; c++) {
			pass->channel_masks[c * LANES_MAX + lane] = mask_of(repair->channels, c);
		}
	}
	return pass->rank_masks != NULL && pass->channel_masks != NULL;
}

/* Windows and passes on threads: each window under each pass is on its own. */
static bool run_passes(const struct fsl_replay *replay, const struct pass *passes, size_t n_passes,
		       double *step_ms)
{
	size_t n_windows = replay->graph->n_windows, n_tasks = n_windows * n_passes;
	size_t n_threads = (size_t)omp_get_max_threads();
	bool is_short = false;
	n_tasks = n_tasks > 0 ? n_tasks : 1;
	n_threads = n_threads < n_tasks ? n_threads : n_tasks;
#pragma omp parallel num_threads((int)n_threads) reduction(|| : is_short)
	{
		struct bench bench;
		is_short = !bench_init(&bench, replay);
#pragma omp for schedule(dynamic, 1) collapse(2) nowait
		for (size_t w = 0; w < n_windows; w++) {
			for (size_t p = 0; p < n_passes; p++) {
				if (!is_short) {
					replay_window(replay, &passes[p], w, &bench,
						      step_ms + p * LANES_MAX * replay->n_steps);
				}
			}
		}
		bench_fini(&bench);
	}
	return !is_short;
}

enum fsl_status fsl_replay_run(const struct fsl_replay *replay, const struct fsl_repair *repairs,
			       size_t n, double *step_ms, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	size_t n_passes = (n + LANES_MAX - 1) / LANES_MAX;
	struct pass *passes = fsl_arena_alloc(&scratch, n_passes * sizeof(*passes));
	bool is_ready = passes != NULL;
	for (size_t p = 0; p < n_passes && is_ready; p++) {
		is_ready = pass_init(&passes[p], &scratch, replay, repairs + p * LANES_MAX,
				     n - p * LANES_MAX);
	}
	bool is_run = is_ready && run_passes(replay, passes, n_passes, step_ms);
	fsl_arena_fini(&scratch);
	return is_run ? FSL_OK
		      : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: events=%zu",
				 replay->graph->n_events);
}

/* Time that a rank spends in operators that meet nobody although all members left data, ms. */
static double alone_ms_of(const struct fsl_replay_graph *graph, size_t rank_idx)
{
	const size_t *begin = graph->event_begin + rank_idx * graph->n_windows;
	double sum_ms = 0.0;
	for (size_t e = begin[0]; e < begin[graph->n_windows]; e++) {
		const struct fsl_event *event = &graph->events[e];
		bool is_alone =
			(event->meeting == FSL_NO_NODE && !event->is_for_unseen) ||
			(event->meeting != FSL_NO_NODE && graph->meetings[event->meeting].is_cut);
		double dur_ms = (double)(event->end_ns - event->begin_ns) / FSL_NS_PER_MS;
		sum_ms += is_alone ? dur_ms : 0.0;
	}
	return sum_ms;
}

/* Share of the replayed time that the worst rank spends in operators that meet nobody although all
 * members left data. */
static enum fsl_status set_unmatched(struct fsl_replay *out, struct fsl_error *err)
{
	const struct fsl_replay_graph *graph = out->graph;
	double *alone_ms = NULL, total_ms = 0.0;
	FSL_TRY(FSL_ARENA_NEW(alone_ms, &out->arena, out->n_ranks, "alone_ms", err));
	for (size_t i = 0; i < out->n_steps; i++) {
		total_ms += out->measured_ms[i];
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t r = 0; r < out->n_ranks; r++) {
		alone_ms[r] = alone_ms_of(graph, r);
	}
	for (size_t r = 0; r < out->n_ranks && total_ms > 0.0; r++) {
		out->unmatched_share = fmax(out->unmatched_share, alone_ms[r] / total_ms);
	}
	return FSL_OK;
}

/* Step times of the job as it was. */
static enum fsl_status set_baseline(struct fsl_replay *out, struct fsl_error *err)
{
	double *reached_ns = NULL;
	FSL_TRY(FSL_ARENA_NEW(reached_ns, &out->arena, out->n_steps, "reached_ns", err));
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t w = 0; w < out->graph->n_windows; w++) {
		set_step_times(out, w, NULL, 1, reached_ns, out->measured_ms);
	}
	return set_unmatched(out, err);
}

static enum fsl_status build_graph(struct fsl_replay *out, struct fsl_replay_graph *graph,
				   struct fsl_error *err)
{
	FSL_TRY(alloc_levels(out, err));
	FSL_TRY(fsl_replay_add_events(out, graph, err));
	FSL_TRY(fsl_replay_add_meetings(out, graph, err));
	FSL_TRY(fsl_replay_set_beside(out, graph, false, err));
	FSL_TRY(fsl_replay_add_hidden(out, graph, err));
	fsl_replay_set_alone(out, graph);
	FSL_TRY(fsl_replay_set_order(out, graph, err));
	out->graph = graph;
	out->n_ops = graph->n_ops;
	return set_baseline(out, err);
}

static void free_graph(struct fsl_replay_graph *graph, size_t n_ranks)
{
	if (graph != NULL) {
		for (size_t r = 0; r < n_ranks && graph->pieces != NULL; r++) {
			fsl_free(graph->pieces[r].items);
		}
		fsl_free(graph->events);
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
		graph->input = *job;
		graph->job = &graph->input;
		status = sample_steps(out, graph, err);
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
	free_graph(replay->graph, replay->n_ranks);
	fsl_arena_fini(&replay->arena);
	*replay = (struct fsl_replay){0};
}

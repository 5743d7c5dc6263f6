/* Costs of suspects, links and uneven classes, by a replay of the capture as one step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "blame/places_parts.h"
#include "match/own.h"
#include "replay/replay.h"

static enum fsl_status no_memory(const struct fsl_places_job *job, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", job->run->n_ranks);
}

/* The run as one step: what the replay needs. */
struct graph {
	struct fsl_steps steps;
	struct fsl_cuts cuts;
	struct fsl_own own;
	struct fsl_replay replay;
	struct fsl_job_step step;
	uint32_t *members;   /* ranks by class */
	size_t *class_begin; /* [n_classes + 1] into members */
	double n_steps;      /* of the capture: the most that a rank has */
};

static enum fsl_status cut_as_one(struct graph *graph, const struct fsl_places_job *job,
				  struct fsl_error *err)
{
	const struct fsl_run *run = job->run;
	struct fsl_cuts *cuts = &graph->cuts;
	cuts->n_steps = 1;
	cuts->n_ranks = run->n_ranks;
	cuts->first_op = fsl_arena_alloc(&cuts->arena, 2 * run->n_ranks * sizeof(*cuts->first_op));
	cuts->begin_ns = fsl_arena_alloc(&cuts->arena, 2 * run->n_ranks * sizeof(*cuts->begin_ns));
	cuts->is_regular = fsl_arena_alloc(&cuts->arena, run->n_ranks * sizeof(*cuts->is_regular));
	if (cuts->first_op == NULL || cuts->begin_ns == NULL || cuts->is_regular == NULL) {
		return no_memory(job, err);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		size_t n = rank->n_ops;
		cuts->first_op[2 * r + 1] = (uint32_t)n;
		cuts->begin_ns[2 * r] = n > 0 ? fsl_op_begin_ns(&rank->ops[0]) : 0;
		cuts->begin_ns[2 * r + 1] = rank->last_event_ns;
		graph->step.dur_ns =
			n > 0 && rank->last_event_ns - cuts->begin_ns[2 * r] > graph->step.dur_ns
				? rank->last_event_ns - cuts->begin_ns[2 * r]
				: graph->step.dur_ns;
	}
	graph->steps = (struct fsl_steps){
		.items = &graph->step, .n_items = 1, .source = "capture", .is_last_open = true};
	return FSL_OK;
}

static enum fsl_status list_classes(struct graph *graph, const struct fsl_places_job *job,
				    struct fsl_error *err)
{
	size_t n = 0, n_ranks = job->run->n_ranks;
	graph->members = fsl_arena_alloc(&graph->cuts.arena, (n_ranks + 1) * sizeof(uint32_t));
	graph->class_begin =
		fsl_arena_alloc(&graph->cuts.arena, (job->n_classes + 1) * sizeof(size_t));
	if (graph->members == NULL || graph->class_begin == NULL) {
		return no_memory(job, err);
	}
	for (size_t k = 0; k < job->n_classes; k++) {
		for (size_t r = 0; r < n_ranks; r++) {
			if (job->class_of[r] == k) {
				graph->members[n++] = (uint32_t)r;
			}
		}
		graph->class_begin[k + 1] = n;
	}
	return FSL_OK;
}

static enum fsl_status graph_build(struct graph *graph, const struct fsl_places_job *job,
				   struct fsl_error *err)
{
	*graph = (struct graph){.n_steps = 1.0};
	for (size_t r = 0; r < job->run->n_ranks; r++) {
		graph->n_steps = fmax(graph->n_steps, job->n_steps[r]);
	}
	FSL_TRY(cut_as_one(graph, job, err));
	FSL_TRY(list_classes(graph, job, err));
	fsl_match_assign_steps(job->match, &graph->cuts);
	FSL_TRY(fsl_own_build(&graph->own, job->run, &graph->steps, &graph->cuts, err));
	const struct fsl_replay_job input = {.run = job->run,
					     .steps = &graph->steps,
					     .match = job->match,
					     .cuts = &graph->cuts,
					     .own = &graph->own,
					     .ends_with_last = true,
					     .members = graph->members,
					     .class_begin = graph->class_begin,
					     .n_classes = job->n_classes,
					     .steps_max = 1,
					     .ops_max = SIZE_MAX};
	return fsl_replay_build(&graph->replay, &input, err);
}

static void graph_fini(struct graph *graph)
{
	fsl_replay_fini(&graph->replay);
	fsl_own_fini(&graph->own);
	fsl_cuts_fini(&graph->cuts);
}

/* Replays the ranks of @is_asked [n] at their level. Per step: *together_ms comes back with all of
 * them; @cost_ms [n], unless it is NULL, is what the first of them cost each if all others are at
 * their level, and stays for the rest. */
static enum fsl_status cost_each(const struct graph *graph, struct fsl_arena *arena, size_t n,
				 const bool *is_asked, double *cost_ms, double *together_ms,
				 struct fsl_error *err)
{
	enum { NONE, ALL, ALL_BUT_ONE };
	struct fsl_repair *repairs = NULL;
	bool *flags = NULL;
	double *ms = NULL;
	size_t n_max = ALL_BUT_ONE, n_sets = ALL_BUT_ONE;
	for (size_t r = 0; r < n && cost_ms != NULL; r++) {
		n_max += is_asked[r] && n_max < ALL_BUT_ONE + FSL_JUDGED_RANKS_MAX;
	}
	FSL_TRY(FSL_ARENA_NEW(repairs, arena, n_max, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(flags, arena, n_max * n, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(ms, arena, n_max, "ranks", err));
	memcpy(flags + ALL * n, is_asked, n * sizeof(*flags));
	for (size_t r = 0; r < n && n_sets < n_max; r++) {
		if (is_asked[r]) {
			memcpy(flags + n_sets * n, is_asked, n * sizeof(*flags));
			flags[n_sets++ * n + r] = false;
		}
	}
	for (size_t k = 0; k < n_sets; k++) {
		repairs[k] =
			(struct fsl_repair){.ranks = flags + k * n, .parts = FSL_REPLAY_PARTS_ALL};
	}
	FSL_TRY(fsl_replay_run(&graph->replay, repairs, n_sets, ms, err));
	*together_ms = fmax(0.0, ms[NONE] - ms[ALL]) / graph->n_steps;
	for (size_t r = 0, k = ALL_BUT_ONE; r < n && k < n_sets; r++) {
		if (is_asked[r]) {
			cost_ms[r] = fmax(0.0, ms[k++] - ms[ALL]) / graph->n_steps;
		}
	}
	return FSL_OK;
}

/* The same, of the excess, from gate to gate of kernels. *together_ms is NaN, and @cost_ms stays,
 * if nothing can be replayed so. */
static enum fsl_status pass_each(struct fsl_place_work *work, const bool *is_asked, double *cost_ms,
				 double *together_ms, struct fsl_error *err)
{
	enum { ALL, ALL_BUT_ONE };
	struct fsl_gates_change *changes = NULL;
	const int64_t **off_ns = NULL;
	double *ms = NULL;
	size_t n = work->out->n_ranks, n_sets = ALL_BUT_ONE;
	FSL_TRY(FSL_ARENA_NEW(changes, &work->arena, ALL_BUT_ONE + FSL_JUDGED_RANKS_MAX, "ranks",
			      err));
	FSL_TRY(FSL_ARENA_NEW(ms, &work->arena, ALL_BUT_ONE + FSL_JUDGED_RANKS_MAX, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(off_ns, &work->arena, n + 1, "ranks", err));
	changes[ALL] = (struct fsl_gates_change){.off_ns = off_ns, .but_rank = SIZE_MAX};
	for (size_t r = 0; r < n; r++) {
		off_ns[r] = is_asked[r] ? work->out->ranks[r].excess_ns : NULL;
		if (is_asked[r] && cost_ms != NULL && n_sets < ALL_BUT_ONE + FSL_JUDGED_RANKS_MAX) {
			changes[n_sets++] =
				(struct fsl_gates_change){.off_ns = off_ns, .but_rank = r};
		}
	}
	FSL_TRY(fsl_places_pass_gates(ms, work->job, changes, n_sets, err));
	*together_ms = isnan(ms[ALL]) ? ms[ALL] : fmax(0.0, ms[ALL]);
	for (size_t k = ALL_BUT_ONE; k < n_sets && !isnan(ms[ALL]); k++) {
		cost_ms[changes[k].but_rank] = fmax(0.0, ms[ALL] - ms[k]);
	}
	return FSL_OK;
}

/* Replays without the excess of the ranks of @is_asked: by gates, which know what runs beside an
 * operator, or else by operators alone. The results are those of cost_each(). */
static enum fsl_status cost_excess(struct fsl_place_work *work, const struct graph *graph,
				   const bool *is_asked, double *cost_ms, double *together_ms,
				   struct fsl_error *err)
{
	FSL_TRY(pass_each(work, is_asked, cost_ms, together_ms, err));
	return isnan(*together_ms) ? cost_each(graph, &work->arena, work->out->n_ranks, is_asked,
					       cost_ms, together_ms, err)
				   : FSL_OK;
}

/* Per step, how long the others waited for @r alone, as far as its own work explains it: that may
 * lie before an earlier operator, such as a send. */
static double waited_ms(const struct fsl_place_work *work, size_t r)
{
	double excess_ns = 0.0;
	for (size_t i = 0; i < work->job->run->ranks[r].n_ops; i++) {
		excess_ns += (double)work->out->ranks[r].excess_ns[i];
	}
	return fmin(excess_ns / FSL_NS_PER_MS / work->job->n_steps[r], work->alone_ms[r]);
}

/*
 * Per step, how much longer each of its like is held by communication that nothing hides than it
 * would be if the rank was in time, as far as the rank's own time explains it and collectives were
 * waited for it alone: whoever of the others is held least, or comes next, would be waited for. The
 * replay knows no kernels: work that runs beside an operator on one rank and behind it on another
 * is lost to it, and so are kernels that hide transfers of ranks that are in time. 0: not told.
 */
static double held_ms(const struct fsl_place_work *work, size_t r)
{
	const struct fsl_places_job *job = work->job;
	const struct fsl_place_rank *ranks = work->out->ranks;
	double least_ms = INFINITY;
	size_t n = 0;
	for (size_t i = 0; i < work->out->n_ranks && job->exposed_ms != NULL; i++) {
		bool is_like = job->class_of[i] == job->class_of[r] && !ranks[i].is_suspect &&
			       ranks[i].n_peers >= 2 &&
			       job->n_steps[i] <= job->n_steps[r]; /* else it lacks operators */
		if (is_like && !isnan(job->exposed_ms[i]) && !isnan(job->own_ms[i])) {
			least_ms = fmin(least_ms, job->exposed_ms[i]);
			work->values[n++] = job->own_ms[i];
		}
	}
	if (n == 0 || isnan(job->exposed_ms[r]) || isnan(job->own_ms[r])) {
		return 0.0;
	}
	double bare_ms = fsl_places_bare_ms(job, r);
	double more_ms = job->own_ms[r] + bare_ms - fsl_median(work->values, n, work->scratch);
	double held_ms = fmin(least_ms - (job->exposed_ms[r] - bare_ms), work->lead_ms[r]);
	return fmax(0.0, fmin(held_ms, fmax(more_ms, ranks[r].more_ms)));
}

static enum fsl_status cost_suspects(struct fsl_place_work *work, const struct graph *graph,
				     struct fsl_error *err)
{
	struct fsl_places *out = work->out;
	double *cost_ms = NULL, together_ms;
	bool *is_suspect = NULL;
	FSL_TRY(FSL_ARENA_NEW(cost_ms, &work->arena, out->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(is_suspect, &work->arena, out->n_ranks, "ranks", err));
	for (size_t r = 0; r < out->n_ranks; r++) {
		cost_ms[r] = out->ranks[r].cost_ms;
		is_suspect[r] = out->ranks[r].is_suspect;
	}
	FSL_TRY(cost_excess(work, graph, is_suspect, cost_ms, &together_ms, err));
	FSL_TRY(fsl_places_measure_leads(work, err));
	for (size_t r = 0; r < out->n_ranks; r++) {
		if (is_suspect[r] && work->job->run->ranks[r].n_ops > 0) {
			double seen_ms = work->job->is_partial ? waited_ms(work, r) : 0.0;
			double held = held_ms(work, r);
			out->ranks[r].cost_ms = fmax(cost_ms[r], fmax(seen_ms, held));
			out->ranks[r].more_ms = fmax(out->ranks[r].more_ms, held);
		}
	}
	return FSL_OK;
}

/* Own work of a step that the rank would have if it was as fast as its like: between its operators
 * or, if kernels run beside them, all that other files tell. */
static double usual_work_ms(const struct fsl_places_job *job, const struct fsl_place_rank *rank,
			    size_t r)
{
	double told_ms = isnan(job->told_ms[r]) ? 0.0 : job->told_ms[r];
	return fmax(rank->work_ms, told_ms) - rank->more_ms;
}

/* Suspects that cost what counts are named, and those that cost nothing are cleared. */
static void name_suspects(const struct fsl_place_work *work)
{
	struct fsl_places *out = work->out;
	double step_ms = work->job->step_ms;
	for (size_t r = 0; r < out->n_ranks; r++) {
		struct fsl_place_rank *rank = &out->ranks[r];
		double least_ms = fmin(rank->cost_ms, rank->more_ms);
		rank->is_named = rank->is_suspect &&
				 least_ms >= work->job->named_share_min * step_ms &&
				 rank->z >= work->job->named_z_min &&
				 rank->more_ms >= FSL_PLACES_WORK_SHARE_MIN *
							  usual_work_ms(work->job, rank, r);
		rank->is_suspect =
			rank->is_suspect && least_ms >= work->job->suspect_share_min * step_ms;
		out->n_named += rank->is_named;
	}
}

/* The time that comes back with all that are named mended. */
static enum fsl_status cost_named(struct fsl_place_work *work, const struct graph *graph,
				  struct fsl_error *err)
{
	struct fsl_places *out = work->out;
	bool *is_named = NULL;
	FSL_TRY(FSL_ARENA_NEW(is_named, &work->arena, out->n_ranks, "ranks", err));
	for (size_t r = 0; r < out->n_ranks; r++) {
		is_named[r] = out->ranks[r].is_named;
	}
	FSL_TRY(cost_excess(work, graph, is_named, NULL, &out->cost_ms, err));
	for (size_t r = 0; r < out->n_ranks; r++) {
		out->cost_ms = fmax(out->cost_ms, is_named[r] ? out->ranks[r].cost_ms : 0.0);
	}
	return FSL_OK;
}

/* Own time that other files tell and that lies before the first operator of the capture or behind
 * the last, ns; 0: none is told. */
static int64_t outside_ns(const struct fsl_places_job *job, const struct fsl_places *places,
			  size_t r)
{
	double ms = job->told_ms[r] - places->ranks[r].work_ms;
	return ms > 0.0 ? (int64_t)(ms * FSL_NS_PER_MS * job->n_steps[r]) : 0;
}

/* A repair of a rank makes its own work longer or shorter by @factor [n_ranks]. So is its work
 * outside of the operators: the first of them comes later or earlier. @lag_ns: room for the
 * operators of a rank. */
static enum fsl_status scale_work(struct graph *graph, const struct fsl_places_job *job,
				  const struct fsl_places *places, const double *factor,
				  int64_t *lag_ns, struct fsl_error *err)
{
	for (size_t r = 0; r < places->n_ranks; r++) {
		memset(lag_ns, 0, job->run->ranks[r].n_ops * sizeof(*lag_ns));
		lag_ns[0] = (int64_t)((1.0 - factor[r]) * (double)outside_ns(job, places, r));
		fsl_replay_set_rank_level(&graph->replay, r, factor[r], lag_ns);
	}
	return fsl_replay_settle_rank_levels(&graph->replay, err);
}

/* The time that comes back if all classes compute as long. */
static enum fsl_status cost_uneven(struct fsl_place_work *work, struct graph *graph,
				   struct fsl_error *err)
{
	size_t n = work->out->n_ranks;
	bool *is_asked = NULL;
	const struct fsl_gates_change even = {.rank_factor = work->even_factor};
	if (work->even_factor == NULL) {
		return FSL_OK;
	}
	FSL_TRY(fsl_places_pass_gates(&work->out->even_ms, work->job, &even, 1, err));
	if (!isnan(work->out->even_ms)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_ARENA_NEW(is_asked, &work->arena, n, "ranks", err));
	memset(is_asked, 1, n * sizeof(*is_asked));
	FSL_TRY(scale_work(graph, work->job, work->out, work->even_factor, work->lag_ns, err));
	return cost_each(graph, &work->arena, n, is_asked, NULL, &work->out->even_ms, err);
}

/* Puts the excess of a rank from the order of places into that of operators. */
static void order_excess(const struct fsl_place_work *work, size_t r)
{
	int64_t *excess_ns = work->out->ranks[r].excess_ns;
	size_t n_ops = work->job->run->ranks[r].n_ops;
	memcpy(work->lag_ns, excess_ns, n_ops * sizeof(*excess_ns));
	for (size_t i = 0; i < n_ops; i++) {
		excess_ns[work->order[r][i]] = work->lag_ns[i];
	}
}

static enum fsl_status replay_costs(struct fsl_place_work *work, struct graph *graph,
				    struct fsl_error *err)
{
	for (size_t r = 0; r < work->out->n_ranks; r++) {
		order_excess(work, r);
		fsl_replay_set_rank_level(&graph->replay, r, 1.0, work->out->ranks[r].excess_ns);
	}
	FSL_TRY(fsl_replay_settle_rank_levels(&graph->replay, err));
	FSL_TRY(cost_suspects(work, graph, err));
	name_suspects(work);
	FSL_TRY(cost_named(work, graph, err));
	return cost_uneven(work, graph, err);
}

enum fsl_status fsl_places_cost(struct fsl_place_work *work, struct fsl_error *err)
{
	struct graph graph;
	if (work->out->n_suspects == 0 && work->even_factor == NULL) {
		return FSL_OK;
	}
	enum fsl_status status = graph_build(&graph, work->job, err);
	work->out->is_replayed = status == FSL_OK && graph.replay.graph != NULL &&
				 fsl_run_count_ops(work->job->run, INT64_MIN) > 0;
	if (work->out->is_replayed) {
		status = replay_costs(work, &graph, err);
	} else if (status == FSL_OK) {
		name_suspects(work);
	}
	graph_fini(&graph);
	return status;
}

enum fsl_status fsl_places_mend_channels(double *saved_ms, const struct fsl_places_job *job,
					 const double *factor, struct fsl_error *err)
{
	const struct fsl_gates_change change = {.transfer_factor = factor};
	struct graph graph;
	double ms[2];
	FSL_TRY(fsl_places_pass_gates(saved_ms, job, &change, 1, err));
	if (!isnan(*saved_ms)) {
		return FSL_OK;
	}
	enum fsl_status status = graph_build(&graph, job, err);
	bool *flags = fsl_calloc(2 * job->match->n_channels + 1, sizeof(*flags));
	if (status == FSL_OK && flags == NULL) {
		status = no_memory(job, err);
	}
	bool is_seen = fsl_run_count_ops(job->run, INT64_MIN) > 0;
	if (status == FSL_OK && graph.replay.graph != NULL && is_seen) {
		memcpy(graph.replay.transfer_factor, factor,
		       job->match->n_channels * sizeof(*factor));
		memset(flags + job->match->n_channels, 1, job->match->n_channels);
		const struct fsl_repair repairs[2] = {
			{.channels = flags, .parts = FSL_REPLAY_PARTS_ALL},
			{.channels = flags + job->match->n_channels,
			 .parts = FSL_REPLAY_PARTS_ALL}};
		status = fsl_replay_set_levels(&graph.replay, err);
		if (status == FSL_OK) {
			status = fsl_replay_run(&graph.replay, repairs, 2, ms, err);
		}
		*saved_ms =
			status == FSL_OK ? fmax(0.0, ms[0] - ms[1]) / graph.n_steps : (double)NAN;
	}
	fsl_free(flags);
	graph_fini(&graph);
	return status;
}

enum fsl_status fsl_places_scale(double *together_ms, double *cost_ms,
				 const struct fsl_places_job *job, const struct fsl_places *places,
				 const double *factor, struct fsl_error *err)
{
	struct graph graph;
	struct fsl_arena *arena = &graph.cuts.arena;
	size_t n = places->n_ranks, n_ops = 1;
	int64_t *lag_ns = NULL;
	bool *is_asked = NULL;
	*together_ms = NAN;
	enum fsl_status status = graph_build(&graph, job, err);
	for (size_t r = 0; r < n; r++) {
		n_ops = job->run->ranks[r].n_ops > n_ops ? job->run->ranks[r].n_ops : n_ops;
	}
	FSL_THEN(status, FSL_ARENA_NEW(lag_ns, arena, n_ops, "operators", err));
	FSL_THEN(status, FSL_ARENA_NEW(is_asked, arena, n, "ranks", err));
	for (size_t r = 0; r < n && status == FSL_OK; r++) {
		is_asked[r] = factor[r] != 1.0;
	}
	if (status == FSL_OK && graph.replay.graph != NULL &&
	    fsl_run_count_ops(job->run, INT64_MIN) > 0) {
		status = scale_work(&graph, job, places, factor, lag_ns, err);
		FSL_THEN(status, cost_each(&graph, arena, n, is_asked, cost_ms, together_ms, err));
	}
	graph_fini(&graph);
	return status;
}

enum fsl_status fsl_places_take_off(double *together_ms, const struct fsl_places_job *job,
				    const struct fsl_places *places, int64_t *const *off_ns,
				    struct fsl_error *err)
{
	struct graph graph;
	struct fsl_arena *arena = &graph.cuts.arena;
	size_t n = places->n_ranks;
	bool *is_asked = NULL;
	*together_ms = NAN;
	enum fsl_status status = graph_build(&graph, job, err);
	FSL_THEN(status, FSL_ARENA_NEW(is_asked, arena, n, "ranks", err));
	if (status == FSL_OK && graph.replay.graph != NULL &&
	    fsl_run_count_ops(job->run, INT64_MIN) > 0) {
		for (size_t r = 0; r < n; r++) {
			is_asked[r] = off_ns[r] != NULL;
			fsl_replay_set_rank_level(&graph.replay, r, 1.0, off_ns[r]);
		}
		status = fsl_replay_settle_rank_levels(&graph.replay, err);
		FSL_THEN(status, cost_each(&graph, arena, n, is_asked, NULL, together_ms, err));
	}
	graph_fini(&graph);
	return status;
}

/* Takes the excess off that a repair takes off: from every piece of own time, and from every
 * transfer. On threads: pieces belong to one event, events to one rank. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "replay/graph.h"

/* Operators of one rank in a replayed step: consecutive events. */
struct stretch {
	size_t first, n;
	size_t n_places; /* own time before each of them, and before the first of the next step */
};

/* Own time of one kind at one place of a step. */
struct place {
	double ns, usual_ns; /* in the step in question, and in the calmer of those beside it */
};

/* Pieces of the events [begin, end) at the factors of their steps. */
static void set_throughout(const struct fsl_replay *replay, size_t begin, size_t end)
{
	const struct fsl_replay_graph *graph = replay->graph;
	for (size_t e = begin; e < end; e++) {
		const struct fsl_event *event = &graph->events[e];
		for (uint32_t k = 0; k < event->n_pieces; k++) {
			struct fsl_piece *piece = &fsl_event_pieces(graph, event)[k];
			if (piece->step != FSL_NO_NODE) {
				size_t row = event->rank_idx * replay->n_steps + piece->step;
				piece->level_ns =
					(int64_t)((double)piece->ns *
						  replay->own_factor[row * FSL_REPLAY_PARTS_N +
								     piece->part]);
			}
		}
	}
}

static void sum_levels(const struct fsl_replay *replay, size_t begin, size_t end)
{
	const struct fsl_replay_graph *graph = replay->graph;
	for (size_t e = begin; e < end; e++) {
		struct fsl_event *event = &graph->events[e];
		event->level_ns = 0;
		for (uint32_t k = 0; k < event->n_pieces; k++) {
			const struct fsl_piece *piece = &fsl_event_pieces(graph, event)[k];
			FSL_ASSERT(piece->level_ns >= 0 && piece->level_ns <= piece->ns);
			event->level_ns += piece->level_ns;
		}
	}
}

static void list_stretches(struct stretch *stretches, const struct fsl_replay *replay, size_t r)
{
	const struct fsl_replay_graph *graph = replay->graph;
	for (size_t i = 0; i < replay->n_steps; i++) {
		stretches[i] = (struct stretch){0};
	}
	for (size_t w = 0; w < graph->n_windows; w++) {
		size_t cell = r * graph->n_windows + w, end = graph->event_begin[cell + 1];
		for (size_t e = graph->event_begin[cell]; e < end; e++) {
			struct stretch *stretch = &stretches[graph->events[e].step];
			stretch->first = stretch->n == 0 ? e : stretch->first;
			stretch->n = e + 1 - stretch->first;
			stretch->n_places = stretch->n + (e + 1 < end);
		}
	}
}

/* Own time of @part in replayed step @i at one of its places. */
static double part_ns(const struct fsl_replay_graph *graph, size_t e, size_t i, uint32_t part)
{
	const struct fsl_event *event = &graph->events[e];
	int64_t ns = 0;
	for (uint32_t k = 0; k < event->n_pieces; k++) {
		const struct fsl_piece *piece = &fsl_event_pieces(graph, event)[k];
		ns += piece->step == i && piece->part == part ? piece->ns : 0;
	}
	return (double)ns;
}

/* The nearest calm step on one side with the same operators; SIZE_MAX: there is none. */
static size_t find_calm(const struct fsl_replay *replay, const struct stretch *stretches, size_t r,
			size_t i, bool is_before)
{
	for (size_t away = 1; away <= FSL_REPLAY_CALM_REACH_STEPS; away++) {
		size_t j = is_before ? i - away : i + away;
		if (j >= replay->n_steps) { /* also below 0 */
			break;
		}
		if (replay->kind[r * replay->n_steps + j] == FSL_REPLAY_CALM &&
		    stretches[j].n_places == stretches[i].n_places &&
		    stretches[j].n == stretches[i].n) {
			return j;
		}
	}
	return SIZE_MAX;
}

static void set_places(struct place *places, const struct fsl_replay_graph *graph,
		       const struct stretch *stretches, size_t i, const size_t calm[2],
		       uint32_t part)
{
	for (size_t k = 0; k < stretches[i].n_places; k++) {
		places[k].ns = part_ns(graph, stretches[i].first + k, i, part);
		places[k].usual_ns = places[k].ns;
		for (size_t side = 0; side < 2; side++) {
			size_t j = calm[side];
			if (j != SIZE_MAX) {
				double ns = part_ns(graph, stretches[j].first + k, j, part);
				places[k].usual_ns = fmin(places[k].usual_ns, ns);
			}
		}
	}
}

/* Sets places[k].usual_ns to the own time at its level: @cut_ns less than it was. First the excess
 * over the usual is taken off. */
static void cut_places(struct place *places, size_t n, double cut_ns)
{
	double above_ns = 0.0, usual_ns = 0.0;
	for (size_t k = 0; k < n; k++) {
		above_ns += places[k].ns - places[k].usual_ns;
		usual_ns += places[k].usual_ns;
	}
	double share = above_ns > cut_ns ? cut_ns / above_ns : 1.0;
	double rest = usual_ns > 0.0 ? fmin(1.0, (cut_ns - share * above_ns) / usual_ns) : 0.0;
	for (size_t k = 0; k < n; k++) {
		places[k].usual_ns = places[k].ns - share * (places[k].ns - places[k].usual_ns) -
				     rest * places[k].usual_ns;
	}
}

static void set_place(struct fsl_replay_graph *graph, const struct place *place, size_t e, size_t i,
		      uint32_t part)
{
	const struct fsl_event *event = &graph->events[e];
	for (uint32_t k = 0; k < event->n_pieces; k++) {
		struct fsl_piece *piece = &fsl_event_pieces(graph, event)[k];
		if (piece->step == i && piece->part == part && place->ns > 0.0) {
			piece->level_ns =
				(int64_t)((double)piece->ns * (place->usual_ns / place->ns));
		}
	}
}

/* One single step of a rank. @places: as many as it has. */
static void set_single(struct fsl_replay *replay, const struct stretch *stretches, size_t r,
		       size_t i, struct place *places)
{
	size_t calm[2] = {find_calm(replay, stretches, r, i, true),
			  find_calm(replay, stretches, r, i, false)};
	const double *factors = replay->own_factor + (r * replay->n_steps + i) * FSL_REPLAY_PARTS_N;
	if (calm[0] == SIZE_MAX && calm[1] == SIZE_MAX) {
		return;
	}
	for (uint32_t part = 0; part < FSL_REPLAY_PARTS_N; part++) {
		double ns = 0.0;
		set_places(places, replay->graph, stretches, i, calm, part);
		for (size_t k = 0; k < stretches[i].n_places; k++) {
			ns += places[k].ns;
		}
		cut_places(places, stretches[i].n_places, (1.0 - factors[part]) * ns);
		for (size_t k = 0; k < stretches[i].n_places; k++) {
			set_place(replay->graph, &places[k], stretches[i].first + k, i, part);
		}
	}
}

/* Number of operators in most steps of an episode (median); 0: no episode. @work: 2 * steps. */
static size_t usual_length(const struct fsl_replay *replay, const struct stretch *stretches,
			   size_t r, double *work)
{
	size_t n = 0;
	for (size_t i = 0; i < replay->n_steps; i++) {
		if (replay->kind[r * replay->n_steps + i] == FSL_REPLAY_EPISODE) {
			work[n++] = (double)stretches[i].n;
		}
	}
	return n > 0 ? (size_t)fsl_median(work, n, work + replay->n_steps) : 0;
}

/* Steps of @kind that have all @n operators; an operator of the next step follows. */
static bool is_like(const struct fsl_replay *replay, const struct stretch *stretches, size_t r,
		    size_t i, enum fsl_replay_kind kind, size_t n)
{
	return replay->kind[r * replay->n_steps + i] == kind && stretches[i].n == n &&
	       stretches[i].n_places == n + 1;
}

/* Mean own time of @part at each place over the steps of an episode, and over the calm ones;
 * false when there are too few of either. */
static bool profile(struct place *places, const struct fsl_replay *replay,
		    const struct stretch *stretches, size_t r, size_t n, uint32_t part)
{
	size_t n_calm = 0, n_episode = 0;
	memset(places, 0, (n + 1) * sizeof(*places));
	for (size_t i = 0; i < replay->n_steps; i++) {
		bool is_calm = is_like(replay, stretches, r, i, FSL_REPLAY_CALM, n);
		bool is_episode = is_like(replay, stretches, r, i, FSL_REPLAY_EPISODE, n);
		n_calm += is_calm;
		n_episode += is_episode;
		for (size_t k = 0; k < n + 1 && (is_calm || is_episode); k++) {
			double ns = part_ns(replay->graph, stretches[i].first + k, i, part);
			*(is_calm ? &places[k].usual_ns : &places[k].ns) += ns;
		}
	}
	for (size_t k = 0; k < n + 1 && n_calm >= FSL_REPLAY_CALM_STEPS_MIN && n_episode > 0; k++) {
		places[k].ns /= (double)n_episode;
		places[k].usual_ns = fmin(places[k].ns, places[k].usual_ns / (double)n_calm);
	}
	return n_calm >= FSL_REPLAY_CALM_STEPS_MIN && n_episode > 0;
}

/* The steps of an episode of one rank. @places: one more than @n. */
static void set_episode(struct fsl_replay *replay, const struct stretch *stretches, size_t r,
			size_t n, struct place *places)
{
	for (uint32_t part = 0; part < FSL_REPLAY_PARTS_N; part++) {
		if (!profile(places, replay, stretches, r, n, part)) {
			return;
		}
		double factor = 1.0, ns = 0.0;
		for (size_t i = 0; i < replay->n_steps; i++) {
			if (is_like(replay, stretches, r, i, FSL_REPLAY_EPISODE, n)) {
				factor = replay->own_factor[(r * replay->n_steps + i) *
								    FSL_REPLAY_PARTS_N +
							    part];
			}
		}
		for (size_t k = 0; k < n + 1; k++) {
			ns += places[k].ns;
		}
		cut_places(places, n + 1, (1.0 - factor) * ns);
		for (size_t i = 0; i < replay->n_steps; i++) {
			bool is_episode = is_like(replay, stretches, r, i, FSL_REPLAY_EPISODE, n);
			for (size_t k = 0; k < n + 1 && is_episode; k++) {
				set_place(replay->graph, &places[k], stretches[i].first + k, i,
					  part);
			}
		}
	}
}

/* Scratch of one thread that sets the levels of a rank. */
struct bench {
	struct stretch *stretches; /* steps */
	double *work;              /* 2 * steps */
	struct place *places;
	size_t capacity;
};

static bool bench_init(struct bench *bench, const struct fsl_replay *replay)
{
	*bench = (struct bench){.stretches = fsl_calloc(replay->n_steps, sizeof(*bench->stretches)),
				.work = fsl_calloc(2 * replay->n_steps, sizeof(*bench->work))};
	return bench->stretches != NULL && bench->work != NULL;
}

static void bench_fini(struct bench *bench)
{
	fsl_free(bench->places);
	fsl_free(bench->work);
	fsl_free(bench->stretches);
}

/* Steps that are charged: what is above the usual goes first. */
static enum fsl_status set_charged(struct fsl_replay *replay, size_t r, struct bench *bench,
				   struct fsl_error *err)
{
	const uint8_t *kinds = replay->kind + r * replay->n_steps;
	struct stretch *stretches = bench->stretches;
	size_t n_charged = 0, n_most = 0;
	for (size_t i = 0; i < replay->n_steps; i++) {
		n_charged += kinds[i] != FSL_REPLAY_CALM;
	}
	if (n_charged == 0) {
		return FSL_OK;
	}
	list_stretches(stretches, replay, r);
	for (size_t i = 0; i < replay->n_steps; i++) {
		n_most = stretches[i].n_places > n_most ? stretches[i].n_places : n_most;
	}
	FSL_TRY(FSL_GROW(bench->places, bench->capacity, n_most + 1, err));
	size_t n = usual_length(replay, stretches, r, bench->work);
	if (n > 0) {
		set_episode(replay, stretches, r, n, bench->places);
	}
	for (size_t i = 0; i < replay->n_steps; i++) {
		if (kinds[i] == FSL_REPLAY_SINGLE) {
			set_single(replay, stretches, r, i, bench->places);
		}
	}
	return FSL_OK;
}

static enum fsl_status set_rank(struct fsl_replay *replay, size_t r, struct bench *bench,
				struct fsl_error *err)
{
	const size_t *begins = replay->graph->event_begin + r * replay->graph->n_windows;
	size_t begin = begins[0], end = begins[replay->graph->n_windows];
	set_throughout(replay, begin, end);
	FSL_TRY(set_charged(replay, r, bench, err));
	sum_levels(replay, begin, end);
	return FSL_OK;
}

/* Lost records and hidden waits, which stand behind the operators of all ranks. In a parallel
 * region, as set_transfers and set_ranks; none of them waits for another. */
static void set_late(const struct fsl_replay *replay)
{
#pragma omp for schedule(static) nowait
	for (size_t e = replay->graph->n_ops; e < replay->graph->n_events; e++) {
		set_throughout(replay, e, e + 1);
		sum_levels(replay, e, e + 1);
	}
}

static void set_transfers(struct fsl_replay *replay)
{
	const struct fsl_replay_graph *graph = replay->graph;
#pragma omp for schedule(static) nowait
	for (size_t m = 0; m < graph->n_meetings; m++) {
		struct fsl_meeting *meeting = &graph->meetings[m];
		if (meeting->channel_idx != FSL_NO_NODE) {
			size_t at = meeting->channel_idx * replay->n_steps + meeting->step;
			meeting->level_ns = (int64_t)((double)meeting->transfer_ns *
						      replay->transfer_factor[at]);
			FSL_ASSERT(meeting->level_ns <= meeting->transfer_ns);
		}
	}
}

/* False: out of memory. */
static bool set_ranks(struct fsl_replay *replay)
{
	struct bench bench;
	bool is_short = !bench_init(&bench, replay);
#pragma omp for schedule(dynamic, 1) nowait
	for (size_t r = 0; r < replay->n_ranks; r++) {
		is_short = is_short || set_rank(replay, r, &bench, NULL) != FSL_OK;
	}
	bench_fini(&bench);
	return !is_short;
}

enum fsl_status fsl_replay_set_levels(struct fsl_replay *replay, struct fsl_error *err)
{
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		set_transfers(replay);
		set_late(replay);
		is_short = !set_ranks(replay);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", replay->n_steps)
			: fsl_replay_set_beside(replay, replay->graph, true, err);
}

void fsl_replay_set_rank_level(struct fsl_replay *replay, size_t rank_idx, double factor,
			       const int64_t *off_ns)
{
	const struct fsl_replay_graph *graph = replay->graph;
	FSL_ASSERT(graph->n_windows == 1);
	size_t first = graph->event_begin[rank_idx];
	for (size_t e = first; e < graph->event_begin[rank_idx + 1]; e++) {
		struct fsl_event *event = &graph->events[e];
		int64_t level_ns = (int64_t)((double)event->work_ns * factor);
		level_ns -= off_ns != NULL ? off_ns[e - first] : 0;
		event->level_ns = level_ns > 0 || event->pred == FSL_NO_NODE ? level_ns : 0;
	}
}

enum fsl_status fsl_replay_settle_rank_levels(struct fsl_replay *replay, struct fsl_error *err)
{
	return fsl_replay_set_beside(replay, replay->graph, true, err);
}

/*
 * Work beside an operator: how long a rank works between an operator that held it and the next one
 * where an asynchronous one ended in between, and with it hid whether the rank was still working.
 */
#include <stdlib.h>

#include "replay/graph.h"

enum { KINDS_MAX = 64 }; /* operators of a rank that are told apart in a step; more: none is */

/* One operator of one communicator of a rank in a step. */
struct kind {
	uint32_t op_id;
	size_t group_idx; /* SIZE_MAX: it meets nobody */
	size_t n_uses;
	size_t begin; /* place of the first use among those of all kinds */
};

/* One rank in one step: the events of its operators, and which kind each is of. */
struct part {
	struct fsl_event *events;
	uint32_t first_event;
	const struct fsl_op *ops;
	size_t n;
	struct kind kinds[KINDS_MAX]; /* by operator, then group: alike on all ranks of a class */
	size_t n_kinds;
};

/* What a class shows of one use of an operator in a step. */
struct place {
	int64_t least_ns; /* shortest time beside */
	size_t base;      /* since the operator of this place; NO_PLACE: one that has none */
	size_t other_at;  /* which event of the rank in level->other it is; NO_PLACE: none */
};

/* A class in a step. */
struct level {
	struct part first, other;
	size_t *place_of; /* per event of the rank in other: index into places, or NO_PLACE */
	size_t places_of_capacity;
	struct place *places; /* uses of each kind of the first rank */
	size_t places_capacity;
};

#define NO_PLACE SIZE_MAX

static size_t group_of(const struct fsl_replay_graph *graph, const struct fsl_event *event)
{
	size_t c = event->meeting != FSL_NO_NODE ? graph->meetings[event->meeting].channel_idx
						 : FSL_NO_NODE;
	return c != FSL_NO_NODE ? graph->job->match->channels[c].group_idx : SIZE_MAX;
}

static struct kind *find_kind(struct part *part, uint32_t op_id, size_t group_idx)
{
	for (size_t k = 0; k < part->n_kinds; k++) {
		if (part->kinds[k].op_id == op_id && part->kinds[k].group_idx == group_idx) {
			return &part->kinds[k];
		}
	}
	return NULL;
}

static int compare_kinds(const void *left, const void *right)
{
	const struct kind *a = left, *b = right;
	if (a->op_id != b->op_id) {
		return a->op_id < b->op_id ? -1 : 1;
	}
	return (a->group_idx > b->group_idx) - (a->group_idx < b->group_idx);
}

/* Fills @part; without kinds where there are too many. */
static void look_at(struct part *part, const struct fsl_replay *replay,
		    struct fsl_replay_graph *graph, size_t r, size_t i)
{
	size_t at = fsl_replay_step_events(replay, graph, r, i, &part->n), n_places = 0;
	part->events = graph->events + at;
	part->first_event = (uint32_t)at;
	part->ops = graph->job->run->ranks[r].ops +
		    fsl_cuts_first(graph->job->cuts, r, replay->step_idx[i]);
	part->n_kinds = 0;
	for (size_t e = 0; e < part->n; e++) {
		size_t group_idx = group_of(graph, &part->events[e]);
		struct kind *kind = find_kind(part, part->ops[e].op_id, group_idx);
		if (kind == NULL && part->n_kinds == KINDS_MAX) {
			part->n_kinds = 0;
			return;
		}
		if (kind == NULL) {
			kind = &part->kinds[part->n_kinds++];
			*kind = (struct kind){.op_id = part->ops[e].op_id, .group_idx = group_idx};
		}
		kind->n_uses++;
	}
	qsort(part->kinds, part->n_kinds, sizeof(part->kinds[0]), compare_kinds);
	for (size_t k = 0; k < part->n_kinds; k++) {
		part->kinds[k].begin = n_places;
		n_places += part->kinds[k].n_uses;
	}
}

/* The same operators on as many communicators. */
static bool is_alike(const struct part *a, const struct part *b)
{
	for (size_t k = 0; k < a->n_kinds && k < b->n_kinds; k++) {
		if (a->kinds[k].op_id != b->kinds[k].op_id) {
			return false;
		}
	}
	return a->n_kinds == b->n_kinds && a->n_kinds > 0;
}

/* Which use of which kind each event of the rank in level->other is. */
static void place_events(struct level *level, const struct fsl_replay_graph *graph)
{
	size_t n_used[KINDS_MAX] = {0};
	struct part *part = &level->other;
	for (size_t p = 0; p < level->first.n; p++) {
		level->places[p].other_at = NO_PLACE;
	}
	for (size_t e = 0; e < part->n; e++) {
		size_t group_idx = group_of(graph, &part->events[e]);
		size_t k = (size_t)(find_kind(part, part->ops[e].op_id, group_idx) - part->kinds);
		size_t use = n_used[k]++;
		const struct kind *kind = &level->first.kinds[k];
		level->place_of[e] = use < kind->n_uses ? kind->begin + use : NO_PLACE;
		if (use < kind->n_uses) {
			level->places[kind->begin + use].other_at = e;
		}
	}
}

/* What the rank in level->other shows of each place. */
static void learn(struct level *level)
{
	const struct part *part = &level->other;
	for (size_t e = 0; e < part->n; e++) {
		const struct fsl_event *event = &part->events[e];
		size_t p = level->place_of[e];
		if (p == NO_PLACE || event->beside_ns >= level->places[p].least_ns) {
			continue;
		}
		uint32_t base = event->beside != FSL_NO_NODE ? event->beside : event->pred;
		bool is_inside = base != FSL_NO_NODE && base >= part->first_event &&
				 base - part->first_event < part->n;
		level->places[p].least_ns = event->beside_ns;
		level->places[p].base =
			is_inside ? level->place_of[base - part->first_event] : NO_PLACE;
	}
}

/* Gives it to the rank: the same time since the same operator, where the rank had that before. */
static void teach(struct level *level)
{
	const struct part *part = &level->other;
	for (size_t e = 0; e < part->n; e++) {
		struct fsl_event *event = &part->events[e];
		size_t p = level->place_of[e];
		if (p == NO_PLACE || event->beside == FSL_NO_NODE) {
			continue;
		}
		const struct place *place = &level->places[p];
		size_t base =
			place->base != NO_PLACE ? level->places[place->base].other_at : NO_PLACE;
		event->beside_ns = place->least_ns;
		if (base < e) { /* NO_PLACE is not */
			event->beside = part->first_event + (uint32_t)base;
		}
	}
}

/* At each place of the step, the shortest time that a rank of the class takes: one whose operator
 * beside had ended before, as it was the last to join, shows it best. */
static enum fsl_status level_class(struct level *level, const struct fsl_replay *replay,
				   struct fsl_replay_graph *graph, size_t class_idx, size_t i,
				   struct fsl_error *err)
{
	const struct fsl_replay_job *job = graph->job;
	size_t begin = job->class_begin[class_idx], end = job->class_begin[class_idx + 1];
	look_at(&level->first, replay, graph, job->members[begin], i);
	enum fsl_status status =
		FSL_GROW(level->places, level->places_capacity, level->first.n + 1, err);
	for (size_t p = 0; p < level->first.n && status == FSL_OK; p++) {
		level->places[p] = (struct place){INT64_MAX, NO_PLACE, NO_PLACE};
	}
	for (int pass = 0; pass < 2 && status == FSL_OK; pass++) {
		for (size_t k = begin; k < end && status == FSL_OK; k++) {
			look_at(&level->other, replay, graph, job->members[k], i);
			if (!is_alike(&level->first, &level->other)) {
				continue;
			}
			status = FSL_GROW(level->place_of, level->places_of_capacity,
					  level->other.n + 1, err);
			if (status == FSL_OK) {
				place_events(level, graph);
				(pass == 0 ? learn : teach)(level);
			}
		}
	}
	return status;
}

static bool has_beside(const struct fsl_replay_graph *graph)
{
	bool has_any = false;
#pragma omp parallel for schedule(static) reduction(|| : has_any)
	for (size_t i = 0; i < graph->n_ops; i++) {
		has_any = has_any || graph->events[i].beside != FSL_NO_NODE;
	}
	return has_any;
}

enum fsl_status fsl_replay_set_beside(struct fsl_replay *out, struct fsl_replay_graph *graph,
				      struct fsl_error *err)
{
	const struct fsl_replay_job *job = graph->job;
	bool is_short = false;
	if (!has_beside(graph)) {
		return FSL_OK;
	}
#pragma omp parallel reduction(|| : is_short)
	{
		struct level *level = fsl_calloc(1, sizeof(*level));
		is_short = level == NULL;
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t i = 0; i < out->n_steps; i++) {
			for (size_t c = 0; c < job->n_classes && !is_short; c++) {
				bool is_empty = job->class_begin[c] == job->class_begin[c + 1];
				is_short = !is_empty &&
					   level_class(level, out, graph, c, i, NULL) != FSL_OK;
			}
		}
		if (level != NULL) {
			fsl_free(level->place_of);
			fsl_free(level->places);
		}
		fsl_free(level);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", out->n_steps)
			: FSL_OK;
}

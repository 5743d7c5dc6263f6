/*
 * Work beside an operator: how long a rank works between an operator that held it and the next one,
 * if an asynchronous operator ended in between and hid whether the rank was still working.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/sort.h"
#include "replay/graph.h"

#define NO_PLACE SIZE_MAX

/* One channel of a rank in a window. */
struct kind {
	uint32_t op_id;
	size_t channel_idx;
	size_t member;
	size_t next; /* instances that were passed on the way */
	size_t n_uses;
	size_t first, last; /* instances met */
	size_t begin;       /* place of the first one among those of all kinds */
};

/* One rank in one window. */
struct part {
	size_t first_op, first_event, n;
	struct kind kinds[FSL_OP_KINDS_MAX]; /* by operator, then channel: alike on all ranks of a
						class */
	size_t n_kinds;
};

/* Least time that a class shows for one instance of its channels. */
struct place {
	int64_t least_ns; /* shortest time beside */
	size_t base;      /* since that of this place; NO_PLACE: of before the window */
	size_t other_at;  /* which event of the rank in level->other it is; NO_PLACE: none */
};

/* A class in a window. */
struct level {
	struct part first, other;
	size_t *instances; /* per event of the rank that was looked at last */
	size_t *place_of;  /* likewise, index into places, or NO_PLACE */
	size_t instances_capacity, place_of_capacity;
	struct place *places; /* those of the first rank */
	size_t n_places, places_capacity;
	bool has_order; /* of the events */
};

/* SIZE_MAX: it meets nobody. */
static size_t channel_of(const struct fsl_replay_graph *graph, const struct fsl_event *event)
{
	size_t c = event->meeting != FSL_NO_NODE ? graph->meetings[event->meeting].channel_idx
						 : FSL_NO_NODE;
	return c != FSL_NO_NODE ? c : SIZE_MAX;
}

static struct kind *find_kind(struct part *part, size_t channel_idx)
{
	for (size_t k = 0; k < part->n_kinds; k++) {
		if (part->kinds[k].channel_idx == channel_idx) {
			return &part->kinds[k];
		}
	}
	return NULL;
}

static size_t member_of(const struct fsl_channel *channel, size_t r)
{
	size_t low = 0;
	FSL_BISECT(low, channel->n_members, mid, channel->members[mid] < r);
	return low;
}

static uint32_t op_of(const struct fsl_channel *channel, size_t instance, size_t member)
{
	return channel->op_idx[instance * channel->n_members + member];
}

/* True when the first of the instances from @instance on that the member has is at @op_idx or
 * behind. */
static bool is_behind(const struct fsl_channel *channel, size_t instance, size_t member,
		      size_t op_idx)
{
	while (instance < channel->n_instances && op_of(channel, instance, member) == FSL_NO_OP) {
		instance++;
	}
	return instance == channel->n_instances || op_of(channel, instance, member) >= op_idx;
}

/* First instance, or a lost one in front of it, whose operator is at @op_idx or behind. */
static size_t first_instance(const struct fsl_channel *channel, size_t member, size_t op_idx)
{
	size_t low = 0, high = channel->n_instances;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (is_behind(channel, mid, member, op_idx)) {
			high = mid;
		} else {
			low = mid + 1;
		}
	}
	return low;
}

static struct kind *add_kind(struct part *part, const struct fsl_match *match, size_t r,
			     size_t channel_idx)
{
	const struct fsl_channel *channel = &match->channels[channel_idx];
	if (part->n_kinds == FSL_OP_KINDS_MAX) {
		return NULL;
	}
	struct kind *kind = &part->kinds[part->n_kinds++];
	*kind = (struct kind){.op_id = channel->op_id,
			      .channel_idx = channel_idx,
			      .member = member_of(channel, r)};
	kind->next = first_instance(channel, kind->member, part->first_op);
	return kind;
}

/* The instance that the operator at @op_idx is; no earlier one is asked for again. */
static size_t next_instance(struct kind *kind, const struct fsl_match *match, size_t op_idx)
{
	const struct fsl_channel *channel = &match->channels[kind->channel_idx];
	while (kind->next < channel->n_instances &&
	       op_of(channel, kind->next, kind->member) != op_idx) {
		kind->next++;
	}
	return kind->next;
}

static int compare_kinds(const void *left, const void *right)
{
	const struct kind *a = left, *b = right;
	FSL_ORDER_BY(a->op_id, b->op_id);
	return FSL_ORDER(a->channel_idx, b->channel_idx);
}

/* Fills @part and level->instances; without kinds if there are too many. */
static enum fsl_status look_at(struct part *part, struct level *level,
			       const struct fsl_replay *replay,
			       const struct fsl_replay_graph *graph, size_t r, size_t w,
			       struct fsl_error *err)
{
	size_t cell = r * graph->n_windows + w;
	part->first_event = graph->event_begin[cell];
	part->n = graph->event_begin[cell + 1] - part->first_event;
	part->first_op =
		fsl_cuts_first(graph->job->cuts, r, replay->step_idx[graph->windows[w].begin]);
	part->n_kinds = 0;
	FSL_TRY(FSL_GROW(level->instances, level->instances_capacity, part->n + 1, err));
	for (size_t e = 0; e < part->n; e++) {
		size_t c = channel_of(graph, &graph->events[part->first_event + e]);
		if (c == SIZE_MAX) {
			continue;
		}
		struct kind *kind = find_kind(part, c);
		if (kind == NULL) {
			kind = add_kind(part, graph->job->match, r, c);
		}
		if (kind == NULL) {
			part->n_kinds = 0;
			return FSL_OK;
		}
		kind->last = next_instance(kind, graph->job->match, part->first_op + e);
		kind->first = kind->n_uses++ == 0 ? kind->last : kind->first;
		level->instances[e] = kind->last;
	}
	qsort(part->kinds, part->n_kinds, sizeof(part->kinds[0]), compare_kinds);
	return FSL_OK;
}

/* The same operators on as many channels. */
static bool is_alike(const struct part *a, const struct part *b)
{
	for (size_t k = 0; k < a->n_kinds && k < b->n_kinds; k++) {
		if (a->kinds[k].op_id != b->kinds[k].op_id) {
			return false;
		}
	}
	return a->n_kinds == b->n_kinds && a->n_kinds > 0;
}

/* Instances of channels that have as many are the same ones; others are counted from the begin of
 * the window. */
static size_t first_of(const struct kind *kind, const struct kind *first,
		       const struct fsl_match *match)
{
	bool is_same = match->channels[kind->channel_idx].n_instances ==
		       match->channels[first->channel_idx].n_instances;
	return is_same ? first->first : kind->first;
}

/* Which place each event of the rank in level->other has. */
static void place_events(struct level *level, const struct fsl_replay_graph *graph)
{
	struct part *part = &level->other;
	for (size_t p = 0; p < level->n_places; p++) {
		level->places[p].other_at = NO_PLACE;
	}
	for (size_t e = 0; e < part->n; e++) {
		size_t c = channel_of(graph, &graph->events[part->first_event + e]);
		level->place_of[e] = NO_PLACE;
		if (c == SIZE_MAX) {
			continue;
		}
		const struct kind *kind = find_kind(part, c);
		FSL_ASSERT((size_t)(kind - part->kinds) < level->first.n_kinds);
		const struct kind *first = &level->first.kinds[kind - part->kinds];
		size_t begin = first_of(kind, first, graph->job->match);
		size_t use = level->instances[e] - begin; /* great if the instance is before */
		if (use <= first->last - first->first) {
			level->place_of[e] = first->begin + use;
			FSL_ASSERT(first->begin + use < level->n_places);
			level->places[first->begin + use].other_at = e;
		}
	}
}

/* Time that the event shows its rank to work beside: since @base, less what is above its level. */
static int64_t shown_ns(const struct fsl_replay_graph *graph, const struct fsl_event *event,
			uint32_t base)
{
	int64_t excess_ns = event->work_ns > event->level_ns ? event->work_ns - event->level_ns : 0;
	bool is_shown = event->beside != FSL_NO_NODE || event->beside_ns != INT64_MAX;
	return is_shown && base != FSL_NO_NODE
		       ? event->begin_ns - graph->events[base].end_ns - excess_ns
		       : INT64_MAX;
}

static uint32_t base_of(const struct fsl_event *event)
{
	return event->beside != FSL_NO_NODE ? event->beside : event->pred;
}

/* The place of the operator since which the event's rank worked. */
static size_t base_place(const struct level *level, uint32_t base)
{
	const struct part *part = &level->other;
	bool is_inside = base != FSL_NO_NODE && base >= part->first_event &&
			 base - part->first_event < part->n;
	return is_inside ? level->place_of[base - part->first_event] : NO_PLACE;
}

/* Learns from the rank in level->other at each place. */
static void learn(struct level *level, const struct fsl_replay_graph *graph)
{
	const struct part *part = &level->other;
	for (size_t e = 0; e < part->n; e++) {
		const struct fsl_event *event = &graph->events[part->first_event + e];
		size_t p = level->place_of[e];
		int64_t ns = p != NO_PLACE ? shown_ns(graph, event, base_of(event)) : INT64_MAX;
		if (ns != INT64_MAX && ns < level->places[p].least_ns) {
			level->places[p].least_ns = ns;
			level->places[p].base = base_place(level, base_of(event));
		}
	}
}

/* The event that a rank's event follows by what the class shows; FSL_NO_NODE: none that it had
 * before. */
static uint32_t learned_base(const struct level *level, const struct fsl_replay_graph *graph,
			     size_t e, const struct place *place)
{
	const struct part *part = &level->other;
	size_t base = place->base != NO_PLACE ? level->places[place->base].other_at : NO_PLACE;
	if (base >= e) { /* NO_PLACE is */
		return FSL_NO_NODE;
	}
	const struct fsl_event *events = &graph->events[part->first_event];
	return events[base].end_ns <= events[e].begin_ns ? (uint32_t)(part->first_event + base)
							 : FSL_NO_NODE;
}

/* Gives the class's time to the rank in level->other: the same time since the same operator. Once
 * the order of events stands, they follow what they followed. */
static void teach(struct level *level, struct fsl_replay_graph *graph)
{
	const struct part *part = &level->other;
	for (size_t e = 0; e < part->n; e++) {
		struct fsl_event *event = &graph->events[part->first_event + e];
		size_t p = level->place_of[e];
		if (p == NO_PLACE || event->beside == FSL_NO_NODE ||
		    level->places[p].least_ns == INT64_MAX) {
			continue;
		}
		int64_t least_ns = level->places[p].least_ns;
		uint32_t base = learned_base(level, graph, e, &level->places[p]);
		if (base != FSL_NO_NODE && (!level->has_order || base == event->beside)) {
			int64_t own_ns = event->begin_ns - graph->events[base].end_ns;
			event->beside = base;
			event->beside_ns = least_ns < own_ns ? least_ns : own_ns;
		} else if (!level->has_order && least_ns < event->beside_ns) {
			event->beside_ns = least_ns;
		}
	}
}

/* Places for all that the first rank of the class has. */
static enum fsl_status open_places(struct level *level, struct fsl_error *err)
{
	level->n_places = 0;
	for (size_t k = 0; k < level->first.n_kinds; k++) {
		struct kind *kind = &level->first.kinds[k];
		kind->begin = level->n_places;
		level->n_places += kind->last - kind->first + 1;
	}
	FSL_TRY(FSL_GROW(level->places, level->places_capacity, level->n_places + 1, err));
	for (size_t p = 0; p < level->n_places; p++) {
		level->places[p] = (struct place){INT64_MAX, NO_PLACE, NO_PLACE};
	}
	return FSL_OK;
}

/* At each place, the shortest time that a rank of the class takes: one whose operator beside had
 * ended before, as it was the last to join, shows it best. */
static enum fsl_status level_class(struct level *level, const struct fsl_replay *replay,
				   struct fsl_replay_graph *graph, size_t class_idx, size_t w,
				   struct fsl_error *err)
{
	const struct fsl_replay_job *job = graph->job;
	size_t begin = job->class_begin[class_idx], end = job->class_begin[class_idx + 1];
	enum fsl_status status =
		look_at(&level->first, level, replay, graph, job->members[begin], w, err);
	if (status == FSL_OK) {
		status = open_places(level, err);
	}
	for (int pass = 0; pass < 2; pass++) {
		for (size_t k = begin; k < end && status == FSL_OK; k++) {
			status = look_at(&level->other, level, replay, graph, job->members[k], w,
					 err);
			if (status != FSL_OK || !is_alike(&level->first, &level->other)) {
				continue;
			}
			status = FSL_GROW(level->place_of, level->place_of_capacity,
					  level->other.n + 1, err);
			if (status == FSL_OK) {
				place_events(level, graph);
				if (pass == 0) {
					learn(level, graph);
				} else {
					teach(level, graph);
				}
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
				      bool has_order, struct fsl_error *err)
{
	const struct fsl_replay_job *job = graph->job;
	bool is_short = false;
	graph->has_beside = has_order ? graph->has_beside : has_beside(graph);
	if (!graph->has_beside) {
		return FSL_OK;
	}
#pragma omp parallel reduction(|| : is_short)
	{
		struct level *level = fsl_calloc(1, sizeof(*level));
		is_short = level == NULL;
		if (level != NULL) {
			level->has_order = has_order;
		}
#pragma omp for schedule(dynamic, 1) collapse(2) nowait
		for (size_t c = 0; c < job->n_classes; c++) {
			for (size_t w = 0; w < graph->n_windows; w++) {
				bool is_empty = job->class_begin[c] == job->class_begin[c + 1];
				if (!is_short && !is_empty) {
					is_short = level_class(level, out, graph, c, w, NULL) !=
						   FSL_OK;
				}
			}
		}
		if (level != NULL) {
			fsl_free(level->instances);
			fsl_free(level->place_of);
			fsl_free(level->places);
		}
		fsl_free(level);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", out->n_steps)
			: FSL_OK;
}

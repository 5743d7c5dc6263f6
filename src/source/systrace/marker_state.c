/* Pairs in the middle of a file: what a mark keeps of them, and what it takes to find a restart
 * when the operators before the mark are not there. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "source/systrace/marker_parts.h"

struct id_use {
	uint64_t id;
	int64_t begin_ns;
};

static int compare_id_uses(const void *left, const void *right)
{
	const struct id_use *a = left, *b = right;
	int order = (a->id > b->id) - (a->id < b->id);
	return order != 0 ? order : (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* The same among the operators before the mark, of which only the ids are left: an operator that
 * began behind all of their rows is another one. One that did not may be a row written twice. */
static void find_restart_before(struct fsl_marker_pairs *pairs)
{
	struct fsl_rank *events = &pairs->sink->events;
	bool is_doubtful = false;
	for (size_t i = 0; i < events->n_ops && !events->is_restarted; i++) {
		const struct fsl_op *op = &events->ops[i];
		bool is_again = fsl_id_runs_have(pairs->past.used, pairs->past.n_used, op->id);
		events->is_restarted = is_again && fsl_op_begin_ns(op) > pairs->past.last_ns;
		is_doubtful |= is_again;
	}
	pairs->sink->is_inexact |= is_doubtful && !events->is_restarted;
}

enum fsl_status fsl_marker_find_restart(struct fsl_marker_pairs *pairs, struct fsl_error *err)
{
	struct fsl_rank *events = &pairs->sink->events;
	struct id_use *uses = fsl_calloc(events->n_ops, sizeof(*uses));
	if (uses == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu", events->n_ops);
	}
	for (size_t i = 0; i < events->n_ops; i++) {
		const struct fsl_op *op = &events->ops[i];
		uses[i] = (struct id_use){op->id, fsl_op_begin_ns(op)};
	}
	qsort(uses, events->n_ops, sizeof(*uses), compare_id_uses);
	for (size_t i = 1; i < events->n_ops && !events->is_restarted; i++) {
		events->is_restarted =
			uses[i].id == uses[i - 1].id && uses[i].begin_ns != uses[i - 1].begin_ns;
	}
	fsl_free(uses);
	find_restart_before(pairs);
	return FSL_OK;
}

/* Ids of the operators pushed since the last mark, as runs in the order of pushing. */
static enum fsl_status collect_runs(const struct fsl_marker_pairs *pairs, struct fsl_id_set *runs,
				    struct fsl_error *err)
{
	const struct fsl_op *ops = pairs->sink->events.ops;
	size_t n_ops = pairs->sink->events.n_ops;
	for (size_t i = pairs->n_noted; i < n_ops;) {
		struct fsl_id_run run = {ops[i].id, ops[i].id};
		while (++i < n_ops && ops[i].id == run.last + 1) {
			run.last++;
		}
		enum fsl_status status = FSL_GROW(runs->runs, runs->capacity, runs->n + 1, err);
		if (status != FSL_OK) {
			return status;
		}
		runs->runs[runs->n++] = run;
	}
	return FSL_OK;
}

/*
 * Brings the ids in use up to date. An id that came twice is looked into while all operators since
 * the beginning or the last mark are there; it comes twice only where host ids have fallen.
 */
static enum fsl_status note_ids(struct fsl_marker_pairs *pairs, struct fsl_error *err)
{
	struct fsl_rank *events = &pairs->sink->events;
	struct fsl_id_set runs = {0};
	bool is_again = false;
	if (events->is_restarted || pairs->used.n > FSL_MARKER_STATE_RUNS_MAX) {
		return FSL_OK;
	}
	enum fsl_status status = collect_runs(pairs, &runs, err);
	if (status == FSL_OK) {
		status = fsl_id_set_add(&pairs->used, runs.runs, runs.n, &is_again, err);
	}
	if (status == FSL_OK) {
		pairs->n_noted = events->n_ops;
	}
	if (status == FSL_OK && is_again && pairs->has_id_fallen) {
		status = fsl_marker_find_restart(pairs, err);
	}
	fsl_id_set_fini(&runs);
	return status;
}

/* From behind a free slot on: put into an empty hash in this order, each finds its slot again. */
static void copy_pending(const struct fsl_marker_pairs *pairs, struct fsl_marker_pending *to)
{
	size_t begin = 0, n = 0, mask = pairs->n_slots - 1;
	while (pairs->slots[begin].is_used) {
		begin++;
	}
	for (size_t i = 1; i <= mask; i++) {
		const struct fsl_marker_pending *entry = &pairs->slots[(begin + i) & mask];
		if (entry->is_used) {
			to[n++] = *entry;
		}
	}
	FSL_REQUIRE(n == pairs->n_pending);
}

enum fsl_status fsl_marker_pairs_save(struct fsl_marker_pairs *pairs,
				      struct fsl_marker_state *state, bool *is_saved,
				      struct fsl_error *err)
{
	enum fsl_status status = note_ids(pairs, err);
	bool is_restarted = pairs->sink->events.is_restarted;
	*is_saved = false;
	*state = (struct fsl_marker_state){
		.n_pending = pairs->n_pending,
		.n_slots = pairs->n_slots,
		.n_used = is_restarted ? 0 : pairs->used.n,
		.last_device_launch_ns = pairs->last_device_launch_ns,
		.last_host_id = pairs->last_host_id,
		.has_host_id = pairs->has_host_id,
		.has_id_fallen = pairs->has_id_fallen,
	};
	if (status != FSL_OK || state->n_slots > FSL_MARKER_STATE_SLOTS_MAX ||
	    state->n_used > FSL_MARKER_STATE_RUNS_MAX) {
		return status;
	}
	state->pending = fsl_calloc(state->n_pending, sizeof(*state->pending));
	state->used = fsl_calloc(state->n_used, sizeof(*state->used));
	if (state->pending == NULL || state->used == NULL) {
		fsl_marker_state_fini(state);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: incomplete_operators=%zu",
				pairs->n_pending);
	}
	copy_pending(pairs, state->pending);
	if (state->n_used > 0) {
		memcpy(state->used, pairs->used.runs, state->n_used * sizeof(*state->used));
	}
	*is_saved = true;
	return FSL_OK;
}

void fsl_marker_state_fini(struct fsl_marker_state *state)
{
	fsl_free(state->pending);
	fsl_free(state->used);
	*state = (struct fsl_marker_state){0};
}

/* The names in their order give the names of the sink in theirs. */
static enum fsl_status restore_names(struct fsl_marker_pairs *pairs, const char *const *names,
				     size_t n_names, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		const struct fsl_marker marker = {.name = names[i], .n_name = strlen(names[i])};
		uint32_t id = 0;
		status = fsl_marker_name_intern(pairs, &marker, marker.n_name, &id, err);
		if (status == FSL_OK && id != i) {
			status = FSL_FAIL(err, FSL_ERR_FORMAT, "a name stands twice: name=%zu", i);
		}
	}
	return status;
}

static bool is_sound(const struct fsl_marker_pending *entry, size_t n_names)
{
	bool is_named = entry->name == NAME_NONE || entry->name < n_names;
	return is_named && entry->is_used;
}

static enum fsl_status restore_pending(struct fsl_marker_pairs *pairs,
				       const struct fsl_marker_state *state, struct fsl_error *err)
{
	bool is_full = state->n_pending > state->n_slots / 2;
	bool is_power = (state->n_slots & (state->n_slots - 1)) == 0;
	if (state->n_slots < SLOTS_MIN || state->n_slots > FSL_MARKER_STATE_SLOTS_MAX ||
	    !is_power || is_full) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "no such hash: slots=%zu, pending=%zu",
				state->n_slots, state->n_pending);
	}
	fsl_free(pairs->slots);
	pairs->n_slots = state->n_slots;
	pairs->slots = fsl_calloc(pairs->n_slots, sizeof(*pairs->slots));
	if (pairs->slots == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: slots=%zu", pairs->n_slots);
	}
	for (size_t i = 0; i < state->n_pending; i++) {
		const struct fsl_marker_pending *entry = &state->pending[i];
		struct fsl_marker_pending *slot = fsl_marker_slot(pairs, entry->id);
		if (slot->is_used || !is_sound(entry, pairs->n_names)) {
			return FSL_FAIL(err, FSL_ERR_FORMAT, "no such operator: pending=%zu", i);
		}
		*slot = *entry;
		pairs->n_pending++;
	}
	return FSL_OK;
}

enum fsl_status fsl_marker_pairs_restore(struct fsl_marker_pairs *pairs,
					 const struct fsl_marker_state *state,
					 const struct fsl_marker_past *past,
					 const char *const *names, size_t n_names,
					 struct fsl_error *err)
{
	pairs->last_device_launch_ns = state->last_device_launch_ns;
	pairs->last_host_id = state->last_host_id;
	pairs->has_host_id = state->has_host_id;
	pairs->has_id_fallen = state->has_id_fallen;
	pairs->past = *past;
	pairs->n_noted = pairs->sink->events.n_ops;
	enum fsl_status status = restore_names(pairs, names, n_names, err);
	if (status == FSL_OK) {
		status = restore_pending(pairs, state, err);
	}
	if (status == FSL_OK) {
		status = FSL_GROW(pairs->used.runs, pairs->used.capacity, state->n_used, err);
	}
	if (status == FSL_OK && state->n_used > 0) {
		memcpy(pairs->used.runs, state->used, state->n_used * sizeof(*state->used));
		pairs->used.n = state->n_used;
	}
	return status;
}

const struct fsl_strpool *fsl_marker_pairs_texts(const struct fsl_marker_pairs *pairs)
{
	return pairs->texts;
}

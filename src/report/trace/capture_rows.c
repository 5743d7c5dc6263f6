/* Rows of the device, of the host and of memory; rows that cannot have been are left out. */
#include "report/trace/capture_rows.h"

#include <stdlib.h>

#include "base/sort.h"
#include "report/trace/track_slices.h"
#include "source/ingest.h"

enum { COMPONENTS_MAX = 16, BYTES_OF_N = 2 };

/* Kernels of one rank, with the texts of the plan. */
struct kernels {
	const struct fsl_kept_kernel *items;
	const uint32_t *names; /* by name id of the rank */
	uint32_t categories[FSL_KEPT_KINDS_N], core, step;
	int64_t shift_ns;
};

static const char *const row_lanes[FSL_KEPT_KINDS_N] = {
	[FSL_KEPT_KERNEL] = "device: kernels",
	[FSL_KEPT_CALL] = "host: calls",
	[FSL_KEPT_FUNCTION] = "host: functions",
};

static uint8_t family_of(const void *context, uint32_t idx)
{
	return (uint8_t)((const struct kernels *)context)->items[idx].kind;
}

static void times_of(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	const struct kernels *kernels = context;
	*begin_ns = kernels->items[idx].begin_ns - kernels->shift_ns;
	*end_ns = kernels->items[idx].end_ns - kernels->shift_ns;
}

static void fill(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct kernels *kernels = context;
	const struct fsl_kept_kernel *kernel = &kernels->items[idx];
	event->name = kernels->names[kernel->name_id];
	event->category = kernels->categories[kernel->kind];
	if (kernel->core_id != FSL_STR_NONE) {
		event->args[event->n_args++] = (struct fsl_track_arg){
			.key = kernels->core, .text = kernels->names[kernel->core_id]};
	}
	if (kernel->step != FSL_STEP_ABSENT) {
		event->args[event->n_args++] = (struct fsl_track_arg){
			.key = kernels->step, .text = FSL_STR_NONE, .number = kernel->step};
	}
}

/* Texts of the plan by name id of the rank; only those of kernels are there. */
static enum fsl_status map_names(struct fsl_track_plan *plan, const struct fsl_profile_rank *rank,
				 uint32_t *names, struct fsl_error *err)
{
	const struct fsl_kept_rows *kept = rank->kept;
	size_t n = fsl_strpool_size(rank->names);
	for (size_t i = 0; i < n; i++) {
		names[i] = FSL_STR_NONE;
	}
	for (size_t i = 0; i < kept->n_kernels; i++) {
		const uint32_t ids[] = {kept->kernels[i].name_id, kept->kernels[i].core_id};
		for (size_t k = 0; k < sizeof(ids) / sizeof(ids[0]); k++) {
			if (ids[k] != FSL_STR_NONE && names[ids[k]] == FSL_STR_NONE) {
				const char *text = fsl_strpool_text(rank->names, ids[k]);
				FSL_TRY(fsl_track_plan_text(plan, text, &names[ids[k]], err));
			}
		}
	}
	return FSL_OK;
}

static bool is_in_range(const struct fsl_capture_source *source, int64_t end_ns)
{
	return end_ns >= source->from_ns && end_ns <= source->to_ns && end_ns <= FSL_TIME_MAX_NS;
}

static enum fsl_status add_kernels(struct fsl_track_plan *plan,
				   const struct fsl_capture_source *source,
				   const struct fsl_profile_rank *rank, int64_t shift_ns,
				   uint64_t *n_left_out, struct fsl_error *err)
{
	static const char *const categories[FSL_KEPT_KINDS_N] = {
		[FSL_KEPT_KERNEL] = "kernel",
		[FSL_KEPT_CALL] = "call",
		[FSL_KEPT_FUNCTION] = "function",
	};
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	const struct fsl_kept_rows *kept = rank->kept;
	struct kernels *kernels = NULL;
	uint32_t *names = NULL, *order = NULL;
	size_t n = 0;
	FSL_TRY(FSL_ARENA_NEW(kernels, arena, 1, "kernels", err));
	FSL_TRY(FSL_ARENA_NEW(names, arena, fsl_strpool_size(rank->names) + 1, "names", err));
	FSL_TRY(map_names(plan, rank, names, err));
	*kernels = (struct kernels){.items = kept->kernels, .names = names, .shift_ns = shift_ns};
	for (size_t k = 0; k < FSL_KEPT_KINDS_N; k++) {
		FSL_TRY(fsl_track_plan_text(plan, categories[k], &kernels->categories[k], err));
	}
	FSL_TRY(fsl_track_plan_text(plan, "core", &kernels->core, err));
	FSL_TRY(fsl_track_plan_text(plan, "step", &kernels->step, err));
	FSL_TRY(FSL_NEW(order, kept->n_kernels + 1, "kernels", err));
	for (size_t i = 0; i < kept->n_kernels; i++) {
		order[n] = (uint32_t)i;
		n += kept->kernels[i].name_id != FSL_STR_NONE &&
		     is_in_range(source, kept->kernels[i].end_ns);
	}
	const struct fsl_slice_source slices = {.context = kernels,
						.times = times_of,
						.family = family_of,
						.fill = fill,
						.families = row_lanes};
	return fsl_slices_add(plan, fsl_track_pid_of_rank(rank->rank), &slices, order, n,
			      n_left_out, err);
}

/* One counter of one component. */
struct counter {
	struct fsl_track_stream stream; /* first: the stream is this struct */
	const struct fsl_track *track;
	const struct fsl_kept_level *levels;
	uint32_t *order; /* [n] numbers of its levels, by time; heap */
	size_t n, at;
	bool is_allocated; /* else reserved */
	int64_t shift_ns;
};

static int64_t bytes_of(const struct fsl_kept_level *level, bool is_allocated)
{
	return is_allocated ? level->allocated_bytes : level->reserved_bytes;
}

static bool next_value(struct fsl_track_stream *stream, struct fsl_track_event *event)
{
	struct counter *counter = (struct counter *)stream;
	if (counter->at == counter->n) {
		return false;
	}
	const struct fsl_kept_level *level = &counter->levels[counter->order[counter->at++]];
	*event = (struct fsl_track_event){.track = counter->track,
					  .begin_ns = level->time_ns - counter->shift_ns,
					  .end_ns = level->time_ns - counter->shift_ns,
					  .value = bytes_of(level, counter->is_allocated)};
	return true;
}

static void destroy_counter(struct fsl_track_stream *stream)
{
	fsl_free(((struct counter *)stream)->order);
	fsl_free(stream);
}

static int compare_levels(const void *left, const void *right, void *context)
{
	const struct fsl_kept_level *levels = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	FSL_ORDER_BY(levels[a].time_ns, levels[b].time_ns);
	return FSL_ORDER(a, b);
}

/* Components in the order in which they are told. Records of a component come before what
 * allocations of operators tell of it. */
struct components {
	uint32_t ids[COMPONENTS_MAX];
	bool has_records[COMPONENTS_MAX];
	size_t n;
};

static void find_components(struct components *components, const struct fsl_kept_rows *kept)
{
	*components = (struct components){0};
	for (size_t i = 0; i < kept->n_levels; i++) {
		size_t c = 0;
		while (c < components->n && components->ids[c] != kept->levels[i].component_id) {
			c++;
		}
		if (c == COMPONENTS_MAX) {
			continue;
		}
		components->ids[c] = kept->levels[i].component_id;
		components->has_records[c] |= !kept->levels[i].is_of_operator;
		components->n += c == components->n;
	}
}

/* Fills the order of the counter; false if it has no value. */
static bool fill_order(struct counter *counter, const struct fsl_kept_rows *kept,
		       const struct fsl_capture_source *source, uint32_t component,
		       bool has_records)
{
	for (size_t i = 0; i < kept->n_levels; i++) {
		const struct fsl_kept_level *level = &kept->levels[i];
		if (level->component_id == component && level->is_of_operator != has_records &&
		    bytes_of(level, counter->is_allocated) >= 0 &&
		    is_in_range(source, level->time_ns)) {
			counter->order[counter->n++] = (uint32_t)i;
		}
	}
	if (counter->n > 1) {
		qsort_r(counter->order, counter->n, sizeof(*counter->order), compare_levels,
			(void *)(uintptr_t)(const void *)kept->levels);
	}
	return counter->n > 0;
}

static enum fsl_status add_counter(struct fsl_track_plan *plan, const struct fsl_profile_rank *rank,
				   struct counter *counter, uint32_t component,
				   struct fsl_error *err)
{
	const char *name = fsl_arena_printf(fsl_track_plan_arena(plan), "memory %s of %s",
					    counter->is_allocated ? "allocated" : "reserved",
					    fsl_strpool_text(rank->names, component));
	if (name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", rank->rank);
	}
	return fsl_track_plan_add_counter(plan, fsl_track_pid_of_rank(rank->rank), name, "bytes",
					  false, &counter->track, err);
}

static enum fsl_status add_levels(struct fsl_track_plan *plan,
				  const struct fsl_capture_source *source,
				  const struct fsl_profile_rank *rank, int64_t shift_ns,
				  struct fsl_error *err)
{
	struct components components;
	find_components(&components, rank->kept);
	for (size_t c = 0; c < components.n * BYTES_OF_N; c++) {
		struct counter *counter = NULL;
		uint32_t id = components.ids[c / BYTES_OF_N];
		FSL_TRY(FSL_NEW(counter, 1, "counters", err));
		*counter = (struct counter){.stream = {next_value, destroy_counter},
					    .levels = rank->kept->levels,
					    .is_allocated = c % BYTES_OF_N == 0,
					    .shift_ns = shift_ns};
		enum fsl_status status =
			FSL_NEW(counter->order, rank->kept->n_levels + 1, "levels", err);
		bool has_values =
			status == FSL_OK && fill_order(counter, rank->kept, source, id,
						       components.has_records[c / BYTES_OF_N]);
		if (has_values) {
			status = add_counter(plan, rank, counter, id, err);
		}
		if (status != FSL_OK || !has_values) {
			destroy_counter(&counter->stream);
			FSL_TRY(status);
			continue;
		}
		FSL_TRY(fsl_track_plan_add_stream(plan, &counter->stream, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_capture_rows_add(struct fsl_track_plan *plan,
				     const struct fsl_capture_source *source,
				     const struct fsl_profile_rank *rank, int64_t shift_ns,
				     uint64_t *n_left_out, struct fsl_error *err)
{
	if (rank->kept == NULL) {
		return FSL_OK;
	}
	*n_left_out += rank->kept->n_left_out;
	FSL_TRY(add_kernels(plan, source, rank, shift_ns, n_left_out, err));
	return add_levels(plan, source, rank, shift_ns, err);
}

/* Held bytes, peaks, failures. */
#include "report/trace/memory_tracks.h"

#include "base/number.h"
#include "judge/codes.h"
#include "report/trace/run_tracks.h"
#include "report/trace/track_slices.h"
#include "text/phrase.h"

enum { MARKS_MAX = 2 };

/* The counter of one process. */
struct counter {
	struct fsl_track_stream stream; /* first: the stream is this struct */
	const struct fsl_track *track;
	const struct fsl_memory_replay *replay;
	int64_t begin_ns;
	size_t at; /* the next record */
};

/* Instants of one process, in the arena of the plan. */
struct marks {
	uint32_t category, bytes, step, path; /* texts */
	size_t n;
	struct {
		int64_t time_ns, n_bytes;
		uint32_t name, step, path; /* path FSL_STR_NONE: not told */
	} items[MARKS_MAX];
};

/* Records that change nothing have no value. */
static bool next_value(struct fsl_track_stream *stream, struct fsl_track_event *event)
{
	struct counter *counter = (struct counter *)stream;
	const struct fsl_memory_replay *replay = counter->replay;
	while (counter->at > 0 && counter->at < replay->n_records &&
	       replay->held[counter->at] == replay->held[counter->at - 1]) {
		counter->at++;
	}
	if (counter->at >= replay->n_records) {
		return false;
	}
	int64_t time_ns = counter->begin_ns + (int64_t)counter->at * FSL_NS_PER_US;
	*event = (struct fsl_track_event){.track = counter->track,
					  .begin_ns = time_ns,
					  .end_ns = time_ns,
					  .value = replay->held[counter->at]};
	counter->at++;
	return true;
}

static void destroy_counter(struct fsl_track_stream *stream)
{
	fsl_free(stream);
}

static enum fsl_status add_counter(struct fsl_track_plan *plan, uint32_t pid, const char *name,
				   const struct fsl_memory_replay *replay, int64_t begin_ns,
				   struct fsl_error *err)
{
	struct counter *counter = NULL;
	const struct fsl_track *track = NULL;
	FSL_TRY(fsl_track_plan_add_counter(plan, pid, name, "bytes", false, &track, err));
	FSL_TRY(FSL_NEW(counter, 1, "counters", err));
	*counter = (struct counter){.stream = {next_value, destroy_counter},
				    .track = track,
				    .replay = replay,
				    .begin_ns = begin_ns};
	return fsl_track_plan_add_stream(plan, &counter->stream, err);
}

static void times_of(const void *context, uint32_t idx, int64_t *begin_ns, int64_t *end_ns)
{
	*begin_ns = *end_ns = ((const struct marks *)context)->items[idx].time_ns;
}

static void fill(const void *context, uint32_t idx, struct fsl_track_event *event)
{
	const struct marks *marks = context;
	event->name = marks->items[idx].name;
	event->category = marks->category;
	event->args[event->n_args++] = (struct fsl_track_arg){
		.key = marks->bytes, .text = FSL_STR_NONE, .number = marks->items[idx].n_bytes};
	event->args[event->n_args++] = (struct fsl_track_arg){
		.key = marks->step, .text = FSL_STR_NONE, .number = marks->items[idx].step};
	if (marks->items[idx].path != FSL_STR_NONE) {
		event->args[event->n_args++] =
			(struct fsl_track_arg){.key = marks->path, .text = marks->items[idx].path};
	}
}

bool fsl_memory_is_out(const struct fsl_memory_replay *replay, int64_t device_bytes, size_t *record)
{
	*record = replay->n_failed > 0 ? replay->first_failed : replay->peak;
	return replay->n_failed > 0 || (device_bytes > 0 && replay->peak_bytes >= device_bytes);
}

static enum fsl_status add_mark(struct marks *marks, struct fsl_track_plan *plan, const char *name,
				const struct fsl_memory_tracks *source, size_t process,
				size_t record, struct fsl_error *err)
{
	const struct fsl_memory_record *at = &source->memory->items[process].records[record];
	size_t i = marks->n++;
	marks->items[i].time_ns = source->begin_ns + (int64_t)record * FSL_NS_PER_US;
	marks->items[i].n_bytes = source->replays[process].held[record];
	marks->items[i].step = at->step;
	marks->items[i].path = FSL_STR_NONE;
	if (at->path_id != FSL_STR_NONE) {
		const char *path = fsl_strpool_text(source->memory->paths, at->path_id);
		FSL_TRY(fsl_track_plan_text(plan, path, &marks->items[i].path, err));
	}
	return fsl_track_plan_text(plan, name, &marks->items[i].name, err);
}

static enum fsl_status add_marks(struct fsl_track_plan *plan, uint32_t pid,
				 const char *const *lanes, const struct fsl_memory_tracks *source,
				 size_t process, struct fsl_error *err)
{
	const struct fsl_memory_replay *replay = &source->replays[process];
	struct marks *marks = NULL;
	uint32_t *order = NULL;
	uint64_t n_left_out = 0;
	size_t record = 0;
	FSL_TRY(FSL_ARENA_NEW(marks, fsl_track_plan_arena(plan), 1, "marks", err));
	FSL_TRY(fsl_track_plan_text(plan, "memory", &marks->category, err));
	FSL_TRY(fsl_track_plan_text(plan, "held_bytes", &marks->bytes, err));
	FSL_TRY(fsl_track_plan_text(plan, "step", &marks->step, err));
	FSL_TRY(fsl_track_plan_text(plan, "call_path", &marks->path, err));
	if (replay->peak_bytes > 0) {
		FSL_TRY(add_mark(marks, plan, "peak", source, process, replay->peak, err));
	}
	if (fsl_memory_is_out(replay, source->device_bytes, &record)) {
		FSL_TRY(add_mark(marks, plan, fsl_code_text(FSL_CODE_HBM_OOM), source, process,
				 record, err));
	}
	const struct fsl_slice_source slices = {
		.context = marks, .times = times_of, .fill = fill, .families = lanes};
	FSL_TRY(FSL_NEW(order, MARKS_MAX, "marks", err));
	order[1] = 1;
	return fsl_slices_add(plan, pid, &slices, order, marks->n, &n_left_out, err);
}

/* Counters of a process are told apart by their names alone. */
static enum fsl_status name_track(char **out, struct fsl_track_plan *plan, const char *what,
				  size_t number, struct fsl_error *err)
{
	struct fsl_arena *arena = fsl_track_plan_arena(plan);
	*out = number > 1
		       ? fsl_arena_printf(arena, "%s %zu (1 us a record, no times)", what, number)
		       : fsl_arena_printf(arena, "%s (1 us a record, no times)", what);
	return *out != NULL ? FSL_OK
			    : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: track=\"%s\"", what);
}

/* @number: of the process among those of its rank, from 1 on. */
static enum fsl_status add_process(struct fsl_track_plan *plan,
				   const struct fsl_memory_tracks *source, size_t process,
				   size_t number, struct fsl_error *err)
{
	int32_t rank = source->memory->items[process].rank;
	uint32_t pid = fsl_track_pid_of_rank(rank);
	const char **lanes = NULL;
	char *name = NULL, *lane = NULL;
	FSL_TRY(fsl_track_add_rank(plan, rank, NULL, err));
	FSL_TRY(name_track(&name, plan, "held device memory", number, err));
	FSL_TRY(name_track(&lane, plan, "device memory", number, err));
	FSL_TRY(FSL_ARENA_NEW(lanes, fsl_track_plan_arena(plan), 1, "lanes", err));
	lanes[0] = lane;
	FSL_TRY(add_counter(plan, pid, name, &source->replays[process], source->begin_ns, err));
	return add_marks(plan, pid, lanes, source, process, err);
}

enum fsl_status fsl_memory_tracks_add(struct fsl_track_plan *plan,
				      const struct fsl_memory_tracks *source,
				      bool (*is_wanted)(const void *context, int64_t rank),
				      const void *context, struct fsl_error *err)
{
	const struct fsl_memory *memory = source->memory;
	for (size_t i = 0; i < memory->n_items; i++) {
		size_t number = 1;
		for (size_t before = 0; before < i; before++) {
			number += memory->items[before].rank == memory->items[i].rank;
		}
		if (memory->items[i].n_records > 0 && is_wanted(context, memory->items[i].rank)) {
			FSL_TRY(add_process(plan, source, i, number, err));
		}
	}
	return FSL_OK;
}

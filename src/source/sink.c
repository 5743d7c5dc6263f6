/* The sink: where formats put what they read, with every limit and count in one place. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "source/ingest.h"

#include "base/number.h"
#include "base/try.h"

enum { MESSAGE_BYTES_MAX = 1024 };

enum fsl_status fsl_sink_init(struct fsl_sink *sink, struct fsl_file *file, struct fsl_error *err)
{
	*sink = (struct fsl_sink){
		.file = file,
		.from_ns = INT64_MIN,
		.to_ns = INT64_MAX,
		.pieces = {INT64_MAX, INT64_MAX, 0, 0, false},
		.stop_ns = INT64_MAX,
		.forget_ns = INT64_MIN,
		.events =
			{
				.rank = FSL_RANK_UNKNOWN,
				.last_event_ns = FSL_NS_ABSENT,
				.open_op_id = FSL_STR_NONE,
				.open_group_id = FSL_STR_NONE,
				.open_begin_ns = FSL_NS_ABSENT,
			},
	};
	sink->names = fsl_strpool_create();
	if (sink->names == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", file->path);
	}
	return FSL_OK;
}

void fsl_sink_fini(struct fsl_sink *sink)
{
	if (sink->kept != NULL) {
		sink->drop_kept(sink->kept);
	}
	fsl_free(sink->events.ops);
	fsl_free(sink->events.remnants);
	fsl_free(sink->events.stages);
	fsl_free(sink->events.steps);
	fsl_free(sink->kind_of);
	fsl_strpool_destroy(sink->names);
	fsl_arena_fini(&sink->arena);
	*sink = (struct fsl_sink){0};
}

/* Sets the time behind which ends show that the file has passed the next boundary. */
static void wait_for_boundary(struct fsl_sink *sink)
{
	const struct fsl_pieces *pieces = &sink->pieces;
	bool is_any = pieces->boundary_ns < INT64_MAX - pieces->slack_ns;
	sink->stop_ns = is_any ? pieces->boundary_ns + pieces->slack_ns : INT64_MAX;
	sink->n_behind = 0;
	sink->is_stopped = false;
}

void fsl_sink_set_pieces(struct fsl_sink *sink, const struct fsl_pieces *pieces)
{
	sink->pieces = *pieces;
	wait_for_boundary(sink);
}

static void note_boundary(struct fsl_sink *sink, const struct fsl_place *place)
{
	const struct fsl_file *file = sink->file;
	if (sink->n_notes == FSL_SINK_NOTES_MAX) {
		memmove(sink->notes, sink->notes + 1,
			(FSL_SINK_NOTES_MAX - 1) * sizeof(sink->notes[0]));
		sink->n_notes--;
	}
	struct fsl_note *note = &sink->notes[sink->n_notes++];
	*note = (struct fsl_note){.boundary_ns = sink->pieces.boundary_ns,
				  .place = *place,
				  .n_records = file->n_records,
				  .message = file->message};
	memcpy(note->n_dropped, file->n_dropped, sizeof(note->n_dropped));
}

void fsl_sink_hold(struct fsl_sink *sink)
{
	sink->stop_ns = INT64_MAX;
}

void fsl_sink_go_on(struct fsl_sink *sink)
{
	struct fsl_file *file = sink->file;
	const struct fsl_note *note = sink->resume;
	file->n_records = note->n_records;
	memcpy(file->n_dropped, note->n_dropped, sizeof(file->n_dropped));
	file->message = note->message;
	file->state = note->message[0] == '\0' ? FSL_FILE_READ : FSL_FILE_PARTIAL;
	file->n_bytes_before = 0;
	sink->notes[0] = *note;
	sink->n_notes = 1;
	sink->pieces.boundary_ns = note->boundary_ns + sink->pieces.period_ns;
	wait_for_boundary(sink);
}

void fsl_sink_pass(struct fsl_sink *sink, const struct fsl_place *place)
{
	struct fsl_pieces *pieces = &sink->pieces;
	sink->is_paused = pieces->boundary_ns >= pieces->pause_ns;
	note_boundary(sink, place);
	sink->place = *place;
	pieces->boundary_ns += pieces->period_ns;
	wait_for_boundary(sink);
}

static bool is_time(int64_t time_ns)
{
	return time_ns >= 0 && time_ns <= FSL_TIME_MAX_NS;
}

static bool is_time_or_absent(int64_t time_ns)
{
	return time_ns == FSL_NS_ABSENT || is_time(time_ns);
}

static enum fsl_status too_many(const char *what, int max, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_LIMIT,
			"too many %s in one file, the rest is not read; split the file by time: "
			"max=%d",
			what, max);
}

/* No operator lasts for thirty days: one of its times is damaged, or a clock was set. */
static const int64_t OP_NS_MAX = INT64_C(30) * 86400 * FSL_NS_PER_S;

enum fsl_status fsl_sink_add_op(struct fsl_sink *sink, const struct fsl_op *op,
				struct fsl_error *err)
{
	struct fsl_rank *events = &sink->events;
	int64_t begin_ns = fsl_op_begin_ns(op), end_ns = fsl_op_end_ns(op);
	if (!is_time(begin_ns) || !is_time(end_ns) || !is_time_or_absent(op->host_begin_ns) ||
	    !is_time_or_absent(op->host_end_ns)) {
		fsl_sink_drop(sink, FSL_DROP_MALFORMED);
		return FSL_OK;
	}
	fsl_sink_seen(sink, end_ns);
	fsl_sink_seen(sink, op->host_end_ns);
	bool is_host_backwards =
		op->host_end_ns != FSL_NS_ABSENT && op->host_end_ns < op->host_begin_ns;
	if (end_ns < begin_ns || is_host_backwards) {
		fsl_sink_drop(sink, FSL_DROP_BACKWARDS);
		return FSL_OK;
	}
	if (end_ns - begin_ns > OP_NS_MAX) {
		fsl_sink_drop(sink, FSL_DROP_MALFORMED);
		return FSL_OK;
	}
	if (end_ns < sink->from_ns || end_ns > sink->to_ns) {
		fsl_sink_drop(sink, FSL_DROP_OUT_OF_RANGE);
		return FSL_OK;
	}
	if (end_ns < sink->forget_ns) {
		sink->has_given = true;
		fsl_sink_note_end(sink, end_ns);
		return FSL_OK;
	}
	if (events->n_ops >= FSL_SINK_OPS_MAX) {
		return too_many("operators", FSL_SINK_OPS_MAX, err);
	}
	FSL_TRY(FSL_GROW(events->ops, events->ops_capacity, events->n_ops + 1, err));
	/* Compare with the operator before now; later all operators would have to be read again. */
	events->is_rising =
		events->n_ops == 0 ||
		(events->is_rising && fsl_op_begin_ns(&events->ops[events->n_ops - 1]) < begin_ns);
	events->ops[events->n_ops++] = *op;
	fsl_sink_note_end(sink, end_ns);
	return FSL_OK;
}

enum fsl_status fsl_sink_add_remnant(struct fsl_sink *sink, const struct fsl_op *op,
				     struct fsl_error *err)
{
	struct fsl_rank *events = &sink->events;
	int64_t time_ns = fsl_remnant_ns(op);
	bool is_sound = is_time(time_ns) && is_time_or_absent(op->dev_begin_ns) &&
			(op->dev_begin_ns == FSL_NS_ABSENT || op->dev_begin_ns <= time_ns);
	if (!is_sound || time_ns < sink->forget_ns || time_ns < sink->from_ns ||
	    time_ns > sink->to_ns || events->n_remnants >= FSL_SINK_OPS_MAX) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(events->remnants, events->remnants_capacity, events->n_remnants + 1, err));
	events->remnants[events->n_remnants++] = *op;
	return FSL_OK;
}

enum fsl_status fsl_sink_add_stage(struct fsl_sink *sink, const struct fsl_stage *stage,
				   struct fsl_error *err)
{
	struct fsl_rank *events = &sink->events;
	if (!is_time(stage->begin_ns) || !is_time(stage->end_ns)) {
		fsl_sink_drop(sink, FSL_DROP_MALFORMED);
		return FSL_OK;
	}
	fsl_sink_seen(sink, stage->end_ns);
	if (stage->end_ns < stage->begin_ns) {
		fsl_sink_drop(sink, FSL_DROP_BACKWARDS);
		return FSL_OK;
	}
	if (stage->begin_ns < sink->forget_ns) {
		sink->has_given = true;
		fsl_sink_note_end(sink, stage->end_ns);
		return FSL_OK;
	}
	if (events->n_stages >= FSL_SINK_STAGES_MAX) {
		return too_many("stages", FSL_SINK_STAGES_MAX, err);
	}
	FSL_TRY(FSL_GROW(events->stages, events->stages_capacity, events->n_stages + 1, err));
	events->stages[events->n_stages++] = *stage;
	fsl_sink_note_end(sink, stage->end_ns);
	return FSL_OK;
}

enum fsl_status fsl_sink_add_step(struct fsl_sink *sink, const struct fsl_step_time *step,
				  struct fsl_error *err)
{
	struct fsl_rank *events = &sink->events;
	if (!is_time(step->begin_ns) || step->dur_ns > FSL_TIME_MAX_NS) {
		fsl_sink_drop(sink, FSL_DROP_MALFORMED);
		return FSL_OK;
	}
	if (step->dur_ns < 0) {
		fsl_sink_drop(sink, FSL_DROP_BACKWARDS);
		return FSL_OK;
	}
	fsl_sink_seen(sink, step->begin_ns + step->dur_ns);
	if (events->n_steps >= FSL_SINK_STEPS_MAX) {
		return too_many("steps", FSL_SINK_STEPS_MAX, err);
	}
	const struct fsl_step_time *last =
		events->n_steps > 0 ? &events->steps[events->n_steps - 1] : NULL;
	events->n_restarts +=
		last != NULL && step->step >= 0 && step->step <= last->step &&
		step->begin_ns - last->begin_ns > (step->step == last->step ? last->dur_ns : 0);
	FSL_TRY(FSL_GROW(events->steps, events->steps_capacity, events->n_steps + 1, err));
	events->steps[events->n_steps++] = *step;
	return FSL_OK;
}

enum fsl_status fsl_sink_intern(struct fsl_sink *sink, const char *text, size_t length,
				uint32_t *id, struct fsl_error *err)
{
	if (fsl_strpool_size(sink->names) >= FSL_SINK_NAMES_MAX) {
		*id = fsl_strpool_find(sink->names, text, length);
		return *id != FSL_STR_NONE ? FSL_OK
					   : too_many("different names", FSL_SINK_NAMES_MAX, err);
	}
	return fsl_strpool_intern(sink->names, text, length, id, err);
}

void fsl_sink_drop(struct fsl_sink *sink, enum fsl_drop why)
{
	sink->file->n_dropped[why]++;
}

/* A message that does not fit memory is less important than the state that goes with it. */
static void set_message(struct fsl_sink *sink, enum fsl_file_state state, const char *format,
			va_list args) __attribute__((format(printf, 3, 0)));
static void set_message(struct fsl_sink *sink, enum fsl_file_state state, const char *format,
			va_list args)
{
	char text[MESSAGE_BYTES_MAX];
	(void)vsnprintf(text, sizeof(text), format, args);
	const char *copy = fsl_arena_strdup(&sink->arena, text);
	sink->file->state = state;
	sink->file->message = copy != NULL ? copy : "out of memory";
}

void fsl_sink_bad_record(struct fsl_sink *sink, enum fsl_drop why, const char *format, ...)
{
	fsl_sink_drop(sink, why);
	if (sink->file->message != NULL && sink->file->message[0] != '\0') {
		return;
	}
	va_list args;
	va_start(args, format);
	set_message(sink, FSL_FILE_PARTIAL, format, args);
	va_end(args);
}

void fsl_sink_partial(struct fsl_sink *sink, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	set_message(sink, FSL_FILE_PARTIAL, format, args);
	va_end(args);
}

void fsl_sink_unusable(struct fsl_sink *sink, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	set_message(sink, FSL_FILE_UNUSABLE, format, args);
	va_end(args);
}

enum fsl_status fsl_sink_fault(struct fsl_sink *sink, enum fsl_status status, struct fsl_error *err)
{
	if (status == FSL_OK || status == FSL_ERR_MEMORY) {
		return status;
	}
	fsl_sink_partial(sink, "%s",
			 fsl_error_root(err)[0] != '\0' ? fsl_error_root(err)
							: fsl_status_text(status));
	fsl_error_clear(err);
	return FSL_OK;
}

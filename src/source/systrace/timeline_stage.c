/* Checks one timeline stage, converts us to ns and names its kind. */
#include "source/systrace/timeline_stage.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"

/* Kind of a type, told from its name once: a timeline has a few types and very many stages. */
static enum fsl_status find_kind(struct fsl_sink *sink, const struct fsl_timeline_stage *stage,
				 uint32_t type_id, enum fsl_stage_kind *kind, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(sink->kind_of, sink->kinds_capacity, (size_t)type_id + 1, err));
	while (sink->n_kinds <= type_id) {
		sink->kind_of[sink->n_kinds++] = FSL_STAGES_N;
	}
	if (sink->kind_of[type_id] == FSL_STAGES_N) {
		sink->kind_of[type_id] =
			(uint8_t)fsl_stage_kind_from_text(stage->type, stage->n_type);
	}
	*kind = (enum fsl_stage_kind)sink->kind_of[type_id];
	return FSL_OK;
}

void fsl_stage_stack_add(struct fsl_stage_stack *stack, const char *frame, size_t n_frame)
{
	size_t room = sizeof(stack->text) - stack->length;
	size_t n_mark = stack->n_frames > 0;
	if (stack->is_full || stack->n_frames >= FSL_STAGE_FRAMES_MAX || n_frame + n_mark > room) {
		stack->is_full = true;
		return;
	}
	char *end = stack->text + room;
	if (n_mark > 0) {
		*--end = ';';
	}
	for (size_t i = n_frame; i-- > 0;) {
		unsigned char byte = (unsigned char)frame[i];
		*--end = byte < ' ' || byte == 0x7f ? '?' : byte == ';' ? ':' : (char)byte;
	}
	stack->length += n_frame + n_mark;
	stack->n_frames++;
}

enum {
	STACK_NAMES_MAX = 1 << 14, /* of a file: 32 MiB */
	FRAME_BYTES_MAX = 256,     /* collectors cut frames there */
	FRAME_NAMES_MAX = 1 << 16, /* of a file, with types; programs have some hundred frames */
};

/* Id of the frame + 1; 0: none. A frame over a limit is left out, its stage stays. */
static enum fsl_status find_frame(struct fsl_sink *sink, const struct fsl_timeline_stage *stage,
				  uint32_t *frame, struct fsl_error *err)
{
	uint32_t id = FSL_STR_NONE;
	*frame = 0;
	if (stage->n_frame == 0 || stage->n_frame > FRAME_BYTES_MAX ||
	    memchr(stage->frame, '\0', stage->n_frame) != NULL) {
		return FSL_OK;
	}
	if (fsl_strpool_size(sink->names) < FRAME_NAMES_MAX) {
		FSL_TRY(fsl_sink_intern(sink, stage->frame, stage->n_frame, &id, err));
	} else {
		id = fsl_strpool_find(sink->names, stage->frame, stage->n_frame);
	}
	*frame = id + 1;
	return FSL_OK;
}

/* Id of the stack + 1; 0: none, or a new one beyond the limit. */
static enum fsl_status find_stack(struct fsl_sink *sink, const struct fsl_stage_stack *stack,
				  uint32_t *out, struct fsl_error *err)
{
	uint32_t id = FSL_STR_NONE;
	*out = 0;
	if (stack == NULL || stack->length == 0) {
		return FSL_OK;
	}
	const char *text = stack->text + sizeof(stack->text) - stack->length;
	if (fsl_strpool_size(sink->names) < STACK_NAMES_MAX) {
		FSL_TRY(fsl_sink_intern(sink, text, stack->length, &id, err));
	} else {
		id = fsl_strpool_find(sink->names, text, stack->length);
	}
	*out = id + 1;
	return FSL_OK;
}

static uint32_t bounded(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

enum fsl_status fsl_timeline_stage_add(struct fsl_sink *sink,
				       const struct fsl_timeline_stage *stage, uint64_t offset,
				       struct fsl_error *err)
{
	const uint64_t time_us_max = (uint64_t)FSL_TIME_MAX_NS / FSL_NS_PER_US;
	if (stage->end_us == 0 && stage->begin_us > 0 && stage->begin_us <= time_us_max) {
		fsl_sink_seen(sink, (int64_t)stage->begin_us * FSL_NS_PER_US);
		fsl_sink_drop(sink, FSL_DROP_NO_END);
		return FSL_OK;
	}
	if (stage->n_type == 0 || stage->n_type > FSL_NAME_BYTES_MAX ||
	    memchr(stage->type, '\0', stage->n_type) != NULL || stage->begin_us > time_us_max ||
	    stage->end_us > time_us_max || stage->step > INT64_MAX) {
		fsl_sink_bad_record(sink, FSL_DROP_MALFORMED,
				    "stages without a usable type or time were left out, the "
				    "first: offset=%llu, start_us=%llu, end_us=%llu",
				    (unsigned long long)offset, (unsigned long long)stage->begin_us,
				    (unsigned long long)stage->end_us);
		return FSL_OK;
	}
	uint32_t type_id = FSL_STR_NONE;
	FSL_TRY(fsl_sink_intern(sink, stage->type, stage->n_type, &type_id, err));
	enum fsl_stage_kind kind = FSL_STAGE_OTHER;
	FSL_TRY(find_kind(sink, stage, type_id, &kind, err));
	uint32_t frame = 0, stack = 0;
	FSL_TRY(find_frame(sink, stage, &frame, err));
	FSL_TRY(find_stack(sink, stage->stack, &stack, err));
	const struct fsl_stage added = {
		.begin_ns = (int64_t)stage->begin_us * FSL_NS_PER_US,
		.end_ns = (int64_t)stage->end_us * FSL_NS_PER_US,
		.step = (int64_t)stage->step,
		.type_id = type_id,
		.kind = kind,
		.frame = frame,
		.stack = stack,
		.n_collected = bounded(stage->n_collected),
		.n_uncollectable = bounded(stage->n_uncollectable),
	};
	return fsl_sink_add_stage(sink, &added, err);
}

void fsl_timeline_rank_set(struct fsl_sink *sink, uint64_t rank)
{
	sink->events.rank = rank < FSL_RANKS_MAX ? (int32_t)rank : FSL_RANK_UNKNOWN;
}

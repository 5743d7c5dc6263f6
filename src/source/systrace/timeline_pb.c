/*
 * sysTrace timelines as protobuf. The outer message is walked by hand and one stage is unpacked at
 * a time, so memory stays constant; several messages one after the other are one message by the
 * rules of the wire format.
 */
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "source/entry.h"
#include "source/systrace/pb_memory.h"
#include "source/systrace/timeline_stage.h"
#include "source/systrace/timeline_wire.h"
#include "timeline.pb-c.h"

enum { STAGE_BYTES_MAX = FSL_LINE_BYTES_MAX /* what a reader can show at once */ };

static int probe_head(const struct fsl_probe *probe)
{
	size_t at = 0;
	struct fsl_wire_field field;
	while (at < probe->n_head &&
	       fsl_wire_field_parse(&field, probe->head + at, probe->n_head - at)) {
		at += field.n_head;
		if (field.number == FSL_FIELD_STAGES && field.wire == FSL_WIRE_BYTES) {
			size_t left = probe->n_head - at;
			size_t n_stage = field.value < left ? (size_t)field.value : left;
			if (fsl_wire_is_stage_like(probe->head + at, n_stage)) {
				return FSL_PROBE_CONTENT;
			}
			break;
		}
		if (field.number > FSL_FIELD_COMM || field.wire > FSL_WIRE_BYTES) {
			break;
		}
		uint64_t n_body = field.wire == FSL_WIRE_BYTES ? field.value : 0;
		if (n_body > probe->n_head - at) {
			break;
		}
		at += (size_t)n_body;
	}
	return strstr(probe->file_name, ".timeline") != NULL ? FSL_PROBE_NAME : 0;
}

/* The stage at @data, which is all in memory. */
static enum fsl_status read_stage(const char *data, const struct fsl_wire_field *field,
				  struct fsl_sink *sink, struct fsl_error *err)
{
	size_t n_bytes = (size_t)field->value;
	uint64_t offset = field->offset + field->n_head;
	bool is_short = false;
	ProtobufCAllocator allocator = fsl_pb_allocator(&is_short);
	TimelineStage *message = timeline_stage__unpack(&allocator, n_bytes, (const uint8_t *)data);
	if (is_short) {
		timeline_stage__free_unpacked(message, &allocator);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\", bytes=%zu",
				sink->file->path, n_bytes);
	}
	sink->file->n_records++;
	if (message == NULL) {
		fsl_sink_bad_record(sink, FSL_DROP_MALFORMED,
				    "stages that are no protobuf message were left out, the first: "
				    "offset=%llu, bytes=%zu",
				    (unsigned long long)offset, n_bytes);
		return FSL_OK;
	}
	struct fsl_stage_stack stack;
	fsl_stage_stack_clear(&stack);
	for (size_t i = 0; i < message->n_stack_frames && sink->keeps_stacks; i++) {
		fsl_stage_stack_add(&stack, message->stack_frames[i],
				    strlen(message->stack_frames[i]));
	}
	const struct fsl_timeline_stage stage = {
		.step = message->stage_id,
		.begin_us = message->start_us,
		.end_us = message->end_us,
		.type = message->stage_type,
		.n_type = strlen(message->stage_type),
		.frame = message->n_stack_frames > 0 ? message->stack_frames[0] : "",
		.n_frame = message->n_stack_frames > 0 ? strlen(message->stack_frames[0]) : 0,
		.stack = &stack,
		.n_collected = message->gc_debug != NULL ? message->gc_debug->collected : 0,
		.n_uncollectable = message->gc_debug != NULL ? message->gc_debug->uncollectable : 0,
	};
	enum fsl_status status = fsl_timeline_stage_add(sink, &stage, offset, err);
	timeline_stage__free_unpacked(message, &allocator);
	return status;
}

/* Skips @n_bytes in pieces; false when the file ends before. */
static enum fsl_status skip_bytes(struct fsl_reader *reader, uint64_t n_bytes, bool *is_cut,
				  struct fsl_error *err)
{
	*is_cut = false;
	while (n_bytes > 0) {
		const char *data = NULL;
		size_t n_seen = 0;
		FSL_TRY(fsl_reader_peek(reader, 1, &data, &n_seen, err));
		if (n_seen == 0) {
			*is_cut = true;
			return FSL_OK;
		}
		size_t n_step = n_seen < n_bytes ? n_seen : (size_t)n_bytes;
		fsl_reader_skip(reader, n_step);
		n_bytes -= n_step;
	}
	return FSL_OK;
}

static void report_cut(struct fsl_sink *sink, uint64_t offset)
{
	sink->file->n_records++;
	fsl_sink_drop(sink, FSL_DROP_CUT);
	fsl_sink_partial(sink,
			 "the file ends in the middle of a stage (still being written, or the disk "
			 "was full): offset=%llu",
			 (unsigned long long)offset);
}

/* The body of a length-delimited field whose head is already skipped. */
static enum fsl_status read_body(struct fsl_reader *reader, const struct fsl_wire_field *field,
				 struct fsl_sink *sink, bool *is_cut, struct fsl_error *err)
{
	if (field->number != FSL_FIELD_STAGES) {
		return skip_bytes(reader, field->value, is_cut, err);
	}
	if (field->value > STAGE_BYTES_MAX) {
		sink->file->n_records++;
		fsl_sink_bad_record(sink, FSL_DROP_TOO_LONG,
				    "stages over the limit were left out, the first: offset=%llu, "
				    "bytes=%llu, max=%d",
				    (unsigned long long)(field->offset + field->n_head),
				    (unsigned long long)field->value, STAGE_BYTES_MAX);
		return skip_bytes(reader, field->value, is_cut, err);
	}
	const char *data = NULL;
	size_t n_seen = 0, n_wanted = (size_t)field->value;
	enum fsl_status status = fsl_reader_peek(reader, n_wanted, &data, &n_seen, err);
	if (status != FSL_OK || n_seen < n_wanted) {
		*is_cut = status == FSL_OK;
		return status;
	}
	status = read_stage(data, field, sink, err);
	fsl_reader_skip(reader, n_wanted);
	return status;
}

/* Reports that the bytes at @offset are no field, or not yet a whole one. */
static void report_end(struct fsl_sink *sink, uint64_t offset, size_t n_seen)
{
	if (n_seen < FSL_WIRE_HEAD_BYTES_MAX) {
		report_cut(sink, offset);
		return;
	}
	sink->file->n_records++;
	fsl_sink_drop(sink, FSL_DROP_MALFORMED);
	fsl_sink_partial(sink,
			 "no protobuf timeline from here on, the rest is not read; "
			 "collect the file again: offset=%llu",
			 (unsigned long long)offset);
}

/* One field whose head is skipped; *is_cut when the file ends inside. */
static enum fsl_status read_field(struct fsl_reader *reader, const struct fsl_wire_field *field,
				  struct fsl_sink *sink, bool *is_cut, struct fsl_error *err)
{
	*is_cut = false;
	if (field->wire == FSL_WIRE_BYTES) {
		FSL_TRY(read_body(reader, field, sink, is_cut, err));
	} else if (field->number == FSL_FIELD_RANK && field->wire == FSL_WIRE_VARINT) {
		fsl_timeline_rank_set(sink, field->value);
	}
	if (*is_cut) {
		report_cut(sink, field->offset);
	}
	return FSL_OK;
}

/* Goes on behind the gap. */
static enum fsl_status pass_gap(struct fsl_reader *reader, struct fsl_sink *sink,
				struct fsl_entry_gap *gap, struct fsl_error *err)
{
	uint64_t offset = fsl_reader_offset(reader);
	gap->begin = UINT64_MAX;
	if (offset >=
	    gap->end) { /* the gap lies inside one stage; no collector writes one that long */
		return FSL_OK;
	}
	sink->file->n_bytes_behind = gap->end - offset;
	return fsl_reader_seek(reader, gap->end, err);
}

static enum fsl_status read_fields(struct fsl_reader *reader, struct fsl_sink *sink,
				   struct fsl_entry_gap gap, struct fsl_error *err)
{
	bool is_cut = false;
	while (!is_cut && !sink->is_paused) {
		const char *data = NULL;
		size_t n_seen = 0;
		struct fsl_wire_field field;
		if (sink->resume != NULL && sink->n_notes == 0 &&
		    fsl_reader_offset(reader) >= sink->resume->place.offset) {
			fsl_sink_go_on(sink);
		}
		if (sink->is_stopped) {
			const struct fsl_place place = {.offset = fsl_reader_offset(reader)};
			fsl_sink_pass(sink, &place);
			continue;
		}
		if (fsl_reader_offset(reader) >= gap.begin) {
			FSL_TRY(pass_gap(reader, sink, &gap, err));
		}
		FSL_TRY(fsl_reader_peek(reader, FSL_WIRE_HEAD_BYTES_MAX, &data, &n_seen, err));
		uint64_t offset = fsl_reader_offset(reader);
		if (n_seen == 0 || !fsl_wire_field_parse(&field, data, n_seen)) {
			if (n_seen > 0) {
				report_end(sink, offset, n_seen);
			}
			break;
		}
		field.offset = offset;
		fsl_reader_skip(reader, field.n_head);
		FSL_TRY(read_field(reader, &field, sink, &is_cut, err));
	}
	return FSL_OK;
}

/* Moves the reader behind stages that are older than the time range, and finds the gap of newer
 * stages. */
static enum fsl_status enter(struct fsl_reader *reader, struct fsl_sink *sink,
			     struct fsl_entry_gap *gap, struct fsl_error *err)
{
	const struct fsl_entry_rows rows = {NULL, fsl_wire_next_stage};
	uint64_t entry = 0;
	FSL_TRY(fsl_entry_find(reader, &rows, sink->from_ns, 0, &entry, err));
	FSL_TRY(fsl_entry_find_gap(reader, &rows, sink->to_ns, entry, gap, err));
	if (entry > 0) {
		sink->file->n_bytes_before = entry;
		FSL_TRY(fsl_reader_seek(reader, entry, err));
	}
	return FSL_OK;
}

/* Moves the reader in front of the place up to which an earlier run had counted. */
static enum fsl_status enter_before(struct fsl_reader *reader, const struct fsl_sink *sink,
				    struct fsl_error *err)
{
	const struct fsl_entry_rows rows = {NULL, fsl_wire_next_stage};
	uint64_t entry = 0;
	FSL_TRY(fsl_entry_find_before(reader, &rows, sink->enter_ns, 0, sink->resume->place.offset,
				      &entry, err));
	return entry > 0 ? fsl_reader_seek(reader, entry, err) : FSL_OK;
}

/* Reads the stages that the time range needs, or all stages. */
static enum fsl_status read_stages(struct fsl_reader *reader, struct fsl_sink *sink,
				   struct fsl_error *err)
{
	struct fsl_entry_gap gap = {UINT64_MAX, UINT64_MAX};
	if (sink->resume != NULL && sink->n_notes == 0) {
		fsl_sink_hold(sink);
		FSL_TRY(enter_before(reader, sink, err));
	} else if (sink->is_range_for_stages && !sink->has_given) {
		FSL_TRY(enter(reader, sink, &gap, err));
	}
	return read_fields(reader, sink, gap, err);
}

static enum fsl_status read_file(struct fsl_reader *reader, struct fsl_sink *sink,
				 struct fsl_error *err)
{
	if (!sink->has_given) {
		sink->events.rank = 0; /* proto3 does not write a rank of 0 */
	}
	FSL_TRY(fsl_sink_fault(sink, read_stages(reader, sink, err), err));
	if (sink->file->n_records > 0 && sink->events.n_stages == 0 && !sink->has_given) {
		sink->events.rank = FSL_RANK_UNKNOWN;
	}
	return FSL_OK;
}

const struct fsl_format fsl_format_timeline_pb = {
	.name = "timeline_pb",
	.summary = "sysTrace timeline, protobuf (<host>--<rank>.timeline)",
	.kind = FSL_INPUT_TIMELINE,
	.probe = probe_head,
	.read = read_file,
};

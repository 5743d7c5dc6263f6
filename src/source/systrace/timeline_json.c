/*
 * sysTrace timelines as JSON: one stage an object (one a line, or in arrays), or whole messages
 * {"pytorch_stages": [...], "rank": 0}.
 */
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "source/json_fields.h"
#include "source/systrace/timeline_stage.h"

enum field {
	STAGE_ID,
	STAGE_TYPE,
	START_US,
	END_US,
	RANK,
	FRAME,
	COLLECTED,
	UNCOLLECTABLE,
	FIELDS_N
};

static const char *const keys[FIELDS_N] = {
	[STAGE_ID] = "stage_id",  [STAGE_TYPE] = "stage_type",
	[START_US] = "start_us",  [END_US] = "end_us",
	[RANK] = "rank",          [FRAME] = "stack_frames",
	[COLLECTED] = "gc_debug", [UNCOLLECTABLE] = "gc_debug.uncollectable",
};

/* An object under way. */
struct record {
	struct fsl_json_fields known;
	bool keeps_stack;
	struct fsl_stage_stack stack;
};

static void clear(struct record *record)
{
	fsl_json_fields_clear(&record->known);
	fsl_stage_stack_clear(&record->stack);
}

static int probe_head(const struct fsl_probe *probe)
{
	bool is_stage =
		fsl_json_head_has(probe, "start_us") &&
		(fsl_json_head_has(probe, "stage_type") || fsl_json_head_has(probe, "stage_id"));
	if (fsl_json_head_is(probe) && (is_stage || fsl_json_head_has(probe, "pytorch_stages"))) {
		return FSL_PROBE_CONTENT;
	}
	return 0;
}

static bool is_key(const struct fsl_json_value *key, const char *text)
{
	return key->length == strlen(text) && memcmp(key->text, text, key->length) == 0;
}

/* The record as a stage. stage_id may be missing: protobuf's JSON leaves zeros out. */
static enum fsl_status add_stage(const struct record *record, uint64_t offset,
				 struct fsl_sink *sink, struct fsl_error *err)
{
	struct fsl_timeline_stage stage = {
		.type = record->known.fields[STAGE_TYPE].text,
		.n_type = record->known.fields[STAGE_TYPE].length,
	};
	const struct fsl_json_field *frame = &record->known.fields[FRAME];
	if (!frame->is_long) {
		stage.frame = frame->text;
		stage.n_frame = frame->length;
	}
	stage.stack = &record->stack;
	(void)fsl_json_field_u64(&record->known.fields[COLLECTED], &stage.n_collected);
	(void)fsl_json_field_u64(&record->known.fields[UNCOLLECTABLE], &stage.n_uncollectable);
	bool has_step = !record->known.fields[STAGE_ID].is_seen ||
			fsl_json_field_u64(&record->known.fields[STAGE_ID], &stage.step);
	sink->file->n_records++;
	if (!has_step || !fsl_json_field_u64(&record->known.fields[START_US], &stage.begin_us) ||
	    !fsl_json_field_u64(&record->known.fields[END_US], &stage.end_us) ||
	    record->known.fields[STAGE_TYPE].is_long) {
		fsl_sink_bad_record(sink, FSL_DROP_MALFORMED,
				    "objects that are no stages were left out, the first: "
				    "offset=%llu, needs=\"stage_type, start_us, end_us\"",
				    (unsigned long long)offset);
		return FSL_OK;
	}
	return fsl_timeline_stage_add(sink, &stage, offset, err);
}

/* Reads a list: its first value is the innermost frame. */
static enum fsl_status take_frames(struct fsl_json *json, struct record *record,
				   struct fsl_error *err)
{
	size_t depth = fsl_json_depth(json);
	struct fsl_json_value value;
	bool is_first = true;
	FSL_TRY(fsl_json_next(json, &value, err));
	while (fsl_json_depth(json) > depth) {
		FSL_TRY(fsl_json_next(json, &value, err));
		if (is_first) {
			fsl_json_field_set(&record->known.fields[FRAME], &value);
		}
		is_first = false;
		if (record->keeps_stack && value.token == FSL_JSON_STRING &&
		    fsl_json_depth(json) == depth + 1) {
			fsl_stage_stack_add(&record->stack, value.text, value.length);
		}
	}
	return FSL_OK;
}

/* Reads an object, and keeps what is right inside. */
static enum fsl_status take_collection(struct fsl_json *json, struct record *record,
				       struct fsl_error *err)
{
	size_t depth = fsl_json_depth(json);
	struct fsl_json_field *wanted = NULL;
	struct fsl_json_value value;
	FSL_TRY(fsl_json_next(json, &value, err));
	while (fsl_json_depth(json) > depth) {
		FSL_TRY(fsl_json_next(json, &value, err));
		if (wanted != NULL) {
			fsl_json_field_set(wanted, &value);
		}
		bool is_key_inside =
			fsl_json_depth(json) == depth + 1 && value.token == FSL_JSON_KEY;
		wanted = is_key_inside && is_key(&value, "collected")
				 ? &record->known.fields[COLLECTED]
			 : is_key_inside && is_key(&value, "uncollectable")
				 ? &record->known.fields[UNCOLLECTABLE]
				 : NULL;
	}
	return FSL_OK;
}

/*
 * Reads the keys of one object up to its "}". *stages_begin: reading stopped behind the "[" of a
 * list of stages; call it again when the list is read.
 */
static enum fsl_status read_keys(struct fsl_json *json, struct record *record, bool *stages_begin,
				 struct fsl_error *err)
{
	*stages_begin = false;
	for (;;) {
		struct fsl_json_value value;
		FSL_TRY(fsl_json_next(json, &value, err));
		if (value.token == FSL_JSON_OBJECT_END) {
			return FSL_OK;
		}
		if (is_key(&value, "pytorch_stages") || is_key(&value, "stages")) {
			FSL_TRY(fsl_json_next(json, &value, err));
			*stages_begin = value.token == FSL_JSON_ARRAY_BEGIN;
			return FSL_OK;
		}
		if (is_key(&value, keys[FRAME])) {
			FSL_TRY(take_frames(json, record, err));
		} else if (is_key(&value, keys[COLLECTED])) {
			FSL_TRY(take_collection(json, record, err));
		} else {
			FSL_TRY(fsl_json_fields_take(&record->known, json, &value, err));
		}
	}
}

/* Takes the rank, and the stage when the object is one. */
static enum fsl_status finish_object(const struct record *record, uint64_t offset,
				     struct fsl_sink *sink, struct fsl_error *err)
{
	uint64_t rank = 0;
	bool is_stage =
		record->known.fields[START_US].is_seen || record->known.fields[END_US].is_seen ||
		record->known.fields[STAGE_TYPE].is_seen || !record->known.fields[RANK].is_seen;
	if (fsl_json_field_u64(&record->known.fields[RANK], &rank)) {
		fsl_timeline_rank_set(sink, rank);
	}
	return is_stage ? add_stage(record, offset, sink, err) : FSL_OK;
}

/* The objects of a list of stages, up to its "]". */
static enum fsl_status read_stages(struct fsl_json *json, struct record *record,
				   struct fsl_sink *sink, struct fsl_error *err)
{
	for (;;) {
		struct fsl_json_value value;
		bool is_nested = false;
		FSL_TRY(fsl_json_next(json, &value, err));
		if (value.token == FSL_JSON_ARRAY_END) {
			return FSL_OK;
		}
		uint64_t offset = fsl_json_offset(json);
		clear(record);
		if (value.token == FSL_JSON_OBJECT_BEGIN) {
			FSL_TRY(read_keys(json, record, &is_nested, err));
		}
		if (value.token != FSL_JSON_OBJECT_BEGIN || is_nested) {
			return FSL_FAIL(err, FSL_ERR_FORMAT,
					"a list of stages holds something else, the rest is not "
					"read; collect the file again: offset=%llu, line=%llu",
					(unsigned long long)offset,
					(unsigned long long)fsl_json_line(json));
		}
		FSL_TRY(finish_object(record, offset, sink, err));
	}
}

/* One object whose "{" is read: a stage, or a message with stages inside. */
static enum fsl_status read_object(struct fsl_json *json, struct record *record,
				   struct fsl_sink *sink, struct fsl_error *err)
{
	uint64_t offset = fsl_json_offset(json), rank = 0;
	bool stages_begin = false, is_message = false;
	clear(record);
	enum fsl_status status = read_keys(json, record, &stages_begin, err);
	while (status == FSL_OK && stages_begin) {
		is_message = true;
		/* The rank may stand on either side of the stages, which use the same record. */
		if (fsl_json_field_u64(&record->known.fields[RANK], &rank)) {
			fsl_timeline_rank_set(sink, rank);
		}
		status = read_stages(json, record, sink, err);
		clear(record);
		if (status == FSL_OK) {
			status = read_keys(json, record, &stages_begin, err);
		}
	}
	if (status != FSL_OK) {
		return status;
	}
	if (is_message && !record->known.fields[RANK].is_seen) {
		return FSL_OK;
	}
	return finish_object(record, offset, sink, err);
}

/* True between two objects if the file has passed a boundary in time. */
static bool pauses(const struct fsl_json *json, struct fsl_sink *sink)
{
	struct fsl_json_place at;
	while (sink->is_stopped && !sink->is_paused && fsl_json_place(json, &at)) {
		const struct fsl_place place = {at.offset, at.line, (uint8_t)at.state};
		fsl_sink_pass(sink, &place);
	}
	return sink->is_paused;
}

static enum fsl_status read_objects(struct fsl_json *json, struct record *record,
				    struct fsl_sink *sink, struct fsl_error *err)
{
	for (;;) {
		struct fsl_json_value value;
		if (pauses(json, sink)) {
			return FSL_OK;
		}
		FSL_TRY(fsl_json_next(json, &value, err));
		if (value.token == FSL_JSON_END) {
			return FSL_OK;
		}
		if (value.token == FSL_JSON_OBJECT_BEGIN) {
			FSL_TRY(read_object(json, record, sink, err));
		} else if (value.token != FSL_JSON_ARRAY_BEGIN &&
			   value.token != FSL_JSON_ARRAY_END) {
			sink->file->n_records++;
			fsl_sink_bad_record(sink, FSL_DROP_MALFORMED,
					    "values that are no objects were left out, the first: "
					    "offset=%llu, line=%llu",
					    (unsigned long long)fsl_json_offset(json),
					    (unsigned long long)fsl_json_line(json));
		}
	}
}

static enum fsl_status read_file(struct fsl_reader *reader, struct fsl_sink *sink,
				 struct fsl_error *err)
{
	struct fsl_json *json = fsl_json_create(reader);
	struct record *record = fsl_calloc(1, sizeof(*record));
	enum fsl_status status = FSL_ERR_MEMORY;
	if (json == NULL || record == NULL) {
		(void)FSL_FAIL(err, status, "out of memory: path=\"%s\"", sink->file->path);
		goto out;
	}
	fsl_json_fields_init(&record->known, keys, FIELDS_N);
	record->keeps_stack = sink->keeps_stacks;
	if (sink->has_given) {
		const struct fsl_json_place place = {
			sink->place.offset, sink->place.line,
			(enum fsl_json_place_state)sink->place.json_state};
		fsl_json_go_on(json, &place);
	}
	status = fsl_json_fault(sink, read_objects(json, record, sink, err), err);
	status = fsl_sink_fault(sink, status, err);
out:
	fsl_free(record);
	fsl_json_destroy(json);
	return status;
}

const struct fsl_format fsl_format_timeline_json = {
	.name = "timeline_json",
	.summary = "sysTrace timeline, JSON build of the collector",
	.kind = FSL_INPUT_TIMELINE,
	.probe = probe_head,
	.read = read_file,
};

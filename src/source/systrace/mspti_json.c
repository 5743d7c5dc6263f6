/*
 * Communication markers as JSON: arrays of objects, one flush after the other, with or without a
 * newline between. Ids and times are taken from the text of the number, never through a double.
 */
#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "source/entry.h"
#include "source/json_fields.h"
#include "source/systrace/json_shape.h"
#include "source/systrace/marker_pairs.h"

enum field { FLAG, ID, NAME, SOURCE_KIND, TIMESTAMP, FIELDS_N };

static const char *const keys[FIELDS_N] = {
	[FLAG] = "Flag",           [ID] = "Id", [NAME] = "Name", [SOURCE_KIND] = "SourceKind",
	[TIMESTAMP] = "Timestamp",
};

/* Reads records by the shape of one that was read before. */
struct shaped {
	struct fsl_json_shape shape;
	struct fsl_digits_clock clock;
	size_t n_missed; /* records in a row that were of another shape */
	/* Copy of the next record's first bytes, to learn from when it turns out to be sound. */
	char candidate[FSL_JSON_SHAPE_BYTES_MAX];
	size_t n_candidate; /* 0: there is none */
};

/* State of reading one file. */
struct input {
	struct fsl_json_fields record;
	struct shaped shaped;
	struct fsl_marker_pairs *pairs;
	struct fsl_sink *sink;
	const struct fsl_reader *reader;
	/* Places of a time range. is_range_sought: they were looked for. entry: the offset at which
	 * the next tokenizer goes on, 0: none. gap: the bytes that are left out behind the
	 * range. */
	bool is_range_sought;
	bool is_resumed; /* the next tokenizer goes on where an earlier run had counted to */
	bool goes_on;    /* with the next tokenizer, where the last piece ended */
	uint64_t entry;
	struct fsl_entry_gap gap;
	uint64_t
		resume_at; /* records are counted from this offset on; UINT64_MAX: from the begin */
	uint64_t doubt_at; /* end of the bytes in doubt behind the place at which reading went on;
			      UINT64_MAX: none */
};

static int probe_head(const struct fsl_probe *probe)
{
	if (fsl_json_head_is(probe) && fsl_json_head_has(probe, "SourceKind") &&
	    fsl_json_head_has(probe, "Timestamp")) {
		return FSL_PROBE_CONTENT;
	}
	bool is_named = strncmp(probe->file_name, "hccl_activity", 13) == 0 &&
			strstr(probe->file_name, ".json") != NULL;
	return is_named ? FSL_PROBE_NAME : 0;
}

/* NULL when the object is a good marker, else what is wrong with it. */
static const char *parse_marker(const struct fsl_json_fields *record, struct fsl_marker *marker)
{
	uint64_t flag = 0, source = 0;
	if (!fsl_json_field_u64(&record->fields[ID], &marker->id)) {
		return "Id is missing or no number";
	}
	if (!fsl_json_field_u64(&record->fields[FLAG], &flag) || flag > UINT32_MAX) {
		return "Flag is missing or no number";
	}
	if (!fsl_json_field_u64(&record->fields[SOURCE_KIND], &source) || source > 1) {
		return "SourceKind is neither 0 (host) nor 1 (device)";
	}
	const struct fsl_json_field *time = &record->fields[TIMESTAMP];
	if (!time->is_seen || !fsl_parse_i64(time->text, time->length, &marker->time_ns) ||
	    marker->time_ns < 0 || marker->time_ns > FSL_TIME_MAX_NS) {
		return "Timestamp is missing or no time in ns";
	}
	const struct fsl_json_field *name = &record->fields[NAME];
	if (name->is_long || memchr(name->text, '\0', name->length) != NULL) {
		return "Name is too long or holds a NUL";
	}
	marker->flag = (uint32_t)flag;
	marker->is_device = source == 1;
	marker->name = name->text;
	marker->n_name = name->length;
	return NULL;
}

/* False when it takes a closer look to say what the values are. */
static inline bool parse_shaped(const struct fsl_json_span *values, struct fsl_digits_clock *clock,
				struct fsl_marker *marker)
{
	const struct fsl_json_span *id = &values[ID], *flag = &values[FLAG];
	const struct fsl_json_span *source = &values[SOURCE_KIND], *time = &values[TIMESTAMP];
	uint64_t flag_value = 0, time_value = 0;
	if (!fsl_digits_parse_spare(id->text, id->length, &marker->id) ||
	    !fsl_digits_parse_small(flag->text, flag->length, &flag_value) || source->length != 1 ||
	    (*source->text != '0' && *source->text != '1') ||
	    !fsl_digits_parse_clock(clock, time->text, time->length, &time_value) ||
	    time_value > (uint64_t)FSL_TIME_MAX_NS || values[NAME].length > FSL_NAME_BYTES_MAX) {
		return false;
	}
	marker->time_ns = (int64_t)time_value;
	marker->flag = (uint32_t)flag_value;
	marker->is_device = *source->text == '1';
	marker->name = values[NAME].text;
	marker->n_name = values[NAME].length;
	return true;
}

/* Notes a record of another shape. No shape is learnt from the first one in a row, but from the
 * second, fourth, eighth and so on. */
static void note_missed(struct shaped *shaped, const char *text, size_t n_bytes)
{
	size_t n_missed = ++shaped->n_missed;
	bool is_first = n_missed == 1 && shaped->shape.n_slots > 0;
	if (!is_first && (n_missed & (n_missed - 1)) == 0) {
		size_t n =
			n_bytes < sizeof(shaped->candidate) ? n_bytes : sizeof(shaped->candidate);
		memcpy(shaped->candidate, text, n);
		shaped->n_candidate = n;
	}
}

/* True between two values where the gap behind the time range begins, or something is in doubt. */
static bool is_at_stop(const struct fsl_json *json, const struct input *input)
{
	struct fsl_json_place place;
	uint64_t stop = input->doubt_at < input->gap.begin ? input->doubt_at : input->gap.begin;
	stop = input->resume_at < stop ? input->resume_at : stop;
	return stop < UINT64_MAX && fsl_json_place(json, &place) && place.offset >= stop;
}

/* Records up to the first one that the tokenizer has to read, or that a stop belongs in front of.
 */
static enum fsl_status read_shaped(struct fsl_json *json, struct input *input,
				   struct fsl_error *err)
{
	struct shaped *shaped = &input->shaped;
	struct fsl_json_span values[FIELDS_N];
	struct fsl_marker marker;
	const char *text = NULL;
	size_t n_bytes = 0;
	shaped->n_candidate = 0;
	while (!input->sink->is_stopped && !is_at_stop(json, input) &&
	       fsl_json_peek_object(json, &text, &n_bytes)) {
		size_t length = fsl_json_shape_match(&shaped->shape, text, n_bytes, values);
		if (length == 0 || !parse_shaped(values, &shaped->clock, &marker)) {
			note_missed(shaped, text, n_bytes);
			break;
		}
		shaped->n_missed = 0;
		fsl_json_take_object(json, length, shaped->shape.n_newlines);
		input->sink->file->n_records++;
		FSL_TRY(fsl_marker_pairs_add(input->pairs, &marker, err));
	}
	return FSL_OK;
}

/* @length bytes of the candidate were a good marker. */
static void learn(struct shaped *shaped, uint64_t length)
{
	if (length <= shaped->n_candidate) {
		(void)fsl_json_shape_learn(&shaped->shape, shaped->candidate, (size_t)length, keys,
					   FIELDS_N);
	}
}

enum { LINE_BYTES = 32 };

/* "line=7, ", or nothing if reading began in the middle of the file. */
static const char *line_text(uint64_t line, char text[LINE_BYTES])
{
	text[0] = '\0';
	if (line > 0) {
		(void)snprintf(text, LINE_BYTES, "line=%llu, ", (unsigned long long)line);
	}
	return text;
}

/* One object whose "{" is already read. */
static enum fsl_status read_object(struct fsl_json *json, struct input *input,
				   struct fsl_error *err)
{
	char text[LINE_BYTES];
	uint64_t offset = fsl_json_offset(json), line = fsl_json_line(json);
	fsl_json_fields_clear(&input->record);
	for (;;) {
		struct fsl_json_value value;
		FSL_TRY(fsl_json_next(json, &value, err));
		if (value.token == FSL_JSON_OBJECT_END) {
			break;
		}
		FSL_TRY(fsl_json_fields_take(&input->record, json, &value, err));
	}
	struct fsl_marker marker;
	const char *reason = parse_marker(&input->record, &marker);
	input->sink->file->n_records++;
	if (reason != NULL) {
		fsl_sink_bad_record(input->sink, FSL_DROP_MALFORMED,
				    "objects that are no markers were left out, the first: "
				    "offset=%llu, %sreason=\"%s\"",
				    (unsigned long long)offset, line_text(line, text), reason);
		return FSL_OK;
	}
	learn(&input->shaped, fsl_json_offset(json) - offset + 1);
	return fsl_marker_pairs_add(input->pairs, &marker, err);
}

/* A record of the shape that was learnt, in an array: bytes inside a string never look like one,
 * because their quotes are escaped. */
static bool next_record(const void *context, const char *text, const char *end,
			struct fsl_entry_row *row)
{
	const struct fsl_json_shape *shape = context;
	const char *at = text;
	while ((at = memchr(at, '{', (size_t)(end - at))) != NULL) {
		struct fsl_json_span values[FIELDS_N];
		struct fsl_digits_clock clock = {0};
		struct fsl_marker marker;
		const char *before = at;
		while (before > text && memchr(" \t\r\n", before[-1], 4) != NULL) {
			before--;
		}
		bool is_item = before > text && (before[-1] == ',' || before[-1] == '[');
		size_t length =
			is_item ? fsl_json_shape_match(shape, at, (size_t)(end - at), values) : 0;
		if (length > 0 && parse_shaped(values, &clock, &marker)) {
			*row = (struct fsl_entry_row){at, at + length, marker.time_ns};
			return true;
		}
		at++;
	}
	return false;
}

/* Finds once, behind the first record of a shape, the part of a large file that the time range
 * needs. */
static enum fsl_status seek_range(const struct fsl_json *json, struct input *input,
				  struct fsl_error *err)
{
	const struct fsl_entry_rows rows = {&input->shaped.shape, next_record};
	const struct fsl_sink *sink = input->sink;
	uint64_t here = fsl_json_offset(json) + 1, entry = here;
	bool is_all =
		sink->from_ns == INT64_MIN && sink->to_ns == INT64_MAX && sink->resume == NULL;
	if (is_all || input->is_range_sought || input->shaped.shape.n_slots == 0) {
		return FSL_OK;
	}
	input->is_range_sought = true;
	if (sink->resume != NULL) {
		enum fsl_status found = fsl_entry_find_before(input->reader, &rows, sink->enter_ns,
							      here, input->resume_at, &entry, err);
		input->entry = entry > here ? entry : 0;
		return found;
	}
	FSL_TRY(fsl_entry_find(input->reader, &rows, sink->from_ns, here, &entry, err));
	if (entry > here) {
		input->entry = entry;
		input->doubt_at = entry + FSL_ENTRY_DOUBT_BYTES;
		input->sink->file->n_bytes_before = entry - here;
		FSL_TRY(fsl_marker_pairs_skip(input->pairs, err));
	}
	return fsl_entry_find_gap(input->reader, &rows, sink->to_ns, entry, &input->gap, err);
}

/* Goes on behind the gap, with the next tokenizer. */
static enum fsl_status pass_gap(struct input *input, uint64_t offset, struct fsl_error *err)
{
	input->gap.begin = UINT64_MAX;
	if (offset >=
	    input->gap.end) { /* the gap lies inside one value; no collector writes one that long */
		return FSL_OK;
	}
	input->entry = input->gap.end;
	input->doubt_at = input->entry + FSL_ENTRY_DOUBT_BYTES;
	input->sink->file->n_bytes_behind = input->gap.end - offset;
	return fsl_marker_pairs_skip(input->pairs, err);
}

/* Lets the next tokenizer go on at the place where an earlier run had passed a boundary. */
static enum fsl_status resume(struct input *input, struct fsl_error *err)
{
	const struct fsl_note *note = input->sink->resume;
	enum fsl_status status = fsl_marker_pairs_settle(input->pairs, note->boundary_ns, err);
	fsl_sink_go_on(input->sink);
	input->sink->place = note->place;
	input->resume_at = UINT64_MAX;
	input->entry = note->place.offset;
	input->is_resumed = true;
	return status;
}

static enum fsl_status pass_stop(const struct fsl_json *json, struct input *input,
				 struct fsl_error *err)
{
	struct fsl_json_place place = {0};
	(void)fsl_json_place(json, &place);
	if (place.offset >= input->resume_at) {
		return resume(input, err);
	}
	if (place.offset < input->doubt_at) {
		return pass_gap(input, place.offset, err);
	}
	fsl_marker_pairs_doubt(input->pairs);
	input->doubt_at = UINT64_MAX;
	return FSL_OK;
}

/* True between two values if the file has passed a boundary in time. */
static bool passes(const struct fsl_json *json, const struct input *input)
{
	struct fsl_json_place at;
	return input->sink->is_stopped && fsl_json_place(json, &at);
}

/* Call it if the file has passed a boundary in time: older operators get no more rows. */
static enum fsl_status pass_boundary(const struct fsl_json *json, struct input *input,
				     struct fsl_error *err)
{
	struct fsl_json_place at;
	if (!input->sink->is_stopped || !fsl_json_place(json, &at)) {
		return FSL_OK;
	}
	enum fsl_status status =
		fsl_marker_pairs_settle(input->pairs, input->sink->pieces.boundary_ns, err);
	const struct fsl_place place = {at.offset, at.line, (uint8_t)at.state};
	fsl_sink_pass(input->sink, &place);
	return status;
}

static enum fsl_status read_objects(struct fsl_json *json, struct input *input,
				    struct fsl_error *err)
{
	char text[LINE_BYTES];
	for (;;) {
		struct fsl_json_value value = {FSL_JSON_END, "", 0};
		FSL_TRY(pass_boundary(json, input, err));
		if (input->sink->is_paused) {
			return FSL_OK;
		}
		FSL_TRY(seek_range(json, input, err));
		if (input->entry == 0 && is_at_stop(json, input)) {
			FSL_TRY(pass_stop(json, input, err));
		}
		if (input->entry > 0) {
			return FSL_OK;
		}
		FSL_TRY(read_shaped(json, input, err));
		if (is_at_stop(json, input) || passes(json, input)) {
			continue;
		}
		FSL_TRY(fsl_json_next(json, &value, err));
		if (value.token == FSL_JSON_END) {
			return FSL_OK;
		}
		if (value.token == FSL_JSON_OBJECT_BEGIN) {
			FSL_TRY(read_object(json, input, err));
		} else if (value.token != FSL_JSON_ARRAY_BEGIN &&
			   value.token != FSL_JSON_ARRAY_END) {
			input->sink->file->n_records++;
			fsl_sink_bad_record(input->sink, FSL_DROP_MALFORMED,
					    "values that are no objects were left out, the first: "
					    "%soffset=%llu",
					    line_text(fsl_json_line(json), text),
					    (unsigned long long)fsl_json_offset(json));
		}
	}
}

/* Moves the reader to the next "[{", where a flush begins; *found false at the end of the file. */
static enum fsl_status find_flush(struct fsl_reader *reader, bool *found, struct fsl_error *err)
{
	*found = false;
	for (;;) {
		const char *data = NULL;
		size_t n_bytes = 0;
		FSL_TRY(fsl_reader_peek(reader, FSL_FILE_HEAD_BYTES, &data, &n_bytes, err));
		if (n_bytes < 2) {
			return FSL_OK;
		}
		const char *flush = memmem(data, n_bytes, "[{", 2);
		if (flush != NULL) {
			fsl_reader_skip(reader, (size_t)(flush - data));
			*found = true;
			return FSL_OK;
		}
		fsl_reader_skip(reader, n_bytes - 1); /* the last byte may be the "[" */
	}
}

/*
 * Call it behind the last value, or behind a broken one (@status). A process that died in the
 * middle of a flush leaves a broken array, and the restarted job appends behind it: reading goes on
 * at the next flush.
 */
static enum fsl_status end_flush(struct fsl_reader *reader, struct input *input,
				 enum fsl_status status, bool *found, struct fsl_error *err)
{
	struct fsl_error cause = {0};
	enum fsl_status found_status = FSL_OK;
	bool is_broken = status == FSL_ERR_FORMAT || status == FSL_ERR_LIMIT;
	*found = false;
	if (is_broken) {
		found_status = find_flush(reader, found, &cause);
	}
	status = fsl_json_fault(input->sink, status, err);
	if (status == FSL_OK && found_status != FSL_OK) {
		status = FSL_CAUSE(err, found_status, "%s", fsl_error_root(&cause));
	}
	return status;
}

/* Lets the tokenizer begin at a place of the time range. */
static enum fsl_status enter(struct fsl_json *json, struct input *input, struct fsl_error *err)
{
	const struct fsl_place *resumed = &input->sink->place;
	struct fsl_json_place place = {input->entry, 0, FSL_JSON_AT_ITEM};
	if (input->is_resumed) {
		place.line = resumed->line;
		place.state = (enum fsl_json_place_state)resumed->json_state;
	}
	input->is_resumed = false;
	input->entry = 0;
	return fsl_json_go(json, &place, err);
}

/* Lets the tokenizer go on where the last piece ended. */
static void go_on(struct fsl_json *json, const struct fsl_sink *sink)
{
	const struct fsl_json_place place = {sink->place.offset, sink->place.line,
					     (enum fsl_json_place_state)sink->place.json_state};
	fsl_json_go_on(json, &place);
}

static enum fsl_status read_flushes(struct fsl_reader *reader, struct input *input,
				    struct fsl_error *err)
{
	bool found = true;
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && found) {
		struct fsl_json *json = fsl_json_create(reader);
		if (json == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
					input->sink->file->path);
		}
		if (input->goes_on) {
			go_on(json, input->sink);
			input->goes_on = false;
		} else if (input->entry > 0) {
			status = enter(json, input, err);
		}
		if (status == FSL_OK) {
			status = read_objects(json, input, err);
		}
		fsl_json_destroy(json);
		if (status == FSL_OK && input->sink->is_paused) {
			return FSL_OK;
		}
		if (status != FSL_OK || input->entry == 0) {
			status = end_flush(reader, input, status, &found, err);
		}
	}
	return status;
}

static void drop_input(void *kept)
{
	struct input *input = kept;
	fsl_marker_pairs_destroy(input->pairs);
	fsl_free(input);
}

static struct input *make_input(struct fsl_sink *sink)
{
	struct input *input = fsl_calloc(1, sizeof(*input));
	if (input != NULL) {
		fsl_json_fields_init(&input->record, keys, FIELDS_N);
		input->pairs = fsl_marker_pairs_create(sink);
		input->sink = sink;
		input->gap.begin = input->doubt_at = UINT64_MAX;
		input->resume_at = UINT64_MAX;
		if (sink->resume != NULL) {
			fsl_sink_hold(sink);
			input->resume_at = sink->resume->place.offset;
		}
	}
	if (input != NULL && input->pairs == NULL) {
		drop_input(input);
		input = NULL;
	}
	sink->kept = input;
	sink->drop_kept = drop_input;
	return input;
}

static enum fsl_status read_file(struct fsl_reader *reader, struct fsl_sink *sink,
				 struct fsl_error *err)
{
	bool goes_on = sink->kept != NULL;
	struct input *input = goes_on ? sink->kept : make_input(sink);
	if (input == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				sink->file->path);
	}
	input->goes_on = goes_on;
	input->reader = reader;
	FSL_TRY(fsl_sink_fault(sink, read_flushes(reader, input, err), err));
	return !sink->is_paused
		       ? fsl_sink_fault(sink, fsl_marker_pairs_finish(input->pairs, err), err)
		       : FSL_OK;
}

const struct fsl_format fsl_format_mspti_json = {
	.name = "mspti_json",
	.summary = "communication markers of MSPTI as JSON (hccl_activity)",
	.kind = FSL_INPUT_MARKERS,
	.probe = probe_head,
	.read = read_file,
};

/* Communication markers as CSV: hccl_activity-<ip>-.<rank>.csv, mspti-marker-<ip>-<rank>.csv. */
#include <string.h>

#include "base/digits.h"
#include "base/number.h"
#include "base/try.h"
#include "source/csv_rows.h"
#include "source/entry.h"
#include "source/systrace/marker_pairs.h"

enum column { FLAG, ID, NAME, SOURCE_KIND, TIMESTAMP, COLUMNS_N };

static const struct fsl_csv_column_spec columns[FSL_CSV_COLUMNS_MAX] = {
	[FLAG] = {"Flag", true},           [ID] = {"Id", true},
	[NAME] = {"Name", true},           [SOURCE_KIND] = {"SourceKind", true},
	[TIMESTAMP] = {"Timestamp", true},
};

static int probe_head(const struct fsl_probe *probe)
{
	size_t n_found = 0;
	for (size_t i = 0; i < COLUMNS_N; i++) {
		n_found += fsl_csv_head_has(probe, columns[i].name) ? 1 : 0;
	}
	if (n_found == COLUMNS_N) {
		return FSL_PROBE_CONTENT;
	}
	bool is_named = (strncmp(probe->file_name, "hccl_activity", 13) == 0 ||
			 strncmp(probe->file_name, "mspti-marker", 12) == 0) &&
			strstr(probe->file_name, ".csv") != NULL;
	return is_named ? FSL_PROBE_NAME : 0;
}

/* Parses a row as every collector writes it: one field per column, numbers of digits alone. False
 * for any other row, good or bad. */
static inline bool parse_plain_row(const struct fsl_csv_layout *layout,
				   const struct fsl_csv_plain *row, struct fsl_digits_clock *clock,
				   struct fsl_marker *marker)
{
	if (row->n_fields != layout->n_fields) {
		return false;
	}
	struct fsl_csv_field id = fsl_csv_plain_field(row, layout->at[ID]);
	struct fsl_csv_field flag = fsl_csv_plain_field(row, layout->at[FLAG]);
	struct fsl_csv_field source = fsl_csv_plain_field(row, layout->at[SOURCE_KIND]);
	struct fsl_csv_field time = fsl_csv_plain_field(row, layout->at[TIMESTAMP]);
	struct fsl_csv_field name = fsl_csv_plain_field(row, layout->at[NAME]);
	uint64_t flag_value = 0, time_value = 0;
	if (!fsl_digits_parse_spare(id.text, id.length, &marker->id) ||
	    !fsl_digits_parse_small(flag.text, flag.length, &flag_value) || source.length != 1 ||
	    (*source.text != '0' && *source.text != '1') ||
	    !fsl_digits_parse_clock(clock, time.text, time.length, &time_value) ||
	    time_value > (uint64_t)FSL_TIME_MAX_NS) {
		return false;
	}
	marker->time_ns = (int64_t)time_value;
	marker->flag = (uint32_t)flag_value;
	marker->is_device = *source.text == '1';
	marker->name = name.text;
	marker->n_name = name.length;
	return name.length == 0 || memchr(name.text, '\0', name.length) == NULL;
}

/* NULL when the row is a good marker, else what is wrong with it. */
static const char *parse_row(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row,
			     char *buffer, struct fsl_marker *marker)
{
	if (row->n_fields < layout->n_fields) {
		return "fewer fields than the header";
	}
	struct fsl_csv_field flag = fsl_csv_layout_field(layout, row, FLAG);
	struct fsl_csv_field id = fsl_csv_layout_field(layout, row, ID);
	struct fsl_csv_field source = fsl_csv_layout_field(layout, row, SOURCE_KIND);
	struct fsl_csv_field time = fsl_csv_layout_field(layout, row, TIMESTAMP);
	struct fsl_csv_field name = {"", 0};
	uint64_t flag_value = 0, source_value = 0;
	if (!fsl_parse_u64(id.text, id.length, &marker->id)) {
		return "Id is no number";
	}
	if (!fsl_parse_u64(flag.text, flag.length, &flag_value) || flag_value > UINT32_MAX) {
		return "Flag is no number";
	}
	if (!fsl_parse_u64(source.text, source.length, &source_value) || source_value > 1) {
		return "SourceKind is neither 0 (host) nor 1 (device)";
	}
	if (!fsl_parse_i64(time.text, time.length, &marker->time_ns) || marker->time_ns < 0 ||
	    marker->time_ns > FSL_TIME_MAX_NS) {
		return "Timestamp is no time in ns";
	}
	if (!fsl_csv_layout_text(layout, row, buffer, &name)) {
		return "Name is too long or holds a NUL";
	}
	marker->flag = (uint32_t)flag_value;
	marker->is_device = source_value == 1;
	marker->name = name.text;
	marker->n_name = name.length;
	return NULL;
}

/*
 * True for the last row of a file that is still being written, or whose disk was full: without a
 * newline its last field may be cut, which matters if that field is the time.
 */
static bool is_cut(const struct fsl_csv_layout *layout, const struct fsl_csv_row *row)
{
	return !row->has_newline &&
	       (row->n_fields < layout->n_fields || layout->at[TIMESTAMP] + 1 == layout->n_fields);
}

/* State of reading one file: what its rows are pushed into, and places at which reading changes. */
struct input {
	struct fsl_csv_layout layout;
	struct fsl_marker_pairs *pairs;
	struct fsl_sink *sink;
	struct fsl_entry_gap gap; /* behind the time range */
	uint64_t
		resume_at; /* records are counted from this offset on; UINT64_MAX: from the begin */
	uint64_t doubt_at; /* end of the bytes in doubt behind the place at which reading went on;
			      UINT64_MAX: none */
};

static enum fsl_status read_row(struct input *input, const struct fsl_csv_row *row,
				struct fsl_error *err)
{
	char buffer[FSL_NAME_BYTES_MAX];
	struct fsl_marker marker;
	const struct fsl_csv_layout *layout = &input->layout;
	struct fsl_sink *sink = input->sink;
	if (row->state != FSL_CSV_ROW) {
		sink->file->n_records++;
		fsl_csv_bad_row(sink, row, fsl_csv_row_drop(row), NULL);
		return FSL_OK;
	}
	if (is_cut(layout, row)) {
		sink->file->n_records++;
		fsl_csv_bad_row(sink, row, FSL_DROP_CUT, NULL);
		return FSL_OK;
	}
	const char *reason = parse_row(layout, row, buffer, &marker);
	if (reason != NULL && fsl_csv_layout_is_header(layout, row, columns, ID)) {
		return FSL_OK;
	}
	if (reason != NULL) {
		sink->file->n_records++;
		fsl_csv_bad_row(sink, row, FSL_DROP_MALFORMED, reason);
		return FSL_OK;
	}
	sink->file->n_records++;
	return fsl_marker_pairs_add(input->pairs, &marker, err);
}

/* Rows up to the first one that is not spelt as usual. */
static enum fsl_status read_plain_rows(struct fsl_csv *csv, struct input *input,
				       struct fsl_error *err)
{
	struct fsl_csv_plain row;
	struct fsl_marker marker;
	struct fsl_digits_clock clock = {0};
	struct fsl_sink *sink = input->sink;
	while (!sink->is_stopped && fsl_csv_next_plain(csv, &row)) {
		if (!parse_plain_row(&input->layout, &row, &clock, &marker)) {
			fsl_csv_put_back(csv, &row);
			break;
		}
		sink->file->n_records++;
		FSL_TRY(fsl_marker_pairs_add(input->pairs, &marker, err));
	}
	return FSL_OK;
}

/* Next offset at which reading of rows stops. */
static uint64_t next_fence(const struct input *input)
{
	uint64_t fence = input->doubt_at < input->gap.begin ? input->doubt_at : input->gap.begin;
	return input->resume_at < fence ? input->resume_at : fence;
}

/* Goes on behind the gap. */
static enum fsl_status pass_gap(struct fsl_csv *csv, struct input *input, struct fsl_error *err)
{
	uint64_t end = input->gap.end, offset = fsl_csv_offset(csv);
	input->gap.begin = UINT64_MAX;
	if (offset >= end) { /* the gap lies inside one row; no collector writes a row that long */
		return FSL_OK;
	}
	input->sink->file->n_bytes_behind = end - offset;
	input->doubt_at = end + FSL_ENTRY_DOUBT_BYTES;
	FSL_TRY(fsl_marker_pairs_skip(input->pairs, err));
	return fsl_csv_jump(csv, end, 0, err);
}

/* Call it at the place where an earlier run had passed a boundary. */
static enum fsl_status resume(struct fsl_csv *csv, struct input *input, struct fsl_error *err)
{
	struct fsl_sink *sink = input->sink;
	const struct fsl_note *note = sink->resume;
	input->resume_at = UINT64_MAX;
	enum fsl_status status = fsl_marker_pairs_settle(input->pairs, note->boundary_ns, err);
	fsl_sink_go_on(sink);
	return status == FSL_OK ? fsl_csv_jump(csv, note->place.offset, note->place.line, err)
				: status;
}

static enum fsl_status pass_fence(struct fsl_csv *csv, struct input *input, struct fsl_error *err)
{
	if (fsl_csv_offset(csv) >= input->resume_at) {
		FSL_TRY(resume(csv, input, err));
	} else if (fsl_csv_offset(csv) >= input->doubt_at) {
		fsl_marker_pairs_doubt(input->pairs);
		input->doubt_at = UINT64_MAX;
	} else {
		FSL_TRY(pass_gap(csv, input, err));
	}
	fsl_csv_set_fence(csv, next_fence(input));
	return FSL_OK;
}

/* Call it if the file has passed a boundary: older operators get no more rows. */
static enum fsl_status pass_boundary(const struct fsl_csv *csv, struct input *input,
				     struct fsl_error *err)
{
	const struct fsl_place place = {.offset = fsl_csv_offset(csv), .line = fsl_csv_line(csv)};
	struct fsl_sink *sink = input->sink;
	enum fsl_status status =
		fsl_marker_pairs_settle(input->pairs, sink->pieces.boundary_ns, err);
	fsl_sink_pass(sink, &place);
	return status;
}

static enum fsl_status read_rows(struct fsl_csv *csv, struct input *input, struct fsl_error *err)
{
	struct fsl_sink *sink = input->sink;
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && !sink->is_paused) {
		struct fsl_csv_row row;
		if (sink->is_stopped) {
			status = pass_boundary(csv, input, err);
			continue;
		}
		status = read_plain_rows(csv, input, err);
		if (sink->is_stopped) {
			continue;
		}
		if (status == FSL_OK && fsl_csv_offset(csv) >= next_fence(input)) {
			status = pass_fence(csv, input, err);
			continue;
		}
		if (status != FSL_OK) {
			return status;
		}
		status = fsl_csv_next(csv, &row, err);
		if (status != FSL_OK || row.state == FSL_CSV_END) {
			return status;
		}
		status = read_row(input, &row, err);
	}
	return status;
}

/* Time of a row without quotes, ns. Rows with quotes are skipped: the rows beside them tell as
 * much. */
static bool time_of(const void *context, const char *text, size_t length, int64_t *time_ns)
{
	const struct fsl_csv_layout *layout = context;
	const char *fields[FSL_CSV_FIELDS_MAX + 1] = {text};
	const char *end =
		length > 0 && text[length - 1] == '\r' ? text + length - 1 : text + length;
	size_t n = 0, at = layout->at[TIMESTAMP];
	for (const char *c = text; c < end; c++) {
		if (*c == '"' || n >= FSL_CSV_FIELDS_MAX - 1) {
			return false;
		}
		if (*c == ',') {
			fields[++n] = c + 1;
		}
	}
	fields[++n] = end + 1;
	if (n < layout->n_fields) {
		return false;
	}
	at += at > layout->text ? n - layout->n_fields : 0;
	return fsl_parse_i64(fields[at], (size_t)(fields[at + 1] - 1 - fields[at]), time_ns) &&
	       *time_ns >= 0 && *time_ns <= FSL_TIME_MAX_NS;
}

/* Rows stand between two newlines. */
static bool next_row(const void *context, const char *text, const char *end,
		     struct fsl_entry_row *row)
{
	const char *at = memchr(text, '\n', (size_t)(end - text));
	while (at != NULL) {
		row->begin = at + 1;
		at = memchr(row->begin, '\n', (size_t)(end - row->begin));
		if (at != NULL &&
		    time_of(context, row->begin, (size_t)(at - row->begin), &row->time_ns)) {
			row->end = at;
			return true;
		}
	}
	return false;
}

/* Call it behind the header: moves to the first row that may lie in the time range, and finds the
 * rows behind the range that need not be read. */
static enum fsl_status find_places(struct fsl_csv *csv, const struct fsl_reader *reader,
				   struct input *input, struct fsl_error *err)
{
	const struct fsl_entry_rows rows = {&input->layout, next_row};
	struct fsl_sink *sink = input->sink;
	uint64_t first = fsl_csv_offset(csv), entry = first;
	if (sink->resume != NULL) {
		fsl_sink_hold(sink);
		input->resume_at = sink->resume->place.offset;
		FSL_TRY(fsl_entry_find_before(reader, &rows, sink->enter_ns, first,
					      input->resume_at, &entry, err));
		return fsl_csv_jump(csv, entry, 0, err);
	}
	if (sink->from_ns != INT64_MIN) {
		FSL_TRY(fsl_entry_find(reader, &rows, sink->from_ns, first, &entry, err));
	}
	if (entry != first) {
		sink->file->n_bytes_before = entry - first;
		input->doubt_at = entry + FSL_ENTRY_DOUBT_BYTES;
		FSL_TRY(fsl_csv_jump(csv, entry, 0, err));
	}
	return fsl_entry_find_gap(reader, &rows, sink->to_ns, entry, &input->gap, err);
}

/* Reads the header, then the rows of the time range. */
static enum fsl_status read_table(struct fsl_csv *csv, const struct fsl_reader *reader,
				  struct input *input, struct fsl_error *err)
{
	struct fsl_csv_row row;
	struct fsl_sink *sink = input->sink;
	FSL_TRY(fsl_csv_next(csv, &row, err));
	if (row.state == FSL_CSV_END || !fsl_csv_layout_find(&input->layout, &row, columns, NAME,
							     "an MSPTI marker CSV", sink)) {
		return FSL_OK;
	}
	if (!row.has_newline) {
		return FSL_OK;
	}
	FSL_TRY(find_places(csv, reader, input, err));
	fsl_csv_set_fence(csv, next_fence(input));
	return read_rows(csv, input, err);
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
		*input = (struct input){.pairs = fsl_marker_pairs_create(sink),
					.sink = sink,
					.gap.begin = UINT64_MAX,
					.resume_at = UINT64_MAX,
					.doubt_at = UINT64_MAX};
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
	struct fsl_csv *csv = fsl_csv_create(reader);
	struct input *input = goes_on ? sink->kept : make_input(sink);
	if (csv == NULL || input == NULL) {
		fsl_csv_destroy(csv);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				sink->file->path);
	}
	enum fsl_status status = FSL_OK;
	if (goes_on) {
		fsl_csv_go_on(csv, sink->place.line);
		fsl_csv_set_fence(csv, next_fence(input));
		status = read_rows(csv, input, err);
	} else {
		status = read_table(csv, reader, input, err);
	}
	status = fsl_sink_fault(sink, status, err);
	if (status == FSL_OK && !sink->is_paused) {
		status = fsl_sink_fault(sink, fsl_marker_pairs_finish(input->pairs, err), err);
	}
	fsl_csv_destroy(csv);
	return status;
}

const struct fsl_format fsl_format_mspti_csv = {
	.name = "mspti_csv",
	.summary = "communication markers of MSPTI as CSV (hccl_activity, mspti-marker)",
	.kind = FSL_INPUT_MARKERS,
	.probe = probe_head,
	.read = read_file,
};

/* Measured steps as CSV: training-step-time-<ip>-<rank>.csv, times in ns, read with libcsv. */
#include <csv.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "source/csv_rows.h"

enum column { STEP_ID, STEP_BEGIN, STEP_END, STEP_DURATION, COLUMNS_N };

static const char *const column_names[COLUMNS_N] = {
	[STEP_ID] = "step_id",
	[STEP_BEGIN] = "step_start_time",
	[STEP_END] = "step_end_time",
	[STEP_DURATION] = "step_exec_time",
};

enum { FIELD_BYTES_MAX = 64 };

/* State that the callbacks of libcsv share. */
struct state {
	struct fsl_sink *sink;
	size_t at[COLUMNS_N]; /* field of a column, SIZE_MAX: absent */
	bool has_header, is_unusable, is_at_end;
	size_t n_header, n_fields; /* fields of the header, of this row so far */
	uint64_t row;              /* from 1, the header */
	char text[COLUMNS_N][FIELD_BYTES_MAX];
	size_t length[COLUMNS_N]; /* SIZE_MAX: longer than any number */
	enum fsl_status status;
	struct fsl_error *err;
};

static int probe_head(const struct fsl_probe *probe)
{
	bool has_times = fsl_csv_head_has(probe, column_names[STEP_END]) ||
			 fsl_csv_head_has(probe, column_names[STEP_DURATION]);
	if (fsl_csv_head_has(probe, column_names[STEP_ID]) &&
	    fsl_csv_head_has(probe, column_names[STEP_BEGIN]) && has_times) {
		return FSL_PROBE_CONTENT;
	}
	return strncmp(probe->file_name, "training-step-time", 18) == 0 ? FSL_PROBE_NAME : 0;
}

static void header_field(struct state *state, const char *text, size_t length)
{
	for (size_t i = 0; i < COLUMNS_N; i++) {
		if (strlen(column_names[i]) == length &&
		    memcmp(column_names[i], text, length) == 0) {
			state->at[i] = state->n_fields;
		}
	}
}

static void on_field(void *text, size_t length, void *context)
{
	struct state *state = context;
	if (!state->has_header) {
		header_field(state, text, length);
	}
	for (size_t i = 0; state->has_header && i < COLUMNS_N; i++) {
		if (state->at[i] != state->n_fields) {
			continue;
		}
		state->length[i] = length <= FIELD_BYTES_MAX ? length : SIZE_MAX;
		if (length > 0 && length <= FIELD_BYTES_MAX) {
			memcpy(state->text[i], text, length);
		}
	}
	state->n_fields++;
}

static void finish_header(struct state *state)
{
	state->has_header = true;
	state->n_header = state->n_fields;
	const char *missing = NULL;
	if (state->at[STEP_ID] == SIZE_MAX) {
		missing = column_names[STEP_ID];
	} else if (state->at[STEP_BEGIN] == SIZE_MAX) {
		missing = column_names[STEP_BEGIN];
	} else if (state->at[STEP_END] == SIZE_MAX && state->at[STEP_DURATION] == SIZE_MAX) {
		missing = column_names[STEP_END];
	}
	if (missing != NULL) {
		state->is_unusable = true;
		fsl_sink_unusable(state->sink,
				  "the header lacks a column: not a step-time CSV; "
				  "collect it again or move it away: column=\"%s\", line=1",
				  missing);
	}
}

static bool number(const struct state *state, enum column column, int64_t *out)
{
	return state->at[column] != SIZE_MAX && state->length[column] != SIZE_MAX &&
	       fsl_parse_i64(state->text[column], state->length[column], out);
}

/* NULL when the row is a good step. End minus begin is preferred: a cut row lacks its last digits.
 */
static const char *parse_step(const struct state *state, struct fsl_step_time *step)
{
	int64_t end_ns = 0;
	if (state->n_fields != state->n_header) {
		return "another number of fields than the header";
	}
	if (!number(state, STEP_ID, &step->step) || step->step < 0) {
		return "step_id is no step number";
	}
	if (!number(state, STEP_BEGIN, &step->begin_ns) || step->begin_ns < 0 ||
	    step->begin_ns > FSL_TIME_MAX_NS) {
		return "step_start_time is no time in ns";
	}
	if (number(state, STEP_END, &end_ns) && end_ns >= 0 && end_ns <= FSL_TIME_MAX_NS) {
		step->dur_ns = end_ns - step->begin_ns;
		return NULL;
	}
	return number(state, STEP_DURATION, &step->dur_ns) ? NULL
							   : "step_end_time is no time in ns";
}

static void finish_step(struct state *state)
{
	struct fsl_step_time step = {0};
	struct fsl_sink *sink = state->sink;
	sink->file->n_records++;
	const char *reason = parse_step(state, &step);
	if (reason == NULL) {
		state->status = fsl_sink_add_step(sink, &step, state->err);
	} else if (state->is_at_end && state->n_fields < state->n_header) {
		fsl_sink_bad_record(sink, FSL_DROP_CUT,
				    "the file ends in the middle of a row (still being written, or "
				    "the disk was full): row=%llu",
				    (unsigned long long)state->row);
	} else {
		fsl_sink_bad_record(sink, FSL_DROP_MALFORMED,
				    "broken rows were left out, the first: row=%llu, reason=\"%s\"",
				    (unsigned long long)state->row, reason);
	}
}

static void on_row(int terminator, void *context)
{
	(void)terminator;
	struct state *state = context;
	state->row++;
	if (state->status == FSL_OK && !state->is_unusable) {
		if (state->has_header) {
			finish_step(state);
		} else {
			finish_header(state);
		}
	}
	state->n_fields = 0;
	memset(state->length, 0, sizeof(state->length));
}

/* A field never grows over a line's limit; libcsv then reports that it has no memory. */
static void *bounded_realloc(void *memory, size_t size)
{
	size_t capacity = 0;
	if (size > FSL_LINE_BYTES_MAX) {
		return NULL;
	}
	return fsl_grow(&memory, &capacity, size, 1, NULL) == FSL_OK ? memory : NULL;
}

/* libcsv gave up: its buffer reached the limit, or there was no memory for it. */
static enum fsl_status short_parse(struct csv_parser *parser, const struct state *state)
{
	if (csv_get_buffer_size(parser) < FSL_LINE_BYTES_MAX / 2) {
		return FSL_FAIL(state->err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				state->sink->file->path);
	}
	return FSL_FAIL(state->err, FSL_ERR_LIMIT,
			"a field is longer than a line may be, the rest is not read; collect the "
			"file again: row=%llu, max_bytes=%d",
			(unsigned long long)state->row + 1, FSL_LINE_BYTES_MAX);
}

/* libcsv would take the byte order mark for text in front of the first quote. */
static enum fsl_status skip_mark(struct fsl_reader *reader, struct fsl_error *err)
{
	const char *data = NULL;
	size_t n_bytes = 0;
	FSL_TRY(fsl_reader_peek(reader, 3, &data, &n_bytes, err));
	if (n_bytes >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) {
		fsl_reader_skip(reader, 3);
	}
	return FSL_OK;
}

static enum fsl_status feed(struct csv_parser *parser, struct fsl_reader *reader,
			    struct state *state)
{
	while (state->status == FSL_OK && !state->is_unusable) {
		const char *data = NULL;
		size_t n_bytes = 0;
		enum fsl_status status = fsl_reader_peek(reader, 1, &data, &n_bytes, state->err);
		if (status != FSL_OK || n_bytes == 0) {
			return status;
		}
		if (csv_parse(parser, data, n_bytes, on_field, on_row, state) != n_bytes) {
			return short_parse(parser, state);
		}
		fsl_reader_skip(reader, n_bytes);
	}
	return state->status;
}

static enum fsl_status read_file(struct fsl_reader *reader, struct fsl_sink *sink,
				 struct fsl_error *err)
{
	struct csv_parser parser;
	struct state state = {.sink = sink, .err = err};
	for (size_t i = 0; i < COLUMNS_N; i++) {
		state.at[i] = SIZE_MAX;
	}
	if (csv_init(&parser, 0) != 0) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				sink->file->path);
	}
	/* Its usual 128 bytes would copy a long field thousands of times. */
	csv_set_blk_size(&parser, FSL_FILE_BLOCK_BYTES);
	csv_set_realloc_func(&parser, bounded_realloc);
	csv_set_free_func(&parser, fsl_free);
	enum fsl_status status = skip_mark(reader, err);
	if (status == FSL_OK) {
		status = feed(&parser, reader, &state);
	}
	state.is_at_end = true;
	if (status == FSL_OK && csv_fini(&parser, on_field, on_row, &state) != 0) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
				  sink->file->path);
	}
	csv_free(&parser);
	if (status == FSL_OK) {
		status = state.status;
	}
	return fsl_sink_fault(sink, status, err);
}

const struct fsl_format fsl_format_step_time_csv = {
	.name = "step_time_csv",
	.summary = "measured steps as CSV (training-step-time: step_id, step_start_time, ...)",
	.kind = FSL_INPUT_STEPS,
	.probe = probe_head,
	.read = read_file,
};

/* Reads a series from CSV with libcsv: quotes, three separators, an optional header. */
#include <csv.h>
#include <string.h>

#include "source/series/series_parts.h"

/* State that the callbacks of libcsv share. */
struct state {
	struct fsl_series_file *out;
	struct fsl_reader *reader;
	const char *wanted;
	struct fsl_series_columns columns;
	struct fsl_series_choice choice;
	bool is_chosen;      /* the first row has been read */
	bool first_has_text; /* a field of the first row is no number */
	size_t n_fields;     /* number of fields of this row so far */
	size_t n_times;
	uint64_t line;
	const char *value; /* value of this row, in value_text; NULL: the row ended before it */
	size_t value_length;
	char value_text[FSL_SERIES_TEXT_BYTES_MAX];
	char time_text[FSL_SERIES_TEXT_BYTES_MAX];
	size_t time_length;
	enum fsl_status status;
	struct fsl_error *err;
};

static size_t keep(char out[FSL_SERIES_TEXT_BYTES_MAX], const char *text, size_t length)
{
	length = length < FSL_SERIES_TEXT_BYTES_MAX ? length : FSL_SERIES_TEXT_BYTES_MAX;
	if (length > 0) {
		memcpy(out, text, length);
	}
	return length;
}

/* Keeps a field of the first row, which may be a header or values. */
static void first_field(struct state *state, const char *text, size_t length)
{
	struct fsl_series_columns *columns = &state->columns;
	double value = 0.0;
	size_t n_kept = length < FSL_SERIES_TEXT_BYTES_MAX ? length : FSL_SERIES_TEXT_BYTES_MAX;
	if (columns->n >= FSL_SERIES_COLUMNS_MAX) {
		state->status =
			FSL_FAIL(state->err, FSL_ERR_LIMIT, "too many columns: path=\"%s\", max=%d",
				 fsl_reader_path(state->reader), FSL_SERIES_COLUMNS_MAX);
		return;
	}
	const char *name = fsl_arena_strndup(&state->out->arena, length > 0 ? text : "", n_kept);
	if (name == NULL) {
		state->status = FSL_FAIL(state->err, FSL_ERR_MEMORY, "out of memory");
		return;
	}
	columns->names[columns->n++] = name;
	state->first_has_text = state->first_has_text || !fsl_series_parse(text, length, &value);
}

static void on_field(void *text, size_t length, void *context)
{
	struct state *state = context;
	if (state->status != FSL_OK) {
		return;
	}
	if (!state->is_chosen) {
		first_field(state, text, length);
	} else if (state->n_fields == state->choice.value) {
		state->value_length = keep(state->value_text, text, length);
		state->value = state->value_text;
	} else if (state->n_fields == state->choice.time) {
		state->time_length = keep(state->time_text, text, length);
	}
	state->n_fields++;
}

static void add_row(struct state *state)
{
	double value = 0.0;
	struct fsl_series_file *out = state->out;
	if (state->n_fields > state->columns.n) {
		state->status =
			FSL_FAIL(state->err, FSL_ERR_FORMAT,
				 "a row has more fields than the first one, write numbers as 12.5 "
				 "and texts with a separator in quotes: path=\"%s\", line=%llu, "
				 "fields=%zu, first=%zu",
				 fsl_reader_path(state->reader), (unsigned long long)state->line,
				 state->n_fields, state->columns.n);
		return;
	}
	if (state->value == NULL) {
		state->status =
			FSL_FAIL(state->err, FSL_ERR_FORMAT,
				 "a row ends before its value, complete it or leave it out: "
				 "path=\"%s\", line=%llu, fields=%zu",
				 fsl_reader_path(state->reader), (unsigned long long)state->line,
				 state->n_fields);
		return;
	}
	if (!fsl_series_parse(state->value, state->value_length, &value)) {
		state->status = FSL_FAIL(
			state->err, FSL_ERR_FORMAT,
			"a value is no number, write it as 12.5 or leave the field empty: "
			"path=\"%s\", line=%llu, text=\"%.*s\"",
			fsl_reader_path(state->reader), (unsigned long long)state->line,
			(int)(state->value_length < 40 ? state->value_length : 40), state->value);
		return;
	}
	state->status = fsl_series_add(out, value, state->err);
	if (state->status == FSL_OK && state->choice.time != SIZE_MAX) {
		state->status = fsl_series_add_time(out, &state->n_times, state->time_text,
						    state->time_length, state->err);
	}
}

/* A first row with a number in the value's column is no header. */
static void finish_first_row(struct state *state)
{
	struct fsl_series_columns *columns = &state->columns;
	double number = 0.0;
	size_t n = columns->n;
	const char *last = columns->names[n - 1];
	/* A time may be text beside a number, so the last field decides. */
	columns->has_header =
		state->first_has_text && (n == 1 || !fsl_series_parse(last, strlen(last), &number));
	static const char *const nameless = "";
	const char *cells[FSL_SERIES_COLUMNS_MAX];
	memcpy(cells, columns->names, n * sizeof(*cells));
	for (size_t i = 0; i < n && !columns->has_header; i++) {
		columns->names[i] = nameless;
	}
	state->status = fsl_series_choose(&state->choice, columns, state->wanted,
					  fsl_reader_path(state->reader), state->err);
	state->is_chosen = true;
	if (state->status != FSL_OK) {
		return;
	}
	state->out->column = columns->names[state->choice.value];
	if (!columns->has_header) {
		const char *value = cells[state->choice.value];
		state->value_length = keep(state->value_text, value, strlen(value));
		state->value = state->value_text;
		if (state->choice.time != SIZE_MAX) {
			const char *time = cells[state->choice.time];
			state->time_length = keep(state->time_text, time, strlen(time));
		}
		add_row(state);
	}
}

static void on_row(int terminator, void *context)
{
	(void)terminator;
	struct state *state = context;
	if (state->status == FSL_OK && state->n_fields > 0) {
		if (state->is_chosen) {
			add_row(state);
		} else {
			finish_first_row(state);
		}
	}
	state->n_fields = 0;
	state->value = NULL;
	state->value_length = state->time_length = 0;
}

/* Fails if a field grows beyond the limit of a line; libcsv then reports that it has no memory. */
static void *bounded_realloc(void *memory, size_t size)
{
	size_t capacity = 0;
	if (size > FSL_LINE_BYTES_MAX) {
		return NULL;
	}
	return fsl_grow(&memory, &capacity, size, 1, NULL) == FSL_OK ? memory : NULL;
}

/* The most frequent of comma, semicolon and tab in the first line, outside quotes. */
static enum fsl_status find_separator(struct fsl_reader *reader, unsigned char *out,
				      struct fsl_error *err)
{
	static const char separators[] = ",;\t";
	size_t counts[3] = {0};
	const char *data = NULL;
	size_t n_bytes = 0;
	bool is_quoted = false;
	enum fsl_status status = fsl_reader_peek(reader, FSL_FILE_HEAD_BYTES, &data, &n_bytes, err);
	for (size_t i = 0; status == FSL_OK && i < n_bytes && (is_quoted || data[i] != '\n'); i++) {
		is_quoted = is_quoted != (data[i] == '"');
		for (size_t k = 0; k < 3; k++) {
			counts[k] += !is_quoted && data[i] == separators[k] ? 1 : 0;
		}
	}
	size_t best = counts[1] > counts[0] ? 1 : 0;
	best = counts[2] > counts[best] ? 2 : best;
	*out = (unsigned char)separators[best];
	return status;
}

static enum fsl_status fail_parse(const struct state *state)
{
	return FSL_FAIL(state->err, FSL_ERR_LIMIT,
			"a field is longer than a line may be, or a quote is open: path=\"%s\", "
			"line=%llu, max_bytes=%d",
			fsl_reader_path(state->reader), (unsigned long long)state->line,
			FSL_LINE_BYTES_MAX);
}

/* Feeds line by line, so that messages can give the line. */
static enum fsl_status feed(struct csv_parser *parser, struct state *state)
{
	while (state->status == FSL_OK) {
		const char *data = NULL;
		size_t n_bytes = 0;
		enum fsl_status status =
			fsl_reader_peek(state->reader, 1, &data, &n_bytes, state->err);
		if (status != FSL_OK || n_bytes == 0) {
			return status;
		}
		for (size_t begin = 0; begin < n_bytes && state->status == FSL_OK;) {
			const char *newline = memchr(data + begin, '\n', n_bytes - begin);
			size_t end = newline != NULL ? (size_t)(newline - data) + 1 : n_bytes;
			if (csv_parse(parser, data + begin, end - begin, on_field, on_row, state) !=
			    end - begin) {
				return fail_parse(state);
			}
			state->line += newline != NULL ? 1 : 0;
			begin = end;
		}
		fsl_reader_skip(state->reader, n_bytes);
	}
	return state->status;
}

enum fsl_status fsl_series_read_csv(struct fsl_series_file *out, struct fsl_reader *reader,
				    const char *column, struct fsl_error *err)
{
	struct csv_parser parser;
	unsigned char separator = ',';
	struct state state = {.out = out,
			      .reader = reader,
			      .wanted = column,
			      .columns = {.holds_times = true},
			      .line = 1,
			      .err = err};
	enum fsl_status status = find_separator(reader, &separator, err);
	if (status != FSL_OK) {
		return status;
	}
	if (csv_init(&parser, 0) != 0) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
	}
	csv_set_delim(&parser, separator);
	csv_set_blk_size(&parser, FSL_FILE_BLOCK_BYTES);
	csv_set_realloc_func(&parser, bounded_realloc);
	csv_set_free_func(&parser, fsl_free);
	status = feed(&parser, &state);
	if (status == FSL_OK && csv_fini(&parser, on_field, on_row, &state) != 0) {
		status = fail_parse(&state);
	}
	csv_free(&parser);
	return status == FSL_OK ? state.status : status;
}

/*
 * Reads a series from JSON: [1, 2, null], {"name": [1, 2], "time": [...]}, or the form of the
 * Turing change point dataset, {"time": {"raw": [...]}, "series": [{"label": "V1", "raw": [...]}]}.
 */
#include <math.h>
#include <string.h>

#include "base/json_stream.h"
#include "base/log.h"
#include "base/try.h"
#include "source/series/series_parts.h"

struct document {
	struct fsl_series_file *out;
	struct fsl_reader *reader;
	struct fsl_json *json;
	struct fsl_series_file *columns; /* values only; FSL_SERIES_COLUMNS_MAX of them */
	size_t n_columns;
	size_t n_values; /* in all columns */
	size_t n_times;
	bool has_raw_times;
	struct fsl_error *err;
};

static enum fsl_status next(struct document *document, struct fsl_json_value *value)
{
	return fsl_json_next(document->json, value, document->err);
}

static bool is_text(const struct fsl_json_value *value, const char *text)
{
	return value->length == strlen(text) && memcmp(value->text, text, value->length) == 0;
}

/* Skips to the end of the value that the last token began; @depth: open levels before it. */
static enum fsl_status leave(struct document *document, size_t depth)
{
	struct fsl_json_value value;
	while (fsl_json_depth(document->json) > depth) {
		FSL_TRY(next(document, &value));
	}
	return FSL_OK;
}

/* @value: NULL if it is no scalar. */
static enum fsl_status fail_value(struct document *document, const struct fsl_json_value *value)
{
	int length = value == NULL ? 0 : value->length < 40 ? (int)value->length : 40;
	return FSL_FAIL(document->err, FSL_ERR_FORMAT,
			"a value is no number, write it as 12.5 or null: path=\"%s\", line=%llu, "
			"text=\"%.*s\"",
			fsl_reader_path(document->reader),
			(unsigned long long)fsl_json_line(document->json), length,
			value != NULL ? value->text : "");
}

static enum fsl_status add_value(struct document *document, struct fsl_series_file *column,
				 double value)
{
	if (document->n_values >= FSL_SERIES_VALUES_MAX) {
		return FSL_FAIL(document->err, FSL_ERR_LIMIT,
				"the file holds too many values, give a part of it: path=\"%s\", "
				"max=%d",
				fsl_reader_path(document->reader), FSL_SERIES_VALUES_MAX);
	}
	document->n_values++;
	return fsl_series_add(column, value, document->err);
}

/* Reads values from @value, the first token of an array, to its end. An array with another first
 * token is no column: *is_column is false. */
static enum fsl_status read_values(struct document *document, struct fsl_json_value value,
				   struct fsl_series_file *column, bool *is_column)
{
	*is_column = true;
	while (value.token != FSL_JSON_ARRAY_END) {
		double number = (double)NAN;
		bool is_scalar = value.token == FSL_JSON_NUMBER || value.token == FSL_JSON_STRING;
		bool is_number = value.token == FSL_JSON_NULL ||
				 (is_scalar && fsl_series_parse(value.text, value.length, &number));
		if (!is_number && column->n == 0) {
			bool is_nested = value.token == FSL_JSON_ARRAY_BEGIN ||
					 value.token == FSL_JSON_OBJECT_BEGIN;
			*is_column = false;
			return leave(document,
				     fsl_json_depth(document->json) - (is_nested ? 2 : 1));
		}
		if (!is_number) {
			return fail_value(document, is_scalar ? &value : NULL);
		}
		FSL_TRY(add_value(document, column, number));
		FSL_TRY(next(document, &value));
	}
	return FSL_OK;
}

/* Reads an array with first token @first as a column named @name (copied). */
static enum fsl_status read_column(struct document *document, struct fsl_json_value first,
				   const char *name, size_t length)
{
	bool is_column = false;
	if (document->n_columns >= FSL_SERIES_COLUMNS_MAX) {
		return FSL_FAIL(document->err, FSL_ERR_LIMIT,
				"too many columns: path=\"%s\", max=%d",
				fsl_reader_path(document->reader), FSL_SERIES_COLUMNS_MAX);
	}
	length = length < FSL_SERIES_TEXT_BYTES_MAX ? length : FSL_SERIES_TEXT_BYTES_MAX;
	struct fsl_series_file *column = &document->columns[document->n_columns];
	column->column = fsl_arena_strndup(&document->out->arena, name, length);
	if (column->column == NULL) {
		return FSL_FAIL(document->err, FSL_ERR_MEMORY, "out of memory");
	}
	enum fsl_status status = read_values(document, first, column, &is_column);
	document->n_columns += is_column ? 1 : 0;
	return status;
}

/* Reads an open array of times; numbers and texts are kept as written. */
static enum fsl_status read_times(struct document *document)
{
	document->n_times = 0;
	for (;;) {
		struct fsl_json_value value;
		FSL_TRY(next(document, &value));
		if (value.token == FSL_JSON_ARRAY_END) {
			return FSL_OK;
		}
		bool is_scalar = value.token == FSL_JSON_NUMBER || value.token == FSL_JSON_STRING;
		if (value.token == FSL_JSON_ARRAY_BEGIN || value.token == FSL_JSON_OBJECT_BEGIN) {
			FSL_TRY(leave(document, fsl_json_depth(document->json) - 1));
		}
		FSL_TRY(fsl_series_add_time(document->out, &document->n_times,
					    is_scalar ? value.text : "",
					    is_scalar ? value.length : 0, document->err));
	}
}

/* Reads {"raw": [...], "index": [...]} behind its "{"; raw takes precedence. */
static enum fsl_status read_time_object(struct document *document)
{
	for (;;) {
		struct fsl_json_value value;
		FSL_TRY(next(document, &value));
		if (value.token == FSL_JSON_OBJECT_END) {
			return FSL_OK;
		}
		bool is_raw = is_text(&value, "raw");
		bool is_wanted = is_raw || (is_text(&value, "index") && !document->has_raw_times);
		size_t depth = fsl_json_depth(document->json);
		FSL_TRY(next(document, &value));
		if (is_wanted && value.token == FSL_JSON_ARRAY_BEGIN) {
			document->has_raw_times = is_raw;
			FSL_TRY(read_times(document));
		} else {
			FSL_TRY(leave(document, depth));
		}
	}
}

/* Reads {"label": "V1", "raw": [...]} behind its "{". */
static enum fsl_status read_series_object(struct document *document)
{
	char label[FSL_SERIES_TEXT_BYTES_MAX];
	size_t length = 0;
	size_t n_before = document->n_columns;
	for (;;) {
		struct fsl_json_value value;
		FSL_TRY(next(document, &value));
		if (value.token == FSL_JSON_OBJECT_END) {
			break;
		}
		bool is_label = is_text(&value, "label");
		bool is_raw = is_text(&value, "raw");
		size_t depth = fsl_json_depth(document->json);
		FSL_TRY(next(document, &value));
		if (is_label && value.token == FSL_JSON_STRING) {
			length = value.length < sizeof(label) ? value.length : sizeof(label);
			memcpy(label, value.text, length);
		} else if (is_raw && value.token == FSL_JSON_ARRAY_BEGIN) {
			FSL_TRY(next(document, &value));
			FSL_TRY(read_column(document, value, "", 0));
		} else {
			FSL_TRY(leave(document, depth));
		}
	}
	/* Set the name now: the label may follow the values. */
	if (document->n_columns > n_before && length > 0) {
		const char *name = fsl_arena_strndup(&document->out->arena, label, length);
		if (name == NULL) {
			return FSL_FAIL(document->err, FSL_ERR_MEMORY, "out of memory");
		}
		document->columns[document->n_columns - 1].column = name;
	}
	return FSL_OK;
}

/* Reads an array of objects, each a series, from its first token on; or a column of numbers. */
static enum fsl_status read_series(struct document *document, struct fsl_json_value value)
{
	if (value.token != FSL_JSON_OBJECT_BEGIN) {
		return read_column(document, value, "series", 6);
	}
	while (value.token != FSL_JSON_ARRAY_END) {
		FSL_TRY(value.token == FSL_JSON_OBJECT_BEGIN ? read_series_object(document)
							     : fail_value(document, NULL));
		FSL_TRY(next(document, &value));
	}
	return FSL_OK;
}

/* Reads one key of the outer object and its value. */
static enum fsl_status read_member(struct document *document, const struct fsl_json_value *key)
{
	char name[FSL_SERIES_TEXT_BYTES_MAX];
	size_t length = key->length < sizeof(name) ? key->length : sizeof(name);
	size_t depth = fsl_json_depth(document->json);
	memcpy(name, key->text, length);
	struct fsl_json_value value;
	FSL_TRY(next(document, &value));
	bool is_time = length == 4 && memcmp(name, "time", 4) == 0;
	if (is_time && value.token == FSL_JSON_OBJECT_BEGIN) {
		return read_time_object(document);
	}
	if (value.token != FSL_JSON_ARRAY_BEGIN) {
		return leave(document, depth);
	}
	if (is_time) {
		return read_times(document);
	}
	FSL_TRY(next(document, &value));
	return length == 6 && memcmp(name, "series", 6) == 0
		       ? read_series(document, value)
		       : read_column(document, value, name, length);
}

static enum fsl_status read_document(struct document *document)
{
	struct fsl_json_value value;
	FSL_TRY(next(document, &value));
	if (value.token == FSL_JSON_ARRAY_BEGIN) {
		FSL_TRY(next(document, &value));
		FSL_TRY(read_column(document, value, "", 0));
	} else {
		FSL_TRY(next(document, &value));
		while (value.token != FSL_JSON_OBJECT_END) {
			FSL_TRY(read_member(document, &value));
			FSL_TRY(next(document, &value));
		}
	}
	FSL_TRY(next(document, &value));
	if (value.token != FSL_JSON_END) {
		return FSL_FAIL(document->err, FSL_ERR_FORMAT,
				"more than one JSON value, give one series a file: path=\"%s\", "
				"line=%llu",
				fsl_reader_path(document->reader),
				(unsigned long long)fsl_json_line(document->json));
	}
	return FSL_OK;
}

/* Values behind the last time get an empty time, as empty fields of CSV do. */
static enum fsl_status complete_times(struct document *document)
{
	size_t n_given = document->n_times;
	if (n_given == 0) {
		fsl_free((void *)document->out->times);
		document->out->times = NULL;
		document->out->times_capacity = 0;
		return FSL_OK;
	}
	if (n_given < document->out->n) {
		fsl_log(FSL_LOG_WARNING, "series",
			"fewer times than values, the last values have none: path=\"%s\", times=%zu, "
			"values=%zu",
			fsl_reader_path(document->reader), n_given, document->out->n);
	}
	while (document->n_times < document->out->n) {
		FSL_TRY(fsl_series_add_time(document->out, &document->n_times, "", 0,
					    document->err));
	}
	return FSL_OK;
}

/* Moves the chosen column to the result. */
static enum fsl_status take_column(struct document *document, const char *wanted)
{
	struct fsl_series_columns columns = {.n = document->n_columns, .has_header = true};
	struct fsl_series_choice choice = {0};
	struct fsl_series_file *out = document->out;
	for (size_t i = 0; i < columns.n; i++) {
		columns.names[i] = document->columns[i].column;
	}
	if (columns.n == 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_series_choose(&choice, &columns, wanted, fsl_reader_path(document->reader),
				  document->err));
	struct fsl_series_file *column = &document->columns[choice.value];
	out->values = column->values;
	out->values_capacity = column->values_capacity;
	out->n = column->n;
	out->n_missing = column->n_missing;
	out->column = column->column;
	column->values = NULL;
	return complete_times(document);
}

enum fsl_status fsl_series_read_json(struct fsl_series_file *out, struct fsl_reader *reader,
				     const char *column, struct fsl_error *err)
{
	struct document document = {.out = out, .reader = reader, .err = err};
	document.columns = fsl_calloc(FSL_SERIES_COLUMNS_MAX, sizeof(*document.columns));
	document.json = fsl_json_create(reader);
	enum fsl_status status = FSL_OK;
	if (document.columns == NULL || document.json == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
		goto out;
	}
	status = read_document(&document);
	if (status == FSL_OK) {
		status = take_column(&document, column);
	}
out:
	for (size_t i = 0; document.columns != NULL && i < FSL_SERIES_COLUMNS_MAX; i++) {
		fsl_free(document.columns[i].values);
	}
	fsl_json_destroy(document.json);
	fsl_free(document.columns);
	return status;
}

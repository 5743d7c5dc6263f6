/* Series files: tells the form, chooses the columns, parses values. */
#include "source/series/series_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/try.h"
#include "source/series/series_parts.h"

enum { NUMBER_BYTES_MAX = 64, NAMES_BYTES = 160 };

static const char *const value_names[] = {"value", "values", NULL};
static const char *const time_names[] = {"time", "timestamp", "date", "index", NULL};

/* Index of the column whose name is one of @names, SIZE_MAX: none. */
static size_t find_name(const struct fsl_series_columns *columns, const char *const *names)
{
	for (; *names != NULL; names++) {
		for (size_t i = 0; i < columns->n; i++) {
			if (strcasecmp(columns->names[i], *names) == 0) {
				return i;
			}
		}
	}
	return SIZE_MAX;
}

/* "a, b, c", cut if it gets long. */
static void join_names(const struct fsl_series_columns *columns, char out[NAMES_BYTES])
{
	size_t n = 0;
	out[0] = '\0';
	for (size_t i = 0; i < columns->n; i++) {
		size_t length = strlen(columns->names[i]);
		if (n + length + 8 > NAMES_BYTES) {
			memcpy(out + n, ", ...", 6);
			return;
		}
		if (i > 0) {
			memcpy(out + n, ", ", 2);
			n += 2;
		}
		memcpy(out + n, columns->names[i], length + 1);
		n += length;
	}
}

/* Finds the wanted column by name, else by number. */
static enum fsl_status find_wanted(size_t *out, const struct fsl_series_columns *columns,
				   const char *wanted, const char *path, struct fsl_error *err)
{
	int64_t number = 0;
	for (size_t i = 0; i < columns->n; i++) {
		if (columns->has_header && strcmp(columns->names[i], wanted) == 0) {
			*out = i;
			return FSL_OK;
		}
	}
	if (fsl_parse_i64(wanted, strlen(wanted), &number) && number >= 1 &&
	    (uint64_t)number <= columns->n) {
		*out = (size_t)number - 1;
		return FSL_OK;
	}
	char names[NAMES_BYTES];
	join_names(columns, names);
	if (!columns->has_header) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"the columns have no names, give --column a number: path=\"%s\", "
				"column=\"%s\", columns=%zu",
				path, wanted, columns->n);
	}
	const char *nearest = fsl_nearest_name(wanted, strlen(wanted), columns->names, columns->n);
	if (nearest != NULL) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"no such column: path=\"%s\", column=\"%s\", did_you_mean=\"%s\"",
				path, wanted, nearest);
	}
	return FSL_FAIL(err, FSL_ERR_INPUT,
			"no such column: path=\"%s\", column=\"%s\", columns=\"%s\"", path, wanted,
			names);
}

/* Finds the only column besides the time. */
static enum fsl_status find_only(struct fsl_series_choice *choice,
				 const struct fsl_series_columns *columns, const char *path,
				 struct fsl_error *err)
{
	if (columns->n == 1) {
		choice->value = 0;
		choice->time = SIZE_MAX;
		return FSL_OK;
	}
	if (columns->n == 2 && columns->holds_times) {
		choice->time = choice->time == SIZE_MAX ? 0 : choice->time;
		choice->value = 1 - choice->time;
		return FSL_OK;
	}
	char names[NAMES_BYTES];
	join_names(columns, names);
	return FSL_FAIL(err, FSL_ERR_INPUT,
			"several columns, choose one with --column: path=\"%s\", columns=%zu, "
			"names=\"%s\"",
			path, columns->n, columns->has_header ? names : "");
}

enum fsl_status fsl_series_choose(struct fsl_series_choice *out,
				  const struct fsl_series_columns *columns, const char *wanted,
				  const char *path, struct fsl_error *err)
{
	struct fsl_series_choice choice = {.value = SIZE_MAX, .time = SIZE_MAX};
	if (columns->holds_times) {
		choice.time = find_name(columns, time_names);
	}
	if (wanted != NULL) {
		FSL_TRY(find_wanted(&choice.value, columns, wanted, path, err));
	} else {
		choice.value = find_name(columns, value_names);
		if (choice.value == SIZE_MAX) {
			FSL_TRY(find_only(&choice, columns, path, err));
		}
	}
	if (choice.time == SIZE_MAX && columns->holds_times && !columns->has_header &&
	    choice.value > 0) {
		choice.time = 0;
	}
	choice.time = choice.time == choice.value ? SIZE_MAX : choice.time;
	*out = choice;
	return FSL_OK;
}

bool fsl_series_parse(const char *text, size_t length, double *out)
{
	static const char *const missing[] = {"", "nan", "na", "n/a", "null", "none", "-"};
	char copy[NUMBER_BYTES_MAX];
	while (length > 0 && (text[0] == ' ' || text[0] == '\t')) {
		text++;
		length--;
	}
	while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) {
		length--;
	}
	if (length >= sizeof(copy) || memchr(text, '\0', length) != NULL) {
		return false;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		if (strcasecmp(copy, missing[i]) == 0) {
			*out = (double)NAN;
			return true;
		}
	}
	char *end = NULL;
	double value = strtod(copy, &end);
	if (*end != '\0' || strpbrk(copy, "xX") != NULL) { /* strtod would take hexadecimal */
		return false;
	}
	*out = isfinite(value) ? value : (double)NAN;
	return true;
}

enum fsl_status fsl_series_add(struct fsl_series_file *file, double value, struct fsl_error *err)
{
	if (file->n >= FSL_SERIES_VALUES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"the series is too long, give a part of it: max=%d",
				FSL_SERIES_VALUES_MAX);
	}
	FSL_TRY(FSL_GROW(file->values, file->values_capacity, file->n + 1, err));
	file->values[file->n++] = value;
	file->n_missing += isnan(value) ? 1 : 0;
	return FSL_OK;
}

enum fsl_status fsl_series_add_time(struct fsl_series_file *file, size_t *n_times, const char *text,
				    size_t length, struct fsl_error *err)
{
	length = length < FSL_SERIES_TEXT_BYTES_MAX ? length : FSL_SERIES_TEXT_BYTES_MAX;
	if (*n_times >= FSL_SERIES_VALUES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"the series is too long, give a part of it: max=%d",
				FSL_SERIES_VALUES_MAX);
	}
	FSL_TRY(FSL_GROW(file->times, file->times_capacity, *n_times + 1, err));
	const char *copy = fsl_arena_strndup(&file->arena, length > 0 ? text : "", length);
	if (copy == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for times");
	}
	file->times[(*n_times)++] = copy;
	return FSL_OK;
}

enum fsl_status fsl_series_file_read(struct fsl_series_file *out, struct fsl_reader *reader,
				     const char *column, struct fsl_error *err)
{
	const char *data = NULL;
	size_t n_bytes = 0;
	FSL_TRY(fsl_reader_peek(reader, FSL_FILE_HEAD_BYTES, &data, &n_bytes, err));
	if (n_bytes >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0) {
		fsl_reader_skip(reader, 3);
		data += 3;
		n_bytes -= 3;
	}
	if (fsl_series_is_log(reader, data, n_bytes)) {
		return fsl_series_read_log(out, reader, column, err);
	}
	size_t first = 0;
	while (first < n_bytes && strchr(" \t\r\n", data[first]) != NULL && data[first] != '\0') {
		first++;
	}
	bool is_json = first < n_bytes && (data[first] == '{' || data[first] == '[');
	FSL_TRY(is_json ? fsl_series_read_json(out, reader, column, err)
			: fsl_series_read_csv(out, reader, column, err));
	if (out->n == out->n_missing) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"no values in this file, wanted is CSV with a column value or a "
				"JSON array: path=\"%s\", missing=%zu",
				fsl_reader_path(reader), out->n_missing);
	}
	return FSL_OK;
}

void fsl_series_file_fini(struct fsl_series_file *file)
{
	fsl_free(file->values);
	fsl_free((void *)file->times);
	fsl_arena_fini(&file->arena);
	*file = (struct fsl_series_file){0};
}

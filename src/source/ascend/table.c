/* Tables of the profiler over the CSV scanner. */
#include "source/ascend/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct fsl_csv_field trim(struct fsl_csv_field field)
{
	while (field.length > 0 && is_blank(field.text[0])) {
		field.text++;
		field.length--;
	}
	while (field.length > 0 && is_blank(field.text[field.length - 1])) {
		field.length--;
	}
	return field;
}

static bool equals(struct fsl_csv_field field, const char *text)
{
	return field.length == strlen(text) && memcmp(field.text, text, field.length) == 0;
}

/*
 * Sets the first message of a file; later ones are ignored. If memory is short, the message is cut.
 */
static void tell(const struct fsl_table *table, enum fsl_file_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void tell(const struct fsl_table *table, enum fsl_file_state state, const char *format, ...)
{
	struct fsl_file *file = table->input->file;
	if (file->state == FSL_FILE_READ) {
		file->state = state;
	}
	if (file->message[0] != '\0') {
		return;
	}
	char text[512];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	const char *kept = fsl_arena_strdup(&table->rank->arena, text);
	file->message = kept != NULL ? kept : "rows were dropped";
}

void fsl_table_tell(struct fsl_table *table, const char *message)
{
	tell(table, FSL_FILE_PARTIAL, "%s", message);
}

void fsl_table_drop(struct fsl_table *table, const char *reason)
{
	table->input->file->n_dropped[FSL_DROP_MALFORMED]++;
	tell(table, FSL_FILE_PARTIAL, "line %" PRIu64 ": %s; parse the capture again",
	     table->row.line, reason);
}

static size_t find_column(const struct fsl_csv_row *header, const struct fsl_table_column *column,
			  const char **name)
{
	for (size_t n = 0; n < FSL_TABLE_NAMES_MAX && column->names[n] != NULL; n++) {
		for (size_t i = 0; i < header->n_fields; i++) {
			if (equals(trim(header->fields[i]), column->names[n])) {
				*name = column->names[n];
				return i;
			}
		}
	}
	return SIZE_MAX;
}

/* "Name" or "Op Name" */
static void tell_column(struct fsl_table *table, const struct fsl_table_column *column)
{
	char names[256];
	size_t n_bytes = 0;
	for (size_t n = 0; n < FSL_TABLE_NAMES_MAX && column->names[n] != NULL; n++) {
		int length = snprintf(names + n_bytes, sizeof(names) - n_bytes, "%s\"%s\"",
				      n == 0 ? "" : " or ", column->names[n]);
		FSL_REQUIRE(length > 0 && (size_t)length < sizeof(names) - n_bytes);
		n_bytes += (size_t)length;
	}
	tell(table, FSL_FILE_UNUSABLE, "the header has no column %s; parse the capture again",
	     names);
}

static bool find_columns(struct fsl_table *table, const struct fsl_table_column *columns,
			 size_t n_columns)
{
	FSL_REQUIRE(n_columns <= FSL_TABLE_COLUMNS_MAX);
	table->n_fields = table->row.n_fields;
	for (size_t c = 0; c < n_columns; c++) {
		table->names[c] = "";
		table->at[c] = find_column(&table->row, &columns[c], &table->names[c]);
		if (table->at[c] == SIZE_MAX && columns[c].is_needed) {
			tell_column(table, &columns[c]);
			return false;
		}
	}
	return true;
}

bool fsl_table_has(const struct fsl_table *table, size_t column, const char *name)
{
	return strcmp(table->names[column], name) == 0;
}

enum fsl_status fsl_table_open(struct fsl_table *table, struct fsl_profile_rank *rank,
			       const struct fsl_profile_input *input,
			       const struct fsl_table_column *columns, size_t n_columns,
			       bool *is_usable, struct fsl_error *err)
{
	*is_usable = false;
	table->input = input;
	table->rank = rank;
	table->csv = fsl_csv_create(input->reader);
	if (table->csv == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", input->path);
	}
	struct fsl_error own = {0};
	enum fsl_status status = fsl_csv_next(table->csv, &table->row, &own);
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "out of memory: path=\"%s\"", input->path);
	}
	if (status != FSL_OK) {
		tell(table, FSL_FILE_UNUSABLE, "the header cannot be read: %s",
		     fsl_error_root(&own));
	} else if (table->row.state == FSL_CSV_END) {
		tell(table, FSL_FILE_EMPTY, "the file is empty; parse the capture again");
	} else if (table->row.state != FSL_CSV_ROW) {
		tell(table, FSL_FILE_UNUSABLE,
		     "the header cannot be read: %s; parse the capture again, with fewer metrics "
		     "where there are too many",
		     table->row.reason);
	} else {
		*is_usable = find_columns(table, columns, n_columns);
	}
	return FSL_OK;
}

void fsl_table_close(struct fsl_table *table)
{
	fsl_csv_destroy(table->csv);
	table->csv = NULL;
}

/* True at the end of the file, also inside a row, which is reported. */
static bool is_last(struct fsl_table *table)
{
	struct fsl_file *file = table->input->file;
	if (table->row.state == FSL_CSV_END) {
		if (file->n_records == 0) {
			tell(table, FSL_FILE_EMPTY, "the file has only a header");
		}
		return true;
	}
	file->n_records++;
	bool is_cut = table->row.state == FSL_CSV_CUT_ROW ||
		      (table->row.n_fields < table->n_fields && !table->row.has_newline);
	if (is_cut) {
		file->n_dropped[FSL_DROP_CUT]++;
		tell(table, FSL_FILE_PARTIAL,
		     "line %" PRIu64 ": the file ends inside a row; copy or parse it again",
		     table->row.line);
	}
	return is_cut;
}

enum fsl_status fsl_table_next(struct fsl_table *table, bool *has_row, struct fsl_error *err)
{
	*has_row = false;
	for (;;) {
		struct fsl_error own; /* large: declared outside the loop, so that it is not
					 zeroed for every row */
		fsl_error_clear(&own);
		enum fsl_status status = fsl_csv_next(table->csv, &table->row, &own);
		if (status == FSL_ERR_MEMORY) {
			return FSL_FAIL(err, status, "out of memory: path=\"%s\"",
					table->input->path);
		}
		if (status != FSL_OK) {
			tell(table, FSL_FILE_PARTIAL, "the file cannot be read on: %s",
			     fsl_error_root(&own));
			return FSL_OK;
		}
		if (is_last(table)) {
			return FSL_OK;
		}
		if (table->row.n_fields == table->n_fields) {
			*has_row = true;
			return FSL_OK;
		}
		fsl_table_drop(table, table->row.state == FSL_CSV_BAD_ROW
					      ? table->row.reason
					      : "not as many fields as the header has");
	}
}

enum fsl_status fsl_table_read(struct fsl_profile_rank *rank, const struct fsl_profile_input *input,
			       const struct fsl_table_column *columns, size_t n_columns,
			       fsl_table_add add, void *context, struct fsl_error *err)
{
	struct fsl_table table;
	bool has_row = false;
	enum fsl_status status =
		fsl_table_open(&table, rank, input, columns, n_columns, &has_row, err);
	while (status == FSL_OK && has_row) {
		status = fsl_table_next(&table, &has_row, err);
		if (status == FSL_OK && has_row) {
			status = add(&table, context, err);
		}
	}
	fsl_table_close(&table);
	return status;
}

static bool is_missing(struct fsl_csv_field field)
{
	return field.length >= 2 && field.text[0] == 'N' &&
	       (equals(field, "N/A") || equals(field, "NA"));
}

struct fsl_csv_field fsl_table_field(const struct fsl_table *table, size_t column)
{
	const struct fsl_csv_field none = {"", 0};
	if (table->at[column] == SIZE_MAX) {
		return none;
	}
	struct fsl_csv_field field = trim(table->row.fields[table->at[column]]);
	if (field.length >= 2 && field.text[0] == '"' && field.text[field.length - 1] == '"') {
		field.text++;
		field.length -= 2;
		field = trim(field);
	}
	return is_missing(field) ? none : field;
}

/* Parses the usual number: digits, perhaps with a point, whose product fits 64 bits on the way.
 * False for all others, for which fsl_parse_scaled() takes several times as long. */
static bool parse_usual(struct fsl_csv_field field, int64_t scale, int64_t *out)
{
	enum { DIGITS_MAX = 19 }; /* so many digits stay below 2^64 */
	uint64_t digits = 0, factor = (uint64_t)scale, divisor = 1, value = 0;
	size_t point = field.length, i = 0;
	for (; i < field.length && i <= DIGITS_MAX; i++) {
		unsigned digit = (unsigned)field.text[i] - '0';
		if (digit <= 9) {
			digits = digits * 10 + digit;
		} else if (field.text[i] == '.' && point == field.length && i > 0) {
			point = i;
		} else {
			return false;
		}
	}
	if (i < field.length || i - (point < i ? 1 : 0) > DIGITS_MAX) {
		return false;
	}
	/* Reduces scale / 10^n by the common factors. */
	for (i = point + 1; i < field.length; i++) {
		uint64_t common = (factor % 5 == 0 ? 5U : 1U) * (factor % 2 == 0 ? 2U : 1U);
		factor /= common;
		divisor *= 10 / common;
	}
	/* Rounds as fsl_parse_scaled() does, half away from zero. An odd divisor has no halves. */
	if (__builtin_mul_overflow(digits, factor, &value) ||
	    __builtin_add_overflow(value, divisor / 2, &value) || value / divisor > INT64_MAX) {
		return false;
	}
	*out = (int64_t)(value / divisor);
	return true;
}

bool fsl_table_scaled(const struct fsl_table *table, size_t column, int64_t scale, int64_t *out)
{
	struct fsl_csv_field field = fsl_table_field(table, column);
	return field.length > 0 && (parse_usual(field, scale, out) ||
				    fsl_parse_scaled(field.text, field.length, scale, out));
}

int64_t fsl_table_amount(const struct fsl_table *table, size_t column, int64_t scale,
			 int64_t fallback)
{
	int64_t value = 0;
	return fsl_table_scaled(table, column, scale, &value) && value >= 0 ? value : fallback;
}

enum fsl_status fsl_table_intern_text(const struct fsl_table *table, struct fsl_csv_field text,
				      uint32_t *id, struct fsl_error *err)
{
	*id = FSL_STR_NONE;
	if (text.length == 0) {
		return FSL_OK;
	}
	if (text.length > FSL_TABLE_NAME_BYTES_MAX) {
		text.length = FSL_TABLE_NAME_BYTES_MAX;
	}
	enum fsl_status status =
		fsl_strpool_intern(table->rank->names, text.text, text.length, id, NULL);
	if (status == FSL_ERR_LIMIT) {
		tell(table, FSL_FILE_PARTIAL,
		     "line %" PRIu64 ": too many different names; further ones are not told apart",
		     table->row.line);
		return FSL_OK;
	}
	return status == FSL_OK
		       ? FSL_OK
		       : FSL_FAIL(err, status, "out of memory: path=\"%s\"", table->input->path);
}

enum fsl_status fsl_table_intern(const struct fsl_table *table, size_t column, uint32_t *id,
				 struct fsl_error *err)
{
	return fsl_table_intern_text(table, fsl_table_field(table, column), id, err);
}

/* Rows by the columns of the header. */
#include "source/optable/op_table_file.h"

#include <math.h>
#include <string.h>

#include "base/csv_scan.h"
#include "base/number.h"
#include "base/try.h"

enum column {
	COLUMN_DP,
	COLUMN_STAGE,
	COLUMN_RANK,
	COLUMN_STEP,
	COLUMN_TYPE,
	COLUMN_BEGIN,
	COLUMN_DUR,
	COLUMN_SEQ,
	COLUMN_CHUNK,
	COLUMN_GLOBAL_CHUNK,
	COLUMNS_N
};
static const char *const columns[COLUMNS_N] = {
	[COLUMN_DP] = "dp_rank",       [COLUMN_STAGE] = "stage", [COLUMN_RANK] = "rank",
	[COLUMN_STEP] = "step",        [COLUMN_TYPE] = "optype", [COLUMN_BEGIN] = "start_ts",
	[COLUMN_DUR] = "duration",     [COLUMN_SEQ] = "seq_id",  [COLUMN_CHUNK] = "mc",
	[COLUMN_GLOBAL_CHUNK] = "gmc",
};

enum { NUMBER_BYTES_MAX = 64 };

static bool find_columns(const struct fsl_csv_row *header, size_t at[COLUMNS_N])
{
	for (size_t i = 0; i < COLUMNS_N; i++) {
		at[i] = fsl_csv_column(header, columns[i]);
		if (at[i] == SIZE_MAX) {
			return false;
		}
	}
	return true;
}

static bool parse_number(const struct fsl_csv_field *field, double *value)
{
	char text[NUMBER_BYTES_MAX];
	if (field->length == 0 || field->length >= sizeof(text)) {
		return false;
	}
	memcpy(text, field->text, field->length);
	text[field->length] = '\0';
	return fsl_parse_real(text, value);
}

/* Integers may be written as 3.0. */
static bool parse_integer(const struct fsl_csv_field *field, int32_t *value)
{
	double number = 0.0;
	bool is_good = parse_number(field, &number) && number >= 0.0 && number <= INT32_MAX / 2 &&
		       number == floor(number);
	*value = is_good ? (int32_t)number : -1;
	return is_good;
}

static bool parse_type(const struct fsl_csv_field *field, enum fsl_op_type *type)
{
	for (size_t i = 0; i < FSL_OP_TYPES_N; i++) {
		if (strlen(fsl_op_type_texts[i]) == field->length &&
		    memcmp(fsl_op_type_texts[i], field->text, field->length) == 0) {
			*type = (enum fsl_op_type)i;
			return true;
		}
	}
	return false;
}

static bool parse_row(const struct fsl_csv_row *row, const size_t at[COLUMNS_N],
		      struct fsl_op_row *out)
{
	const struct fsl_csv_field *fields = row->fields;
	for (size_t i = 0; i < COLUMNS_N; i++) {
		if (at[i] >= row->n_fields) {
			return false;
		}
	}
	(void)parse_integer(&fields[at[COLUMN_CHUNK]], &out->chunk);
	(void)parse_integer(&fields[at[COLUMN_GLOBAL_CHUNK]], &out->global_chunk);
	return parse_integer(&fields[at[COLUMN_DP]], &out->dp) &&
	       parse_integer(&fields[at[COLUMN_STAGE]], &out->stage) &&
	       parse_integer(&fields[at[COLUMN_RANK]], &out->rank) &&
	       parse_integer(&fields[at[COLUMN_STEP]], &out->step) &&
	       parse_integer(&fields[at[COLUMN_SEQ]], &out->seq) &&
	       parse_type(&fields[at[COLUMN_TYPE]], &out->type) &&
	       parse_number(&fields[at[COLUMN_BEGIN]], &out->begin_s) &&
	       parse_number(&fields[at[COLUMN_DUR]], &out->dur_s) && out->dur_s >= 0.0 &&
	       isfinite(out->begin_s) && isfinite(out->dur_s);
}

bool fsl_op_table_is_file(const char *path)
{
	struct fsl_reader *reader = NULL;
	struct fsl_csv_row row = {.state = FSL_CSV_END};
	size_t at[COLUMNS_N];
	if (fsl_reader_open(&reader, path, NULL) != FSL_OK) {
		return false;
	}
	struct fsl_csv *csv = fsl_csv_create(reader);
	bool is_one = csv != NULL && fsl_csv_next(csv, &row, NULL) == FSL_OK &&
		      row.state == FSL_CSV_ROW && find_columns(&row, at);
	fsl_csv_destroy(csv);
	fsl_reader_close(reader);
	return is_one;
}

static enum fsl_status read_rows(struct fsl_op_table *out, struct fsl_csv *csv, const char *path,
				 struct fsl_error *err)
{
	size_t at[COLUMNS_N];
	struct fsl_csv_row row;
	FSL_TRY(fsl_csv_next(csv, &row, err));
	if (row.state != FSL_CSV_ROW || !find_columns(&row, at)) {
		return FSL_FAIL(err, FSL_ERR_INPUT, "no table of operations: path=\"%s\"", path);
	}
	for (;;) {
		struct fsl_op_row op;
		FSL_TRY(fsl_csv_next(csv, &row, err));
		if (row.state == FSL_CSV_END) {
			break;
		}
		if (row.state != FSL_CSV_ROW || !parse_row(&row, at, &op)) {
			out->dropped_line = out->n_dropped++ == 0 ? row.line : out->dropped_line;
			continue;
		}
		if (out->n_rows == FSL_OP_ROWS_MAX) {
			return FSL_FAIL(
				err, FSL_ERR_INPUT,
				"too many operations, give fewer steps: path=\"%s\", most=%d", path,
				(int)FSL_OP_ROWS_MAX);
		}
		FSL_TRY(FSL_APPEND(out, rows, &op, err));
	}
	return out->n_rows > 0
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_INPUT,
				  "the table holds no operation: path=\"%s\", rows_dropped=%zu",
				  path, out->n_dropped);
}

enum fsl_status fsl_op_table_read_from(struct fsl_op_table *out, struct fsl_reader *reader,
				       struct fsl_error *err)
{
	const char *path = fsl_reader_path(reader);
	struct fsl_csv *csv = fsl_csv_create(reader);
	enum fsl_status status =
		csv != NULL ? read_rows(out, csv, path, err)
			    : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	fsl_csv_destroy(csv);
	return status;
}

enum fsl_status fsl_op_table_read(struct fsl_op_table *out, const char *path, struct fsl_error *err)
{
	struct fsl_reader *reader = NULL;
	FSL_TRY(fsl_reader_open(&reader, path, err));
	enum fsl_status status = fsl_op_table_read_from(out, reader, err);
	fsl_reader_close(reader);
	return status;
}

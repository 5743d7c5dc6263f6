/*
 * Tables of the profiler: CSV with a header. Columns are found by name, because names change with
 * versions. Quoted fields may hold newlines. Blanks and tabs may surround values. N/A stands for a
 * missing value. Faults of a file are reported in input->file, the first with its line; sound rows
 * are used.
 */
#ifndef FSL_SOURCE_ASCEND_TABLE_H
#define FSL_SOURCE_ASCEND_TABLE_H

#include "base/csv_scan.h"
#include "source/ascend/files.h"

enum {
	FSL_TABLE_COLUMNS_MAX = 24,
	FSL_TABLE_NAMES_MAX = 4,
	FSL_TABLE_NAME_BYTES_MAX = 1024, /* longer names are cut */
};

/* One column that a reader knows. The first of its names that the file has is used. */
struct fsl_table_column {
	const char *names[FSL_TABLE_NAMES_MAX];
	bool is_needed;
};

struct fsl_table {
	const struct fsl_profile_input *input;
	struct fsl_profile_rank *rank; /* messages live in its arena, texts in its names */
	struct fsl_csv *csv;
	struct fsl_csv_row row;
	size_t at[FSL_TABLE_COLUMNS_MAX];         /* SIZE_MAX: the file has no such column */
	const char *names[FSL_TABLE_COLUMNS_MAX]; /* of the columns, as in the header */
	size_t n_fields;                          /* number of fields in the header */
};

/* Reads the header. *is_usable is false if the file is empty, is no CSV or lacks a needed column,
 * which is reported in input->file. FSL_ERR_MEMORY only. Close the table in any case. */
enum fsl_status fsl_table_open(struct fsl_table *table, struct fsl_profile_rank *rank,
			       const struct fsl_profile_input *input,
			       const struct fsl_table_column *columns, size_t n_columns,
			       bool *is_usable, struct fsl_error *err);
void fsl_table_close(struct fsl_table *table);

/* True if the column has this name in the header. */
bool fsl_table_has(const struct fsl_table *table, size_t column, const char *name);

/* Next row with as many fields as the header; other rows count as dropped. *has_row is false at the
 * end, also if the file cannot be read further or ends inside a row. */
enum fsl_status fsl_table_next(struct fsl_table *table, bool *has_row, struct fsl_error *err);
/* Counts the row as dropped; reports @reason ("the start time is no number") for the first one. */
void fsl_table_drop(struct fsl_table *table, const char *reason);
/* Marks the file as partial with @message (static), unless it has a message already. */
void fsl_table_tell(struct fsl_table *table, const char *message);

/* Opens, reads and closes a file of @n_columns columns whose rows do not depend on each other.
 * Calls @add for every row, until it fails. */
typedef enum fsl_status (*fsl_table_add)(struct fsl_table *table, void *context,
					 struct fsl_error *err);
enum fsl_status fsl_table_read(struct fsl_profile_rank *rank, const struct fsl_profile_input *input,
			       const struct fsl_table_column *columns, size_t n_columns,
			       fsl_table_add add, void *context, struct fsl_error *err);

/* Field without surrounding blanks, tabs and one pair of quotes; empty for N/A and absent columns.
 * Borrowed until the next row. */
struct fsl_csv_field fsl_table_field(const struct fsl_table *table, size_t column);
/* Number of the field times @scale, rounded (fsl_parse_scaled); false if missing or no number. */
bool fsl_table_scaled(const struct fsl_table *table, size_t column, int64_t scale, int64_t *out);
/* Number of the field times @scale, if it is there and not negative; else @fallback. */
int64_t fsl_table_amount(const struct fsl_table *table, size_t column, int64_t scale,
			 int64_t fallback);
/* Text of the field interned in rank->names; FSL_STR_NONE if missing, and (reported) if there are
 * too many texts. */
enum fsl_status fsl_table_intern(const struct fsl_table *table, size_t column, uint32_t *id,
				 struct fsl_error *err);
/* The same for a text made from fields. */
enum fsl_status fsl_table_intern_text(const struct fsl_table *table, struct fsl_csv_field text,
				      uint32_t *id, struct fsl_error *err);

#endif

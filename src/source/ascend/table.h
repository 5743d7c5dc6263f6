/*
 * Tables of the profiler: CSV with a header, columns found by name (names change with versions),
 * quoted fields that may hold newlines, blanks and tabs around values, N/A for what is missing.
 * What is wrong with a file is told in input->file, the first fault with its line; what is sound is
 * used.
 */
#ifndef FSL_SOURCE_ASCEND_TABLE_H
#define FSL_SOURCE_ASCEND_TABLE_H

#include "base/csv_scan.h"
#include "source/ascend/files.h"

enum {
	FSL_TABLE_COLUMNS_MAX = 24,
	FSL_TABLE_NAMES_MAX = 4,
	FSL_TABLE_NAME_BYTES_MAX = 1024, /* of a name that is kept: longer ones are cut */
};

/* One column that a reader knows, under any of its names: the first of them that the file has. */
struct fsl_table_column {
	const char *names[FSL_TABLE_NAMES_MAX];
	bool is_needed;
};

struct fsl_table {
	const struct fsl_profile_input *input;
	struct fsl_profile_rank *rank; /* messages live in its arena, texts in its names */
	struct fsl_csv *csv;
	struct fsl_csv_row row;
	size_t at[FSL_TABLE_COLUMNS_MAX]; /* SIZE_MAX: the file has no such column */
	size_t n_fields;                  /* of the header */
};

/*
 * Reads the header. *is_usable false when the file is empty, is no CSV or lacks a needed column:
 * told in input->file. Fails only when memory is short. Close the table in any case.
 */
enum fsl_status fsl_table_open(struct fsl_table *table, struct fsl_profile_rank *rank,
			       const struct fsl_profile_input *input,
			       const struct fsl_table_column *columns, size_t n_columns,
			       bool *is_usable, struct fsl_error *err);
void fsl_table_close(struct fsl_table *table);

/*
 * Next row that has as many fields as the header; others are counted as dropped. *has_row false at
 * the end, also when the file cannot be read on or ends inside a row.
 */
enum fsl_status fsl_table_next(struct fsl_table *table, bool *has_row, struct fsl_error *err);
/* Counts the row as dropped; @reason ("the start time is no number") is told for the first one. */
void fsl_table_drop(struct fsl_table *table, const char *reason);
/* Tells @message (static) unless an earlier fault of the file is told: what is read is not all. */
void fsl_table_tell(struct fsl_table *table, const char *message);

/*
 * All of the above for a file whose rows do not need each other: @add for every row, until it
 * fails.
 * @n_columns columns.
 */
typedef enum fsl_status (*fsl_table_add)(struct fsl_table *table, void *context,
					 struct fsl_error *err);
enum fsl_status fsl_table_read(struct fsl_profile_rank *rank, const struct fsl_profile_input *input,
			       const struct fsl_table_column *columns, size_t n_columns,
			       fsl_table_add add, void *context, struct fsl_error *err);

/* Field without blanks, tabs and one pair of quotes around it; empty for N/A and absent columns.
 * Borrowed until the next row. */
struct fsl_csv_field fsl_table_field(const struct fsl_table *table, size_t column);
/* Its number times @scale, rounded (fsl_parse_scaled); false when missing or no number. */
bool fsl_table_scaled(const struct fsl_table *table, size_t column, int64_t scale, int64_t *out);
/* Its number times @scale when it is there and not below 0, else @fallback. */
int64_t fsl_table_amount(const struct fsl_table *table, size_t column, int64_t scale,
			 int64_t fallback);
/* Its text interned in rank->names; FSL_STR_NONE when missing, and (told) when there are too many.
 */
enum fsl_status fsl_table_intern(const struct fsl_table *table, size_t column, uint32_t *id,
				 struct fsl_error *err);
/* The same for a text that is made of fields. */
enum fsl_status fsl_table_intern_text(const struct fsl_table *table, struct fsl_csv_field text,
				      uint32_t *id, struct fsl_error *err);

#endif

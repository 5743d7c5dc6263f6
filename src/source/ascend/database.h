/*
 * SQLite files that others wrote: opened so that they are never changed and nothing appears beside
 * them, and read with distrust. Columns are found by name; what is wrong is told in the file.
 */
#ifndef FSL_SOURCE_ASCEND_DATABASE_H
#define FSL_SOURCE_ASCEND_DATABASE_H

#include "capture/capture.h"

enum { FSL_DB_NAMES_MAX = 3, FSL_DB_TABLES_MAX = 2 };

struct fsl_db; /* opaque; used by one thread */

/*
 * Opens @file->path of @rank (both are used until the end). *out NULL when it is no database: told
 * in @file. Fails only when memory is short, as everything here.
 */
enum fsl_status fsl_db_open(struct fsl_db **out, struct fsl_profile_rank *rank,
			    struct fsl_file *file, struct fsl_error *err);
void fsl_db_close(struct fsl_db *db);

/* True for a table of rows on disk alone: what is worked out when it is read (views, virtual
 * tables, generated columns) could ask for anything. */
bool fsl_db_has_table(struct fsl_db *db, const char *table);

/* One column, under any of its names. */
struct fsl_db_column {
	const char *names[FSL_DB_NAMES_MAX];
	bool is_needed;
	unsigned char table; /* place in select->tables */
};

/* Rows of a table, or of two that are equal in column @joined_by. */
struct fsl_db_select {
	const char *tables[FSL_DB_TABLES_MAX];
	const char *joined_by; /* NULL: one table */
	const struct fsl_db_column *columns;
	size_t n_columns;
	const char *order; /* "ORDER BY 1, 2": numbers of columns from 1; "" none */
};

struct fsl_db_rows; /* opaque */

/*
 * *out NULL when a table is absent (no fault) or lacks a needed column (told in the file). Close
 * the rows before the database.
 */
enum fsl_status fsl_db_select(struct fsl_db_rows **out, struct fsl_db *db,
			      const struct fsl_db_select *select, struct fsl_error *err);
/* *has_row false at the end, also where the file cannot be read on (told). */
enum fsl_status fsl_db_next(struct fsl_db_rows *rows, bool *has_row, struct fsl_error *err);
void fsl_db_rows_close(struct fsl_db_rows *rows);
/* Counts the row as dropped; @reason (static) is told for the first one. */
void fsl_db_drop(struct fsl_db_rows *rows, const char *reason);

/* Values of the row by place of the column; false or NULL when missing or of no use. */
bool fsl_db_i64(const struct fsl_db_rows *rows, size_t column, int64_t *out);
/* Number times @scale, rounded: a REAL counts as the shortest decimal text that means it. */
bool fsl_db_scaled(const struct fsl_db_rows *rows, size_t column, int64_t scale, int64_t *out);
double fsl_db_real(const struct fsl_db_rows *rows, size_t column); /* NaN when missing */
/* Borrowed until the next row; up to the first NUL, not empty. */
const char *fsl_db_text(const struct fsl_db_rows *rows, size_t column, size_t *length);
/* Text interned in rank->names; FSL_STR_NONE when missing. */
enum fsl_status fsl_db_intern(const struct fsl_db_rows *rows, size_t column, uint32_t *id,
			      struct fsl_error *err);

/* Worsens the file's state; its first message stays. */
enum fsl_status fsl_db_tell(struct fsl_db *db, enum fsl_file_state state, struct fsl_error *err,
			    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Binds @value to the only parameter of a select made by fsl_db_lookup. */
enum fsl_status fsl_db_lookup(struct fsl_db_rows **out, struct fsl_db *db, const char *table,
			      const char *key, const char *column, struct fsl_error *err);
enum fsl_status fsl_db_find(struct fsl_db_rows *rows, int64_t value, bool *has_row,
			    struct fsl_error *err);

#endif

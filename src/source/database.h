/* Foreign SQLite files: opened so that they never change and no file appears beside them, and read
 * with distrust. Columns are found by name. Faults are reported in the file's message. */
#ifndef FSL_SOURCE_DATABASE_H
#define FSL_SOURCE_DATABASE_H

#include "capture/capture.h"

enum { FSL_DB_NAMES_MAX = 3, FSL_DB_TABLES_MAX = 2 };

struct fsl_db; /* opaque; used by one thread */

/* Opens @file->path of @rank; both are used until the database is closed. *out is NULL if the file
 * is no database, which is reported in @file. FSL_ERR_MEMORY only, as all functions here. */
enum fsl_status fsl_db_open(struct fsl_db **out, struct fsl_profile_rank *rank,
			    struct fsl_file *file, struct fsl_error *err);
void fsl_db_close(struct fsl_db *db);

/* One column, under any of its names. */
struct fsl_db_column {
	const char *names[FSL_DB_NAMES_MAX];
	bool is_needed;
	unsigned char table; /* index in select->tables */
};

/* Rows of a table, or of two tables joined by equal values of column @joined_by. */
struct fsl_db_select {
	const char *tables[FSL_DB_TABLES_MAX];
	const char *joined_by; /* NULL: one table */
	const struct fsl_db_column *columns;
	size_t n_columns;
	const char *order; /* "ORDER BY 1, 2": column numbers from 1; "" for none */
};

struct fsl_db_rows; /* opaque */

/* Starts reading rows. *out is NULL if a table is absent (no fault) or lacks a needed column
 * (reported in the file). Close the rows before the database. */
enum fsl_status fsl_db_select(struct fsl_db_rows **out, struct fsl_db *db,
			      const struct fsl_db_select *select, struct fsl_error *err);
/* Reads the next row. *has_row is false at the end, and if the file is unreadable (reported). */
enum fsl_status fsl_db_next(struct fsl_db_rows *rows, bool *has_row, struct fsl_error *err);
void fsl_db_rows_close(struct fsl_db_rows *rows);

/* Takes a row. */
typedef enum fsl_status (*fsl_db_add)(struct fsl_db_rows *rows, void *context,
				      struct fsl_error *err);
/* All in one: calls @add for every row, until it fails. */
enum fsl_status fsl_db_read(struct fsl_db *db, const struct fsl_db_select *select, fsl_db_add add,
			    void *context, struct fsl_error *err);
/* Call it from @add: this row is the last one that is read. */
void fsl_db_stop(struct fsl_db_rows *rows);
/* Counts the row as dropped; @reason (static) is reported for the first one. */
void fsl_db_drop(struct fsl_db_rows *rows, const char *reason);

/* Value of the row by column index; false or NULL if it is missing or unusable. */
bool fsl_db_i64(const struct fsl_db_rows *rows, size_t column, int64_t *out);
/*
 * Number times @scale, rounded. A REAL counts as the shortest decimal text that reads back as it.
 */
bool fsl_db_scaled(const struct fsl_db_rows *rows, size_t column, int64_t scale, int64_t *out);
double fsl_db_real(const struct fsl_db_rows *rows, size_t column); /* NaN if missing */
/* Text up to the first NUL, never empty; borrowed until the next row. */
const char *fsl_db_text(const struct fsl_db_rows *rows, size_t column, size_t *length);
/* Text interned in rank->names; FSL_STR_NONE if missing. */
enum fsl_status fsl_db_intern(const struct fsl_db_rows *rows, size_t column, uint32_t *id,
			      struct fsl_error *err);

/* Worsens the file's state and reports a message, unless it has one already. */
enum fsl_status fsl_db_tell(struct fsl_db *db, enum fsl_file_state state, struct fsl_error *err,
			    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* fsl_db_lookup prepares a select of @column by @key; fsl_db_find runs it for one @value. */
enum fsl_status fsl_db_lookup(struct fsl_db_rows **out, struct fsl_db *db, const char *table,
			      const char *key, const char *column, struct fsl_error *err);
enum fsl_status fsl_db_find(struct fsl_db_rows *rows, int64_t value, bool *has_row,
			    struct fsl_error *err);

#endif

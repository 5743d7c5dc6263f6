/* Rows of foreign databases: columns by name, values with distrust. */
#include "source/ascend/database_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"

struct fsl_db_rows {
	struct fsl_db *db;
	sqlite3_stmt *statement;
	const char *table; /* for messages */
};

/* Excludes generated columns, whose reading could start any amount of work. */
static const char *const find_table =
	"SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
	" AND name = ?1 COLLATE NOCASE"
	" AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden = 2)";

bool fsl_db_has_table(struct fsl_db *db, const char *table)
{
	sqlite3_stmt *statement = NULL;
	bool has = false;
	if (sqlite3_prepare_v2(db->handle, find_table, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK) {
		has = sqlite3_step(statement) == SQLITE_ROW;
	}
	(void)sqlite3_finalize(statement);
	return has;
}

/* Name of @column in the table, "" if it has none; NULL if out of memory. */
static const char *find_column(struct fsl_db *db, sqlite3_stmt *all,
			       const struct fsl_db_column *column)
{
	int n = sqlite3_column_count(all);
	for (size_t k = 0; k < FSL_DB_NAMES_MAX && column->names[k] != NULL; k++) {
		for (int i = 0; i < n; i++) {
			const char *name = sqlite3_column_name(all, i);
			if (name == NULL) {
				return NULL;
			}
			if (sqlite3_stricmp(name, column->names[k]) == 0) {
				return fsl_arena_strdup(&db->rank->arena, name);
			}
		}
	}
	return "";
}

/* Adds the columns that @table has to @sql, and NULL for those that it lacks. */
static enum fsl_status list_columns(struct fsl_db *db, const struct fsl_db_select *select,
				    sqlite3_stmt *const *all, sqlite3_str *sql, bool *is_usable,
				    struct fsl_error *err)
{
	for (size_t c = 0; c < select->n_columns; c++) {
		const struct fsl_db_column *column = &select->columns[c];
		const char *name = find_column(db, all[column->table], column);
		if (name == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
					db->file->path);
		}
		const char *comma = c > 0 ? ", " : "";
		if (name[0] != '\0') {
			sqlite3_str_appendf(sql, "%st%d.\"%w\"", comma, column->table, name);
		} else if (!column->is_needed) {
			sqlite3_str_appendf(sql, "%sNULL", comma);
		} else {
			*is_usable = false;
			return fsl_db_tell(
				db, FSL_FILE_PARTIAL, err,
				"a table lacks a needed column and is left out; parse the capture "
				"again: table=\"%s\", column=\"%s\"",
				select->tables[column->table], column->names[0]);
		}
	}
	return FSL_OK;
}

/* Prepares reading all of @table, which gives its columns. */
static sqlite3_stmt *prepare_all(struct fsl_db *db, const char *table)
{
	sqlite3_stmt *statement = NULL;
	char sql[128];
	(void)snprintf(sql, sizeof(sql), "SELECT * FROM main.\"%s\"", table);
	(void)sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
	return statement;
}

static enum fsl_status write_sql(struct fsl_db *db, const struct fsl_db_select *select,
				 sqlite3_str *sql, bool *is_usable, struct fsl_error *err)
{
	sqlite3_stmt *all[FSL_DB_TABLES_MAX] = {NULL};
	size_t n_tables = select->joined_by != NULL ? 2 : 1;
	enum fsl_status status = FSL_OK;
	*is_usable = true;
	for (size_t t = 0; t < n_tables && *is_usable && status == FSL_OK; t++) {
		all[t] = prepare_all(db, select->tables[t]);
		if (all[t] == NULL) {
			*is_usable = false;
			status = fsl_db_fail(db, FSL_FILE_PARTIAL, "a table cannot be read",
					     select->tables[t], err);
		}
	}
	if (*is_usable && status == FSL_OK) {
		sqlite3_str_appendf(sql, "SELECT ");
		status = list_columns(db, select, all, sql, is_usable, err);
		sqlite3_str_appendf(sql, " FROM main.\"%w\" t0", select->tables[0]);
		if (select->joined_by != NULL) {
			/* CROSS JOIN keeps this order of tables: only the second has an index. */
			sqlite3_str_appendf(
				sql, " CROSS JOIN main.\"%w\" t1 ON t1.\"%w\" = t0.\"%w\"",
				select->tables[1], select->joined_by, select->joined_by);
		}
		sqlite3_str_appendf(sql, " %s", select->order);
	}
	for (size_t t = 0; t < n_tables; t++) {
		(void)sqlite3_finalize(all[t]);
	}
	return status;
}

static enum fsl_status prepare(struct fsl_db_rows **out, struct fsl_db *db, const char *sql,
			       const char *table, struct fsl_error *err)
{
	struct fsl_db_rows *rows = fsl_arena_alloc(&db->rank->arena, sizeof(*rows));
	if (rows == NULL || sql == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", db->file->path);
	}
	*rows = (struct fsl_db_rows){.db = db, .table = table};
	if (sqlite3_prepare_v2(db->handle, sql, -1, &rows->statement, NULL) != SQLITE_OK) {
		return fsl_db_fail(db, FSL_FILE_PARTIAL, "a table cannot be read", table, err);
	}
	*out = rows;
	return FSL_OK;
}

enum fsl_status fsl_db_select(struct fsl_db_rows **out, struct fsl_db *db,
			      const struct fsl_db_select *select, struct fsl_error *err)
{
	*out = NULL;
	if (!fsl_db_has_table(db, select->tables[0]) ||
	    (select->joined_by != NULL && !fsl_db_has_table(db, select->tables[1]))) {
		return FSL_OK;
	}
	sqlite3_str *sql = sqlite3_str_new(db->handle);
	bool is_usable = false;
	enum fsl_status status = write_sql(db, select, sql, &is_usable, err);
	char *text = sqlite3_str_finish(sql);
	if (status == FSL_OK && is_usable) {
		status = prepare(out, db, text, select->tables[0], err);
	}
	sqlite3_free(text);
	return status;
}

enum fsl_status fsl_db_lookup(struct fsl_db_rows **out, struct fsl_db *db, const char *table,
			      const char *key, const char *column, struct fsl_error *err)
{
	*out = NULL;
	if (!fsl_db_has_table(db, table)) {
		return FSL_OK;
	}
	char *sql = sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" WHERE \"%w\" = ?1", column,
				    table, key);
	enum fsl_status status = prepare(out, db, sql, table, err);
	sqlite3_free(sql);
	return status;
}

enum fsl_status fsl_db_find(struct fsl_db_rows *rows, int64_t value, bool *has_row,
			    struct fsl_error *err)
{
	(void)sqlite3_reset(rows->statement);
	(void)sqlite3_bind_int64(rows->statement, 1, value);
	*has_row = false;
	int code = sqlite3_step(rows->statement);
	if (code == SQLITE_ROW || code == SQLITE_DONE) {
		*has_row = code == SQLITE_ROW;
		return FSL_OK;
	}
	return fsl_db_fail(rows->db, FSL_FILE_PARTIAL, "a table cannot be read on", rows->table,
			   err);
}

enum fsl_status fsl_db_next(struct fsl_db_rows *rows, bool *has_row, struct fsl_error *err)
{
	int code = sqlite3_step(rows->statement);
	*has_row = code == SQLITE_ROW;
	if (*has_row) {
		rows->db->file->n_records++;
		return FSL_OK;
	}
	return code == SQLITE_DONE
		       ? FSL_OK
		       : fsl_db_fail(rows->db, FSL_FILE_PARTIAL,
				     "a table cannot be read on, what is before is used; copy or "
				     "parse it again",
				     rows->table, err);
}

void fsl_db_rows_close(struct fsl_db_rows *rows)
{
	if (rows != NULL) {
		(void)sqlite3_finalize(rows->statement);
		rows->statement = NULL;
	}
}

void fsl_db_drop(struct fsl_db_rows *rows, const char *reason)
{
	struct fsl_file *file = rows->db->file;
	file->n_dropped[FSL_DROP_MALFORMED]++;
	file->state = file->state == FSL_FILE_READ ? FSL_FILE_PARTIAL : file->state;
	file->message = file->message[0] == '\0' ? reason : file->message;
}

/* Scales the shortest decimal text of @value, which the writer of the text files prints. */
static bool scale_real(double value, int64_t scale, int64_t *out)
{
	char text[40];
	int length = 0;
	for (int digits = 15; digits <= 17; digits++) {
		length = snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value) {
			break;
		}
	}
	return isfinite(value) && fsl_parse_scaled(text, (size_t)length, scale, out);
}

bool fsl_db_scaled(const struct fsl_db_rows *rows, size_t column, int64_t scale, int64_t *out)
{
	sqlite3_stmt *row = rows->statement;
	int c = (int)column;
	int64_t value = 0;
	switch (sqlite3_column_type(row, c)) {
	case SQLITE_INTEGER:
		if (__builtin_mul_overflow((int64_t)sqlite3_column_int64(row, c), scale, &value)) {
			return false;
		}
		*out = value;
		return true;
	case SQLITE_FLOAT:
		return scale_real(sqlite3_column_double(row, c), scale, out);
	case SQLITE_TEXT: {
		size_t length = 0;
		const char *text = fsl_db_text(rows, column, &length);
		return text != NULL && fsl_parse_scaled(text, length, scale, out);
	}
	default:
		return false;
	}
}

bool fsl_db_i64(const struct fsl_db_rows *rows, size_t column, int64_t *out)
{
	return fsl_db_scaled(rows, column, 1, out);
}

double fsl_db_real(const struct fsl_db_rows *rows, size_t column)
{
	int type = sqlite3_column_type(rows->statement, (int)column);
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT
		       ? sqlite3_column_double(rows->statement, (int)column)
		       : NAN;
}

const char *fsl_db_text(const struct fsl_db_rows *rows, size_t column, size_t *length)
{
	int c = (int)column;
	if (sqlite3_column_type(rows->statement, c) != SQLITE_TEXT) {
		return NULL;
	}
	const char *text = (const char *)sqlite3_column_text(rows->statement, c);
	size_t n_bytes = (size_t)sqlite3_column_bytes(rows->statement, c);
	*length = text != NULL ? strnlen(text, n_bytes) : 0;
	return *length > 0 ? text : NULL;
}

enum fsl_status fsl_db_intern(const struct fsl_db_rows *rows, size_t column, uint32_t *id,
			      struct fsl_error *err)
{
	size_t length = 0;
	const char *text = fsl_db_text(rows, column, &length);
	*id = FSL_STR_NONE;
	return text != NULL ? fsl_strpool_intern(rows->db->rank->names, text, length, id, err)
			    : FSL_OK;
}

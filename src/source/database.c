/* Foreign databases: opened read-only and immutable, read within limits, columns by name. */
#include "source/database.h"

#include <ctype.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/try.h"

enum {
	STEPS_PER_CALL = 1000, /* steps of SQLite's machine between two checks of the budget */
	STEPS_MIN = 10 * 1000 * 1000,
	STEPS_PER_BYTE = 50,       /* budget; reading all rows of a real capture takes about 2 */
	SQL_BYTES_MAX = 64 * 1024, /* bounds the statements of the schema, too */
	COLUMNS_MAX = 256,
	DEPTH_MAX = 64,
	MACHINE_MAX = 20 * 1000, /* steps of one compiled statement */
};

static const struct {
	int id, value;
} limits[] = {
	{SQLITE_LIMIT_LENGTH, FSL_LINE_BYTES_MAX},
	{SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX},
	{SQLITE_LIMIT_COLUMN, COLUMNS_MAX},
	{SQLITE_LIMIT_EXPR_DEPTH, DEPTH_MAX},
	{SQLITE_LIMIT_COMPOUND_SELECT, DEPTH_MAX},
	{SQLITE_LIMIT_VDBE_OP, MACHINE_MAX},
	{SQLITE_LIMIT_ATTACHED, 0},
	{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, DEPTH_MAX},
	{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
	{SQLITE_LIMIT_WORKER_THREADS, 0},
};

struct fsl_db {
	sqlite3 *handle;
	struct fsl_profile_rank *rank;
	struct fsl_file *file;
	uint64_t budget; /* remaining steps of SQLite's virtual machine, thousands */
};

enum fsl_status fsl_db_tell(struct fsl_db *db, enum fsl_file_state state, struct fsl_error *err,
			    const char *format, ...)
{
	if (db->file->state == FSL_FILE_READ) {
		db->file->state = state;
	}
	if (db->file->message[0] != '\0') {
		return FSL_OK;
	}
	char text[512];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	const char *kept = fsl_arena_strdup(&db->rank->arena, text);
	if (kept == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", db->file->path);
	}
	db->file->message = kept;
	return FSL_OK;
}

/* Reports the failure of the last call; FSL_ERR_MEMORY if that was the reason. */
static enum fsl_status fail(struct fsl_db *db, enum fsl_file_state state, const char *what,
			    const char *table, struct fsl_error *err)
{
	int code = sqlite3_errcode(db->handle) & 0xff;
	if (code == SQLITE_NOMEM && fsl_mem_is_short(2 * (size_t)FSL_LINE_BYTES_MAX)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", db->file->path);
	}
	if (code == SQLITE_INTERRUPT) {
		return fsl_db_tell(db, state, err,
				   "reading takes more work than its size allows, what is before "
				   "is used; parse the capture again: table=\"%s\"",
				   table);
	}
	return fsl_db_tell(db, state, err, "%s: table=\"%s\", reason=\"%s\"", what, table,
			   code == SQLITE_NOMEM ? "a row of impossible size"
						: sqlite3_errmsg(db->handle));
}

/* Spends the budget; a result other than 0 stops the running statement. */
static int spend(void *context)
{
	struct fsl_db *db = context;
	if (db->budget == 0) {
		return 1;
	}
	db->budget--;
	return 0;
}

/* "file:" and @path with all but plain characters percent-encoded; NULL if out of memory. */
static char *make_uri(struct fsl_arena *arena, const char *path)
{
	static const char digits[] = "0123456789ABCDEF";
	static const char tail[] = "?mode=ro&immutable=1";
	/* "file://" has an empty authority, so that an absolute path may begin with two slashes. */
	const char *head = path[0] == '/' ? "file://" : "file:";
	char *uri = fsl_arena_alloc(arena, strlen(head) + 3 * strlen(path) + sizeof(tail));
	if (uri == NULL) {
		return NULL;
	}
	char *to = stpcpy(uri, head);
	for (const unsigned char *at = (const unsigned char *)path; *at != '\0'; at++) {
		if (isalnum(*at) || strchr("/._-~", *at) != NULL) {
			*to++ = (char)*at;
		} else {
			*to++ = '%';
			*to++ = digits[*at >> 4];
			*to++ = digits[*at & 15];
		}
	}
	memcpy(to, tail, sizeof(tail));
	return uri;
}

/* Limits what a schema can make SQLite do: no view, trigger or own function runs. */
static int harden(struct fsl_db *db)
{
	static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_VIEW,
				  SQLITE_DBCONFIG_ENABLE_TRIGGER,
				  SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
				  SQLITE_DBCONFIG_WRITABLE_SCHEMA};
	int code = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]) && code == SQLITE_OK; i++) {
		code = sqlite3_db_config(db->handle, off[i], 0, NULL);
	}
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		(void)sqlite3_limit(db->handle, limits[i].id, limits[i].value);
	}
	sqlite3_progress_handler(db->handle, STEPS_PER_CALL, spend, db);
	if (code == SQLITE_OK) {
		/* No mapping, because a file may shrink while it is read. */
		code = sqlite3_exec(db->handle,
				    "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;", NULL,
				    NULL, NULL);
	}
	return code;
}

/* False (reported) unless it is a regular, non-empty file; a FIFO would block. */
static enum fsl_status check_file(struct fsl_db *db, bool *is_usable, struct fsl_error *err)
{
	struct stat info;
	*is_usable = false;
	if (stat(db->file->path, &info) != 0 || !S_ISREG(info.st_mode)) {
		return fsl_db_tell(db, FSL_FILE_UNUSABLE, err, "no regular file");
	}
	db->file->n_bytes = (uint64_t)info.st_size;
	if (info.st_size == 0) {
		return fsl_db_tell(db, FSL_FILE_EMPTY, err,
				   "the file is empty; parse the capture again");
	}
	*is_usable = true;
	db->budget = (STEPS_MIN + db->file->n_bytes * STEPS_PER_BYTE) / STEPS_PER_CALL;
	char log[4096];
	int length = snprintf(log, sizeof(log), "%s-wal", db->file->path);
	if (length > 0 && (size_t)length < sizeof(log) && stat(log, &info) == 0 &&
	    info.st_size > 0) {
		return fsl_db_tell(db, FSL_FILE_PARTIAL, err,
				   "a write-ahead log lies beside it and is not read; close the "
				   "program that has it open");
	}
	return FSL_OK;
}

enum fsl_status fsl_db_open(struct fsl_db **out, struct fsl_profile_rank *rank,
			    struct fsl_file *file, struct fsl_error *err)
{
	*out = NULL;
	struct fsl_db *db = fsl_arena_alloc(&rank->arena, sizeof(*db));
	char *uri = make_uri(&rank->arena, file->path);
	if (db == NULL || uri == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", file->path);
	}
	*db = (struct fsl_db){.rank = rank, .file = file};
	bool is_usable = false;
	enum fsl_status status = check_file(db, &is_usable, err);
	if (status != FSL_OK || !is_usable) {
		return status;
	}
	int code = sqlite3_open_v2(uri, &db->handle,
				   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
					   SQLITE_OPEN_PRIVATECACHE,
				   NULL);
	if (code == SQLITE_OK) {
		code = harden(db);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_schema", NULL, NULL,
				    NULL);
	}
	if (code == SQLITE_OK) {
		*out = db;
		return FSL_OK;
	}
	status = db->handle == NULL
			 ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", file->path)
			 : fail(db, FSL_FILE_UNUSABLE,
				"no database that can be read, copy or parse it again",
				"sqlite_schema", err);
	fsl_db_close(db);
	return status;
}

void fsl_db_close(struct fsl_db *db)
{
	if (db != NULL) {
		int code = sqlite3_close(db->handle);
		FSL_REQUIRE(code == SQLITE_OK); /* else rows were left open */
		db->handle = NULL;
	}
}

struct fsl_db_rows {
	struct fsl_db *db;
	sqlite3_stmt *statement;
	const char *table; /* for messages */
	bool is_over;      /* no further row is wanted */
};

/* Excludes generated columns, whose reading could start any amount of work. */
static const char *const find_table =
	"SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
	" AND name = ?1 COLLATE NOCASE"
	" AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden = 2)";

/* True for an ordinary table of stored rows. Views, virtual tables and generated columns are
 * refused, because reading them could start any computation. */
static bool has_table(struct fsl_db *db, const char *table)
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
			status = fail(db, FSL_FILE_PARTIAL, "a table cannot be read",
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
		return fail(db, FSL_FILE_PARTIAL, "a table cannot be read", table, err);
	}
	*out = rows;
	return FSL_OK;
}

enum fsl_status fsl_db_select(struct fsl_db_rows **out, struct fsl_db *db,
			      const struct fsl_db_select *select, struct fsl_error *err)
{
	*out = NULL;
	if (!has_table(db, select->tables[0]) ||
	    (select->joined_by != NULL && !has_table(db, select->tables[1]))) {
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
	if (!has_table(db, table)) {
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
	return fail(rows->db, FSL_FILE_PARTIAL, "a table cannot be read on", rows->table, err);
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
		       : fail(rows->db, FSL_FILE_PARTIAL,
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

enum fsl_status fsl_db_read(struct fsl_db *db, const struct fsl_db_select *select, fsl_db_add add,
			    void *context, struct fsl_error *err)
{
	struct fsl_db_rows *rows = NULL;
	enum fsl_status status = fsl_db_select(&rows, db, select, err);
	bool has_row = rows != NULL;
	while (status == FSL_OK && has_row && !rows->is_over) {
		status = fsl_db_next(rows, &has_row, err);
		if (status == FSL_OK && has_row) {
			status = add(rows, context, err);
		}
	}
	fsl_db_rows_close(rows);
	return status;
}

void fsl_db_stop(struct fsl_db_rows *rows)
{
	rows->is_over = true;
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

/* Opens foreign databases: read-only, immutable, within limits. */
#include "source/ascend/database_parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

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

enum fsl_status fsl_db_fail(struct fsl_db *db, enum fsl_file_state state, const char *what,
			    const char *table, struct fsl_error *err)
{
	int code = sqlite3_errcode(db->handle) & 0xff;
	if (code == SQLITE_NOMEM) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", db->file->path);
	}
	if (code == SQLITE_INTERRUPT) {
		return fsl_db_tell(db, state, err,
				   "reading takes more work than its size allows, what is before "
				   "is used; parse the capture again: table=\"%s\"",
				   table);
	}
	return fsl_db_tell(db, state, err, "%s: table=\"%s\", reason=\"%s\"", what, table,
			   sqlite3_errmsg(db->handle));
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
			 : fsl_db_fail(db, FSL_FILE_UNUSABLE,
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

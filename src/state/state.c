/* What is known of earlier runs, in one SQLite file: how it is opened, checked and made. */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os_error.h"
#include "base/try.h"
#include "state/damage.h"
#include "state/journal.h"
#include "state/state_parts.h"
#include "state/state_place.h"

enum {
	SCHEMA_VERSION = 5,          /* 2: with a table of what is kept; 3: alarms alone; 4: without
					jobs.ranks_ns */
	INCIDENTS_VERSION = 4,       /* the first with incidents */
	APPLICATION_ID = 0x66736c31, /* "fsl1": tells our file from another program's */
	BUSY_TIMEOUT_MS = 5000,      /* an overlapping run holds the lock for milliseconds */
	DAMAGED_FILES_MAX = 1000,    /* then somebody should look */
};

/* Older versions lack tables and a column: making what is missing brings them here. */
static const char *const schema =
	"CREATE TABLE IF NOT EXISTS alarms ("
	" time_ns INTEGER NOT NULL,"        /* alarm was sent */
	" kind TEXT NOT NULL,"              /* "slow_rank" */
	" key TEXT NOT NULL,"               /* sorted culprits */
	" first_since_ns INTEGER NOT NULL," /* first of the incident */
	" last_seen_ns INTEGER NOT NULL,"   /* sent or suppressed */
	" text TEXT NOT NULL);"             /* the verdict's reason */
	"CREATE INDEX IF NOT EXISTS alarms_by_key ON alarms (kind, key, last_seen_ns);"
	"CREATE TABLE IF NOT EXISTS jobs ("
	" job TEXT PRIMARY KEY," /* real path of its folder */
	" name TEXT NOT NULL,"
	" first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL," /* runs */
	" runs INTEGER NOT NULL,"
	" observed_ns INTEGER NOT NULL," /* between its runs, gaps left out */
	" ranks INTEGER NOT NULL,"       /* most that were seen since the job was started */
	" ranks_ns INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;" /* newest data with so many */
	"CREATE TABLE IF NOT EXISTS hosts ("
	" job TEXT NOT NULL, host TEXT NOT NULL,"
	" observed_ns INTEGER NOT NULL,"
	" PRIMARY KEY (job, host)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS incidents ("
	" id TEXT PRIMARY KEY,"
	" job TEXT NOT NULL, name TEXT NOT NULL," /* name of the job */
	" status INTEGER NOT NULL,"               /* enum fsl_incident_status */
	" class INTEGER NOT NULL,"                /* enum fsl_incident_class */
	" kind TEXT NOT NULL, cause TEXT NOT NULL,"
	" places TEXT NOT NULL," /* "10.1.0.7#3,10.1.0.8": sorted, see fsl_incident_look */
	" hosts TEXT NOT NULL, ranks TEXT NOT NULL,"
	" headline TEXT NOT NULL,"
	" first_ns INTEGER NOT NULL, opened_ns INTEGER NOT NULL," /* 0: not opened */
	" seen_ns INTEGER NOT NULL, cleared_ns INTEGER NOT NULL," /* 0: not cleared */
	" held_ns INTEGER NOT NULL,"                              /* not cleared before */
	" runs INTEGER NOT NULL, clean_runs INTEGER NOT NULL,"
	" ranks_seen INTEGER NOT NULL," /* coverage when it was opened */
	" told_share REAL NOT NULL,"    /* loss at the last edge */
	" lost_share REAL NOT NULL, lost_ms REAL NOT NULL,"
	" confidence REAL NOT NULL) WITHOUT ROWID;"
	"CREATE INDEX IF NOT EXISTS incidents_by_job ON incidents (job, status);"
	"CREATE TABLE IF NOT EXISTS outbox ("
	" number INTEGER PRIMARY KEY,"
	" channel TEXT NOT NULL, incident TEXT NOT NULL, edge TEXT NOT NULL,"
	" made_ns INTEGER NOT NULL, next_ns INTEGER NOT NULL," /* not tried before */
	" tries INTEGER NOT NULL,"
	" text TEXT NOT NULL," /* the edge as JSON */
	" UNIQUE (channel, incident, edge));"
	"DROP TABLE IF EXISTS kept;" /* of version 2 */
	"PRAGMA application_id = 1718840369;"
	"PRAGMA user_version = 5;";
_Static_assert(APPLICATION_ID == 1718840369 && SCHEMA_VERSION == 5,
	       "the schema's text carries both numbers");

/* No write waits for the disk. A process that dies damages nothing. Damage by a power cut is
 * noticed when the file is opened, and costs an alarm that is told twice. */
static const char *const no_syncs = "PRAGMA synchronous = OFF";

/* Fills @err from the error of @db and returns its status. @what: "open", "read" or "write". */
static enum fsl_status fail_at(sqlite3 *db, const char *path, const char *what,
			       struct fsl_error *err)
{
	int code = db != NULL ? sqlite3_errcode(db) : SQLITE_NOMEM;
	enum fsl_status status = code == SQLITE_NOMEM ? FSL_ERR_MEMORY : FSL_ERR_IO;
	return FSL_FAIL(err, status,
			"cannot %s state file, make it writable or name another: "
			"path=\"%s\", reason=\"%s\"",
			what, path, db != NULL ? sqlite3_errmsg(db) : "out of memory");
}

enum fsl_status fsl_state_fail(const struct fsl_state *state, const char *what,
			       struct fsl_error *err)
{
	return fail_at(state->db, state->path, what, err);
}

/* First value of the first row; SQLite's code, SQLITE_ROW when there is one. */
static int query_i64(sqlite3 *db, const char *sql, int64_t *value)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
	if (code == SQLITE_OK) {
		code = sqlite3_step(statement);
		*value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	}
	sqlite3_finalize(statement);
	return code;
}

/* SQLITE_OK when every page is part of a sound database, indices included. */
static int check_pages(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
	if (code == SQLITE_OK) {
		code = sqlite3_step(statement);
	}
	if (code == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 0);
		code = text != NULL && strcmp(text, "ok") == 0 ? SQLITE_OK : SQLITE_CORRUPT;
	}
	sqlite3_finalize(statement);
	return code;
}

/* The program that a file belongs to. */
struct owner {
	int64_t id, version; /* 0 in an empty file */
	int64_t n_tables;
};

static bool is_current(const struct owner *owner)
{
	return owner->n_tables > 0 && owner->version == SCHEMA_VERSION;
}

/* Inside a transaction: another run may be making the tables. */
static int read_owner(sqlite3 *db, struct owner *owner)
{
	int code = query_i64(db, "PRAGMA application_id", &owner->id);
	if (code == SQLITE_ROW) {
		code = query_i64(db, "PRAGMA user_version", &owner->version);
	}
	if (code == SQLITE_ROW) {
		code = query_i64(db, "SELECT count(*) FROM sqlite_master", &owner->n_tables);
	}
	return code == SQLITE_ROW ? SQLITE_OK : code;
}

/* One transaction, as locks may be kept by another host: is it sound, and whose is it? */
static int look_over(sqlite3 *db, struct owner *owner)
{
	int code = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	if (code == SQLITE_OK) {
		code = check_pages(db);
	}
	if (code == SQLITE_OK) {
		code = read_owner(db, owner);
	}
	(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return code;
}

/* Opens for reading, and for writing if this user may; *is_damaged (FSL_OK, *db NULL) when the
 * content is no database. */
static enum fsl_status open_file(sqlite3 **db, const char *path, bool *is_damaged,
				 struct owner *owner, struct fsl_error *err)
{
	*is_damaged = false;
	int code = sqlite3_open_v2(path, db,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
					   SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
				   NULL);
	if (code == SQLITE_OK) {
		code = sqlite3_busy_timeout(*db, BUSY_TIMEOUT_MS);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_exec(*db, no_syncs, NULL, NULL, NULL);
	}
	if (code == SQLITE_OK) {
		code = look_over(*db, owner);
	}
	enum fsl_status status = FSL_OK;
	if (fsl_is_damage(code)) {
		*is_damaged = true;
	} else if (code != SQLITE_OK) {
		status = fail_at(*db, path, "open", err);
	}
	if (status != FSL_OK || *is_damaged) {
		sqlite3_close(*db);
		*db = NULL;
	}
	return status;
}

static enum fsl_status fail_set_aside(const char *path, struct fsl_error *err)
{
	return FSL_FAIL(
		err, FSL_ERR_IO,
		"cannot set damaged state file aside, move it away: path=\"%s\", reason=\"%s\"",
		path, fsl_os_error(errno).text);
}

/* Gives the damaged file the first free name; the caller holds its lock. */
static enum fsl_status rename_damaged(const char *path, struct fsl_error *err)
{
	char target[PATH_MAX];
	int n = 0;
	do {
		n++;
		int length = snprintf(target, sizeof(target), "%s.damaged-%d", path, n);
		if (length < 0 || (size_t)length >= sizeof(target)) {
			return FSL_FAIL(err, FSL_ERR_IO,
					"path too long, name a shorter one: path=\"%s\"", path);
		}
	} while (n < DAMAGED_FILES_MAX && access(target, F_OK) == 0);
	if (!fsl_journal_remove(path) || rename(path, target) != 0) {
		return fail_set_aside(path, err);
	}
	fsl_log(FSL_LOG_WARNING, "state",
		"damaged state file set aside, alarms may repeat once: path=\"%s\", now=\"%s\"",
		path, target);
	return FSL_OK;
}

/*
 * Two runs may find the same damaged file. The second waits for the lock of the first and then sees
 * either another file at @path or a sound one; it must not move that away.
 */
static enum fsl_status set_aside(const char *path, struct fsl_error *err)
{
	int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (file < 0) {
		return errno == ENOENT ? FSL_OK : fail_set_aside(path, err);
	}
	enum fsl_status status = FSL_OK;
	struct stat opened = {0};
	struct stat current = {0};
	if (flock(file, LOCK_EX) == 0 && fstat(file, &opened) == 0 && lstat(path, &current) == 0 &&
	    opened.st_ino == current.st_ino && opened.st_dev == current.st_dev) {
		sqlite3 *db = NULL;
		bool is_damaged = false;
		struct owner owner = {0};
		status = open_file(&db, path, &is_damaged, &owner, err);
		sqlite3_close(db);
		if (status == FSL_OK && is_damaged) {
			status = rename_damaged(path, err);
		}
	}
	close(file);
	return status;
}

/* Runs SQL statements that return no rows. */
static enum fsl_status execute(struct fsl_state *state, const char *sql, const char *what,
			       struct fsl_error *err)
{
	if (sqlite3_exec(state->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
		return fsl_state_fail(state, what, err);
	}
	return FSL_OK;
}

/* Refuses files that are not ours to write. */
static enum fsl_status check_owner(const struct owner *owner, const char *path,
				   struct fsl_error *err)
{
	if (owner->n_tables > 0 && owner->id != APPLICATION_ID) {
		return FSL_FAIL(err, FSL_ERR_CONFIG,
				"database of another program, name another file: "
				"path=\"%s\"",
				path);
	}
	if (owner->version > SCHEMA_VERSION) {
		return FSL_FAIL(err, FSL_ERR_CONFIG,
				"state file of a newer failslow, use that or delete the file: "
				"path=\"%s\", version=%lld, known=%d",
				path, (long long)owner->version, SCHEMA_VERSION);
	}
	return FSL_OK;
}

static enum fsl_status bring_up_to_date(struct fsl_state *state, struct fsl_error *err)
{
	int64_t n_found = 0;
	FSL_TRY(execute(state, schema, "write", err));
	if (query_i64(state->db,
		      "SELECT count(*) FROM pragma_table_info('jobs') WHERE name = 'ranks_ns'",
		      &n_found) != SQLITE_ROW) {
		return fsl_state_fail(state, "read", err);
	}
	return n_found > 0 ? FSL_OK
			   : execute(state,
				     "ALTER TABLE jobs ADD COLUMN ranks_ns INTEGER NOT NULL "
				     "DEFAULT 0",
				     "write", err);
}

/* Inside a transaction, as another run may have made them since the file was opened. */
static enum fsl_status make_tables(struct fsl_state *state, struct fsl_error *err)
{
	struct owner owner = {0};
	if (read_owner(state->db, &owner) != SQLITE_OK) {
		return fsl_state_fail(state, "read", err);
	}
	FSL_TRY(check_owner(&owner, state->path, err));
	return is_current(&owner) ? FSL_OK : bring_up_to_date(state, err);
}

enum fsl_status fsl_state_begin(struct fsl_state *state, struct fsl_error *err)
{
	if (sqlite3_get_autocommit(state->db) == 0) {
		return FSL_OK; /* it is open */
	}
	if (state->is_read_only) {
		return execute(state, "BEGIN", "read", err);
	}
	FSL_TRY(execute(state, "BEGIN IMMEDIATE", "write", err));
	enum fsl_status status = state->has_tables ? FSL_OK : make_tables(state, err);
	if (status != FSL_OK) {
		(void)sqlite3_exec(state->db, "ROLLBACK", NULL, NULL, NULL);
	}
	return status;
}

enum fsl_status fsl_state_settle(struct fsl_state *state, bool is_kept, struct fsl_error *err)
{
	if (sqlite3_get_autocommit(state->db) != 0) {
		return FSL_OK;
	}
	enum fsl_status status = execute(state, is_kept ? "COMMIT" : "ROLLBACK", "write", err);
	if (status != FSL_OK) {
		(void)sqlite3_exec(state->db, "ROLLBACK", NULL, NULL, NULL);
	}
	state->has_tables = state->has_tables || (is_kept && status == FSL_OK);
	return status;
}

/* Binds one parameter for each letter. */
static int bind_all(sqlite3_stmt *statement, const char *types, va_list values)
{
	int code = SQLITE_OK;
	for (int i = 0; types[i] != '\0' && code == SQLITE_OK; i++) {
		switch (types[i]) {
		case 't':
			code = sqlite3_bind_text(statement, i + 1, va_arg(values, const char *), -1,
						 SQLITE_TRANSIENT);
			break;
		case 'd':
			code = sqlite3_bind_double(statement, i + 1, va_arg(values, double));
			break;
		default:
			code = sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
			break;
		}
	}
	return code;
}

int fsl_state_ask(struct fsl_state *state, sqlite3_stmt **out, const char *sql, const char *types,
		  ...)
{
	va_list values;
	va_start(values, types);
	int code = sqlite3_prepare_v2(state->db, sql, -1, out, NULL);
	code = code == SQLITE_OK ? bind_all(*out, types, values) : code;
	va_end(values);
	return code == SQLITE_OK ? sqlite3_step(*out) : code;
}

enum fsl_status fsl_state_each(struct fsl_state *state, sqlite3_stmt *statement, int code,
			       enum fsl_status (*use)(void *context, sqlite3_stmt *row,
						      struct fsl_error *err),
			       void *context, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (; code == SQLITE_ROW && status == FSL_OK; code = sqlite3_step(statement)) {
		status = use(context, statement, err);
	}
	if (status == FSL_OK && code != SQLITE_DONE) {
		status = fsl_state_fail(state, "read", err);
	}
	sqlite3_finalize(statement);
	return status;
}

enum fsl_status fsl_state_run(struct fsl_state *state, struct fsl_error *err, const char *sql,
			      const char *types, ...)
{
	va_list values;
	sqlite3_stmt *statement = NULL;
	va_start(values, types);
	int code = sqlite3_prepare_v2(state->db, sql, -1, &statement, NULL);
	code = code == SQLITE_OK ? bind_all(statement, types, values) : code;
	va_end(values);
	code = code == SQLITE_OK ? sqlite3_step(statement) : code;
	sqlite3_finalize(statement);
	return code == SQLITE_DONE || code == SQLITE_ROW ? FSL_OK
							 : fsl_state_fail(state, "write", err);
}

static enum fsl_status open_sound(struct fsl_state *state, bool *has_incidents,
				  struct fsl_error *err)
{
	bool is_damaged = false;
	struct owner owner = {0};
	enum fsl_status status = open_file(&state->db, state->path, &is_damaged, &owner, err);
	if (status == FSL_OK && is_damaged) {
		status = set_aside(state->path, err);
		FSL_THEN(status, open_file(&state->db, state->path, &is_damaged, &owner, err));
		if (status == FSL_OK && is_damaged) {
			status = FSL_FAIL(err, FSL_ERR_IO,
					  "state file damaged again at once: path=\"%s\"",
					  state->path);
		}
	}
	FSL_THEN(status, check_owner(&owner, state->path, err));
	state->has_tables = status == FSL_OK && is_current(&owner);
	state->is_read_only = status == FSL_OK && sqlite3_db_readonly(state->db, "main") != 0;
	*has_incidents = owner.version >= INCIDENTS_VERSION;
	return status;
}

enum fsl_status fsl_state_prepare_folder(const char *path, struct fsl_error *err)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t length = slash != NULL ? (size_t)(slash - path) : 0;
	if (length == 0) {
		return FSL_OK;
	}
	if (length >= sizeof(folder)) {
		return FSL_FAIL(err, FSL_ERR_IO, "path too long, name a shorter one: path=\"%s\"",
				path);
	}
	memcpy(folder, path, length);
	folder[length] = '\0';
	return fsl_dir_create(folder, err);
}

static enum fsl_status fail_missing(const char *path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_INPUT,
			"no run left incidents here, name its --config or --output: path=\"%s\"",
			path);
}

static enum fsl_status fail_read_only(const char *path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_IO,
			"state file is read-only, make it writable or name another: path=\"%s\"",
			path);
}

/* In a folder that this user may not write, no journal can be made. */
static bool is_in_read_only_folder(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path);
	return access(folder, W_OK) != 0;
}

/* @is_made: a file that is not there is made, and has to be writable. */
static enum fsl_status open_at(struct fsl_state **out, const char *path, bool is_made,
			       struct fsl_error *err)
{
	bool has_incidents = false;
	struct fsl_state *state = fsl_calloc(1, sizeof(*state));
	if (state == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for state: path=\"%s\"", path);
	}
	enum fsl_status status = fsl_state_place(&state->path, path, FSL_LOG_WARNING, err);
	if (status == FSL_OK && !is_made && access(state->path, F_OK) != 0) {
		status = fail_missing(state->path, err);
	}
	FSL_THEN(status, open_sound(state, &has_incidents, err));
	if (status == FSL_OK && is_made && state->is_read_only) {
		status = fail_read_only(state->path, err);
	} else if (status == FSL_OK && is_made) {
		state->has_log = fsl_journal_begin_log(state->db, state->path);
	} else if (status == FSL_OK && !is_made) {
		state->is_read_only = state->is_read_only || is_in_read_only_folder(state->path);
		/* Its tables cannot be made. */
		status = state->is_read_only && !has_incidents ? fail_missing(state->path, err)
							       : FSL_OK;
	}
	if (status != FSL_OK) {
		fsl_state_close(state);
		return status;
	}
	*out = state;
	return FSL_OK;
}

enum fsl_status fsl_state_open(struct fsl_state **out, const char *path, struct fsl_error *err)
{
	FSL_TRY(fsl_state_prepare_folder(path, err));
	return open_at(out, path, true, err);
}

enum fsl_status fsl_state_find(struct fsl_state **out, const char *path, struct fsl_error *err)
{
	struct stat facts;
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int length = slash != NULL && slash > path ? (int)(slash - path) : 1;
	(void)snprintf(folder, sizeof(folder), "%.*s", length, slash != NULL ? path : ".");
	if (stat(folder, &facts) != 0) {
		return fail_missing(path, err);
	}
	return open_at(out, path, false, err);
}

void fsl_state_close(struct fsl_state *state)
{
	if (state == NULL) {
		return;
	}
	if (state->has_log) {
		fsl_journal_end_log(state->db);
	}
	/* An open transaction is rolled back. */
	sqlite3_close(state->db);
	fsl_free(state->path);
	fsl_free(state);
}

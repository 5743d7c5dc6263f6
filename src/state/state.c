/* The alarms that were sent, in one SQLite file: how it is opened, checked and made, and asked. */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
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
#include "base/sort.h"
#include "state/damage.h"
#include "state/state_place.h"

enum {
	SCHEMA_VERSION = 3,          /* 2: with a table of what is kept */
	APPLICATION_ID = 0x66736c31, /* "fsl1": tells our file from another program's */
	BUSY_TIMEOUT_MS = 5000,      /* an overlapping run holds the lock for milliseconds */
	DAMAGED_FILES_MAX = 1000,    /* then somebody should look */
};

/* Age at which a record is removed, ns. */
#define KEEP_NS (INT64_C(90) * 24 * 3600 * FSL_NS_PER_S)

struct fsl_state {
	sqlite3 *db;
	char *path;
	bool has_tables; /* else the first transaction makes them: one wait for the disk less */
};

static const char *const schema = "CREATE TABLE IF NOT EXISTS alarms ("
				  " time_ns INTEGER NOT NULL,"        /* alarm was sent */
				  " kind TEXT NOT NULL,"              /* "slow_rank" */
				  " key TEXT NOT NULL,"               /* sorted culprits */
				  " first_since_ns INTEGER NOT NULL," /* first of the incident */
				  " last_seen_ns INTEGER NOT NULL,"   /* sent or suppressed */
				  " text TEXT NOT NULL);"             /* the verdict's reason */
				  "CREATE INDEX IF NOT EXISTS alarms_by_key"
				  " ON alarms (kind, key, last_seen_ns);"
				  "DROP TABLE IF EXISTS kept;" /* of version 2 */
				  "PRAGMA application_id = 1718840369;"
				  "PRAGMA user_version = 3;";
_Static_assert(APPLICATION_ID == 1718840369 && SCHEMA_VERSION == 3,
	       "the schema's text carries both numbers");

/* No write waits for the disk. A process that dies damages nothing. Damage by a power cut is
 * noticed when the file is opened, and costs an alarm that is told twice. */
static const char *const no_syncs = "PRAGMA synchronous = OFF";

/* Fills @err from the error of @db and returns its status. @what: "open", "read" or "write". */
static enum fsl_status fail(sqlite3 *db, const char *path, const char *what, struct fsl_error *err)
{
	int code = db != NULL ? sqlite3_errcode(db) : SQLITE_NOMEM;
	enum fsl_status status = code == SQLITE_NOMEM ? FSL_ERR_MEMORY : FSL_ERR_IO;
	return FSL_FAIL(err, status,
			"cannot %s state file, make it writable or name another: "
			"path=\"%s\", reason=\"%s\"",
			what, path, db != NULL ? sqlite3_errmsg(db) : "out of memory");
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

/* Opens for reading and writing; *is_damaged (FSL_OK, *db NULL) when the content is no database. */
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
		status = fail(*db, path, "open", err);
	} else if (sqlite3_db_readonly(*db, "main") != 0) {
		status = FSL_FAIL(err, FSL_ERR_IO,
				  "state file is read-only, make it writable or name another: "
				  "path=\"%s\"",
				  path);
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
	/* A journal left behind would be played back into the new file. */
	char journal[PATH_MAX + sizeof("-journal")];
	(void)snprintf(journal, sizeof(journal), "%s-journal", path);
	if ((unlink(journal) != 0 && errno != ENOENT) || rename(path, target) != 0) {
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
		return fail(state->db, state->path, what, err);
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

/* Inside a transaction, as another run may have made them since the file was opened. */
static enum fsl_status make_tables(struct fsl_state *state, struct fsl_error *err)
{
	struct owner owner = {0};
	if (read_owner(state->db, &owner) != SQLITE_OK) {
		return fail(state->db, state->path, "read", err);
	}
	enum fsl_status status = check_owner(&owner, state->path, err);
	if (status == FSL_OK && !is_current(&owner)) {
		status = execute(state, schema, "write", err);
	}
	return status;
}

/* Begins a transaction that writes; other runs wait. Makes the tables if the file has none. */
static enum fsl_status begin(struct fsl_state *state, struct fsl_error *err)
{
	enum fsl_status status = execute(state, "BEGIN IMMEDIATE", "write", err);
	if (status == FSL_OK && !state->has_tables) {
		status = make_tables(state, err);
		if (status != FSL_OK) {
			(void)sqlite3_exec(state->db, "ROLLBACK", NULL, NULL, NULL);
		}
	}
	return status;
}

/* Ends a transaction: kept as a whole when @is_done, else as if it had never begun. */
static enum fsl_status finish(struct fsl_state *state, bool is_done, struct fsl_error *err)
{
	enum fsl_status status = is_done ? execute(state, "COMMIT", "write", err)
					 : fail(state->db, state->path, "write", err);
	if (status != FSL_OK) {
		(void)sqlite3_exec(state->db, "ROLLBACK", NULL, NULL, NULL);
	}
	state->has_tables = state->has_tables || status == FSL_OK;
	return status;
}

static enum fsl_status open_sound(struct fsl_state *state, struct fsl_error *err)
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

enum fsl_status fsl_state_open(struct fsl_state **out, const char *path, struct fsl_error *err)
{
	FSL_TRY(fsl_state_prepare_folder(path, err));
	struct fsl_state *state = fsl_calloc(1, sizeof(*state));
	if (state == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for state: path=\"%s\"", path);
	}
	enum fsl_status status = fsl_state_place(&state->path, path, FSL_LOG_WARNING, err);
	FSL_THEN(status, open_sound(state, err));
	if (status != FSL_OK) {
		fsl_state_close(state);
		return status;
	}
	*out = state;
	return FSL_OK;
}

void fsl_state_close(struct fsl_state *state)
{
	if (state == NULL) {
		return;
	}
	/* An open transaction is rolled back. */
	sqlite3_close(state->db);
	fsl_free(state->path);
	fsl_free(state);
}

/* The alarms that were sent, by incident. */

static int compare_culprits(const void *left, const void *right)
{
	const struct fsl_culprit *a = *(const struct fsl_culprit *const *)left;
	const struct fsl_culprit *b = *(const struct fsl_culprit *const *)right;
	int order = FSL_ORDER(a->rank, b->rank);
	order = order != 0 ? order : FSL_ORDER(a->cause, b->cause);
	return order != 0 ? order : FSL_ORDER(a->peer, b->peer);
}

/* "2:network:6,6:network:2", with "hang," in front of a hang; SQLite's growing string keeps its own
 * error. */
static bool add_culprits(sqlite3_str *key, const struct fsl_localisation *localisation)
{
	size_t n = localisation->n_culprits;
	const struct fsl_culprit **sorted = fsl_calloc(n, sizeof(const struct fsl_culprit *));
	if (sorted == NULL) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		sorted[i] = &localisation->culprits[i];
	}
	qsort(sorted, n, sizeof(const struct fsl_culprit *), compare_culprits);
	for (size_t i = 0; i < n; i++) {
		sqlite3_str_appendf(key, "%s%d:%s:%d", i > 0 ? "," : "", (int)sorted[i]->rank,
				    fsl_cause_text(sorted[i]->cause), (int)sorted[i]->peer);
	}
	fsl_free(sorted);
	return true;
}

/* "lack:5,6" or "slow:3": the ranks that are listed as abnormal for lack of data, or for another
 * reason. */
static bool add_abnormal(sqlite3_str *key, const struct fsl_localisation *localisation,
			 bool is_lack)
{
	int32_t *ranks = fsl_calloc(localisation->n_abnormal, sizeof(*ranks));
	if (ranks == NULL) {
		return false;
	}
	size_t n = 0;
	for (size_t i = 0; i < localisation->n_abnormal; i++) {
		if ((localisation->abnormal[i].method == FSL_METHOD_LACK) == is_lack) {
			ranks[n++] = localisation->abnormal[i].rank;
		}
	}
	qsort(ranks, n, sizeof(*ranks), fsl_rank_compare);
	for (size_t i = 0; i < n; i++) {
		sqlite3_str_appendf(key, "%s%d",
				    i > 0     ? ","
				    : is_lack ? "lack:"
					      : "slow:",
				    (int)ranks[i]);
	}
	fsl_free(ranks);
	return true;
}

/*
 * Without culprits: the ranks that the classical points name, those that lack data, or the job
 * itself when its verdict is an anomaly (hang, job slowdown).
 */
static bool add_nameless(sqlite3_str *key, const struct fsl_localisation *localisation)
{
	if (!add_abnormal(key, localisation, false) || !add_abnormal(key, localisation, true)) {
		return false;
	}
	bool is_quiet = localisation->kind == FSL_VERDICT_NORMAL ||
			localisation->kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	if (sqlite3_str_length(key) == 0 && !is_quiet) {
		sqlite3_str_appendall(key, "job");
	}
	return true;
}

/* Makes the key of the incident of a verdict: two verdicts with equal keys are the same incident.
 * *key NULL: no incident. Free with sqlite3_free. */
static enum fsl_status make_key(struct fsl_state *state,
				const struct fsl_localisation *localisation, char **key,
				struct fsl_error *err)
{
	sqlite3_str *text = sqlite3_str_new(state->db);
	/* A job that stops after its slow rank was reported is another incident. */
	if (localisation->kind == FSL_VERDICT_HANG) {
		sqlite3_str_appendall(text, "hang,");
	}
	bool is_made = localisation->n_culprits > 0 ? add_culprits(text, localisation)
						    : add_nameless(text, localisation);
	is_made = is_made && sqlite3_str_errcode(text) == SQLITE_OK;
	*key = sqlite3_str_finish(text);
	if (!is_made) {
		sqlite3_free(*key);
		*key = NULL;
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for state: culprits=%zu",
				localisation->n_culprits);
	}
	return FSL_OK;
}

struct incident {
	const char *kind, *key, *text;
	int64_t now_ns;
	int64_t after_ns; /* records at or before this are too old */
};

/* Runs one statement, which may use ?1 kind, ?2 key, ?3 after, ?4 now, ?5 since, ?6 text. */
static int run_bound(struct fsl_state *state, const char *sql, const struct incident *incident,
		     int64_t since_ns, int64_t values[2])
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(state->db, sql, -1, &statement, NULL);
	if (code != SQLITE_OK) {
		return code;
	}
	int n_bound = sqlite3_bind_parameter_count(statement);
	const int64_t numbers[] = {incident->after_ns, incident->now_ns, since_ns};
	const char *const texts[] = {incident->kind, incident->key};
	for (int i = 0; code == SQLITE_OK && i < n_bound; i++) {
		code = i < 2   ? sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC)
		       : i < 5 ? sqlite3_bind_int64(statement, i + 1, numbers[i - 2])
			       : sqlite3_bind_text(statement, i + 1, incident->text, -1,
						   SQLITE_STATIC);
	}
	if (code == SQLITE_OK) {
		code = sqlite3_step(statement);
	}
	if (code == SQLITE_ROW && values != NULL) {
		values[0] = sqlite3_column_int64(statement, 0);
		values[1] = sqlite3_column_int64(statement, 1);
	}
	sqlite3_finalize(statement);
	return code;
}

/* Inside a transaction: looks the incident up, then records an alarm or that it was seen again. */
static int look_up_and_record(struct fsl_state *state, const struct incident *incident,
			      struct fsl_alarm *out)
{
	int64_t found[2] = {0, 0}; /* time of the newest alarm, begin of its incident */
	int code = run_bound(state,
			     "SELECT time_ns, first_since_ns FROM alarms WHERE kind = ?1 AND key "
			     "= ?2 AND last_seen_ns > ?3 AND time_ns <= ?4 "
			     "ORDER BY time_ns DESC LIMIT 1",
			     incident, 0, found);
	if (code != SQLITE_ROW && code != SQLITE_DONE) {
		return code;
	}
	bool is_known = code == SQLITE_ROW;
	*out = (struct fsl_alarm){
		.is_suppressed = is_known && found[0] > incident->after_ns,
		.since_ns = is_known ? found[1] : incident->now_ns,
	};
	code = out->is_suppressed
		       ? run_bound(state,
				   "UPDATE alarms SET last_seen_ns = max(last_seen_ns, ?4) WHERE "
				   "kind = ?1 AND key = ?2 AND time_ns > ?3 AND time_ns <= ?4",
				   incident, 0, NULL)
		       : run_bound(state,
				   "INSERT INTO alarms (kind, key, last_seen_ns, time_ns, "
				   "first_since_ns, text) VALUES (?1, ?2, ?4, ?4, ?5, ?6)",
				   incident, out->since_ns, NULL);
	if (code != SQLITE_DONE) {
		return code;
	}
	struct incident old = *incident;
	old.after_ns = incident->now_ns > KEEP_NS ? incident->now_ns - KEEP_NS : 0;
	return run_bound(state, "DELETE FROM alarms WHERE last_seen_ns < ?3", &old, 0, NULL);
}

static int64_t look_back_begin_ns(int64_t now_ns, double look_back_mins)
{
	double look_back_ns = look_back_mins * 60.0 * FSL_NS_PER_S;
	if (!(look_back_ns > 0.0)) {
		return now_ns;
	}
	return look_back_ns < (double)now_ns ? now_ns - (int64_t)look_back_ns : -1;
}

/* One transaction, which stays open: other runs see the alarm recorded or not at all. */
static enum fsl_status record(struct fsl_state *state, const struct incident *incident,
			      struct fsl_alarm *out, struct fsl_error *err)
{
	enum fsl_status status = begin(state, err);
	if (status == FSL_OK && look_up_and_record(state, incident, out) != SQLITE_DONE) {
		status = finish(state, false, err);
	}
	return status;
}

/* "/home/sysTrace/mspti|3:compute:-1": the same rank of another job is another incident. */
static enum fsl_status add_job(char **key, const char *job, struct fsl_error *err)
{
	char *whole = sqlite3_mprintf("%s|%s", job, *key);
	sqlite3_free(*key);
	*key = whole;
	return whole != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for state: job=\"%s\"", job);
}

enum fsl_status fsl_state_check_alarm(struct fsl_state *state, const char *job,
				      const struct fsl_localisation *localisation, int64_t now_ns,
				      double look_back_mins, struct fsl_alarm *out,
				      struct fsl_error *err)
{
	char *key = NULL;
	struct fsl_alarm alarm = {.since_ns = FSL_NS_ABSENT};
	enum fsl_status status = make_key(state, localisation, &key, err);
	bool is_incident = status == FSL_OK && key != NULL;
	if (is_incident) {
		status = add_job(&key, job, err);
	}
	if (is_incident && status == FSL_OK) {
		struct incident incident = {
			.kind = fsl_verdict_text(localisation->kind),
			.key = key,
			.text = localisation->reason != NULL ? localisation->reason : "",
			.now_ns = now_ns,
			.after_ns = look_back_begin_ns(now_ns, look_back_mins),
		};
		status = record(state, &incident, &alarm, err);
	}
	if (status == FSL_OK) {
		*out = alarm;
	}
	sqlite3_free(key);
	return status;
}

enum fsl_status fsl_state_settle_alarm(struct fsl_state *state, bool is_told, struct fsl_error *err)
{
	if (sqlite3_get_autocommit(state->db) != 0) {
		return FSL_OK; /* none was checked, or it is settled */
	}
	return is_told ? finish(state, true, err) : execute(state, "ROLLBACK", "write", err);
}

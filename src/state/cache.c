/* Summaries of chapters in an SQLite file. */
#include "state/cache.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "state/damage.h"
#include "state/state.h"
#include "state/state_place.h"

static const char *const schema =
	"CREATE TABLE IF NOT EXISTS jobs (root TEXT PRIMARY KEY, rules TEXT NOT NULL,"
	" written_ns INTEGER NOT NULL, head BLOB NOT NULL, sum INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS chapters (root TEXT NOT NULL, end_ns INTEGER NOT NULL,"
	" begin_ns INTEGER NOT NULL, summary BLOB NOT NULL, matrices BLOB NOT NULL,"
	" sum INTEGER NOT NULL, PRIMARY KEY (root, end_ns)) WITHOUT ROWID;"
	"PRAGMA application_id = 0x66736c32; PRAGMA user_version = 1";

enum { CACHE_ID = 0x66736c32, CACHE_VERSION = 1 };

void fsl_cache_job_fini(struct fsl_cache_job *job)
{
	fsl_arena_fini(&job->arena);
	*job = (struct fsl_cache_job){0};
}

char *fsl_cache_path(const char *state_path)
{
	static const char end[] = ".db", cache_end[] = "-cache.db";
	size_t n = strlen(state_path), n_end = sizeof(end) - 1;
	bool has_end = n > n_end && strcmp(state_path + n - n_end, end) == 0;
	char *path = fsl_calloc(n + sizeof(cache_end), 1);
	if (path != NULL) {
		memcpy(path, state_path, has_end ? n - n_end : n);
		memcpy(path + (has_end ? n - n_end : n), cache_end, sizeof(cache_end));
	}
	return path;
}

static enum fsl_status fail(sqlite3 *db, const char *path, const char *what, struct fsl_error *err)
{
	int code = db != NULL ? sqlite3_errcode(db) : SQLITE_NOMEM;
	return FSL_FAIL(err, (code & 0xff) == SQLITE_NOMEM ? FSL_ERR_MEMORY : FSL_ERR_IO,
			"cannot %s the cache: path=\"%s\", reason=\"%s\"", what, path,
			db != NULL ? sqlite3_errmsg(db) : "out of memory");
}

/* One statement with the values that it wants, in order. */
struct query {
	sqlite3_stmt *statement;
	int n_bound, code;
};

static struct query query_begin(sqlite3 *db, const char *sql)
{
	struct query query = {0};
	query.code = sqlite3_prepare_v2(db, sql, -1, &query.statement, NULL);
	return query;
}

static void bind_text(struct query *query, const char *text)
{
	if (query->code == SQLITE_OK) {
		query->code = sqlite3_bind_text(query->statement, ++query->n_bound, text, -1,
						SQLITE_STATIC);
	}
}

static void bind_i64(struct query *query, int64_t value)
{
	if (query->code == SQLITE_OK) {
		query->code = sqlite3_bind_int64(query->statement, ++query->n_bound, value);
	}
}

static void bind_bytes(struct query *query, const void *bytes, size_t n_bytes)
{
	if (query->code == SQLITE_OK) {
		query->code = sqlite3_bind_blob64(query->statement, ++query->n_bound,
						  n_bytes > 0 ? bytes : "", n_bytes, SQLITE_STATIC);
	}
}

/* SQLITE_ROW, SQLITE_DONE, or what is wrong. */
static int query_step(struct query *query)
{
	if (query->code == SQLITE_OK || query->code == SQLITE_ROW) {
		query->code = sqlite3_step(query->statement);
	}
	return query->code;
}

/* A statement without results. */
static int query_run(struct query *query)
{
	int code = query_step(query);
	sqlite3_finalize(query->statement);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Check sum of both pieces in a row: tells whether bytes have changed by accident. */
static int64_t sum_of(const void *first, size_t n_first, const void *second, size_t n_second)
{
	return (int64_t)crc32_z(crc32_z(0, first, n_first), second, n_second);
}

static int64_t number_of(sqlite3 *db, const char *sql)
{
	struct query query = query_begin(db, sql);
	int64_t value =
		query_step(&query) == SQLITE_ROW ? sqlite3_column_int64(query.statement, 0) : -1;
	sqlite3_finalize(query.statement);
	return value;
}

/* SQLITE_OK if the file is a cache of this version, or empty: an empty file gets its tables when it
 * is written to. */
static int check_owner(sqlite3 *db, bool *is_empty)
{
	int64_t n_tables = number_of(db, "SELECT count(*) FROM sqlite_master");
	*is_empty = n_tables == 0;
	if (n_tables < 0) {
		return sqlite3_errcode(db);
	}
	bool is_ours = number_of(db, "PRAGMA application_id") == CACHE_ID &&
		       number_of(db, "PRAGMA user_version") == CACHE_VERSION;
	return n_tables == 0 || is_ours ? SQLITE_OK : SQLITE_NOTADB;
}

static int open_once(sqlite3 **db, const char *path, bool is_made, bool *is_empty)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
		    (is_made ? SQLITE_OPEN_CREATE : 0);
	int code = sqlite3_open_v2(path, db, flags, NULL);
	if (code == SQLITE_OK) {
		code = sqlite3_exec(*db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	}
	return code == SQLITE_OK ? check_owner(*db, is_empty) : code;
}

/* Opens the file at the safe @path. A damaged file, or a file of another version, is removed; a new
 * one takes its place if @is_made. */
static enum fsl_status open_safe(sqlite3 **db, const char *path, bool is_made, bool *is_empty,
				 struct fsl_error *err)
{
	char journal[PATH_MAX];
	int code = open_once(db, path, is_made, is_empty);
	if (fsl_is_damage(code)) {
		fsl_log(FSL_LOG_INFO, "cache", "made anew, it was damaged: path=\"%s\"", path);
		sqlite3_close(*db);
		*db = NULL;
		(void)snprintf(journal, sizeof(journal), "%s-journal", path);
		(void)unlink(journal);
		(void)unlink(path);
		if (!is_made) {
			return FSL_OK;
		}
		code = open_once(db, path, is_made, is_empty);
	}
	enum fsl_status status = code == SQLITE_OK ? FSL_OK : fail(*db, path, "open", err);
	if (status != FSL_OK) {
		sqlite3_close(*db);
		*db = NULL;
	}
	return status;
}

/* True if the folder of a file is there. */
static bool has_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int n = slash != NULL ? (int)(slash - path) : 0;
	return n == 0 || (snprintf(folder, sizeof(folder), "%.*s", n, path) < PATH_MAX &&
			  access(folder, F_OK) == 0);
}

/* Opens the cache that is wanted at @path, or in its place the one that nobody else can touch. *db
 * stays NULL if it is not there and shall not be made. */
static enum fsl_status open_cache(sqlite3 **db, const char *path, bool is_made, bool *is_empty,
				  struct fsl_error *err)
{
	char *safe = NULL;
	if (!is_made && !has_folder(path)) {
		return FSL_OK;
	}
	FSL_TRY(fsl_state_place(&safe, path, FSL_LOG_INFO, err));
	enum fsl_status status = FSL_OK;
	if (is_made || access(safe, F_OK) == 0) {
		status = open_safe(db, safe, is_made, is_empty, err);
	}
	fsl_free(safe);
	return status;
}

/* A copy of a column; NULL: out of memory. */
static const void *take_bytes(struct fsl_arena *arena, sqlite3_stmt *statement, int column,
			      size_t *n_bytes)
{
	*n_bytes = (size_t)sqlite3_column_bytes(statement, column);
	void *copy = fsl_arena_alloc(arena, *n_bytes + 1);
	if (copy != NULL && *n_bytes > 0) {
		memcpy(copy, sqlite3_column_blob(statement, column), *n_bytes);
	}
	return copy;
}

static int read_head(struct fsl_cache_job *out, sqlite3 *db, const char *root, const char *rules)
{
	struct query query =
		query_begin(db, "SELECT head, sum FROM jobs WHERE root = ? AND rules = ?");
	bind_text(&query, root);
	bind_text(&query, rules);
	int code = query_step(&query);
	if (code == SQLITE_ROW) {
		size_t n = 0;
		const void *head = take_bytes(&out->arena, query.statement, 0, &n);
		code = head == NULL ? SQLITE_NOMEM : SQLITE_DONE;
		if (head != NULL &&
		    sum_of(head, n, "", 0) == sqlite3_column_int64(query.statement, 1)) {
			out->head = head;
			out->n_head = n;
		}
	}
	sqlite3_finalize(query.statement);
	return code;
}

static int read_chapter(struct fsl_cache_job *out, sqlite3_stmt *statement)
{
	struct fsl_cache_chapter *chapter = &out->items[out->n_items];
	*chapter = (struct fsl_cache_chapter){.begin_ns = sqlite3_column_int64(statement, 0),
					      .end_ns = sqlite3_column_int64(statement, 1)};
	chapter->summary = take_bytes(&out->arena, statement, 2, &chapter->n_summary);
	chapter->matrices = take_bytes(&out->arena, statement, 3, &chapter->n_matrices);
	if (chapter->summary == NULL || chapter->matrices == NULL) {
		return SQLITE_NOMEM;
	}
	int64_t sum = sum_of(chapter->summary, chapter->n_summary, chapter->matrices,
			     chapter->n_matrices);
	if (sum != sqlite3_column_int64(statement, 4)) {
		return SQLITE_DONE; /* chapters before it can be used */
	}
	out->n_items++;
	return SQLITE_ROW;
}

static int read_chapters(struct fsl_cache_job *out, sqlite3 *db, const char *root)
{
	struct query count = query_begin(db, "SELECT count(*) FROM chapters WHERE root = ?");
	bind_text(&count, root);
	int code = query_step(&count);
	size_t n = code == SQLITE_ROW ? (size_t)sqlite3_column_int64(count.statement, 0) : 0;
	sqlite3_finalize(count.statement);
	out->items = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->items));
	struct query query =
		query_begin(db, "SELECT begin_ns, end_ns, summary, matrices, sum FROM chapters "
				"WHERE root = ? ORDER BY end_ns");
	bind_text(&query, root);
	code = out->items == NULL ? SQLITE_NOMEM : SQLITE_ROW;
	while (code == SQLITE_ROW && out->n_items < n) {
		code = query_step(&query);
		code = code == SQLITE_ROW ? read_chapter(out, query.statement) : code;
	}
	sqlite3_finalize(query.statement);
	return code == SQLITE_ROW ? SQLITE_DONE : code;
}

enum fsl_status fsl_cache_get(struct fsl_cache_job *out, const char *path, const char *root,
			      const char *rules, struct fsl_error *err)
{
	sqlite3 *db = NULL;
	bool is_empty = false;
	FSL_TRY(open_cache(&db, path, false, &is_empty, err));
	if (db == NULL || is_empty) {
		sqlite3_close(db);
		return FSL_OK;
	}
	enum fsl_status status = FSL_OK;
	int code = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	if (code == SQLITE_OK) {
		code = read_head(out, db, root, rules);
	}
	if (code == SQLITE_DONE && out->head != NULL) {
		code = read_chapters(out, db, root);
	}
	if (code != SQLITE_DONE) {
		status = fsl_is_damage(code) ? FSL_OK : fail(db, path, "read", err);
		fsl_cache_job_fini(out);
	}
	if (fsl_is_damage(code)) {
		(void)unlink(sqlite3_db_filename(db, "main"));
	}
	sqlite3_close(db);
	return status;
}

/* Removes the chapters that the job does not list, or all chapters if it was judged by other
 * rules. */
static int forget_others(sqlite3 *db, const char *root, const char *rules,
			 const struct fsl_cache_job *job)
{
	int64_t end_ns = job->n_items > 0 ? job->items[job->n_items - 1].end_ns : INT64_MIN;
	int64_t first_ns = job->n_items > 0 ? job->items[0].end_ns : INT64_MAX;
	struct query query = query_begin(
		db, "DELETE FROM chapters WHERE root = ?1 AND (end_ns > ?2 OR end_ns < ?3 OR NOT "
		    "EXISTS (SELECT 1 FROM jobs WHERE root = ?1 AND rules = ?4))");
	bind_text(&query, root);
	bind_i64(&query, end_ns);
	bind_i64(&query, first_ns);
	bind_text(&query, rules);
	return query_run(&query);
}

static int write_head(sqlite3 *db, const char *root, const char *rules,
		      const struct fsl_cache_job *job, int64_t now_ns)
{
	struct query query = query_begin(db, "INSERT OR REPLACE INTO jobs "
					     "(root, rules, written_ns, head, sum) "
					     "VALUES (?, ?, ?, ?, ?)");
	bind_text(&query, root);
	bind_text(&query, rules);
	bind_i64(&query, now_ns);
	bind_bytes(&query, job->head, job->n_head);
	bind_i64(&query, sum_of(job->head, job->n_head, "", 0));
	return query_run(&query);
}

/* @has_room: there is room for the matrices of the chapter. */
static int write_chapter(sqlite3 *db, const char *root, const struct fsl_cache_chapter *chapter,
			 bool has_room)
{
	size_t n_matrices = has_room ? chapter->n_matrices : 0;
	struct query query = query_begin(db, "INSERT OR REPLACE INTO chapters "
					     "(root, begin_ns, end_ns, summary, matrices, sum) "
					     "VALUES (?, ?, ?, ?, ?, ?)");
	bind_text(&query, root);
	bind_i64(&query, chapter->begin_ns);
	bind_i64(&query, chapter->end_ns);
	bind_bytes(&query, chapter->summary, chapter->n_summary);
	bind_bytes(&query, chapter->matrices, n_matrices);
	bind_i64(&query,
		 sum_of(chapter->summary, chapter->n_summary, chapter->matrices, n_matrices));
	return query_run(&query);
}

/* Newest first, so that the oldest matrices find no room. */
static int write_chapters(sqlite3 *db, const char *root, const struct fsl_cache_job *job)
{
	size_t n_bytes = job->n_head;
	int code = SQLITE_OK;
	for (size_t k = 0; k < job->n_items; k++) {
		n_bytes += job->items[k].n_summary;
	}
	for (size_t k = job->n_items; k-- > 0 && code == SQLITE_OK;) {
		const struct fsl_cache_chapter *chapter = &job->items[k];
		bool has_room = n_bytes + chapter->n_matrices <= FSL_CACHE_JOB_BYTES_MAX;
		n_bytes += has_room ? chapter->n_matrices : 0;
		if (chapter->is_new || !has_room) {
			code = write_chapter(db, root, chapter, has_room);
		}
	}
	return code;
}

static int sweep(sqlite3 *db, int64_t now_ns)
{
	const int64_t day_ns = INT64_C(24) * 3600 * FSL_NS_PER_S;
	int64_t oldest_ns = now_ns > FSL_CACHE_DAYS * day_ns ? now_ns - FSL_CACHE_DAYS * day_ns : 0;
	struct query query = query_begin(db, "DELETE FROM jobs WHERE written_ns < ?");
	bind_i64(&query, oldest_ns);
	int code = query_run(&query);
	return code == SQLITE_OK ? sqlite3_exec(db,
						"DELETE FROM chapters WHERE root NOT IN "
						"(SELECT root FROM jobs)",
						NULL, NULL, NULL)
				 : code;
}

static int write_job(sqlite3 *db, const char *root, const char *rules,
		     const struct fsl_cache_job *job, int64_t now_ns, bool is_empty)
{
	int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (code == SQLITE_OK && is_empty) {
		code = sqlite3_exec(db, schema, NULL, NULL, NULL);
	}
	if (code == SQLITE_OK) {
		code = forget_others(db, root, rules, job);
	}
	if (code == SQLITE_OK) {
		code = write_head(db, root, rules, job, now_ns);
	}
	if (code == SQLITE_OK) {
		code = write_chapters(db, root, job);
	}
	if (code == SQLITE_OK) {
		code = sweep(db, now_ns);
	}
	return code == SQLITE_OK ? sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) : code;
}

enum fsl_status fsl_cache_put(const char *path, const char *root, const char *rules,
			      const struct fsl_cache_job *job, int64_t now_ns,
			      struct fsl_error *err)
{
	sqlite3 *db = NULL;
	bool is_empty = false;
	enum fsl_status status = fsl_state_prepare_folder(path, err);
	FSL_THEN(status, open_cache(&db, path, true, &is_empty, err));
	if (status == FSL_OK && write_job(db, root, rules, job, now_ns, is_empty) != SQLITE_OK) {
		status = fail(db, path, "write", err);
	}
	sqlite3_close(db); /* an open transaction is rolled back */
	return status;
}

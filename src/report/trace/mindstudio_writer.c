/*
 * The database of MindStudio Insight: SQLite with the tables process, thread, slice, counter and
 * flow. Names and types of the columns are those that it reads. Times are ns since 1970. No
 * journal: the file gets its name when it is whole.
 */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/try.h"
#include "report/trace/mindstudio.h"
#include "report/trace/track_text.h"
#include "report/trace/track_writer.h"

enum {
	/* Bytes of arguments without their texts: braces, colons, and numbers of 20 digits. */
	ARGS_BYTES = 16 + 32 * FSL_TRACK_ARGS_MAX,
	ID_BYTES = 24,
};

enum table { TABLE_PROCESS, TABLE_THREAD, TABLE_SLICE, TABLE_COUNTER, TABLE_FLOW, TABLES_N };

static const char *const inserts[TABLES_N] = {
	[TABLE_PROCESS] = "INSERT INTO process VALUES (?, ?, ?, ?, '0')",
	[TABLE_THREAD] = "INSERT INTO thread VALUES (?, ?, ?, ?, ?)",
	[TABLE_SLICE] = "INSERT INTO slice VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, NULL, ?, NULL)",
	[TABLE_COUNTER] = "INSERT INTO counter VALUES (NULL, ?, ?, ?, ?, ?)",
	[TABLE_FLOW] = "INSERT INTO flow VALUES (NULL, ?, ?, ?, ?, ?, ?)",
};

static const char schema[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
	"CREATE TABLE process (pid TEXT PRIMARY KEY, process_name TEXT, label TEXT,"
	" process_sort_index INTEGER, parentPid TEXT DEFAULT '0');"
	"CREATE TABLE thread (track_id INTEGER PRIMARY KEY, tid TEXT, pid TEXT, thread_name TEXT,"
	" thread_sort_index INTEGER);"
	"CREATE TABLE slice (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp INTEGER,"
	" duration INTEGER, name TEXT, depth INTEGER, track_id INTEGER, cat TEXT, args TEXT,"
	" cname TEXT, end_time INTEGER, flag_id TEXT);"
	"CREATE INDEX track_id_timestamp_end_time_index ON slice (timestamp, end_time, track_id);"
	"CREATE TABLE counter (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, pid TEXT,"
	" timestamp INTEGER, cat TEXT, args TEXT);"
	"CREATE TABLE flow (id INTEGER PRIMARY KEY AUTOINCREMENT, flow_id TEXT, name TEXT,"
	" cat TEXT, track_id INTEGER, timestamp INTEGER, type TEXT);";

/* Types of ends of arrows. */
static const char *const flow_types[] = {
	[FSL_FLOW_BEGINS] = "s",
	[FSL_FLOW_GOES_ON] = "t",
	[FSL_FLOW_ENDS] = "f",
};

/* A text as UTF-8, and as JSON with its quotes. */
struct text {
	char *plain; /* NULL: not made yet; arena */
	char *json;
	int n_plain, n_json;
};

/* Ends of the slices of a track that go on, the innermost last. */
struct nest {
	int64_t *ends_ns; /* owned */
	size_t n_items, capacity;
};

struct fsl_track_writing {
	sqlite3 *db;
	sqlite3_stmt *rows[TABLES_N];
	struct fsl_track_output *output; /* borrowed; only its path and error are used */
	const struct fsl_strpool *pool;
	struct text *texts; /* by id */
	size_t n_texts, texts_capacity;
	struct nest *nests; /* by number of a track */
	size_t n_nests, nests_capacity;
	char *args;
	size_t args_capacity;
	struct fsl_arena arena;
};

sqlite3 *fsl_mindstudio_db(struct fsl_track_writing *writing)
{
	return writing->db;
}

bool fsl_mindstudio_has_failed(const struct fsl_track_writing *writing)
{
	return writing->output->error != 0;
}

enum fsl_status fsl_mindstudio_check(struct fsl_track_writing *w, int code, struct fsl_error *err)
{
	if (code == SQLITE_NOMEM) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"database\"");
	}
	if (code != SQLITE_OK && code != SQLITE_DONE && w->output->error == 0) {
		int reason = w->db != NULL ? sqlite3_system_errno(w->db) : 0;
		w->output->error = reason != 0 ? reason : code == SQLITE_FULL ? ENOSPC : EIO;
	}
	return FSL_OK;
}

static enum fsl_status open_db(struct fsl_track_writing *w, struct fsl_error *err)
{
	FSL_TRY(fsl_mindstudio_check(w,
				     sqlite3_open_v2(w->output->path, &w->db,
						     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
						     NULL),
				     err));
	if (!fsl_mindstudio_has_failed(w)) {
		FSL_TRY(fsl_mindstudio_check(w, sqlite3_exec(w->db, schema, NULL, NULL, NULL),
					     err));
	}
	for (size_t i = 0; i < TABLES_N && !fsl_mindstudio_has_failed(w); i++) {
		FSL_TRY(fsl_mindstudio_check(
			w, sqlite3_prepare_v2(w->db, inserts[i], -1, &w->rows[i], NULL), err));
	}
	return FSL_OK;
}

static enum fsl_status begin(struct fsl_track_writing **out, struct fsl_track_output *output,
			     const struct fsl_strpool *texts, int64_t base_ns,
			     struct fsl_error *err)
{
	struct fsl_track_writing *w = NULL;
	(void)base_ns; /* times are those of the day */
	FSL_REQUIRE(output->path != NULL);
	FSL_TRY(FSL_NEW(w, 1, "writers", err));
	*w = (struct fsl_track_writing){.output = output, .pool = texts};
	*out = w;
	FSL_TRY(FSL_GROW(w->args, w->args_capacity, ARGS_BYTES, err));
	return open_db(w, err);
}

static enum fsl_status make_text(struct fsl_track_writing *w, uint32_t id, struct fsl_error *err)
{
	const char *text = fsl_strpool_text(w->pool, id);
	size_t length = strlen(text);
	FSL_TRY(FSL_GROW(w->texts, w->texts_capacity, (size_t)id + 1, err));
	while (w->n_texts <= id) {
		w->texts[w->n_texts++] = (struct text){0};
	}
	char *plain = fsl_arena_take(&w->arena, FSL_TRACK_CLEAN_BYTES * length + 1);
	char *json = fsl_arena_take(&w->arena, FSL_TRACK_JSON_BYTES * length + 2);
	if (plain == NULL || json == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", length);
	}
	w->texts[id] = (struct text){.plain = plain,
				     .json = json,
				     .n_plain = (int)fsl_track_text_clean(plain, text),
				     .n_json = (int)fsl_track_text_json(json, text)};
	return FSL_OK;
}

static enum fsl_status need(struct fsl_track_writing *w, uint32_t id, struct fsl_error *err)
{
	return id < w->n_texts && w->texts[id].plain != NULL ? FSL_OK : make_text(w, id, err);
}

/* Binds a text that is there; it lives longer than the row. */
static void bind_text(const struct fsl_track_writing *w, sqlite3_stmt *row, int column, uint32_t id)
{
	const struct text *text = &w->texts[id];
	(void)sqlite3_bind_text(row, column, text->plain, text->n_plain, SQLITE_STATIC);
}

/* Binds a number as a text, which the row keeps in @room. */
static void bind_id(sqlite3_stmt *row, int column, char room[ID_BYTES], uint32_t id)
{
	int n = snprintf(room, ID_BYTES, "%" PRIu32, id);
	(void)sqlite3_bind_text(row, column, room, n, SQLITE_STATIC);
}

/* Adds the row whose columns are bound. */
static enum fsl_status add_row(struct fsl_track_writing *w, sqlite3_stmt *row,
			       struct fsl_error *err)
{
	if (fsl_mindstudio_has_failed(w)) {
		return FSL_OK;
	}
	int code = sqlite3_step(row);
	(void)sqlite3_reset(row);
	return fsl_mindstudio_check(w, code, err);
}

static enum fsl_status process(struct fsl_track_writing *w, const struct fsl_track_process *process,
			       struct fsl_error *err)
{
	sqlite3_stmt *row = w->rows[TABLE_PROCESS];
	char pid[ID_BYTES];
	FSL_TRY(need(w, process->name, err));
	bind_id(row, 1, pid, process->pid);
	bind_text(w, row, 2, process->name);
	(void)sqlite3_bind_null(row, 3);
	if (process->label != FSL_STR_NONE) {
		FSL_TRY(need(w, process->label, err));
		bind_text(w, row, 3, process->label);
	}
	(void)sqlite3_bind_int(row, 4, process->place);
	return add_row(w, row, err);
}

/* Counters are rows of their own table alone. */
static enum fsl_status track(struct fsl_track_writing *w, const struct fsl_track *track,
			     struct fsl_error *err)
{
	sqlite3_stmt *row = w->rows[TABLE_THREAD];
	char pid[ID_BYTES], tid[ID_BYTES];
	FSL_TRY(FSL_GROW(w->nests, w->nests_capacity, (size_t)track->number + 1, err));
	while (w->n_nests <= track->number) {
		w->nests[w->n_nests++] = (struct nest){0};
	}
	if (track->is_counter) {
		return FSL_OK;
	}
	FSL_TRY(need(w, track->name, err));
	(void)sqlite3_bind_int64(row, 1, track->tid);
	bind_id(row, 2, tid, track->tid);
	bind_id(row, 3, pid, track->pid);
	bind_text(w, row, 4, track->name);
	(void)sqlite3_bind_int(row, 5, track->place);
	return add_row(w, row, err);
}

/* Makes room for one more key and value of the arguments, and adds the key. */
static enum fsl_status add_key(struct fsl_track_writing *w, uint32_t key, size_t n_more, size_t *n,
			       struct fsl_error *err)
{
	FSL_TRY(need(w, key, err));
	const struct text *text = &w->texts[key];
	FSL_TRY(FSL_GROW(w->args, w->args_capacity, *n + (size_t)text->n_json + n_more + ARGS_BYTES,
			 err));
	w->args[*n] = *n == 0 ? '{' : ',';
	(*n)++;
	memcpy(w->args + *n, text->json, (size_t)text->n_json);
	*n += (size_t)text->n_json;
	w->args[(*n)++] = ':';
	return FSL_OK;
}

/* Binds all arguments as one object of JSON, NULL if there are none. */
static enum fsl_status bind_args(struct fsl_track_writing *w, sqlite3_stmt *row, int column,
				 const struct fsl_track_event *event, struct fsl_error *err)
{
	size_t n = 0;
	for (uint32_t i = 0; i < event->n_args; i++) {
		const struct fsl_track_arg *arg = &event->args[i];
		if (arg->text != FSL_STR_NONE) {
			FSL_TRY(need(w, arg->text, err));
			size_t n_json = (size_t)w->texts[arg->text].n_json;
			FSL_TRY(add_key(w, arg->key, n_json, &n, err));
			memcpy(w->args + n, w->texts[arg->text].json, n_json);
			n += n_json;
		} else {
			FSL_TRY(add_key(w, arg->key, 0, &n, err));
			n += (size_t)snprintf(w->args + n, ID_BYTES, "%" PRId64, arg->number);
		}
	}
	if (n == 0) {
		(void)sqlite3_bind_null(row, column);
		return FSL_OK;
	}
	w->args[n++] = '}';
	(void)sqlite3_bind_text(row, column, w->args, (int)n, SQLITE_STATIC);
	return FSL_OK;
}

static enum fsl_status add_counter(struct fsl_track_writing *w, const struct fsl_track_event *event,
				   struct fsl_error *err)
{
	sqlite3_stmt *row = w->rows[TABLE_COUNTER];
	const struct fsl_track *track = event->track;
	uint64_t value = event->value < 0 ? 0 - (uint64_t)event->value : (uint64_t)event->value;
	char pid[ID_BYTES];
	size_t n = 0;
	FSL_TRY(need(w, track->name, err));
	FSL_TRY(add_key(w, track->unit, 0, &n, err));
	n += (size_t)(track->has_decimals
			      ? snprintf(w->args + n, 2 * ID_BYTES, "%s%" PRIu64 ".%03" PRIu64 "}",
					 event->value < 0 ? "-" : "", value / 1000, value % 1000)
			      : snprintf(w->args + n, 2 * ID_BYTES, "%" PRId64 "}", event->value));
	bind_text(w, row, 1, track->name);
	bind_id(row, 2, pid, track->pid);
	(void)sqlite3_bind_int64(row, 3, event->begin_ns);
	(void)sqlite3_bind_null(row, 4);
	(void)sqlite3_bind_text(row, 5, w->args, (int)n, SQLITE_STATIC);
	return add_row(w, row, err);
}

/* Number of slices of the track around this one, which goes on from now on. */
static enum fsl_status find_depth(struct fsl_track_writing *w, const struct fsl_track_event *event,
				  int *depth, struct fsl_error *err)
{
	struct nest *nest = &w->nests[event->track->number];
	while (nest->n_items > 0 && nest->ends_ns[nest->n_items - 1] <= event->begin_ns) {
		nest->n_items--;
	}
	*depth = (int)nest->n_items;
	if (event->end_ns > event->begin_ns) {
		FSL_TRY(FSL_GROW(nest->ends_ns, nest->capacity, nest->n_items + 1, err));
		nest->ends_ns[nest->n_items++] = event->end_ns;
	}
	return FSL_OK;
}

/* One end of an arrow. @id: of all ends of the arrow alike. */
static enum fsl_status add_flow(struct fsl_track_writing *w, const struct fsl_track_event *event,
				enum fsl_track_flow flow, const char *name, const char *id,
				struct fsl_error *err)
{
	sqlite3_stmt *row = w->rows[TABLE_FLOW];
	(void)sqlite3_bind_text(row, 1, id, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(row, 2, name, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(row, 3, name, -1, SQLITE_STATIC);
	(void)sqlite3_bind_int64(row, 4, event->track->tid);
	(void)sqlite3_bind_int64(row, 5, event->begin_ns);
	(void)sqlite3_bind_text(row, 6, flow_types[flow], -1, SQLITE_STATIC);
	return add_row(w, row, err);
}

static enum fsl_status add_flows(struct fsl_track_writing *w, const struct fsl_track_event *event,
				 struct fsl_error *err)
{
	char id[ID_BYTES];
	if (event->end_ns <= event->begin_ns) {
		return FSL_OK; /* viewers bind no arrows to instants */
	}
	if (event->launch != FSL_FLOW_NONE) {
		/* Both ends of a wakeup are events of the kernel. */
		bool is_wakeup = strcmp(fsl_strpool_text(w->pool, event->category), "kernel") == 0;
		(void)snprintf(id, sizeof(id), "0x%" PRIx64, event->launch_id);
		FSL_TRY(add_flow(w, event, event->launch, is_wakeup ? "wakeup" : "launch", id,
				 err));
	}
	if (event->meeting != FSL_FLOW_NONE) {
		(void)snprintf(id, sizeof(id), "%" PRIu64, event->meeting_id);
		FSL_TRY(add_flow(w, event, event->meeting, "collective", id, err));
	}
	return FSL_OK;
}

static enum fsl_status add_slice(struct fsl_track_writing *w, const struct fsl_track_event *event,
				 struct fsl_error *err)
{
	sqlite3_stmt *row = w->rows[TABLE_SLICE];
	int depth = 0;
	FSL_TRY(need(w, event->name, err));
	FSL_TRY(need(w, event->category, err));
	FSL_TRY(find_depth(w, event, &depth, err));
	(void)sqlite3_bind_int64(row, 1, event->begin_ns);
	(void)sqlite3_bind_int64(row, 2, event->end_ns - event->begin_ns);
	bind_text(w, row, 3, event->name);
	(void)sqlite3_bind_int(row, 4, depth);
	(void)sqlite3_bind_int64(row, 5, event->track->tid);
	bind_text(w, row, 6, event->category);
	FSL_TRY(bind_args(w, row, 7, event, err));
	(void)sqlite3_bind_int64(row, 8, event->end_ns);
	FSL_TRY(add_row(w, row, err));
	return add_flows(w, event, err);
}

static enum fsl_status event(struct fsl_track_writing *w, const struct fsl_track_event *event,
			     struct fsl_error *err)
{
	return event->track->is_counter ? add_counter(w, event, err) : add_slice(w, event, err);
}

static int close_db(struct fsl_track_writing *w)
{
	for (size_t i = 0; i < TABLES_N; i++) {
		(void)sqlite3_finalize(w->rows[i]);
		w->rows[i] = NULL;
	}
	int code = sqlite3_close(w->db);
	w->db = NULL;
	return code;
}

static enum fsl_status finish(struct fsl_track_writing *w, struct fsl_error *err)
{
	if (!fsl_mindstudio_has_failed(w)) {
		FSL_TRY(fsl_mindstudio_check(w, sqlite3_exec(w->db, "COMMIT", NULL, NULL, NULL),
					     err));
	}
	return fsl_mindstudio_check(w, close_db(w), err);
}

static void end(struct fsl_track_writing *w)
{
	if (w != NULL) {
		(void)close_db(w);
		for (size_t i = 0; i < w->n_nests; i++) {
			fsl_free(w->nests[i].ends_ns);
		}
		fsl_free(w->nests);
		fsl_free(w->texts);
		fsl_free(w->args);
		fsl_arena_fini(&w->arena);
	}
	fsl_free(w);
}

const struct fsl_track_writer fsl_track_writer_mindstudio = {
	.name = "mindstudio",
	.begin = begin,
	.process = process,
	.track = track,
	.event = event,
	.finish = finish,
	.end = end,
};

/* One table after the other; texts stand in a table of their own. */
#include "source/kineto/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/database.h"
#include "source/kineto/nsys_workers.h"
#include "text/json_walk.h"

enum {
	RANGE_PUSH_POP = 59, /* kinds of NVTX_EVENTS: ranges of a thread, and of any threads */
	RANGE_START_END = 60,
};

struct text {
	int64_t id;
	uint32_t name_id;
};

struct reading {
	struct fsl_kineto_events *events;
	const struct fsl_trace_vocabulary *vocabulary;
	struct fsl_db *db;
	struct text *texts; /* by id */
	size_t n_texts, texts_capacity;
	struct fsl_file *file;
	int64_t process; /* that is read; -1: none yet, or not told */
	bool has_others, is_of_several;
	struct fsl_trace_event event;
};

bool fsl_nsys_is(const char *data, size_t n_bytes)
{
	static const char magic[] = "SQLite format 3";
	static const char *const marks[] = {"CUPTI_ACTIVITY_KIND_", "NVTX_EVENTS",
					    "TARGET_INFO_SESSION_START_TIME"};
	bool has_mark = false;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		has_mark |= memmem(data, n_bytes, marks[i], strlen(marks[i])) != NULL;
	}
	return n_bytes >= sizeof(magic) && memcmp(data, magic, sizeof(magic)) == 0 && has_mark;
}

/* Texts. */

static const struct fsl_db_column text_columns[] = {{{"id"}, true, 0}, {{"value"}, true, 0}};
static const struct fsl_db_select text_select = {{"StringIds"}, NULL, text_columns, 2, ""};

static enum fsl_status add_text(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct reading *reading = context;
	struct text text = {-1, FSL_STR_NONE};
	size_t length = 0;
	const char *value = fsl_db_text(rows, 1, &length);
	if (!fsl_db_i64(rows, 0, &text.id) || value == NULL) {
		return FSL_OK;
	}
	length = length < FSL_TRACE_NAME_MAX ? length : FSL_TRACE_NAME_MAX;
	FSL_TRY(fsl_strpool_intern(reading->events->rank->names, value, length, &text.name_id,
				   err));
	return FSL_APPEND(reading, texts, &text, err);
}

static int compare_texts(const void *left, const void *right)
{
	const struct text *a = left, *b = right;
	return FSL_ORDER(a->id, b->id);
}

/* The text with the number in @column; "" if there is none. */
static struct fsl_trace_text text_at(const struct reading *reading, const struct fsl_db_rows *rows,
				     size_t column)
{
	struct text key = {-1, FSL_STR_NONE};
	const struct text *found = NULL;
	if (fsl_db_i64(rows, column, &key.id) && reading->n_texts > 0) {
		found = bsearch(&key, reading->texts, reading->n_texts, sizeof(key), compare_texts);
	}
	const char *text =
		found != NULL ? fsl_strpool_text(reading->events->rank->names, found->name_id) : "";
	return (struct fsl_trace_text){text, strlen(text)};
}

/* Events. */

static enum fsl_status give(struct reading *reading, struct fsl_db_rows *rows,
			    enum fsl_kineto_category category, struct fsl_trace_text name,
			    struct fsl_error *err)
{
	struct fsl_trace_event *event = &reading->event;
	int64_t end_ns = 0;
	event->phase = 'X';
	event->category = (int)category;
	event->whole_name = name;
	event->number = -1;
	event->name = fsl_trace_words_find(&reading->vocabulary->names, name.text, name.length,
					   &event->number);
	if (!fsl_db_i64(rows, 0, &event->ts_ns) || !fsl_db_i64(rows, 1, &end_ns) ||
	    event->ts_ns < 0 || end_ns < event->ts_ns || end_ns >= FSL_JSON_TIME_MAX_NS) {
		fsl_db_drop(rows, "a row without a begin and an end behind it");
		return FSL_OK;
	}
	event->dur_ns = end_ns - event->ts_ns;
	return fsl_kineto_events_add(reading->events, event, err);
}

/* A number of the row as an arg; -1 if it is none, or negative. */
static void take_number(struct reading *reading, const struct fsl_db_rows *rows, size_t column,
			enum fsl_kineto_arg arg)
{
	int64_t value = -1;
	bool is_there = fsl_db_i64(rows, column, &value);
	reading->event.args[arg] = is_there && value >= 0 ? value : -1;
}

static void take_sizes(struct reading *reading, const struct fsl_db_rows *rows, size_t column,
		       enum fsl_kineto_arg arg)
{
	int64_t sizes[3] = {-1, -1, -1};
	for (size_t i = 0; i < 3; i++) {
		(void)fsl_db_i64(rows, column + i, &sizes[i]);
	}
	reading->event.args[arg] = fsl_trace_sizes(sizes[0], sizes[1], sizes[2]);
}

/* Whether the row is of the process that is read. */
static bool is_mine(struct reading *reading, const struct fsl_db_rows *rows, size_t column,
		    bool is_kernel)
{
	int64_t process = -1;
	if (!fsl_db_i64(rows, column, &process)) {
		return true;
	}
	process >>= FSL_NSYS_THREAD_BITS;
	if (reading->process < 0 && is_kernel) {
		reading->process = process;
	}
	bool is_other = reading->process >= 0 && process != reading->process;
	reading->has_others |= is_other && is_kernel;
	return !is_other;
}

enum work_column { BEGIN, END, PROCESS, CORRELATION, STREAM, DEVICE, WORK_COLUMNS_N };
#define WORK_COLUMNS                                                                               \
	[BEGIN] = {{"start"}, true, 0}, [END] = {{"end"}, true, 0},                                \
	[PROCESS] = {{"globalPid"}, false, 0}, [CORRELATION] = {{"correlationId"}, false, 0},      \
	[STREAM] = {{"streamId"}, false, 0}, [DEVICE] = {{"deviceId"}, false, 0}

enum { KERNEL_NAME = WORK_COLUMNS_N, GRID, BLOCK = GRID + 3, KERNEL_COLUMNS_N = BLOCK + 3 };
static const struct fsl_db_column kernel_columns[KERNEL_COLUMNS_N] = {
	WORK_COLUMNS,
	[KERNEL_NAME] = {{"demangledName", "shortName"}, true, 0},
	[GRID] = {{"gridX"}, false, 0},
	[GRID + 1] = {{"gridY"}, false, 0},
	[GRID + 2] = {{"gridZ"}, false, 0},
	[BLOCK] = {{"blockX"}, false, 0},
	[BLOCK + 1] = {{"blockY"}, false, 0},
	[BLOCK + 2] = {{"blockZ"}, false, 0},
};
enum { COPY_KIND = WORK_COLUMNS_N, COPY_COLUMNS_N };
static const struct fsl_db_column copy_columns[COPY_COLUMNS_N] = {
	WORK_COLUMNS, [COPY_KIND] = {{"copyKind"}, false, 0}};

static bool begin_work(struct reading *reading, const struct fsl_db_rows *rows, bool is_kernel)
{
	reading->file->n_records++;
	fsl_trace_event_clear(reading->vocabulary, &reading->event);
	take_number(reading, rows, CORRELATION, FSL_KINETO_CORRELATION);
	take_number(reading, rows, STREAM, FSL_KINETO_STREAM);
	take_number(reading, rows, DEVICE, FSL_KINETO_DEVICE);
	return is_mine(reading, rows, PROCESS, is_kernel);
}

static enum fsl_status add_kernel(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct reading *reading = context;
	if (!begin_work(reading, rows, true)) {
		return FSL_OK;
	}
	take_sizes(reading, rows, GRID, FSL_KINETO_GRID);
	take_sizes(reading, rows, BLOCK, FSL_KINETO_BLOCK);
	return give(reading, rows, FSL_KINETO_KERNEL, text_at(reading, rows, KERNEL_NAME), err);
}

/* Names as the framework's profiler has them. */
static enum fsl_status add_copy(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	static const struct {
		int64_t kind;
		const char *name;
	} kinds[] = {{1, "Memcpy HtoD"},
		     {2, "Memcpy DtoH"},
		     {8, "Memcpy DtoD"},
		     {9, "Memcpy HtoH"},
		     {10, "Memcpy PtoP"}};
	struct reading *reading = context;
	struct fsl_trace_text name = {"Memcpy", 6};
	int64_t kind = -1;
	if (!begin_work(reading, rows, false)) {
		return FSL_OK;
	}
	(void)fsl_db_i64(rows, COPY_KIND, &kind);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].kind == kind) {
			name = (struct fsl_trace_text){kinds[i].name, strlen(kinds[i].name)};
		}
	}
	return give(reading, rows, FSL_KINETO_COPY, name, err);
}

static enum fsl_status add_fill(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct reading *reading = context;
	const struct fsl_trace_text name = {"Memset (Device)", 15};
	return begin_work(reading, rows, false) ? give(reading, rows, FSL_KINETO_COPY, name, err)
						: FSL_OK;
}

enum { HOST_THREAD = 2, CALL_NAME, CALL_CORRELATION, CALL_COLUMNS_N };
static const struct fsl_db_column call_columns[CALL_COLUMNS_N] = {
	{{"start"}, true, 0},
	{{"end"}, true, 0},
	[HOST_THREAD] = {{"globalTid"}, false, 0},
	[CALL_NAME] = {{"nameId"}, true, 0},
	[CALL_CORRELATION] = {{"correlationId"}, false, 0},
};

/* "cudaLaunchKernel_v7000" is a call of cudaLaunchKernel. */
static size_t plain_length(struct fsl_trace_text name)
{
	size_t n = name.length;
	while (n > 0 && name.text[n - 1] >= '0' && name.text[n - 1] <= '9') {
		n--;
	}
	bool has_version = n < name.length && n > 2 && memcmp(name.text + n - 2, "_v", 2) == 0;
	return has_version ? n - 2 : name.length;
}

static bool begin_host(struct reading *reading, const struct fsl_db_rows *rows)
{
	reading->file->n_records++;
	fsl_trace_event_clear(reading->vocabulary, &reading->event);
	int64_t thread = 0;
	reading->event.tid = fsl_db_i64(rows, HOST_THREAD, &thread) ? (uint64_t)thread : 0;
	return is_mine(reading, rows, HOST_THREAD, false);
}

static enum fsl_status add_call(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct reading *reading = context;
	if (!begin_host(reading, rows)) {
		return FSL_OK;
	}
	struct fsl_trace_text name = text_at(reading, rows, CALL_NAME);
	name.length = plain_length(name);
	take_number(reading, rows, CALL_CORRELATION, FSL_KINETO_CORRELATION);
	return give(reading, rows, FSL_KINETO_RUNTIME, name, err);
}

enum { RANGE_TEXT = 3, RANGE_TEXT_ID, RANGE_KIND, RANGE_COLUMNS_N };
static const struct fsl_db_column range_columns[RANGE_COLUMNS_N] = {
	{{"start"}, true, 0},
	{{"end"}, true, 0},
	[HOST_THREAD] = {{"globalTid"}, false, 0},
	[RANGE_TEXT] = {{"text"}, false, 0},
	[RANGE_TEXT_ID] = {{"textId"}, false, 0},
	[RANGE_KIND] = {{"eventType"}, true, 0},
};

/* Numbers of steps in names that training loops give to ranges: "step 12", "iteration12". */
static bool is_step(struct fsl_trace_text name, int64_t *number)
{
	static const char *const words[] = {"ProfilerStep#", "iteration", "iter", "step"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);
		if (name.length <= n || strncasecmp(name.text, words[i], n) != 0) {
			continue;
		}
		while (n < name.length && strchr(" _#:-", name.text[n]) != NULL) {
			n++;
		}
		return n < name.length && name.text[n] >= '0' && name.text[n] <= '9' &&
		       fsl_parse_i64(name.text + n, name.length - n, number);
	}
	return false;
}

/* Ranges are steps, or functions of the host. */
static enum fsl_status add_range(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct reading *reading = context;
	int64_t kind = 0, end_ns = 0, step = -1;
	bool is_range = fsl_db_i64(rows, RANGE_KIND, &kind) && fsl_db_i64(rows, END, &end_ns) &&
			(kind == RANGE_PUSH_POP || kind == RANGE_START_END);
	if (!begin_host(reading, rows) || !is_range) {
		return FSL_OK;
	}
	size_t length = 0;
	const char *own = fsl_db_text(rows, RANGE_TEXT, &length);
	struct fsl_trace_text name = own != NULL ? (struct fsl_trace_text){own, length}
						 : text_at(reading, rows, RANGE_TEXT_ID);
	name.length = name.length < FSL_TRACE_NAME_MAX ? name.length : FSL_TRACE_NAME_MAX;
	if (is_step(name, &step)) {
		char text[40];
		int n = snprintf(text, sizeof(text), "ProfilerStep#%lld", (long long)step);
		name = (struct fsl_trace_text){text, (size_t)n};
		return give(reading, rows, FSL_KINETO_ANNOTATION, name, err);
	}
	return give(reading, rows, FSL_KINETO_OPERATOR, name, err);
}

/* Facts of the session. */

static const struct fsl_db_column start_columns[] = {{{"utcEpochNs"}, true, 0}};
static const struct fsl_db_column host_columns[] = {{{"name"}, true, 0}, {{"value"}, true, 0}};

static enum fsl_status add_start(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct reading *reading = context;
	int64_t ns = 0;
	(void)err;
	if (fsl_db_i64(rows, 0, &ns) && ns > 0 && ns < FSL_JSON_TIME_MAX_NS) {
		reading->events->base_ns = ns;
	}
	fsl_db_stop(rows);
	return FSL_OK;
}

static enum fsl_status add_host(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct reading *reading = context;
	struct fsl_profile_rank *rank = reading->events->rank;
	size_t n_name = 0, n_value = 0;
	const char *name = fsl_db_text(rows, 0, &n_name), *value = fsl_db_text(rows, 1, &n_value);
	if (name == NULL || value == NULL || n_name != 8 || strncasecmp(name, "Hostname", 8) != 0) {
		return FSL_OK;
	}
	fsl_db_stop(rows);
	const char *host = fsl_arena_strndup(&rank->arena, value, n_value);
	rank->info.host_name = host != NULL ? host : rank->info.host_name;
	return FSL_MADE(host, n_value, "bytes", err);
}

/* Kernels first: they tell the process. */
static const struct {
	struct fsl_db_select select;
	fsl_db_add add;
} tables[] = {
	{{{"TARGET_INFO_SESSION_START_TIME"}, NULL, start_columns, 1, ""}, add_start},
	{{{"TARGET_INFO_SYSTEM_ENV"}, NULL, host_columns, 2, ""}, add_host},
	{{{"CUPTI_ACTIVITY_KIND_KERNEL"}, NULL, kernel_columns, KERNEL_COLUMNS_N, ""}, add_kernel},
	{{{"CUPTI_ACTIVITY_KIND_MEMCPY"}, NULL, copy_columns, COPY_COLUMNS_N, ""}, add_copy},
	{{{"CUPTI_ACTIVITY_KIND_MEMSET"}, NULL, copy_columns, WORK_COLUMNS_N, ""}, add_fill},
	{{{"CUPTI_ACTIVITY_KIND_RUNTIME"}, NULL, call_columns, CALL_COLUMNS_N, ""}, add_call},
	{{{"NVTX_EVENTS"}, NULL, range_columns, RANGE_COLUMNS_N, ""}, add_range},
};

static enum fsl_status read_tables(struct reading *reading, struct fsl_error *err)
{
	FSL_TRY(fsl_db_read(reading->db, &text_select, add_text, reading, err));
	if (reading->n_texts > 1) {
		qsort(reading->texts, reading->n_texts, sizeof(*reading->texts), compare_texts);
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		FSL_TRY(fsl_db_read(reading->db, &tables[i].select, tables[i].add, reading, err));
	}
	if (reading->has_others && !reading->is_of_several) {
		return fsl_db_tell(
			reading->db, FSL_FILE_PARTIAL, err,
			"kernels of several processes: the one with most of them is used; "
			"profile "
			"each rank into a report of its own");
	}
	return reading->file->n_records == 0
		       ? fsl_db_tell(reading->db, FSL_FILE_EMPTY, err,
				     "no events in the file: an empty capture; record it again")
		       : FSL_OK;
}

enum fsl_status fsl_nsys_read(struct fsl_kineto_events *events,
			      const struct fsl_trace_vocabulary *vocabulary,
			      const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct reading reading = {
		.events = events, .vocabulary = vocabulary, .file = input->file, .process = -1};
	if (input->folder != NULL && input->folder->process != 0) {
		reading.process = input->folder->process;
		reading.is_of_several = input->folder->is_of_several;
	}
	FSL_TRY(fsl_db_open(&reading.db, events->rank, input->file, err));
	enum fsl_status status = reading.db != NULL ? read_tables(&reading, err) : FSL_OK;
	fsl_db_close(reading.db);
	fsl_free(reading.texts);
	return status;
}

/* sysTrace's records of a host (os_trace_*.pb) as a trace of that host. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "engine/hostbound_parts.h"
#include "sched/records.h"
#include "source/discover.h"
#include "source/systrace/host_pb.h"

bool fsl_host_records_knows(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	return strncmp(name, "os_trace", strlen("os_trace")) == 0 && fsl_host_knows(name);
}

/* Length of the path of the folder. */
static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? (size_t)(slash - path) : 0;
}

static bool are_beside(const char *path, const char *other)
{
	size_t length = folder_length(path);
	return length == folder_length(other) && memcmp(path, other, length) == 0;
}

/* Process of the rank, by the name "os_trace_<time>_rank_<rank>_<pid>.pb"; 0: it does not tell. */
static int32_t pid_of_name(const char *name)
{
	const char *at = strstr(name, "rank");
	int64_t pid = 0;
	at = at != NULL ? strpbrk(at, "0123456789") : NULL;
	at = at != NULL ? at + strspn(at, "0123456789") : NULL;
	bool is_told = at != NULL && *at == '_' &&
		       fsl_parse_i64(at + 1, strspn(at + 1, "0123456789"), &pid) && pid > 0 &&
		       pid <= INT32_MAX;
	return is_told ? (int32_t)pid : 0;
}

static enum fsl_status read_files(struct fsl_host_events *events, struct fsl_host_trace *trace,
				  struct fsl_error *err)
{
	for (size_t i = 0; i < trace->files->n_paths; i++) {
		const char *path = trace->files->paths[i], *name = path + folder_length(path);
		struct fsl_reader *reader = NULL;
		name += *name == '/';
		FSL_TRY(fsl_reader_open(&reader, path, err));
		enum fsl_status status = fsl_host_read(events, reader, name, err);
		fsl_reader_close(reader);
		FSL_TRY(status);
		int32_t rank = fsl_host_rank_of_name(name), pid = pid_of_name(name);
		if (rank >= 0 && pid > 0 &&
		    fsl_ftrace_ranks_get(&trace->ranks, rank, pid, err) == NULL) {
			return FSL_ERR_MEMORY;
		}
	}
	return FSL_OK;
}

static int compare_begins(const void *left, const void *right, void *context)
{
	const struct fsl_host_event *items = context;
	const uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	FSL_ORDER_BY(items[i].begin_ns, items[k].begin_ns);
	return FSL_ORDER(i, k);
}

static struct fsl_sched_task task_of(const struct fsl_host_events *events, uint32_t tid,
				     uint32_t name_id)
{
	const char *name = name_id != FSL_STR_NONE ? fsl_strpool_text(events->names, name_id) : "";
	return (struct fsl_sched_task){.comm = {name, strlen(name)},
				       .tid = tid <= INT32_MAX && name_id != FSL_STR_NONE
						      ? (int32_t)tid
						      : FSL_SCHED_ID_NONE};
}

static enum fsl_status feed(struct fsl_host_trace *trace, const struct fsl_host_events *events,
			    const struct fsl_host_event *event, struct fsl_error *err)
{
	struct fsl_sched_away away = {
		.task = task_of(events, event->key, event->name_id),
		.tgid = FSL_SCHED_ID_NONE,
		.begin_ns = event->begin_ns,
		.end_ns = event->end_ns,
		.queue_ns = event->run_delay_ns,
		.next = task_of(events, event->next_pid, event->next_id),
	};
	int64_t off_ns = event->end_ns - event->begin_ns;
	/* The recorder cuts durations to us, so that the delay may exceed them. */
	away.queue_ns = away.queue_ns < off_ns ? away.queue_ns : off_ns;
	for (size_t i = 0; i < trace->ranks.n_items; i++) {
		if (trace->ranks.items[i].rank == event->rank) {
			away.tgid = trace->ranks.items[i].pid;
		}
	}
	return away.task.tid > 0 ? fsl_sched_add_away(&trace->sched, &away, err) : FSL_OK;
}

/* Fills the model from the times off a CPU. */
static enum fsl_status fill(struct fsl_host_trace *trace, const struct fsl_host_events *events,
			    struct fsl_error *err)
{
	uint32_t *order = NULL;
	size_t n = 0;
	fsl_sched_init(&trace->sched, INT64_MIN, INT64_MAX);
	for (size_t i = 0; i < trace->ranks.n_items; i++) {
		const struct fsl_ftrace_rank *rank = &trace->ranks.items[i];
		FSL_TRY(fsl_sched_add_rank(&trace->sched, rank->rank, rank->pid, rank->steps,
					   rank->n_steps, err));
	}
	FSL_TRY(FSL_NEW(order, events->n_items + 1, "events", err));
	for (size_t i = 0; i < events->n_items; i++) {
		if (events->items[i].kind == FSL_HOST_OFF_CPU) {
			order[n++] = (uint32_t)i;
		}
	}
	if (n > 0) {
		qsort_r(order, n, sizeof(*order), compare_begins, events->items);
	}
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		status = feed(trace, events, &events->items[order[i]], err);
	}
	fsl_free(order);
	trace->loaded.facts.n_events = n;
	FSL_THEN(status, fsl_sched_finish(&trace->sched, err));
	return status;
}

static enum fsl_status load(struct fsl_host_trace *trace, const struct fsl_job *job,
			    struct fsl_error *err)
{
	struct fsl_host_events events;
	trace->clock_score = NAN;
	trace->beside = (struct fsl_ftrace_beside){
		.has_offset = true, .clock = "realtime", .is_clock_told = true};
	trace->loaded.facts.n_kept = trace->loaded.facts.n_written = -1;
	FSL_TRY(fsl_host_events_init(&events, err));
	enum fsl_status status = read_files(&events, trace, err);
	if (job != NULL) {
		FSL_THEN(status, fsl_host_trace_join(trace, job, err));
	}
	FSL_THEN(status, fill(trace, &events, err));
	fsl_host_events_fini(&events);
	FSL_THEN(status, fsl_hostbound_judge(&trace->judged, &trace->sched, err));
	return status;
}

/* Makes a trace of the files inputs[0 .. n), which lie in one folder. */
static enum fsl_status add(struct fsl_host_traces *traces, const struct fsl_input *inputs, size_t n,
			   const struct fsl_job *job, struct fsl_error *err)
{
	struct fsl_arena *arena = &traces->found.arena;
	struct fsl_ftrace_trace *files = fsl_arena_calloc(arena, 1, sizeof(*files));
	const char **paths = fsl_arena_calloc(arena, n, sizeof(*paths));
	struct fsl_host_trace *items = fsl_calloc(traces->n_items + 1, sizeof(*items));
	for (size_t i = 0; i < n && paths != NULL; i++) {
		paths[i] = fsl_arena_strdup(arena, inputs[i].path);
		paths = paths[i] != NULL ? paths : NULL;
	}
	if (files == NULL || paths == NULL || items == NULL) {
		fsl_free(items);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", n);
	}
	*files = (struct fsl_ftrace_trace){.paths = paths, .n_paths = n};
	if (traces->n_items > 0) {
		memcpy(items, traces->items, traces->n_items * sizeof(*items));
	}
	for (size_t i = 0; i < traces->n_items; i++) {
		bool is_told = items[i].sched.topology != NULL;
		items[i].sched.topology = is_told ? &items[i].topology : NULL;
	}
	fsl_free(traces->items);
	traces->items = items;
	struct fsl_host_trace *trace = &items[traces->n_items++];
	trace->files = files;
	struct fsl_error own = {0};
	enum fsl_status status = load(trace, job, &own);
	return fsl_host_traces_settle(traces, status, &own, false, err);
}

enum fsl_status fsl_host_traces_add_records(struct fsl_host_traces *traces,
					    const char *const *paths, size_t n_paths,
					    const struct fsl_job *job, struct fsl_error *err)
{
	const struct fsl_ingest_options options = {
		.root_path = paths[0], .more_paths = paths + 1, .n_more_paths = n_paths - 1};
	struct fsl_inputs inputs = {0};
	struct fsl_error own = {0};
	size_t n = 0;
	enum fsl_status status = fsl_inputs_find(&inputs, &options, &own);
	if (status != FSL_OK) {
		fsl_inputs_fini(&inputs);
		*err = status == FSL_ERR_INPUT ? *err : own;
		return status == FSL_ERR_INPUT ? FSL_OK : status;
	}
	for (size_t i = 0; i < inputs.n_items; i++) {
		if (fsl_host_records_knows(inputs.items[i].path)) {
			inputs.items[n++] = inputs.items[i];
		}
	}
	for (size_t i = 0, end = 0; i < n && status == FSL_OK; i = end) {
		for (end = i + 1;
		     end < n && are_beside(inputs.items[i].path, inputs.items[end].path);) {
			end++;
		}
		status = add(traces, inputs.items + i, end - i, job, err);
	}
	fsl_inputs_fini(&inputs);
	return status;
}

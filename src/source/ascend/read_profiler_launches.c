/*
 * Launch delays and the host's part in idle time, as in trace_view.json, from the profiler's own
 * database: the time from a launch to its task, and who was late while the device was idle. A task
 * and its launch by CANN share a connection; CONNECTION_IDS leads from it to the framework's
 * operator.
 */
#include "source/ascend/read_profiler_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "chrome/trace_flows.h"
#include "source/ascend/trace_activity.h"
#include "source/ascend/trace_names.h"
#include "source/ascend/trace_steps.h"

enum {
	NODE_LEVEL = 10000, /* CANN_API.type of launches */
	ACL_LEVEL = 20000,
	OPERATOR = 50001, /* PYTORCH_API.type */
	LINKS_MAX = 4 * FSL_PROFILE_GAPS_MAX,
};

/* Link from an idle stretch to the framework: a row of CONNECTION_IDS. */
struct link {
	int64_t id;
	size_t idle;
};

struct host {
	struct fsl_profiler *profiler;
	struct fsl_trace_flows *flows;
	struct fsl_trace_activity *activity;
	int64_t connections[FSL_PROFILE_GAPS_MAX]; /* of each stretch's last task; -1: not found */
	int64_t *comms;                            /* connections of communication operators */
	size_t n_comms, comms_capacity;
	struct link links[LINKS_MAX];
	size_t n_links;
};

/* Lists the longest gaps of all steps, longest first. */
static void list_idle(struct host *host)
{
	const struct fsl_profile_rank *rank = host->profiler->rank;
	struct fsl_profile_trace *trace = &host->profiler->rank->trace;
	trace->n_idle = 0;
	for (size_t g = 0; g < rank->n_gaps; g++) {
		const struct fsl_profile_gap *gap = &rank->gaps[g];
		fsl_trace_keep_idle(trace->idle, &trace->n_idle, gap->begin_ns, gap->dur_ns);
	}
	for (size_t i = 0; i < FSL_PROFILE_GAPS_MAX; i++) {
		host->connections[i] = -1;
	}
}

enum launch_column { TASK_BEGIN, TASK_END, TASK_CONNECTION, CALL_BEGIN, CALL_LEVEL, TASK_DEVICE };

static const struct fsl_db_column launch_columns[] = {
	[TASK_BEGIN] = {{"startNs"}, true, 0},
	[TASK_END] = {{"endNs"}, true, 0},
	[TASK_CONNECTION] = {{"connectionId"}, true, 0},
	[CALL_BEGIN] = {{"startNs"}, true, 1},
	[CALL_LEVEL] = {{"type"}, true, 1},
	[TASK_DEVICE] = {{"deviceId"}, false, 0},
};

enum { LAUNCH_COLUMNS_N = sizeof(launch_columns) / sizeof(launch_columns[0]) };

static const struct fsl_db_select launch_select = {
	{"TASK", "CANN_API"}, "connectionId", launch_columns, LAUNCH_COLUMNS_N, ""};
/* The tasks of a communication operator are parts, hundreds for one launch. A gap ends with the
 * whole operator, so its launch is joined here. */
static const struct fsl_db_select comm_launch_select = {
	{"COMMUNICATION_OP", "CANN_API"}, "connectionId", launch_columns, LAUNCH_COLUMNS_N, ""};

/* Reads times and connection of a launch and its task; false for other calls. */
static bool take_launch(struct host *host, const struct fsl_db_rows *rows, int64_t *task_ns,
			int64_t *call_ns, int64_t *connection)
{
	int64_t end_ns = 0, level = 0;
	return fsl_db_i64(rows, CALL_LEVEL, &level) && level == NODE_LEVEL &&
	       fsl_profiler_times(rows, TASK_BEGIN, TASK_END, task_ns, &end_ns) &&
	       fsl_db_i64(rows, CALL_BEGIN, call_ns) && *call_ns >= 0 &&
	       fsl_db_i64(rows, TASK_CONNECTION, connection) && *connection >= 0 &&
	       fsl_profiler_is_own(host->profiler, rows, TASK_DEVICE);
}

/* Notes the launch if its task ends an idle stretch. */
static void match_idle(struct host *host, int64_t task_ns, int64_t lag_ns, int64_t connection)
{
	struct fsl_profile_trace *trace = &host->profiler->rank->trace;
	for (size_t i = 0; i < trace->n_idle; i++) {
		if (trace->idle[i].begin_ns + trace->idle[i].dur_ns == task_ns) {
			trace->idle[i].launch_lag_ns = lag_ns;
			host->connections[i] = connection;
		}
	}
}

static void count_launch(struct host *host, int64_t task_ns, int64_t call_ns, int64_t connection)
{
	int64_t end_ns = 0, lag_ns = 0;
	struct fsl_trace_event event = {
		.phase = 's', .has_id = true, .id = (uint64_t)connection, .ts_ns = call_ns};
	(void)fsl_trace_flows_add(host->flows, FSL_TRACE_FLOW_LAUNCH, &event, &end_ns, &lag_ns);
	event.phase = 'f';
	event.ts_ns = task_ns;
	if (fsl_trace_flows_add(host->flows, FSL_TRACE_FLOW_LAUNCH, &event, &end_ns, &lag_ns)) {
		match_idle(host, task_ns, lag_ns, connection);
	}
}

/* Launches of communication are read before those of tasks, in the order of their connections. */
static enum fsl_status add_comm_launch(struct fsl_db_rows *rows, void *context,
				       struct fsl_error *err)
{
	struct host *host = context;
	int64_t task_ns = 0, call_ns = 0, connection = 0;
	if (!take_launch(host, rows, &task_ns, &call_ns, &connection)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(host->comms, host->comms_capacity, host->n_comms + 1, err));
	host->comms[host->n_comms++] = connection;
	count_launch(host, task_ns, call_ns, connection);
	return FSL_OK;
}

static enum fsl_status add_launch(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct host *host = context;
	(void)err;
	int64_t task_ns = 0, call_ns = 0, connection = 0;
	if (take_launch(host, rows, &task_ns, &call_ns, &connection) &&
	    (host->n_comms == 0 || bsearch(&connection, host->comms, host->n_comms,
					   sizeof(connection), fsl_compare_i64) == NULL)) {
		count_launch(host, task_ns, call_ns, connection);
	}
	return FSL_OK;
}

static const struct fsl_db_column call_columns[] = {
	{{"startNs"}, true, 0}, {{"endNs"}, true, 0}, {{"type"}, true, 0}};
static const struct fsl_db_select call_select = {{"CANN_API"}, NULL, call_columns, 3, ""};

static enum fsl_status add_activity(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct host *host = context;
	(void)err;
	int64_t begin_ns = 0, end_ns = 0, level = 0;
	if (fsl_db_i64(rows, 2, &level) && level == ACL_LEVEL &&
	    fsl_profiler_times(rows, 0, 1, &begin_ns, &end_ns)) {
		fsl_trace_activity_add(host->activity, begin_ns, end_ns - begin_ns);
	}
	return FSL_OK;
}

static const struct fsl_db_column id_columns[] = {{{"id"}, true, 0}, {{"connectionId"}, true, 0}};
static const struct fsl_db_select id_select = {{"CONNECTION_IDS"}, NULL, id_columns, 2, ""};

static enum fsl_status add_link(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct host *host = context;
	(void)err;
	int64_t id = 0, connection = 0;
	if (!fsl_db_i64(rows, 0, &id) || !fsl_db_i64(rows, 1, &connection)) {
		return FSL_OK;
	}
	for (size_t i = 0; i < host->profiler->rank->trace.n_idle; i++) {
		if (connection >= 0 && host->connections[i] == connection &&
		    host->n_links < LINKS_MAX) {
			host->links[host->n_links++] = (struct link){id, i};
		}
	}
	return FSL_OK;
}

enum torch_column { TORCH_BEGIN, TORCH_END, TORCH_ID, TORCH_TYPE, TORCH_NAME, TORCH_COLUMNS_N };

static const struct fsl_db_column torch_columns[TORCH_COLUMNS_N] = {
	[TORCH_BEGIN] = {{"startNs"}, true, 0},   [TORCH_END] = {{"endNs"}, true, 0},
	[TORCH_ID] = {{"connectionId"}, true, 0}, [TORCH_TYPE] = {{"type"}, true, 0},
	[TORCH_NAME] = {{"name"}, true, 0},
};
static const struct fsl_db_select torch_select = {
	{"PYTORCH_API"}, NULL, torch_columns, TORCH_COLUMNS_N, ""};

static enum fsl_status add_torch(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct host *host = context;
	struct fsl_profile_trace *trace = &host->profiler->rank->trace;
	int64_t begin_ns = 0, end_ns = 0, id = -1, type = 0;
	uint32_t name_id = FSL_STR_NONE;
	if (!fsl_db_i64(rows, TORCH_TYPE, &type) || type != OPERATOR ||
	    !fsl_profiler_times(rows, TORCH_BEGIN, TORCH_END, &begin_ns, &end_ns)) {
		return FSL_OK;
	}
	bool has_id = fsl_db_i64(rows, TORCH_ID, &id);
	for (size_t l = 0; has_id && l < host->n_links; l++) {
		struct fsl_profile_idle *idle = &trace->idle[host->links[l].idle];
		int64_t task_ns = idle->begin_ns + idle->dur_ns;
		if (host->links[l].id == id) {
			idle->torch_lag_ns = task_ns > begin_ns ? task_ns - begin_ns : 0;
		}
	}
	if (end_ns - begin_ns <= fsl_trace_long_ns(FSL_HOST_DATALOADER)) {
		return FSL_OK; /* most rows are operators: looking up their names would cost more
				  than it gives */
	}
	enum fsl_status status =
		fsl_profiler_column_name(host->profiler, rows, TORCH_NAME, &name_id, err);
	if (strcasestr(fsl_strpool_text(host->profiler->rank->names, name_id), "dataloader") !=
	    NULL) {
		fsl_trace_count_call(trace, FSL_HOST_DATALOADER, end_ns - begin_ns);
	}
	return status;
}

static const struct fsl_db_column gc_columns[] = {{{"startNs"}, true, 0}, {{"endNs"}, true, 0}};
static const struct fsl_db_select gc_select = {{"GC_RECORD"}, NULL, gc_columns, 2, ""};

static enum fsl_status add_gc(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct host *host = context;
	(void)err;
	int64_t begin_ns = 0, end_ns = 0;
	if (fsl_profiler_times(rows, 0, 1, &begin_ns, &end_ns)) {
		fsl_trace_count_call(&host->profiler->rank->trace, FSL_HOST_GC, end_ns - begin_ns);
	}
	return FSL_OK;
}

static void finish(struct host *host)
{
	struct fsl_profile_rank *rank = host->profiler->rank;
	struct fsl_profile_trace *trace = &rank->trace;
	struct fsl_trace_lag lag = fsl_trace_flows_lag(host->flows, FSL_TRACE_FLOW_LAUNCH);
	for (size_t i = 0; i < trace->n_idle; i++) {
		struct fsl_profile_idle *idle = &trace->idle[i];
		fsl_trace_activity_ask(host->activity, idle->begin_ns,
				       idle->begin_ns + idle->dur_ns, &idle->n_acl, &idle->acl_ns);
	}
	trace->n_launches = lag.n;
	trace->lag_median_ns = lag.median_ns;
	trace->lag_p95_ns = lag.p95_ns;
	trace->lag_max_ns = lag.max_ns;
	rank->has_trace = lag.n > 0 && trace->begin_ns != FSL_NS_ABSENT;
	trace->n_idle = rank->has_trace ? trace->n_idle : 0;
}

static enum fsl_status read_host(struct host *host, struct fsl_error *err)
{
	static const struct {
		const struct fsl_db_select *select;
		fsl_db_add add;
	} parts[] = {
		{&comm_launch_select, add_comm_launch},
		{&launch_select, add_launch},
		{&call_select, add_activity},
		{&id_select, add_link},
		{&torch_select, add_torch},
		{&gc_select, add_gc},
	};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && status == FSL_OK; i++) {
		status = fsl_db_read(host->profiler->db, parts[i].select, parts[i].add, host, err);
		if (parts[i].add == add_comm_launch && host->n_comms > 1) {
			qsort(host->comms, host->n_comms, sizeof(*host->comms), fsl_compare_i64);
		}
	}
	return status;
}

enum fsl_status fsl_profiler_read_launches(struct fsl_profiler *profiler, struct fsl_error *err)
{
	struct host host = {.profiler = profiler};
	struct fsl_file *file = profiler->input->file;
	uint64_t n_records = file->n_records; /* rows of CANN_API and TASK are counted already */
	if (profiler->rank->has_trace) {
		return FSL_OK; /* trace_view.json has them already */
	}
	host.flows = fsl_trace_flows_create(FSL_TRACE_FLOWS_N);
	host.activity = fsl_calloc(1, sizeof(*host.activity));
	enum fsl_status status = FSL_OK;
	if (host.flows != NULL && host.activity != NULL) {
		list_idle(&host);
		status = read_host(&host, err);
		finish(&host);
	}
	if (host.flows == NULL || host.activity == NULL || fsl_trace_flows_is_short(host.flows)) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
				  (int)profiler->rank->rank);
	}
	file->n_records = n_records;
	fsl_free(host.comms);
	fsl_free(host.activity);
	fsl_trace_flows_destroy(host.flows);
	return status;
}

/* Tasks of the device: COMMUNICATION_OP (whole collectives) and TASK with COMPUTE_TASK_INFO
 * (kernels). Other rows of TASK (events, waits, parts of collectives) are no work of their own. */
#include "base/try.h"
#include "source/ascend/read_profiler_parts.h"

#include <ctype.h>
#include <string.h>

#include "capture/breakdown.h"
#include "capture/kept_rows.h"
#include "capture/kernel_classes.h"
#include "source/ascend/comms.h"
#include "source/ascend/merge.h"

enum { COMMS_MAX = 1 << 22, TASKS_MAX = 1 << 22 };

enum comm_column { COMM_BEGIN, COMM_END, COMM_NAME, COMM_GROUP, COMM_DEVICE, COMM_COLUMNS_N };

static const struct fsl_db_column comm_columns[COMM_COLUMNS_N] = {
	[COMM_BEGIN] = {{"startNs"}, true, 0},    [COMM_END] = {{"endNs"}, true, 0},
	[COMM_NAME] = {{"opName"}, true, 0},      [COMM_GROUP] = {{"groupName"}, false, 0},
	[COMM_DEVICE] = {{"deviceId"}, false, 0},
};

static const struct fsl_db_select comm_select = {
	{"COMMUNICATION_OP"}, NULL, comm_columns, COMM_COLUMNS_N, "ORDER BY 1, 2, 3"};

enum kernel_column {
	KERNEL_BEGIN,
	KERNEL_END,
	KERNEL_DEVICE,
	KERNEL_NAME,
	KERNEL_TYPE,
	KERNEL_CORE,
	KERNEL_SHAPES,
	KERNEL_TYPES,
	KERNEL_BLOCKS,
	KERNEL_TASK,
	KERNEL_COLUMNS_N
};

static const struct fsl_db_column kernel_columns[KERNEL_COLUMNS_N] = {
	[KERNEL_BEGIN] = {{"startNs"}, true, 0},
	[KERNEL_END] = {{"endNs"}, true, 0},
	[KERNEL_DEVICE] = {{"deviceId"}, false, 0},
	[KERNEL_NAME] = {{"name"}, true, 1},
	[KERNEL_TYPE] = {{"opType"}, true, 1},
	[KERNEL_CORE] = {{"taskType"}, false, 1},
	[KERNEL_SHAPES] = {{"inputShapes"}, false, 1},
	[KERNEL_TYPES] = {{"inputDataTypes"}, false, 1},
	[KERNEL_BLOCKS] = {{"blockDim"}, false, 1},
	[KERNEL_TASK] = {{"globalTaskId"}, false, 0},
};

/*
 * Rows are nearly in the order of begins. Sorting doubles the cost, so it is done only if needed.
 */
static const struct fsl_db_select kernel_select = {
	{"TASK", "COMPUTE_TASK_INFO"}, "globalTaskId", kernel_columns, KERNEL_COLUMNS_N, ""};
static const struct fsl_db_select sorted_select = {{"TASK", "COMPUTE_TASK_INFO"},
						   "globalTaskId",
						   kernel_columns,
						   KERNEL_COLUMNS_N,
						   "ORDER BY 1, 2, 4"};

struct pass {
	struct fsl_profiler *profiler;
	struct fsl_db_rows *rows; /* the present one */
	struct fsl_task *comms;   /* sorted by begin */
	size_t n_comms, comms_capacity;
	struct fsl_breakdown *breakdown; /* NULL: text files have the steps */
	struct fsl_kernel_classes classes;
	int64_t begin_ns, end_ns; /* range of all tasks */
	size_t next;              /* index in comms of the next one for the breakdown */
	bool is_late;
};

static void extend(struct pass *pass, const struct fsl_task *task)
{
	bool is_first = pass->begin_ns == FSL_NS_ABSENT;
	pass->begin_ns =
		is_first || task->begin_ns < pass->begin_ns ? task->begin_ns : pass->begin_ns;
	pass->end_ns = is_first || task->end_ns > pass->end_ns ? task->end_ns : pass->end_ns;
}

static enum fsl_status keep_task(struct pass *pass, const struct fsl_task *task,
				 struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(pass->comms, pass->comms_capacity, pass->n_comms + 1, err));
	pass->comms[pass->n_comms++] = *task;
	extend(pass, task);
	return FSL_OK;
}

static enum fsl_status add_comm(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct pass *pass = context;
	struct fsl_profile_rank *rank = pass->profiler->rank;
	struct fsl_task task;
	struct fsl_profile_comm comm = {.transit_ns = FSL_NS_ABSENT,
					.wait_ns = FSL_NS_ABSENT,
					.sync_ns = FSL_NS_ABSENT,
					.idle_ns = FSL_NS_ABSENT,
					.traffic_begin = (uint32_t)rank->n_traffic};
	if (!fsl_profiler_times(rows, COMM_BEGIN, COMM_END, &task.begin_ns, &task.end_ns)) {
		fsl_db_drop(rows, "a communication operator without times");
		return FSL_OK;
	}
	if (!fsl_profiler_is_own(pass->profiler, rows, COMM_DEVICE)) {
		return FSL_OK;
	}
	bool is_in_step = fsl_profiler_step_at(pass->profiler, task.begin_ns, &task.step);
	FSL_TRY(fsl_profiler_column_name(pass->profiler, rows, COMM_NAME, &comm.name_id, err));
	FSL_TRY(fsl_profiler_group(pass->profiler, rows, COMM_GROUP, &comm.group_id, err));
	const char *name = fsl_strpool_text(rank->names, comm.name_id);
	task.name_id = comm.name_id;
	task.kind =
		strncmp(name, "hcom_receive", 12) == 0 ? FSL_TASK_RECEIVE : FSL_TASK_COMMUNICATION;
	FSL_TRY(keep_task(pass, &task, err));
	if (pass->n_comms == COMMS_MAX) {
		fsl_db_stop(rows);
	}
	if (!is_in_step || comm.name_id == FSL_STR_NONE ||
	    !fsl_profile_wants_step(pass->profiler->input, task.step)) {
		return FSL_OK;
	}
	comm.step = task.step;
	comm.is_p2p = fsl_profile_is_p2p(name, strlen(name));
	comm.begin_ns = task.begin_ns;
	comm.elapse_ns = task.end_ns - task.begin_ns;
	FSL_TRY(FSL_GROW(rank->comms, rank->comms_capacity, rank->n_comms + 1, err));
	rank->comms[rank->n_comms++] = comm;
	return FSL_OK;
}

static enum fsl_status read_comms(struct pass *pass, struct fsl_error *err)
{
	struct fsl_profiler *profiler = pass->profiler;
	struct fsl_profile_rank *rank = profiler->rank;
	size_t first = rank->n_comms;
	enum fsl_status status = fsl_db_read(profiler->db, &comm_select, add_comm, pass, err);
	if (status == FSL_OK) {
		status = fsl_profile_merge_comms(rank, &first, profiler->db, err);
	}
	fsl_profile_sort_comms(rank);
	return status;
}

/* Adds the operators that begin up to @until_ns: tasks must come in the order of begins. */
static enum fsl_status add_comms(struct pass *pass, int64_t until_ns, struct fsl_error *err)
{
	while (pass->next < pass->n_comms && pass->comms[pass->next].begin_ns <= until_ns) {
		FSL_TRY(fsl_breakdown_add(pass->breakdown, &pass->comms[pass->next++],
					  &pass->is_late, err));
	}
	return FSL_OK;
}

/* Text as in the CSV file: without the quotes around it. */
static const char *unquote(const char *text, size_t *length)
{
	*length = strlen(text);
	if (*length >= 2 && text[0] == '"' && text[*length - 1] == '"') {
		text++;
		*length -= 2;
	}
	return text;
}

/* Keeps the task of a kernel for its counters. */
static enum fsl_status keep_kernel(struct pass *pass, const struct fsl_kernel *kernel, uint32_t at,
				   struct fsl_error *err)
{
	struct fsl_profiler *profiler = pass->profiler;
	struct fsl_profiler_task task = {.kernels_idx = at, .dur_ns = (float)kernel->dur_ns};
	if (at == FSL_STR_NONE || profiler->n_tasks == TASKS_MAX ||
	    !fsl_db_i64(pass->rows, KERNEL_TASK, &task.id)) {
		return FSL_OK;
	}
	return FSL_APPEND(profiler, tasks, &task, err);
}

static enum fsl_status count_kernel(struct pass *pass, const struct fsl_task *task,
				    uint32_t type_id, struct fsl_error *err)
{
	struct fsl_profiler *profiler = pass->profiler;
	bool is_full = false;
	uint32_t at = FSL_STR_NONE;
	uint32_t shapes = FSL_STR_NONE, types = FSL_STR_NONE;
	struct fsl_kernel kernel = {.step = task->step,
				    .begin_ns = task->begin_ns,
				    .dur_ns = task->end_ns - task->begin_ns,
				    .type_id = type_id};
	FSL_TRY(fsl_profiler_column_name(profiler, pass->rows, KERNEL_CORE, &kernel.core_id, err));
	FSL_TRY(fsl_profiler_column_name(profiler, pass->rows, KERNEL_SHAPES, &shapes, err));
	FSL_TRY(fsl_profiler_column_name(profiler, pass->rows, KERNEL_TYPES, &types, err));
	(void)fsl_db_i64(pass->rows, KERNEL_BLOCKS, &kernel.n_blocks);
	const struct fsl_strpool *names = profiler->rank->names;
	kernel.shapes = unquote(fsl_strpool_text(names, shapes), &kernel.n_shapes);
	kernel.types = unquote(fsl_strpool_text(names, types), &kernel.n_types);
	const struct fsl_kept_kernel kept = {.begin_ns = task->begin_ns,
					     .end_ns = task->end_ns,
					     .step = task->step,
					     .name_id = task->name_id,
					     .core_id = kernel.core_id};
	if (profiler->rank->kept != NULL && !profiler->rank->kept->has_text) {
		FSL_TRY(fsl_keep_kernel(profiler->rank, &kept, err));
	}
	if (task->kind != FSL_TASK_ON_CPU) {
		FSL_TRY(fsl_kernel_classes_add(&pass->classes, &kernel, &at, err));
		FSL_TRY(keep_kernel(pass, &kernel, at, err));
	}
	if (task->kind != FSL_TASK_COMPUTE) {
		FSL_TRY(fsl_profile_add_call(profiler->rank, task, type_id, at, &is_full, err));
	}
	return !is_full ? FSL_OK
			: fsl_db_tell(profiler->db, FSL_FILE_PARTIAL, err,
				      "more than a million kernels that communicate; further ones "
				      "count as computing");
}

static enum fsl_status add_kernel(struct pass *pass, struct fsl_error *err)
{
	struct fsl_profiler *profiler = pass->profiler;
	struct fsl_task task = {.kind = FSL_TASK_COMPUTE};
	if (!fsl_profiler_times(pass->rows, KERNEL_BEGIN, KERNEL_END, &task.begin_ns,
				&task.end_ns)) {
		fsl_db_drop(pass->rows, "a task without times");
		return FSL_OK;
	}
	if (!fsl_profiler_is_own(profiler, pass->rows, KERNEL_DEVICE)) {
		return FSL_OK;
	}
	bool is_in_step = fsl_profiler_step_at(profiler, task.begin_ns, &task.step);
	extend(pass, &task);
	FSL_TRY(fsl_profiler_column_name(profiler, pass->rows, KERNEL_NAME, &task.name_id, err));
	uint32_t type_id = FSL_STR_NONE;
	FSL_TRY(fsl_profiler_column_name(profiler, pass->rows, KERNEL_TYPE, &type_id, err));
	type_id = type_id != FSL_STR_NONE ? type_id : task.name_id; /* level 0 has no types */
	const char *type = fsl_strpool_text(profiler->rank->names, type_id);
	bool is_wanted = is_in_step && fsl_profile_wants_step(profiler->input, task.step);
	task.kind = fsl_profile_kernel_task(profiler->rank, type, strlen(type));
	task.call = is_wanted ? (uint32_t)profiler->rank->n_calls : FSL_STR_NONE;
	FSL_TRY(add_comms(pass, task.begin_ns, err));
	FSL_TRY(fsl_breakdown_add(pass->breakdown, &task, &pass->is_late, err));
	return is_wanted ? count_kernel(pass, &task, type_id, err) : FSL_OK;
}

/* Drops the sums of tasks outside the steps. Such tasks are read because they end gaps. */
static void forget_outside(struct fsl_profiler *profiler)
{
	struct fsl_profile_rank *rank = profiler->rank;
	size_t n_rebuilt = 0, n_gaps = 0;
	for (size_t i = 0; i < rank->n_rebuilt && profiler->n_steps > 0; i++) {
		if (rank->rebuilt[i].step != FSL_STEP_ABSENT) {
			rank->rebuilt[n_rebuilt++] = rank->rebuilt[i];
		}
	}
	for (size_t i = 0; i < rank->n_gaps && profiler->n_steps > 0; i++) {
		if (rank->gaps[i].step != FSL_STEP_ABSENT) {
			rank->gaps[n_gaps++] = rank->gaps[i];
		}
	}
	rank->n_rebuilt = profiler->n_steps > 0 ? n_rebuilt : rank->n_rebuilt;
	rank->n_gaps = profiler->n_steps > 0 ? n_gaps : rank->n_gaps;
}

static enum fsl_status finish(struct pass *pass, struct fsl_error *err)
{
	struct fsl_profiler *profiler = pass->profiler;
	bool is_whole = true;
	enum fsl_status status =
		fsl_breakdown_finish(pass->breakdown, profiler->rank, profiler->input,
				     profiler->device_id, &is_whole, err);
	forget_outside(profiler);
	if (status == FSL_OK && !is_whole) {
		status = fsl_db_tell(profiler->db, FSL_FILE_PARTIAL, err,
				     "too many steps; times of further ones are left out");
	}
	if (status == FSL_OK && pass->classes.is_full) {
		status = fsl_db_tell(profiler->db, FSL_FILE_PARTIAL, err,
				     "too many kinds of kernels; further shapes are not told "
				     "apart");
	}
	return status;
}

static enum fsl_status read_rows(struct pass *pass, struct fsl_error *err)
{
	bool has_row = true;
	while (has_row && !pass->is_late) {
		FSL_TRY(fsl_db_next(pass->rows, &has_row, err));
		if (has_row) {
			FSL_TRY(add_kernel(pass, err));
		}
	}
	if (!pass->is_late) {
		FSL_TRY(add_comms(pass, INT64_MAX, err));
	}
	return !pass->is_late ? finish(pass, err) : FSL_OK;
}

/*
 * Reads all kernels. If one came too late for the breakdown, sets pass->is_late and keeps nothing.
 */
static enum fsl_status read_kernels(struct pass *pass, const struct fsl_db_select *select,
				    struct fsl_error *err)
{
	struct fsl_profile_rank *rank = pass->profiler->rank;
	pass->rows = NULL;
	pass->next = 0;
	pass->is_late = false;
	pass->profiler->n_tasks = 0;
	pass->classes = (struct fsl_kernel_classes){.rank = rank};
	pass->breakdown = fsl_breakdown_create(FSL_BREAKDOWN_WINDOW);
	if (pass->breakdown == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	enum fsl_status status = fsl_db_select(&pass->rows, pass->profiler->db, select, err);
	if (status == FSL_OK && pass->rows != NULL) {
		status = read_rows(pass, err);
	}
	rank->n_kernels = pass->is_late ? 0 : rank->n_kernels;
	rank->n_calls = pass->is_late ? 0 : rank->n_calls;
	if (pass->is_late && rank->kept != NULL && !rank->kept->has_text) {
		fsl_forget_kernels(rank);
	}
	fsl_db_rows_close(pass->rows);
	fsl_kernel_classes_fini(&pass->classes);
	fsl_breakdown_destroy(pass->breakdown);
	return status;
}

/* Fills in kernels; steps and gaps from trace_view.json stay. */
static enum fsl_status fill_kernels(struct pass *pass, struct fsl_error *err)
{
	struct fsl_profiler *profiler = pass->profiler;
	struct fsl_profile_rank *rank = profiler->rank;
	const struct fsl_file before = *profiler->input->file;
	size_t n_rebuilt = rank->n_rebuilt, n_gaps = rank->n_gaps;
	enum fsl_status status = read_kernels(pass, &kernel_select, err);
	if (status == FSL_OK && pass->is_late) {
		*profiler->input->file = before;
		status = read_kernels(pass, &sorted_select, err);
	}
	if (status == FSL_OK && pass->is_late) {
		/* A text in a column of numbers sorts behind all numbers. */
		status = fsl_db_tell(profiler->db, FSL_FILE_PARTIAL, err,
				     "tasks are not in order; copy or parse it again");
	}
	rank->n_rebuilt = n_rebuilt > 0 ? n_rebuilt : rank->n_rebuilt;
	rank->n_gaps = n_gaps > 0 ? n_gaps : rank->n_gaps;
	return status;
}

enum fsl_status fsl_profiler_read_tasks(struct fsl_profiler *profiler, struct fsl_error *err)
{
	struct pass pass = {.profiler = profiler, .begin_ns = FSL_NS_ABSENT};
	struct fsl_profile_rank *rank = profiler->rank;
	enum fsl_status status = read_comms(&pass, err);
	if (status == FSL_OK && rank->n_kernels == 0) {
		status = fill_kernels(&pass, err);
	}
	if (rank->trace.begin_ns == FSL_NS_ABSENT && pass.begin_ns != FSL_NS_ABSENT) {
		rank->trace.begin_ns = pass.begin_ns;
		rank->trace.end_ns = pass.end_ns;
	}
	fsl_free(pass.comms);
	return status;
}

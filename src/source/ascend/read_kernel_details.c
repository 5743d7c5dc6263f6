/*
 * kernel_details.csv: one row per task of the device, of some tens to some hundred bytes. Kernels
 * are counted by step, type, shape and core. All tasks are summed to the values of
 * step_trace_time.csv. Captures of level 0 have no communication.json: their rows of communication
 * replace it.
 *
 * op_summary_*.csv of msprof is the same table with other headers and without steps
 * (step_trace_*.csv may have them). Its columns are described in the reference of profile data
 * files (docs/en/user_guide of github.com/Ascend/msprof, "op_summary"), and for CANN 8.0 on
 * hiascend.com. "Block Dim" became "Block Num". "Model Name" and "Infer ID" exist for inference
 * only. Columns of counters depend on the counters that were on. Rows are sorted by device, then by
 * begin; the begin ends with a tab. Rows of communication are named as in kernel_details.csv.
 */
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/try.h"
#include "capture/breakdown.h"
#include "capture/kept_rows.h"
#include "capture/kernel_classes.h"
#include "source/ascend/comms.h"
#include "source/ascend/table.h"
#include "source/ascend/trace_steps.h"

enum { COMMS_MAX = 1 << 20 }; /* a long capture of level 0 has some ten thousand */

enum column {
	STEP,
	DEVICE,
	NAME,
	TYPE,
	CORE,
	START,
	DURATION,
	SHAPES,
	DATA_TYPES,
	BLOCKS,
	RATIOS, /* counters of the cores, from here on */
	COLUMNS_N = RATIOS + 8
};

/* CANN 5 and 6 write no unit. It is the us of all versions. */
static const char bare_start[] = "Task Start Time";

/* Names of kernel_details.csv first, then those of op_summary. */
static const struct fsl_table_column columns[COLUMNS_N] = {
	[STEP] = {{"Step Id", "Step"}, false},
	[DEVICE] = {{"Device_id", "Device Id"}, false},
	[NAME] = {{"Name", "Op Name"}, true},
	[TYPE] = {{"Type", "OP Type", "Op Type"}, true},
	[CORE] = {{"Accelerator Core", "Task Type"}, false},
	[START] = {{"Start Time(us)", "Task Start Time(us)", bare_start}, true},
	[DURATION] = {{"Duration(us)", "Task Duration(us)", "Task Duration"}, true},
	[SHAPES] = {{"Input Shapes"}, false},
	[DATA_TYPES] = {{"Input Data Types"}, false},
	[BLOCKS] = {{"Block Dim", "Block Num"}, false},
	[RATIOS] = {{"aic_mac_ratio", "mac_ratio"}, false},
	[RATIOS + 1] = {{"aiv_vec_ratio", "vec_ratio"}, false},
	[RATIOS + 2] = {{"aic_scalar_ratio", "scalar_ratio"}, false},
	[RATIOS + 3] = {{"aiv_scalar_ratio"}, false},
	[RATIOS + 4] = {{"aic_mte2_ratio", "mte2_ratio"}, false},
	[RATIOS + 5] = {{"aiv_mte2_ratio"}, false},
	[RATIOS + 6] = {{"aic_fixpipe_ratio"}, false},
	[RATIOS + 7] = {{"aiv_mte3_ratio", "mte3_ratio"}, false},
};

/* The unit of each counter. Of both cores of a mixed kernel the busier one counts. */
static const enum fsl_profile_pipe pipe_of[COLUMNS_N - RATIOS] = {
	FSL_PIPE_CUBE, FSL_PIPE_VECTOR, FSL_PIPE_SCALAR, FSL_PIPE_SCALAR,
	FSL_PIPE_READ, FSL_PIPE_READ,   FSL_PIPE_WRITE,  FSL_PIPE_WRITE,
};

enum fsl_profile_pipe fsl_profile_pipe_of(const char *counter)
{
	for (size_t i = 0; i < COLUMNS_N - RATIOS; i++) {
		for (size_t k = 0; columns[RATIOS + i].names[k] != NULL; k++) {
			if (strcmp(counter, columns[RATIOS + i].names[k]) == 0) {
				return pipe_of[i];
			}
		}
	}
	return FSL_PIPES_N;
}

/* Sums over the tasks of one rank while the table is read, which may come in slices. */
struct fsl_kernel_sums {
	struct fsl_breakdown *breakdown;
	int64_t device_id; /* first device in the rows; -1: none yet */
	bool wants_comms;  /* communication.json had no operators */
};

/* One pass over the file. */
struct pass {
	struct fsl_table table;
	struct fsl_kernel_sums *sums;
	struct fsl_kernel_classes classes;
	uint8_t *kinds; /* of types by their id: kind of task + 1; 0: not asked for yet */
	size_t kinds_capacity;
	bool has_ratios; /* columns of counters */
	bool is_late;
};

static bool begins_with(struct fsl_csv_field field, const char *head)
{
	size_t n = strlen(head);
	return field.length >= n && strncasecmp(field.text, head, n) == 0;
}

static bool is_text(struct fsl_csv_field field, const char *text)
{
	return field.length == strlen(text) && memcmp(field.text, text, field.length) == 0;
}

/* Drops the framework operator that MindSpore puts in front:
 * "Default/AllReduce-op3/hcom_allReduce_..". */
static struct fsl_csv_field base_name(struct fsl_csv_field name)
{
	const char *slash = memrchr(name.text, '/', name.length);
	if (slash != NULL) {
		name.length -= (size_t)(slash + 1 - name.text);
		name.text = slash + 1;
	}
	return name;
}

/* Kind by the type, or by the name if level 0 tells no type. A type is looked up once. */
static enum fsl_status kind_of_kernel(struct pass *pass, struct fsl_csv_field name,
				      uint32_t type_id, enum fsl_task_kind *out,
				      struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = pass->table.rank;
	if (type_id == FSL_STR_NONE) {
		*out = fsl_profile_kernel_task(rank, name.text, name.length);
		return FSL_OK;
	}
	size_t n_before = pass->kinds_capacity;
	FSL_TRY(FSL_GROW(pass->kinds, pass->kinds_capacity, (size_t)type_id + 1, err));
	memset(pass->kinds + n_before, 0, pass->kinds_capacity - n_before);
	if (pass->kinds[type_id] == 0) {
		const char *type = fsl_strpool_text(rank->names, type_id);
		pass->kinds[type_id] =
			(uint8_t)(fsl_profile_kernel_task(rank, type, strlen(type)) + 1);
	}
	*out = (enum fsl_task_kind)(pass->kinds[type_id] - 1);
	return FSL_OK;
}

/* Kind by the core: "HCCL" until 2024; captures of level 0 have no other core. An operator of HCCL
 * communicates on whatever core it runs. *type_id: of kernels. */
static enum fsl_status kind_of(struct pass *pass, enum fsl_task_kind *out, uint32_t *type_id,
			       struct fsl_error *err)
{
	const struct fsl_table *table = &pass->table;
	struct fsl_csv_field core = fsl_table_field(table, CORE);
	struct fsl_csv_field name = base_name(fsl_table_field(table, NAME));
	if (!is_text(core, "COMMUNICATION") && !is_text(core, "HCCL") &&
	    !begins_with(name, "hcom_")) {
		FSL_TRY(fsl_table_intern(table, TYPE, type_id, err));
		return kind_of_kernel(pass, name, *type_id, out, err);
	}
	static const char receive[] = "hcom_receive"; /* the profiler compares case-sensitively */
	size_t n = sizeof(receive) - 1;
	*out = name.length >= n && memcmp(name.text, receive, n) == 0 ? FSL_TASK_RECEIVE
								      : FSL_TASK_COMMUNICATION;
	return FSL_OK;
}

/* Reads step and times of the row; returns NULL, or what is wrong with the row. */
static const char *parse(struct pass *pass, struct fsl_task *task)
{
	const struct fsl_table *table = &pass->table;
	int64_t dur_ns = 0;
	task->step = FSL_STEP_ABSENT;
	if (!fsl_table_scaled(table, STEP, 1, &task->step) &&
	    fsl_table_field(table, STEP).length > 0) {
		return "the step is no number";
	}
	if (!fsl_table_scaled(table, START, FSL_NS_PER_US, &task->begin_ns) || task->begin_ns < 0) {
		return "the start time is missing or no number";
	}
	if (!fsl_table_scaled(table, DURATION, FSL_NS_PER_US, &dur_ns) || dur_ns < 0 ||
	    __builtin_add_overflow(task->begin_ns, dur_ns, &task->end_ns)) {
		return "the duration is missing or no number";
	}
	if (task->step == FSL_STEP_ABSENT) {
		task->step = fsl_trace_step_of(&table->rank->trace, task->begin_ns, dur_ns);
	}
	int64_t device_id = fsl_table_amount(table, DEVICE, 1, -1);
	if (pass->sums->device_id < 0) {
		pass->sums->device_id = device_id;
	}
	return device_id < 0 || device_id == pass->sums->device_id ? NULL
								   : fsl_profile_other_device;
}

static enum fsl_status add_comm(struct pass *pass, const struct fsl_task *task,
				struct fsl_error *err)
{
	struct fsl_profile_rank *rank = pass->table.rank;
	if (rank->n_comms == COMMS_MAX) {
		fsl_table_tell(&pass->table, "more than a million communication operators; "
					     "further ones are left out");
		return FSL_OK;
	}
	struct fsl_csv_field name = base_name(fsl_table_field(&pass->table, NAME));
	struct fsl_profile_comm comm = {
		.step = task->step,
		.group_id = FSL_STR_NONE,
		.is_p2p = fsl_profile_is_p2p(name.text, name.length),
		.begin_ns = task->begin_ns,
		.elapse_ns = task->end_ns - task->begin_ns,
		.transit_ns = FSL_NS_ABSENT,
		.wait_ns = FSL_NS_ABSENT,
		.sync_ns = FSL_NS_ABSENT,
		.idle_ns = FSL_NS_ABSENT,
	};
	FSL_TRY(fsl_table_intern_text(&pass->table, name, &comm.name_id, err));
	FSL_TRY(FSL_GROW(rank->comms, rank->comms_capacity, rank->n_comms + 1, err));
	rank->comms[rank->n_comms++] = comm;
	return FSL_OK;
}

static void add_pipes(const struct fsl_table *table, struct fsl_profile_kernels *kernels,
		      int64_t dur_ns)
{
	const int64_t SCALE = 1000000;
	int64_t ratios[FSL_PIPES_N] = {0};
	for (size_t i = 0; i < COLUMNS_N - RATIOS; i++) {
		int64_t ratio = fsl_table_amount(table, RATIOS + i, SCALE, 0);
		int64_t *most = &ratios[pipe_of[i]];
		*most = ratio > *most && ratio <= SCALE ? ratio : *most;
	}
	for (size_t p = 0; p < FSL_PIPES_N; p++) {
		kernels->pipe_ns[p] += (float)ratios[p] / (float)SCALE * (float)dur_ns;
	}
}

/* A kernel that only communicates is no work of the rank. */
static enum fsl_status add_kernel(struct pass *pass, const struct fsl_task *task, uint32_t type_id,
				  struct fsl_error *err)
{
	bool is_full = false;
	uint32_t at = FSL_STR_NONE;
	const struct fsl_csv_field shapes = fsl_table_field(&pass->table, SHAPES);
	const struct fsl_csv_field types = fsl_table_field(&pass->table, DATA_TYPES);
	struct fsl_kernel kernel = {.step = task->step,
				    .begin_ns = task->begin_ns,
				    .dur_ns = task->end_ns - task->begin_ns,
				    .type_id = type_id,
				    .n_blocks = fsl_table_amount(&pass->table, BLOCKS, 1, 0),
				    .shapes = shapes.text,
				    .n_shapes = shapes.length,
				    .types = types.text,
				    .n_types = types.length};
	if (kernel.type_id == FSL_STR_NONE) {
		kernel.type_id = task->name_id; /* level 0 writes N/A for all types */
	}
	FSL_TRY(fsl_table_intern(&pass->table, CORE, &kernel.core_id, err));
	const struct fsl_kept_kernel kept = {.begin_ns = task->begin_ns,
					     .end_ns = task->end_ns,
					     .step = task->step,
					     .name_id = task->name_id,
					     .core_id = kernel.core_id};
	FSL_TRY(fsl_keep_kernel(pass->table.rank, &kept, err));
	if (task->kind != FSL_TASK_ON_CPU) {
		FSL_TRY(fsl_kernel_classes_add(&pass->classes, &kernel, &at, err));
	}
	if (at != FSL_STR_NONE && pass->has_ratios) {
		add_pipes(&pass->table, &pass->table.rank->kernels[at], kernel.dur_ns);
	}
	if (task->kind != FSL_TASK_COMPUTE) {
		FSL_TRY(fsl_profile_add_call(pass->table.rank, task, kernel.type_id, at, &is_full,
					     err));
	}
	if (is_full) {
		fsl_table_tell(&pass->table, "more than a million kernels that communicate; "
					     "further ones count as computing");
	}
	return FSL_OK;
}

/*
 * Adds the row, also of unwanted steps: free time of a step ends with the next step's first task.
 */
static enum fsl_status add_row(struct pass *pass, struct fsl_error *err)
{
	struct fsl_table *table = &pass->table;
	struct fsl_task task;
	const char *fault = parse(pass, &task);
	if (fault != NULL) {
		fsl_table_drop(table, fault);
		return FSL_OK;
	}
	bool is_wanted = fsl_profile_wants_step(table->input, task.step);
	uint32_t type_id = FSL_STR_NONE;
	FSL_TRY(kind_of(pass, &task.kind, &type_id, err));
	task.call = is_wanted ? (uint32_t)table->rank->n_calls : FSL_STR_NONE;
	FSL_TRY(fsl_table_intern(table, NAME, &task.name_id, err));
	FSL_TRY(fsl_breakdown_add(pass->sums->breakdown, &task, &pass->is_late, err));
	if (!is_wanted) {
		return FSL_OK;
	}
	if (task.kind != FSL_TASK_COMMUNICATION && task.kind != FSL_TASK_RECEIVE) {
		return add_kernel(pass, &task, type_id, err);
	}
	return pass->sums->wants_comms ? add_comm(pass, &task, err) : FSL_OK;
}

static enum fsl_status finish(struct pass *pass, struct fsl_error *err)
{
	struct fsl_table *table = &pass->table;
	bool is_whole = true;
	if (pass->sums->wants_comms) {
		fsl_profile_sort_comms(table->rank);
	}
	if (pass->classes.is_full) {
		fsl_table_tell(table, "too many kinds of kernels; further shapes are not told "
				      "apart");
	}
	enum fsl_status status =
		fsl_breakdown_finish(pass->sums->breakdown, table->rank, table->input,
				     pass->sums->device_id, &is_whole, err);
	if (!is_whole) {
		fsl_table_tell(table, "too many steps; times of further ones are left out");
	}
	return status;
}

/* Reads to the end, or to the first row that comes too late for the breakdown. */
static enum fsl_status read_rows(struct pass *pass, struct fsl_error *err)
{
	bool has_row = true;
	while (has_row && !pass->is_late) {
		FSL_TRY(fsl_table_next(&pass->table, &has_row, err));
		if (has_row) {
			FSL_TRY(add_row(pass, err));
		}
	}
	return FSL_OK;
}

/*
 * Reads a file once, adding to rank->kernel_sums. If no slice follows, writes the sums to the rank.
 */
static enum fsl_status read_once(struct fsl_profile_rank *rank,
				 const struct fsl_profile_input *input, bool *is_late,
				 struct fsl_error *err)
{
	struct pass pass = {.classes = {.rank = rank}, .sums = rank->kernel_sums};
	bool is_usable = false;
	enum fsl_status status =
		fsl_table_open(&pass.table, rank, input, columns, COLUMNS_N, &is_usable, err);
	if (is_usable) {
		rank->has_bare_times |= fsl_table_has(&pass.table, START, bare_start);
		for (size_t i = RATIOS; i < COLUMNS_N; i++) {
			pass.has_ratios |= pass.table.at[i] != SIZE_MAX;
		}
		status = read_rows(&pass, err);
	}
	if (status == FSL_OK && !pass.is_late && !input->has_next) {
		status = finish(&pass, err);
	}
	*is_late = pass.is_late;
	if (rank->kept != NULL) {
		rank->kept->has_text = rank->kept->n_kernels > 0;
	}
	if (pass.is_late) {
		rank->n_kernels = 0;
		rank->n_samples = 0;
		fsl_forget_kernels(rank);
		rank->n_calls = 0;
		rank->n_comms = pass.sums->wants_comms ? 0 : rank->n_comms;
	}
	fsl_table_close(&pass.table);
	fsl_kernel_classes_fini(&pass.classes);
	fsl_free(pass.kinds);
	if (!input->has_next || status != FSL_OK) {
		fsl_kernel_sums_destroy(rank->kernel_sums);
		rank->kernel_sums = NULL;
	}
	return status;
}

static enum fsl_status begin(struct fsl_profile_rank *rank, const struct fsl_profile_input *input,
			     size_t window, struct fsl_error *err)
{
	struct fsl_kernel_sums *sums = fsl_calloc(1, sizeof(*sums));
	struct fsl_breakdown *breakdown = fsl_breakdown_create(window);
	if (sums == NULL || breakdown == NULL) {
		fsl_free(sums);
		fsl_breakdown_destroy(breakdown);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", input->path);
	}
	*sums = (struct fsl_kernel_sums){breakdown, -1, rank->n_comms == 0};
	rank->kernel_sums = sums;
	return FSL_OK;
}

void fsl_kernel_sums_destroy(struct fsl_kernel_sums *sums)
{
	if (sums != NULL) {
		fsl_breakdown_destroy(sums->breakdown);
		fsl_free(sums);
	}
}

/* Reads again from the beginning and holds all tasks. */
static enum fsl_status read_again(struct fsl_profile_rank *rank,
				  const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct fsl_file *file = input->file;
	struct fsl_profile_input again = *input;
	struct fsl_reader *own = NULL;
	bool is_late = false;
	bool is_back = fsl_reader_can_seek(input->reader)
			       ? fsl_reader_seek(input->reader, 0, NULL) == FSL_OK
			       : fsl_reader_open(&own, input->path, NULL) == FSL_OK;
	if (!is_back) {
		file->state = FSL_FILE_UNUSABLE;
		file->message = "rows are not in the order of their start times, and the file "
				"cannot be read twice; unpack it";
		return FSL_OK;
	}
	again.reader = own != NULL ? own : input->reader;
	file->state = FSL_FILE_READ;
	file->message = "";
	file->n_records = 0;
	memset(file->n_dropped, 0, sizeof(file->n_dropped));
	enum fsl_status status = begin(rank, input, SIZE_MAX, err);
	if (status == FSL_OK) {
		status = read_once(rank, &again, &is_late, err);
	}
	fsl_reader_close(own);
	return status;
}

/*
 * A capture in slices cannot be read again as a whole, so all its tasks are held. Slices are rare.
 */
enum fsl_status fsl_profile_read_kernel_details(struct fsl_profile_rank *rank,
						const struct fsl_profile_input *input,
						struct fsl_error *err)
{
	bool is_late = false;
	if (rank->kernel_sums == NULL) {
		FSL_TRY(begin(rank, input, input->has_next ? SIZE_MAX : FSL_BREAKDOWN_WINDOW, err));
	}
	FSL_TRY(read_once(rank, input, &is_late, err));
	return is_late ? read_again(rank, input, err) : FSL_OK;
}

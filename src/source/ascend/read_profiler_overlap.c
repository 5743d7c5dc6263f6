/* OVERLAP_ANALYSIS: the slices from which the profiler makes step_trace_time.csv. If no file has
 * the steps, they are the sums of these slices; otherwise the sums check the steps. */
#include "source/ascend/read_profiler_parts.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "capture/copies.h"
#include "source/ascend/merge.h"
#include "source/ascend/trace_steps.h"

enum { COMPUTING = 0, COMMUNICATION = 1, EXPOSED = 2, FREE = 3 }; /* values of column type */

enum column { BEGIN, END, TYPE, DEVICE, COLUMNS_N };

static const struct fsl_db_column columns[COLUMNS_N] = {
	[BEGIN] = {{"startNs"}, true, 0},
	[END] = {{"endNs"}, true, 0},
	[TYPE] = {{"type"}, true, 0},
	[DEVICE] = {{"deviceId"}, false, 0},
};

static const struct fsl_db_select select_all = {
	{"OVERLAP_ANALYSIS"}, NULL, columns, COLUMNS_N, "ORDER BY 1, 2"};

/* State while the slices of a step are summed; slices come sorted by begin. */
struct sums {
	struct fsl_profiler *profiler;
	size_t first;                      /* first step of this database in rank->steps */
	int64_t begin_ns, end_ns, task_ns; /* newest step, and its first device task */
	bool has_task;
	struct fsl_spans copies, free;
	bool has_copies; /* the trace told them */
};

/* The profiler's viewer tells by "NOT_FINISH" that it still writes the table. */
static enum fsl_status find_unfinished(struct fsl_db_rows *rows, void *context,
				       struct fsl_error *err)
{
	(void)err;
	static const char key[] = "OVERLAP_ANALYSIS_STATUS", value[] = "NOT_FINISH";
	size_t n_key = 0, n_value = 0;
	const char *name = fsl_db_text(rows, 0, &n_key);
	const char *text = fsl_db_text(rows, 1, &n_value);
	if (name != NULL && text != NULL && n_key == sizeof(key) - 1 &&
	    memcmp(name, key, n_key) == 0 && n_value == sizeof(value) - 1 &&
	    memcmp(text, value, n_value) == 0) {
		*(bool *)context = true;
	}
	return FSL_OK;
}

/* Derives the remaining fields of the newest step from its sums. */
static void end_step(struct sums *sums)
{
	struct fsl_profile_rank *rank = sums->profiler->rank;
	if (rank->n_steps == sums->first) {
		return;
	}
	struct fsl_profile_step *step = &rank->steps[rank->n_steps - 1];
	int64_t begin_ns =
		fsl_range_begin(sums->profiler->steps, sums->profiler->n_steps, step->step);
	step->device_id = sums->profiler->device_id;
	step->overlapped_ns = step->communication_ns > step->exposed_ns
				      ? step->communication_ns - step->exposed_ns
				      : 0;
	step->stage_ns = sums->end_ns - sums->begin_ns;
	if (begin_ns != FSL_NS_ABSENT && sums->has_task && sums->task_ns >= begin_ns) {
		step->preparing_ns = sums->task_ns - begin_ns;
	}
}

static enum fsl_status begin_step(struct sums *sums, int64_t step, int64_t begin_ns,
				  struct fsl_error *err)
{
	struct fsl_profile_rank *rank = sums->profiler->rank;
	if (rank->n_steps > sums->first && rank->steps[rank->n_steps - 1].step == step) {
		return FSL_OK;
	}
	end_step(sums);
	FSL_TRY(FSL_GROW(rank->steps, rank->steps_capacity, rank->n_steps + 1, err));
	rank->steps[rank->n_steps++] =
		(struct fsl_profile_step){.step = step,
					  .bubble_ns = FSL_NS_ABSENT,
					  .exposed_not_receive_ns = FSL_NS_ABSENT,
					  .preparing_ns = FSL_NS_ABSENT};
	sums->begin_ns = sums->end_ns = begin_ns;
	sums->has_task = false;
	return FSL_OK;
}

static int64_t *field_of(struct fsl_profile_step *step, int64_t type)
{
	switch (type) {
	case COMPUTING:
		return &step->computing_ns;
	case COMMUNICATION:
		return &step->communication_ns;
	case EXPOSED:
		return &step->exposed_ns;
	case FREE:
		return &step->free_ns;
	default:
		return NULL;
	}
}

static enum fsl_status add_slice(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct sums *sums = context;
	struct fsl_profiler *profiler = sums->profiler;
	int64_t begin_ns = 0, end_ns = 0, type = 0, number = 0;
	if (!fsl_profiler_times(rows, BEGIN, END, &begin_ns, &end_ns) ||
	    !fsl_db_i64(rows, TYPE, &type)) {
		fsl_db_drop(rows, "a slice without times or type");
		return FSL_OK;
	}
	if (!fsl_profiler_is_own(profiler, rows, DEVICE) ||
	    !fsl_profiler_step_at(profiler, begin_ns, &number) ||
	    !fsl_profile_wants_step(profiler->input, number)) {
		return FSL_OK;
	}
	FSL_TRY(begin_step(sums, number, begin_ns, err));
	struct fsl_profile_step *step = &profiler->rank->steps[profiler->rank->n_steps - 1];
	int64_t *field = field_of(step, type);
	if (field != NULL) {
		*field = fsl_sum_i64(*field, end_ns - begin_ns);
		sums->end_ns = end_ns > sums->end_ns ? end_ns : sums->end_ns;
	}
	if (type == FREE && !sums->has_copies) {
		FSL_TRY(fsl_spans_add(&sums->free, begin_ns, end_ns, number, err));
	}
	if (!sums->has_task && (type == COMPUTING || type == COMMUNICATION)) {
		sums->task_ns = begin_ns;
		sums->has_task = true;
	}
	return FSL_OK;
}

enum copy_column { COPY_BEGIN, COPY_END, COPY_DEVICE, COPY_KIND, COPY_COLUMNS_N };

static const struct fsl_db_column copy_columns[COPY_COLUMNS_N] = {
	[COPY_BEGIN] = {{"startNs"}, true, 0},
	[COPY_END] = {{"endNs"}, true, 0},
	[COPY_DEVICE] = {{"deviceId"}, false, 0},
	[COPY_KIND] = {{"taskType"}, false, 0},
};

static const struct fsl_db_select select_copies = {
	{"TASK"}, NULL, copy_columns, COPY_COLUMNS_N, ""};

static enum fsl_status add_copy(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct sums *sums = context;
	int64_t begin_ns = 0, end_ns = 0;
	uint32_t kind_id = FSL_STR_NONE;
	FSL_TRY(fsl_profiler_column_name(sums->profiler, rows, COPY_KIND, &kind_id, err));
	const char *kind = fsl_strpool_text(sums->profiler->rank->names, kind_id);
	if (strcmp(kind, "MEMCPY_ASYNC") != 0 ||
	    !fsl_profiler_times(rows, COPY_BEGIN, COPY_END, &begin_ns, &end_ns) ||
	    !fsl_profiler_is_own(sums->profiler, rows, COPY_DEVICE)) {
		return FSL_OK;
	}
	return fsl_spans_add(&sums->copies, begin_ns, end_ns, FSL_STEP_ABSENT, err);
}

/* The rows were counted when they were read as kernels. */
static enum fsl_status read_copies(struct sums *sums, struct fsl_error *err)
{
	struct fsl_file *file = sums->profiler->input->file;
	uint64_t n_records = file->n_records;
	enum fsl_status status =
		fsl_db_read(sums->profiler->db, &select_copies, add_copy, sums, err);
	file->n_records = n_records;
	return status;
}

enum fsl_status fsl_profiler_read_overlap(struct fsl_profiler *profiler, struct fsl_error *err)
{
	static const struct fsl_db_column status_columns[] = {{{"key"}, true, 0},
							      {{"value"}, true, 0}};
	static const struct fsl_db_select select_status = {
		{"status_info"}, NULL, status_columns, 2, ""};
	struct fsl_profile_rank *rank = profiler->rank;
	struct sums sums = {
		.profiler = profiler, .first = rank->n_steps, .has_copies = rank->n_copies > 0};
	bool is_unfinished = false;
	FSL_TRY(fsl_db_read(profiler->db, &select_status, find_unfinished, &is_unfinished, err));
	if (is_unfinished) {
		return FSL_OK;
	}
	enum fsl_status status = sums.has_copies ? FSL_OK : read_copies(&sums, err);
	FSL_THEN(status, fsl_db_read(profiler->db, &select_all, add_slice, &sums, err));
	if (!sums.has_copies) {
		FSL_THEN(status, fsl_copies_tell(&sums.copies, &sums.free, rank, err));
	}
	fsl_spans_fini(&sums.copies);
	fsl_spans_fini(&sums.free);
	FSL_TRY(status);
	end_step(&sums);
	return fsl_profile_merge_steps(rank, sums.first, profiler->db, err);
}

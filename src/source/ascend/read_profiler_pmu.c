/* TASK_PMU_INFO: counters of the cores, one row per task and counter, in any order. They are the
 * columns of kernel_details.csv by the same names. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/try.h"
#include "source/ascend/read_profiler_parts.h"

enum column { TASK, NAME, VALUE, COLUMNS_N };

static const struct fsl_db_column columns[COLUMNS_N] = {
	[TASK] = {{"globalTaskId"}, true, 0},
	[NAME] = {{"name"}, true, 0},
	[VALUE] = {{"value"}, true, 0},
};

static const struct fsl_db_select select_all = {{"TASK_PMU_INFO"}, NULL, columns, COLUMNS_N, ""};

struct pass {
	struct fsl_profiler *profiler;
	/* Of the previous row: rows of a counter come together. */
	uint32_t name_id;
	enum fsl_profile_pipe pipe;
};

static int compare_tasks(const void *left, const void *right)
{
	const struct fsl_profiler_task *a = left, *b = right;
	return FSL_ORDER(a->id, b->id);
}

static enum fsl_status add_row(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct pass *pass = context;
	struct fsl_profiler *profiler = pass->profiler;
	struct fsl_profiler_task wanted = {0};
	uint32_t name_id = FSL_STR_NONE;
	double ratio = fsl_db_real(rows, VALUE);
	FSL_TRY(fsl_profiler_column_name(profiler, rows, NAME, &name_id, err));
	if (name_id != pass->name_id) {
		pass->name_id = name_id;
		pass->pipe = fsl_profile_pipe_of(fsl_strpool_text(profiler->rank->names, name_id));
	}
	if (pass->pipe == FSL_PIPES_N || !(ratio > 0.0 && ratio <= 1.0) ||
	    !fsl_db_i64(rows, TASK, &wanted.id)) {
		return FSL_OK;
	}
	struct fsl_profiler_task *task =
		bsearch(&wanted, profiler->tasks, profiler->n_tasks, sizeof(wanted), compare_tasks);
	if (task != NULL) {
		task->ratios[pass->pipe] = fmaxf(task->ratios[pass->pipe], (float)ratio);
	}
	return FSL_OK;
}

enum fsl_status fsl_profiler_read_pmu(struct fsl_profiler *profiler, struct fsl_error *err)
{
	struct pass pass = {profiler, FSL_STR_NONE, FSL_PIPES_N};
	if (profiler->n_tasks == 0) {
		return FSL_OK;
	}
	qsort(profiler->tasks, profiler->n_tasks, sizeof(*profiler->tasks), compare_tasks);
	FSL_TRY(fsl_db_read(profiler->db, &select_all, add_row, &pass, err));
	for (size_t t = 0; t < profiler->n_tasks; t++) {
		const struct fsl_profiler_task *task = &profiler->tasks[t];
		for (size_t p = 0; p < FSL_PIPES_N; p++) {
			profiler->rank->kernels[task->kernels_idx].pipe_ns[p] +=
				task->ratios[p] * task->dur_ns;
		}
	}
	return FSL_OK;
}

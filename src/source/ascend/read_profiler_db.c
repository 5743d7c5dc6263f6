/* ascend_pytorch_profiler_<N>.db, ascend_mindspore_profiler_<N>.db, msprof_<time>.db: the
 * profiler's own databases, in ns, with texts by number. */
#include "source/ascend/read_profiler_parts.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/try.h"

enum { STEPS_MAX = 1 << 20 };

enum step_column { BEGIN, END, NUMBER, STEP_COLUMNS_N };

static const struct fsl_db_column step_columns[STEP_COLUMNS_N] = {
	[BEGIN] = {{"startNs"}, true, 0},
	[END] = {{"endNs"}, true, 0},
	[NUMBER] = {{"id"}, true, 0},
};

static const struct fsl_db_select step_select = {
	{"STEP_TIME"}, NULL, step_columns, STEP_COLUMNS_N, "ORDER BY 1, 2, 3"};

static enum fsl_status add_step(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct fsl_profiler *profiler = context;
	struct fsl_profile_range step;
	if (!fsl_profiler_times(rows, BEGIN, END, &step.begin_ns, &step.end_ns) ||
	    !fsl_db_i64(rows, NUMBER, &step.step) || step.step < 0) {
		fsl_db_drop(rows, "a step without number or times");
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(profiler->steps, profiler->steps_capacity, profiler->n_steps + 1, err));
	profiler->steps[profiler->n_steps++] = step;
	if (profiler->n_steps == STEPS_MAX) {
		fsl_db_stop(rows);
	}
	return FSL_OK;
}

static int compare_steps(const void *left, const void *right)
{
	const struct fsl_profile_range *a = left, *b = right;
	return FSL_ORDER(a->begin_ns, b->begin_ns);
}

static enum fsl_status read_steps(struct fsl_profiler *profiler, struct fsl_error *err)
{
	FSL_TRY(fsl_db_read(profiler->db, &step_select, add_step, profiler, err));
	if (profiler->n_steps > 0) { /* sort again: numbers stored as text sort differently */
		qsort(profiler->steps, profiler->n_steps, sizeof(*profiler->steps), compare_steps);
	}
	return FSL_OK;
}

/* The device of the rank, or the only device if the rank is not listed. */
struct device_search {
	struct fsl_profiler *profiler;
	size_t n_rows;
	bool is_found;
};

static enum fsl_status add_device(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	(void)err;
	struct device_search *search = context;
	int64_t rank = -1, device_id = -1;
	if (fsl_db_i64(rows, 1, &device_id) && device_id >= 0) {
		search->profiler->device_id = device_id;
		search->n_rows++;
		search->is_found =
			fsl_db_i64(rows, 0, &rank) && rank == search->profiler->rank->rank;
	}
	if (search->is_found) {
		fsl_db_stop(rows);
	}
	return FSL_OK;
}

static enum fsl_status read_device(struct fsl_profiler *profiler, struct fsl_error *err)
{
	static const struct fsl_db_column columns[] = {{{"rankId"}, true, 0},
						       {{"deviceId"}, true, 0}};
	static const struct fsl_db_select select_all = {{"RANK_DEVICE_MAP"}, NULL, columns, 2, ""};
	struct device_search search = {.profiler = profiler};
	FSL_TRY(fsl_db_read(profiler->db, &select_all, add_device, &search, err));
	if (!search.is_found && search.n_rows > 1) {
		profiler->device_id = -1;
	}
	return FSL_OK;
}

enum fsl_status fsl_profile_read_profiler_db(struct fsl_profile_rank *rank, struct fsl_db *db,
					     const struct fsl_profile_input *input,
					     struct fsl_error *err)
{
	static enum fsl_status (*const parts[])(struct fsl_profiler *, struct fsl_error *) = {
		read_steps,
		read_device,
		fsl_profiler_read_info,
		fsl_profiler_read_tasks,
		fsl_profiler_read_links,
		fsl_profiler_read_overlap,
		fsl_profiler_read_calls,
		fsl_profiler_read_freqs,
		fsl_profiler_read_memory,
		fsl_profiler_read_launches,
	};
	struct fsl_profiler profiler = {.rank = rank, .db = db, .input = input, .device_id = -1};
	profiler.names.numbers = fsl_strpool_create();
	if (profiler.names.numbers == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	enum fsl_status status =
		fsl_db_lookup(&profiler.names.lookup, db, "STRING_IDS", "id", "value", err);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && status == FSL_OK; i++) {
		status = parts[i](&profiler, err);
	}
	fsl_profiler_names_fini(&profiler.names);
	fsl_free(profiler.steps);
	return status;
}

/* Scores: how fast a worker runs the kernels that all run, and those of its own earlier steps. */
#include "judge/functions.h"

#include <math.h>
#include <string.h>

#include "base/try.h"
#include "judge/limits.h"

/* A kernel by its name, over all workers. */
struct kernel {
	size_t n_workers; /* that run it */
	double least_ns;  /* median of one run, the least of all workers */
};

struct kernels {
	struct fsl_strpool *names;
	struct kernel *items;
	size_t capacity;
};

static const char *name_of(const struct fsl_function_worker *worker,
			   const struct fsl_kernel_level *level)
{
	return fsl_strpool_text(worker->rank->names, level->name_id);
}

static enum fsl_status add_kernels(struct kernels *kernels,
				   const struct fsl_function_worker *worker, struct fsl_error *err)
{
	const struct fsl_functions *functions = worker->functions;
	for (size_t i = 0; i < functions->n_levels; i++) {
		const struct fsl_kernel_level *level = &functions->levels[i];
		const char *name = name_of(worker, level);
		size_t n_before = fsl_strpool_size(kernels->names);
		uint32_t id = 0;
		if (level->step != FSL_STEP_ABSENT) {
			continue;
		}
		FSL_TRY(fsl_strpool_intern(kernels->names, name, strlen(name), &id, err));
		FSL_TRY(FSL_GROW(kernels->items, kernels->capacity, (size_t)id + 1, err));
		struct kernel *kernel = &kernels->items[id];
		*kernel = id == n_before ? (struct kernel){0, INFINITY} : *kernel;
		kernel->n_workers++;
		kernel->least_ns = fmin(kernel->least_ns, level->median_ns);
	}
	return FSL_OK;
}

/* Sum of references over own medians, weighted by time. */
struct score {
	double sum, weight;
};

static void add_score(struct score *score, const struct fsl_kernel_level *level,
		      double reference_ns)
{
	if (level->median_ns > 0.0) {
		score->sum += reference_ns / level->median_ns * (double)level->total_ns;
		score->weight += (double)level->total_ns;
	}
}

static double tell_score(const struct score *score)
{
	return score->weight > 0.0 ? score->sum / score->weight : NAN;
}

static double relative_score(const struct fsl_function_worker *worker,
			     const struct kernels *kernels, size_t n_workers)
{
	struct score score = {0.0, 0.0};
	for (size_t i = 0; i < worker->functions->n_levels; i++) {
		const struct fsl_kernel_level *level = &worker->functions->levels[i];
		const char *name = name_of(worker, level);
		if (level->step != FSL_STEP_ABSENT) {
			continue;
		}
		uint32_t id = fsl_strpool_find(kernels->names, name, strlen(name));
		if (id != FSL_STR_NONE && kernels->items[id].n_workers == n_workers) {
			add_score(&score, level, kernels->items[id].least_ns);
		}
	}
	return tell_score(&score);
}

/* The levels are sorted by step, those of the whole trace first. */
static enum fsl_status individual_score(struct fsl_function_worker *worker, struct fsl_error *err)
{
	const struct fsl_functions *functions = worker->functions;
	size_t n = functions->n_levels, n_names = fsl_strpool_size(worker->rank->names);
	int64_t last = n > 0 ? functions->levels[n - 1].step : FSL_STEP_ABSENT;
	double *least_ns = NULL;
	struct score score = {0.0, 0.0};
	bool has_earlier = false;
	FSL_TRY(FSL_NEW(least_ns, n_names + 1, "kernels", err));
	for (size_t i = 0; i < n; i++) {
		const struct fsl_kernel_level *level = &functions->levels[i];
		double *least = &least_ns[level->name_id];
		if (level->step == FSL_STEP_ABSENT) {
			continue;
		}
		*least = *least == 0.0 ? level->median_ns : fmin(*least, level->median_ns);
		has_earlier |= level->step < last;
		if (level->step == last) {
			add_score(&score, level, *least);
		}
	}
	worker->individual_score = has_earlier ? tell_score(&score) : NAN;
	fsl_free(least_ns);
	return FSL_OK;
}

/* Share of the time of its kernels in those that all workers run in the same shape. */
static void tell_same_work(struct fsl_functions_view *view, size_t w)
{
	double same_ns = 0.0, all_ns = 0.0;
	for (size_t i = 0; i < view->n_rows; i++) {
		const struct fsl_function_row *row = &view->rows[i];
		const struct fsl_function *function = row->cells[w].function;
		size_t n_having = 0;
		if (row->class != FSL_FUNCTION_COMPUTE || function == NULL) {
			continue;
		}
		for (size_t p = 0; p < view->n_workers; p++) {
			n_having += row->cells[p].function != NULL;
		}
		all_ns += (double)function->total_ns;
		same_ns += n_having == view->n_workers ? (double)function->total_ns : 0.0;
	}
	view->workers[w].same_work_share = all_ns > 0.0 ? same_ns / all_ns : NAN;
}

enum fsl_status fsl_function_scores(struct fsl_functions_view *view, struct fsl_error *err)
{
	struct kernels kernels = {.names = fsl_strpool_create()};
	enum fsl_status status = kernels.names != NULL
					 ? FSL_OK
					 : FSL_FAIL(err, FSL_ERR_MEMORY,
						    "out of memory: workers=%zu", view->n_workers);
	for (size_t w = 0; w < view->n_workers && status == FSL_OK; w++) {
		status = add_kernels(&kernels, &view->workers[w], err);
	}
	for (size_t w = 0; w < view->n_workers && status == FSL_OK; w++) {
		struct fsl_function_worker *worker = &view->workers[w];
		if (view->n_workers > 1) {
			worker->relative_score = relative_score(worker, &kernels, view->n_workers);
		}
		tell_same_work(view, w);
		status = individual_score(worker, err);
		worker->is_straggler = worker->relative_score < FSL_JUDGE_SCORE_MIN ||
				       worker->individual_score < FSL_JUDGE_SCORE_MIN;
		worker->has_other_work = worker->same_work_share < FSL_JUDGE_SAME_WORK_SHARE_MIN;
	}
	fsl_strpool_destroy(kernels.names);
	fsl_free(kernels.items);
	return status;
}

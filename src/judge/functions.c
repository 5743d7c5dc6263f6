/* Rows of functions over workers, distances between workers, and who is slow. */
#include "judge/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "judge/functions_baseline.h"
#include "judge/limits.h"

struct fsl_functions_options fsl_functions_defaults(void)
{
	return (struct fsl_functions_options){.delta = FSL_JUDGE_FUNCTION_DELTA,
					      .k = FSL_JUDGE_FUNCTION_MADS,
					      .sample = FSL_JUDGE_FUNCTION_PEERS_MAX,
					      .ratio_min = FSL_JUDGE_FUNCTION_RATIO_MIN};
}

const char *fsl_functions_class_text(enum fsl_function_class class)
{
	return class < FSL_FUNCTION_CLASSES_N ? fsl_function_class_texts[class] : "idle";
}

static double share(int64_t part_ns, int64_t whole_ns)
{
	return whole_ns > 0 ? (double)part_ns / (double)whole_ns : 0.0;
}

static void add_samples(struct fsl_functions_view *view, const struct fsl_functions *functions)
{
	for (size_t i = 0; i < FSL_SAMPLED_N; i++) {
		const struct fsl_function_sampled *own = &functions->sampled[i];
		view->sampled[i].n += own->n;
		view->sampled[i].is_percent |= own->is_percent;
		view->sampled[i].max = fmax(view->sampled[i].max, own->max);
	}
}

double fsl_functions_percent(const struct fsl_functions_view *view,
			     const struct fsl_function *function, double level)
{
	if (function == NULL || function->sampled >= FSL_SAMPLED_N) {
		return (double)NAN;
	}
	const struct fsl_function_sampled *all = &view->sampled[function->sampled];
	return all->is_percent ? level : all->max > 0.0 ? 100.0 * level / all->max : (double)NAN;
}

/* The trace of a worker whose device never works, although others do, lacks its device. */
static void mark_without_device(struct fsl_functions_view *view)
{
	bool has_device = false;
	for (size_t w = 0; w < view->n_workers; w++) {
		has_device |= view->workers[w].functions->busy_ns > 0;
	}
	for (size_t w = 0; has_device && w < view->n_workers; w++) {
		view->workers[w].is_damaged |= view->workers[w].functions->busy_ns == 0;
	}
}

static enum fsl_status list_workers(struct fsl_functions_view *view,
				    const struct fsl_profile *profile,
				    const struct fsl_profile_cluster *cluster,
				    struct fsl_error *err)
{
	FSL_TRY(FSL_ARENA_NEW(view->workers, &view->arena, profile->n_ranks + 1, "workers", err));
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		const struct fsl_functions *functions = rank->functions;
		if (functions == NULL || functions->n_items == 0 || functions->window_ns <= 0) {
			continue;
		}
		add_samples(view, functions);
		bool is_damaged = rank->trace.is_cut;
		for (size_t i = 0; i < rank->n_files; i++) {
			is_damaged |= rank->files[i].state == FSL_FILE_PARTIAL;
		}
		size_t stage = fsl_profile_stage_of(cluster, rank->rank);
		int64_t communication_ns = functions->rest[FSL_FUNCTION_COLLECTIVE].exclusive_ns;
		for (size_t i = 0; i < functions->n_items; i++) {
			const struct fsl_function *item = &functions->items[i];
			communication_ns = fsl_sum_i64(
				communication_ns,
				item->class == FSL_FUNCTION_COLLECTIVE ? item->exclusive_ns : 0);
		}
		view->workers[view->n_workers++] = (struct fsl_function_worker){
			.rank = rank,
			.functions = functions,
			.stage = stage != SIZE_MAX ? stage : 0,
			.utilisation = share(functions->compute_ns, functions->window_ns),
			.communication = share(communication_ns, functions->window_ns),
			.idle = 1.0 - share(functions->busy_ns, functions->window_ns),
			.is_damaged = is_damaged,
			.relative_score = NAN,
			.individual_score = NAN,
		};
	}
	mark_without_device(view);
	return FSL_OK;
}

/* Hosts are kept in these calls while the device works or waits. */
static bool is_wait(const struct fsl_function *function)
{
	return fsl_function_waits(function->class, function->name);
}

/* Rows while they are collected. */
struct collection {
	struct fsl_functions_view *view;
	struct fsl_strpool *keys, *names; /* of rows; of kernels */
	size_t rows_capacity, key_capacity;
	char *key;
};

static enum fsl_status find_row(struct collection *all, const struct fsl_function *function,
				struct fsl_function_row **row, struct fsl_error *err)
{
	struct fsl_functions_view *view = all->view;
	size_t n_shape = strlen(function->shape), n_name = strlen(function->name);
	uint32_t id = 0;
	FSL_TRY(FSL_GROW(all->key, all->key_capacity, n_shape + n_name + 2, err));
	all->key[0] = (char)('0' + (int)function->class);
	memcpy(all->key + 1, function->shape, n_shape + 1);
	memcpy(all->key + n_shape + 2, function->name, n_name);
	FSL_TRY(fsl_strpool_intern(all->keys, all->key, n_shape + n_name + 2, &id, err));
	if (id == view->n_rows) {
		FSL_TRY(FSL_GROW(view->rows, all->rows_capacity, view->n_rows + 1, err));
		struct fsl_function_row made = {.class = function->class,
						.name = function->name,
						.shape = function->shape,
						.name_id = FSL_STR_NONE,
						.is_wait = is_wait(function)};
		FSL_TRY(FSL_ARENA_NEW(made.cells, &view->arena, view->n_workers, "workers", err));
		if (function->class == FSL_FUNCTION_COMPUTE) {
			FSL_TRY(fsl_strpool_intern(all->names, function->name, n_name,
						   &made.name_id, err));
		}
		view->rows[view->n_rows++] = made;
	}
	*row = &view->rows[id];
	return FSL_OK;
}

static enum fsl_status fill_rows(struct collection *all, struct fsl_error *err)
{
	struct fsl_functions_view *view = all->view;
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_functions *functions = view->workers[w].functions;
		for (size_t i = 0; i < functions->n_items; i++) {
			const struct fsl_function *item = &functions->items[i];
			struct fsl_function_row *row = NULL;
			FSL_TRY(find_row(all, item, &row, err));
			struct fsl_function_cell *cell = &row->cells[w];
			cell->function = item;
			cell->ratio = share(item->exclusive_ns, functions->window_ns);
			row->mean_ratio += cell->ratio / (double)view->n_workers;
			row->max_ratio = fmax(row->max_ratio, cell->ratio);
		}
	}
	return FSL_OK;
}

static int compare_rows(const void *left, const void *right)
{
	const struct fsl_function_row *a = left, *b = right;
	FSL_ORDER_BY(a->class, b->class);
	FSL_ORDER_BY(b->mean_ratio, a->mean_ratio);
	int order = strcmp(a->name, b->name);
	return order != 0 ? order : strcmp(a->shape, b->shape);
}

static enum fsl_status list_rows(struct fsl_functions_view *view, struct fsl_error *err)
{
	struct collection all = {
		.view = view, .keys = fsl_strpool_create(), .names = fsl_strpool_create()};
	enum fsl_status status = all.keys != NULL && all.names != NULL
					 ? fill_rows(&all, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY,
						    "out of memory: workers=%zu", view->n_workers);
	if (status == FSL_OK && view->n_rows > 1) {
		qsort(view->rows, view->n_rows, sizeof(*view->rows), compare_rows);
	}
	fsl_strpool_destroy(all.keys);
	fsl_strpool_destroy(all.names);
	fsl_free(all.key);
	return status;
}

/* Scratch for one number of each worker. */
struct scratch {
	double *values, *sorted;
	size_t stage, size; /* for which the numbers below hold; SIZE_MAX: for none */
	double median, mad;
	double *excess; /* per worker: of a kernel in all of its shapes */
	double (*points)[3];
	int32_t *peers;
};

/* Size of a stage, and median and deviation over its workers of what stands in scratch->values.
 * Workers of one stage mostly follow each other. */
static void ask_stage(const struct fsl_functions_view *view, struct scratch *scratch, size_t stage)
{
	double *kept = scratch->sorted + view->n_workers;
	size_t n = 0;
	if (scratch->stage == stage) {
		return;
	}
	for (size_t w = 0; w < view->n_workers; w++) {
		if (view->workers[w].stage == stage) {
			kept[n++] = scratch->values[w];
		}
	}
	scratch->stage = stage;
	scratch->size = n;
	scratch->median = fsl_median(kept, n, scratch->sorted);
	for (size_t i = 0; i < n; i++) {
		kept[i] = fabs(kept[i] - scratch->median);
	}
	scratch->mad = fsl_median(kept, n, scratch->sorted);
}

/* Call it when scratch->values hold other numbers. */
static void forget_stage(struct scratch *scratch)
{
	scratch->stage = SIZE_MAX;
}

/* Each dimension as share of its greatest value; the spread as share of the greatest mean if that
 * is more, since spreads that are a small part of their mean differ by chance. */
static void set_points(const struct fsl_functions_view *view, const struct fsl_function_row *row,
		       double (*points)[3])
{
	double greatest[3] = {0.0};
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function *function = row->cells[w].function;
		points[w][0] = row->cells[w].ratio;
		points[w][1] = function != NULL ? function->mean_ns : 0.0;
		points[w][2] = function != NULL ? function->spread_ns : 0.0;
		for (size_t d = 0; d < 3; d++) {
			greatest[d] = fmax(greatest[d], points[w][d]);
		}
	}
	greatest[2] = fmax(greatest[2], greatest[1]);
	for (size_t w = 0; w < view->n_workers; w++) {
		for (size_t d = 0; d < 3; d++) {
			points[w][d] /= greatest[d] > 0.0 ? greatest[d] : 1.0;
		}
	}
}

static double distance(const double a[3], const double b[3])
{
	return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
}

/* Counts peers that differ from worker @w, among as many as are asked for, spread over all. Returns
 * how many were asked. */
static size_t count_different(const struct fsl_functions_view *view, struct scratch *scratch,
			      size_t w, int32_t *n_different)
{
	size_t n_peers = 0;
	for (size_t p = 0; p < view->n_workers; p++) {
		if (p != w && view->workers[p].stage == view->workers[w].stage) {
			scratch->peers[n_peers++] = (int32_t)p;
		}
	}
	size_t n = n_peers < view->options.sample ? n_peers : view->options.sample;
	*n_different = 0;
	for (size_t i = 0; i < n; i++) {
		size_t p = (size_t)scratch->peers[i * n_peers / n];
		*n_different +=
			distance(scratch->points[w], scratch->points[p]) > view->options.delta;
	}
	return n;
}

/* Whether most workers of the stage run the row: a shape that few run stands for those that others
 * run instead. */
static void mark_common(const struct fsl_functions_view *view, struct fsl_function_row *row,
			struct scratch *scratch)
{
	for (size_t w = 0; w < view->n_workers; w++) {
		scratch->values[w] = row->cells[w].function != NULL ? 1.0 : 0.0;
	}
	forget_stage(scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		ask_stage(view, scratch, view->workers[w].stage);
		row->cells[w].is_abnormal = !row->has_other_shapes || scratch->median > 0.5;
	}
}

static void judge_row(struct fsl_functions_view *view, struct fsl_function_row *row,
		      struct scratch *scratch)
{
	set_points(view, row, scratch->points);
	mark_common(view, row, scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		scratch->values[w] = row->cells[w].ratio;
	}
	forget_stage(scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		ask_stage(view, scratch, view->workers[w].stage);
		row->cells[w].excess = row->cells[w].ratio - scratch->median;
	}
	for (size_t w = 0; w < view->n_workers; w++) {
		size_t n = count_different(view, scratch, w, &row->cells[w].n_different);
		scratch->values[w] = n > 0 ? (double)row->cells[w].n_different / (double)n : 0.0;
	}
	forget_stage(scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		struct fsl_function_cell *cell = &row->cells[w];
		ask_stage(view, scratch, view->workers[w].stage);
		double least = scratch->median + view->options.k * scratch->mad;
		double away = fmax(view->options.ratio_min,
				   FSL_JUDGE_FUNCTION_EXCESS_MIN * (cell->ratio - cell->excess));
		cell->is_abnormal = cell->is_abnormal &&
				    scratch->size >= FSL_JUDGE_FUNCTION_WORKERS_MIN &&
				    scratch->values[w] > FSL_JUDGE_FUNCTION_PEERS_SHARE_MIN &&
				    scratch->values[w] > least && fabs(cell->excess) >= away;
		row->n_abnormal += cell->is_abnormal;
	}
}

/* Median of one call over the workers. */
static void set_median(struct fsl_functions_view *view, struct fsl_function_row *row,
		       struct scratch *scratch)
{
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function *function = row->cells[w].function;
		scratch->values[w] = function != NULL ? function->median_ns : NAN;
		row->cells[w].n_different = -1;
	}
	row->median_ns = fsl_median(scratch->values, view->n_workers, scratch->sorted);
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function *function = row->cells[w].function;
		scratch->values[w] = function != NULL ? (double)function->count : 0.0;
	}
	row->median_count = fsl_median(scratch->values, view->n_workers, scratch->sorted);
}

/* How much the value of a worker exceeds the median of its stage; 0: not by so much that it stands
 * out. */
static double outlier(const struct fsl_functions_view *view, struct scratch *scratch, size_t w)
{
	ask_stage(view, scratch, view->workers[w].stage);
	double excess = scratch->values[w] - scratch->median;
	double least = fmax(FSL_JUDGE_FUNCTION_EXCESS_MIN * scratch->median,
			    fmax(view->options.k * scratch->mad, view->options.ratio_min));
	bool is_one = scratch->size >= FSL_JUDGE_FUNCTION_WORKERS_MIN && fabs(excess) > least;
	return is_one ? excess : 0.0;
}

/* A row by the name of its kernel. */
struct named_row {
	uint32_t name_id;
	struct fsl_function_row *row;
};

static int compare_names(const void *left, const void *right)
{
	const struct named_row *a = left, *b = right;
	FSL_ORDER_BY(a->name_id, b->name_id);
	return FSL_ORDER(a->row, b->row);
}

/* How long a run of a kernel in all of its shapes takes, the median of workers, ns. */
static double usual_run_ns(const struct fsl_functions_view *view, struct scratch *scratch,
			   const struct named_row *rows, size_t n)
{
	for (size_t w = 0; w < view->n_workers; w++) {
		double sum_ns = 0.0, count = 0.0;
		for (size_t i = 0; i < n; i++) {
			const struct fsl_function *function = rows[i].row->cells[w].function;
			sum_ns += function != NULL ? (double)function->total_ns : 0.0;
			count += function != NULL ? (double)function->count : 0.0;
		}
		scratch->values[w] = count > 0.0 ? sum_ns / count : NAN;
	}
	return fsl_median(scratch->values, view->n_workers, scratch->sorted);
}

/* By how much the longest run of the kernel on worker @w can exceed a usual one, as share of the
 * trace: none of n runs is longer than their mean by more than sqrt(n - 1) times the spread. */
static double longest_run(const struct fsl_functions_view *view, size_t w,
			  const struct named_row *rows, size_t n, double usual_ns)
{
	double most_ns = 0.0;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_function *function = rows[i].row->cells[w].function;
		if (function != NULL && function->count > 0) {
			double reach = sqrt((double)function->count - 1.0);
			most_ns = fmax(most_ns,
				       function->mean_ns + reach * function->spread_ns - usual_ns);
		}
	}
	return most_ns / (double)view->workers[w].functions->window_ns;
}

/* Compares the sum over the shapes of one kernel. A worker that does not stand out without its
 * longest run is not slow by one run. */
static void judge_name(struct fsl_functions_view *view, struct scratch *scratch,
		       const struct named_row *rows, size_t n)
{
	double usual_ns = usual_run_ns(view, scratch, rows, n);
	memset(scratch->values, 0, view->n_workers * sizeof(*scratch->values));
	for (size_t i = 0; i < n; i++) {
		rows[i].row->has_other_shapes = true;
		for (size_t w = 0; w < view->n_workers; w++) {
			scratch->values[w] += rows[i].row->cells[w].ratio;
		}
	}
	forget_stage(scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		scratch->excess[w] = fmax(outlier(view, scratch, w), 0.0);
	}
	for (size_t w = 0; w < view->n_workers; w++) {
		scratch->values[w] -= longest_run(view, w, rows, n, usual_ns);
	}
	forget_stage(scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		bool is_slow = scratch->excess[w] >= FSL_JUDGE_FUNCTION_ONE_RUN_MIN ||
			       outlier(view, scratch, w) > 0.0;
		view->workers[w].shapes_excess += is_slow ? scratch->excess[w] : 0.0;
	}
}

/* Kernels whose shape follows their data: ranks run them in other shapes, and none is slow. */
static enum fsl_status judge_shapes(struct fsl_functions_view *view, struct scratch *scratch,
				    struct fsl_error *err)
{
	struct named_row *named = NULL;
	size_t n = 0;
	FSL_TRY(FSL_NEW(named, view->n_rows + 1, "rows", err));
	for (size_t i = 0; i < view->n_rows; i++) {
		struct fsl_function_row *row = &view->rows[i];
		if (row->name_id != FSL_STR_NONE) {
			named[n++] = (struct named_row){row->name_id, row};
		}
	}
	if (n > 1) {
		qsort(named, n, sizeof(*named), compare_names);
	}
	for (size_t i = 0, end = 0; i < n; i = end) {
		for (end = i; end < n && named[end].name_id == named[i].name_id; end++) {
		}
		if (end > i + 1) {
			judge_name(view, scratch, named + i, end - i);
		}
	}
	fsl_free(named);
	return FSL_OK;
}

static void judge_utilisation(struct fsl_functions_view *view, struct scratch *scratch)
{
	for (size_t w = 0; w < view->n_workers; w++) {
		scratch->values[w] = view->workers[w].utilisation;
	}
	forget_stage(scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		struct fsl_function_worker *worker = &view->workers[w];
		double excess = outlier(view, scratch, w);
		worker->is_utilisation_abnormal = excess != 0.0;
		worker->excess = fmax(excess, 0.0);
		worker->excess_class = FSL_FUNCTION_COMPUTE;
	}
}

/* The host may be slow between the functions that the trace has. */
static void judge_idle(struct fsl_functions_view *view, struct scratch *scratch)
{
	for (size_t w = 0; w < view->n_workers; w++) {
		scratch->values[w] = view->workers[w].idle;
	}
	forget_stage(scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		struct fsl_function_worker *worker = &view->workers[w];
		double excess = outlier(view, scratch, w);
		if (worker->excess == 0.0 && excess > 0.0 && !worker->is_damaged) {
			worker->excess = excess;
			worker->excess_class = FSL_FUNCTION_CLASSES_N;
		}
	}
}

/*
 * Whether a single run makes the excess of a cell. If k of n runs take longer than the median by
 * the same time, mean and spread (population standard deviation) lie so that spread / (mean -
 * median) is sqrt((n - k) / k).
 */
static bool is_one_run(const struct fsl_function_row *row, const struct fsl_function_cell *cell)
{
	const struct fsl_function *function = cell->function;
	if (function == NULL || !isfinite(row->median_ns) || !isfinite(function->median_ns)) {
		return false;
	}
	double away = function->mean_ns - function->median_ns;
	bool is_usual =
		function->median_ns <= (1.0 + FSL_JUDGE_FUNCTION_EXCESS_MIN) * row->median_ns &&
		(double)function->count <= row->median_count;
	double ratio = away > 0.0 ? function->spread_ns / away : 0.0;
	double n_long = (double)function->count / (1.0 + ratio * ratio);
	return is_usual && away > 0.0 && n_long < FSL_JUDGE_FUNCTION_LONG_RUNS_MIN &&
	       cell->excess < FSL_JUDGE_FUNCTION_ONE_RUN_MIN;
}

/* Own work that takes longer than that of peers, by class: classes of the host hold each other. */
static void sum_excess(struct fsl_functions_view *view)
{
	for (size_t w = 0; w < view->n_workers; w++) {
		struct fsl_function_worker *worker = &view->workers[w];
		double sums[FSL_FUNCTION_CLASSES_N] = {[FSL_FUNCTION_COMPUTE] =
							       worker->shapes_excess};
		for (size_t i = 0; i < view->n_rows; i++) {
			const struct fsl_function_row *row = &view->rows[i];
			const struct fsl_function_cell *cell = &row->cells[w];
			bool is_own = !(worker->is_damaged && row->class == FSL_FUNCTION_PYTHON) &&
				      !row->is_wait && !row->has_other_shapes &&
				      cell->is_abnormal && !is_one_run(row, cell);
			sums[row->class] += is_own ? fmax(cell->excess, 0.0) : 0.0;
		}
		for (size_t c = 0; c < FSL_FUNCTION_CLASSES_N; c++) {
			if (sums[c] > worker->excess) {
				worker->excess = sums[c];
				worker->excess_class = (enum fsl_function_class)c;
			}
		}
	}
}

/* A slow worker waits no longer than its peers; the others wait for it. */
static void name_workers(struct fsl_functions_view *view, struct scratch *scratch)
{
	double least = view->options.ratio_min, waited = INFINITY, greatest = 0.0;
	for (size_t w = 0; w < view->n_workers; w++) {
		scratch->values[w] = view->workers[w].communication;
		greatest = fmax(greatest, view->workers[w].excess);
	}
	greatest *= FSL_JUDGE_FUNCTION_CULPRIT_SHARE_MIN;
	forget_stage(scratch);
	for (size_t w = 0; w < view->n_workers; w++) {
		struct fsl_function_worker *worker = &view->workers[w];
		ask_stage(view, scratch, worker->stage);
		worker->has_peers = scratch->size >= FSL_JUDGE_FUNCTION_WORKERS_MIN;
		worker->is_culprit = worker->excess >= fmax(least, greatest) &&
				     worker->communication <= scratch->median + least;
		if (worker->is_culprit) {
			waited = fmin(waited, worker->communication);
		}
	}
	for (size_t w = 0; w < view->n_workers; w++) {
		struct fsl_function_worker *worker = &view->workers[w];
		worker->is_victim = !worker->is_culprit && worker->communication >= waited + least;
	}
}

static size_t count_abnormal_waits(const struct fsl_functions_view *view)
{
	size_t n = 0;
	for (size_t i = 0; i < view->n_rows; i++) {
		n += view->rows[i].is_wait ? view->rows[i].n_abnormal : 0;
	}
	return n;
}

static void conclude(struct fsl_functions_view *view)
{
	bool has_culprits = false, has_compared = false;
	for (size_t w = 0; w < view->n_workers; w++) {
		has_culprits |= view->workers[w].is_culprit;
		has_compared |= view->workers[w].has_peers;
	}
	view->reason = "";
	view->verdict = FSL_FUNCTIONS_NONE;
	if (view->n_workers == 0) {
		view->verdict = FSL_FUNCTIONS_INSUFFICIENT;
		view->reason = "no worker has functions: captures of Ascend devices and traces "
			       "without events have none";
	} else if (!has_compared) {
		view->verdict = FSL_FUNCTIONS_INSUFFICIENT;
		view->reason = "fewer than three workers that do the same work: nobody can stand "
			       "out among them";
	} else if (has_culprits) {
		view->verdict = FSL_FUNCTIONS_CULPRITS;
	} else if (count_abnormal_waits(view) > 0) {
		view->verdict = FSL_FUNCTIONS_INSUFFICIENT;
		view->reason = "workers differ in how long they wait, and no function of their own "
			       "explains it";
	}
}

static enum fsl_status judge(struct fsl_functions_view *view, struct fsl_error *err)
{
	struct scratch scratch = {0};
	size_t n = view->n_workers + 1;
	FSL_TRY(FSL_ARENA_NEW(scratch.values, &view->arena, n, "workers", err));
	FSL_TRY(FSL_ARENA_NEW(scratch.sorted, &view->arena, 2 * n, "workers", err));
	FSL_TRY(FSL_ARENA_NEW(scratch.excess, &view->arena, n, "workers", err));
	FSL_TRY(FSL_ARENA_NEW(scratch.points, &view->arena, n, "workers", err));
	FSL_TRY(FSL_ARENA_NEW(scratch.peers, &view->arena, n, "workers", err));
	FSL_TRY(judge_shapes(view, &scratch, err));
	for (size_t i = 0; i < view->n_rows; i++) {
		set_median(view, &view->rows[i], &scratch);
		if (view->rows[i].max_ratio >= view->options.ratio_min) {
			judge_row(view, &view->rows[i], &scratch);
		}
	}
	judge_utilisation(view, &scratch);
	sum_excess(view);
	judge_idle(view, &scratch);
	name_workers(view, &scratch);
	conclude(view);
	return FSL_OK;
}

enum fsl_status fsl_functions_compare(struct fsl_functions_view *out,
				      const struct fsl_profile *profile,
				      const struct fsl_profile_cluster *cluster,
				      const struct fsl_functions_options *options,
				      struct fsl_error *err)
{
	*out = (struct fsl_functions_view){.options = *options, .reason = ""};
	enum fsl_status status = list_workers(out, profile, cluster, err);
	FSL_THEN(status, list_rows(out, err));
	FSL_THEN(status, judge(out, err));
	FSL_THEN(status, fsl_function_scores(out, err));
	FSL_THEN(status, fsl_function_figures(out, err));
	if (status != FSL_OK) {
		fsl_functions_view_fini(out);
	}
	return status;
}

void fsl_functions_view_fini(struct fsl_functions_view *view)
{
	fsl_free(view->rows);
	fsl_arena_fini(&view->arena);
	*view = (struct fsl_functions_view){.reason = ""};
}

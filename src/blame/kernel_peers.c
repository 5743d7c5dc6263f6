/* Kernels that are alike are put side by side by sorting all of the set. */
#include "blame/kernel_peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "capture/step_rows.h"

/* Calls of one kernel on one rank. Ids of type, shape and core are those of the set's own pool. */
struct cell {
	size_t stage;
	uint32_t type, shape, core;
	uint32_t rank_idx, kernels_idx;
	int64_t count, total_ns, max_ns;
};

struct pile {
	const struct fsl_profile *profile;
	const struct fsl_place_rank *ranks; /* who is suspected; NULL: nobody */
	struct fsl_strpool *names;
	struct cell *cells;
	size_t n_cells;
	double *means;                    /* room for two per rank */
	double *type_ms, *type_excess_ms; /* per rank: of the type that is compared now */
	double *n_steps;                  /* per rank */
	struct fsl_kernel_peers *out;
};

static int by_number(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int compare_kernel(const struct cell *a, const struct cell *b)
{
	const size_t left[] = {a->stage, a->type, a->shape, a->core};
	const size_t right[] = {b->stage, b->type, b->shape, b->core};
	int order = 0;
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]) && order == 0; i++) {
		order = by_number(left[i], right[i]);
	}
	return order;
}

static int compare_cell(const void *left, const void *right)
{
	const struct cell *a = left, *b = right;
	int order = compare_kernel(a, b);
	order = order != 0 ? order : by_number(a->rank_idx, b->rank_idx);
	return order != 0 ? order : by_number(a->kernels_idx, b->kernels_idx);
}

static int compare_double(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* Texts of a rank in the set's pool. */
static enum fsl_status translate(struct pile *pile, const struct fsl_profile_rank *rank,
				 uint32_t id, uint32_t *out, struct fsl_error *err)
{
	const char *text = fsl_strpool_text(rank->names, id);
	return fsl_strpool_intern(pile->names, text, strlen(text), out, err);
}

static enum fsl_status add_rank(struct pile *pile, size_t r, size_t stage, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = &pile->profile->ranks[r];
	enum fsl_status status = FSL_OK;
	for (size_t k = 0; k < rank->n_kernels && status == FSL_OK; k++) {
		const struct fsl_profile_kernels *kernels = &rank->kernels[k];
		struct cell cell = {.stage = stage,
				    .rank_idx = (uint32_t)r,
				    .kernels_idx = (uint32_t)k,
				    .count = kernels->count,
				    .total_ns = kernels->total_ns,
				    .max_ns = kernels->max_ns};
		status = translate(pile, rank, kernels->type_id, &cell.type, err);
		if (status == FSL_OK) {
			status = translate(pile, rank, kernels->shape_id, &cell.shape, err);
		}
		if (status == FSL_OK) {
			status = translate(pile, rank, kernels->core_id, &cell.core, err);
		}
		pile->cells[pile->n_cells] = cell;
		pile->n_cells += status == FSL_OK && kernels->count > 0;
	}
	return status;
}

/* Steps of a rank are put together. */
static void merge_steps(struct pile *pile)
{
	size_t n = 0;
	for (size_t i = 0; i < pile->n_cells; i++) {
		struct cell *last = n > 0 ? &pile->cells[n - 1] : NULL;
		const struct cell *cell = &pile->cells[i];
		if (last != NULL && last->rank_idx == cell->rank_idx &&
		    compare_kernel(last, cell) == 0) {
			last->count += cell->count;
			last->total_ns = fsl_sum_i64(last->total_ns, cell->total_ns);
		} else {
			pile->cells[n++] = *cell;
		}
	}
	pile->n_cells = n;
}

static double mean_ms(const struct cell *cell)
{
	return (double)cell->total_ns / (double)cell->count / (double)FSL_NS_PER_MS;
}

/* Median of @means, ascending. */
static double median_of_all(const double *means, size_t n)
{
	return 0.5 * (means[(n - 1) / 2] + means[n / 2]);
}

/* Median of all but one that has this value; @means ascending, n >= 2. */
static double median_of_others(const double *means, size_t n, double own)
{
	const double *found = bsearch(&own, means, n, sizeof(own), compare_double);
	size_t gone = (size_t)(found - means), n_left = n - 1;
	size_t low = (n_left - 1) / 2, high = n_left / 2;
	return 0.5 * (means[low + (low >= gone)] + means[high + (high >= gone)]);
}

static void judge_cell(struct pile *pile, const struct cell *cell, double peers_ms)
{
	const struct fsl_profile_rank *rank = &pile->profile->ranks[cell->rank_idx];
	struct fsl_kernel_peers *out = &pile->out[cell->rank_idx];
	double count = (double)cell->count / pile->n_steps[cell->rank_idx];
	double excess_ms = count * (mean_ms(cell) - peers_ms);
	if (out->compared_ms <= 0.0 || excess_ms > out->top_excess_ms) {
		out->type_id = rank->kernels[cell->kernels_idx].type_id;
		out->shape_id = rank->kernels[cell->kernels_idx].shape_id;
		out->top_excess_ms = excess_ms;
		out->top_count = count;
		out->top_mean_ms = mean_ms(cell);
		out->top_peers_ms = peers_ms;
	}
	out->compared_ms += count * mean_ms(cell);
	out->excess_ms += excess_ms;
	pile->type_ms[cell->rank_idx] += count * mean_ms(cell);
	pile->type_excess_ms[cell->rank_idx] += excess_ms;
}

/* All shapes of a type were compared: keeps the type with the largest excess of each rank. */
static void settle_type(struct pile *pile)
{
	for (size_t r = 0; r < pile->profile->n_ranks; r++) {
		struct fsl_kernel_peers *out = &pile->out[r];
		if (pile->type_excess_ms[r] > out->top_type_excess_ms) {
			out->top_type_excess_ms = pile->type_excess_ms[r];
			out->top_type_ms = pile->type_ms[r];
		}
		pile->type_ms[r] = pile->type_excess_ms[r] = 0.0;
	}
}

static bool is_suspect(const struct pile *pile, const struct cell *cell)
{
	return pile->ranks != NULL && pile->ranks[cell->rank_idx].is_suspect;
}

/* One kernel on all ranks of a stage that have it. Suspects are no measure of each other, nor of
 * the rest, unless there is nobody else. */
static void judge_run(struct pile *pile, const struct cell *cells, size_t n)
{
	double *all = pile->means, *rest = pile->means + n;
	size_t n_rest = 0;
	for (size_t i = 0; i < n; i++) {
		all[i] = mean_ms(&cells[i]);
		if (!is_suspect(pile, &cells[i])) {
			rest[n_rest++] = all[i];
		}
	}
	qsort(all, n, sizeof(*all), compare_double);
	qsort(rest, n_rest, sizeof(*rest), compare_double);
	for (size_t i = 0; i < n && n >= 2; i++) {
		double own = mean_ms(&cells[i]);
		double peers_ms = is_suspect(pile, &cells[i]) && n_rest > 0
					  ? median_of_all(rest, n_rest)
				  : !is_suspect(pile, &cells[i]) && n_rest > 1
					  ? median_of_others(rest, n_rest, own)
					  : median_of_others(all, n, own);
		judge_cell(pile, &cells[i], peers_ms);
	}
}

static void judge_cells(struct pile *pile)
{
	for (size_t begin = 0, end = 0; begin < pile->n_cells; begin = end) {
		end = begin + 1;
		while (end < pile->n_cells &&
		       compare_kernel(&pile->cells[begin], &pile->cells[end]) == 0) {
			end++;
		}
		judge_run(pile, &pile->cells[begin], end - begin);
		if (end == pile->n_cells || pile->cells[end].type != pile->cells[begin].type) {
			settle_type(pile);
		}
	}
}

/* The kernels of a rank together. */
static bool is_slow(const struct fsl_kernels_job *job, const struct fsl_profile_rank *rank,
		    const struct fsl_kernel_peers *peers)
{
	double step_ms = fsl_profile_step_ms(rank);
	bool is_felt =
		isnan(step_ms) ||
		peers->excess_ms >
			fsl_look_effect_min(&job->look, FSL_CAPTURE_MENTION_SHARE_MIN) * step_ms;
	return peers->excess_ms >
		       fsl_look_effect_min(&job->look, FSL_KERNELS_MORE_MIN) * peers->compared_ms &&
	       is_felt;
}

/* Lists and sorts the kernels of all ranks. */
static enum fsl_status pile_up(struct pile *pile, const struct fsl_kernels_job *job,
			       struct fsl_error *err)
{
	const struct fsl_profile *profile = job->profile;
	size_t n_cells = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n_cells += profile->ranks[r].n_kernels;
	}
	*pile = (struct pile){.profile = profile,
			      .ranks = job->places != NULL ? job->places->ranks : NULL,
			      .names = fsl_strpool_create()};
	pile->cells = fsl_calloc(n_cells + 1, sizeof(*pile->cells));
	pile->n_steps = fsl_calloc(profile->n_ranks + 1, sizeof(*pile->n_steps));
	if (pile->names == NULL || pile->cells == NULL || pile->n_steps == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: kernels=%zu", n_cells);
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		pile->n_steps[r] = (double)fsl_profile_n_steps(&profile->ranks[r]);
		FSL_TRY(add_rank(pile, r,
				 fsl_profile_stage_of(job->cluster, profile->ranks[r].rank), err));
	}
	if (pile->n_cells > 1) {
		qsort(pile->cells, pile->n_cells, sizeof(*pile->cells), compare_cell);
	}
	return FSL_OK;
}

static void pile_fini(struct pile *pile)
{
	fsl_free(pile->n_steps);
	fsl_free(pile->means);
	fsl_free(pile->cells);
	fsl_strpool_destroy(pile->names);
}

enum fsl_status fsl_kernel_peers_compare(struct fsl_kernel_peers *out,
					 const struct fsl_kernels_job *job, struct fsl_error *err)
{
	const struct fsl_profile *profile = job->profile;
	struct pile pile;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		out[r] = (struct fsl_kernel_peers){0};
	}
	enum fsl_status status = pile_up(&pile, job, err);
	pile.out = out;
	pile.means = fsl_calloc(4 * profile->n_ranks + 1, sizeof(*pile.means));
	if (status == FSL_OK && pile.means == NULL) {
		status =
			FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", profile->n_ranks);
	}
	if (status == FSL_OK) {
		pile.type_ms = pile.means + 2 * profile->n_ranks;
		pile.type_excess_ms = pile.type_ms + profile->n_ranks;
		merge_steps(&pile);
		judge_cells(&pile);
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		out[r].is_slow = is_slow(job, &profile->ranks[r], &out[r]);
	}
	pile_fini(&pile);
	return status;
}

/* Time of the longest run of a cell beyond the usual, ms; 0: it is not long, or no exception. */
static double long_run_ms(const struct cell *cell, double usual_ms)
{
	double longest_ms = (double)cell->max_ns / FSL_NS_PER_MS;
	double rest_ms =
		(double)(cell->total_ns - cell->max_ns) / FSL_NS_PER_MS / (double)(cell->count - 1);
	bool is_long = cell->count >= FSL_LONG_RUNS_OF_MIN &&
		       longest_ms >= FSL_LONG_RUNS_RATIO_MIN * usual_ms &&
		       rest_ms <= FSL_LONG_RUNS_REST_MAX * usual_ms;
	return is_long ? longest_ms - usual_ms : 0.0;
}

/* Keeps the longest. @kept: of one rank, most first. */
static void keep_long(double *kept, double ms)
{
	for (size_t k = 0; k < FSL_LONG_RUNS_MAX; k++) {
		if (ms > kept[k]) {
			double less_ms = kept[k];
			kept[k] = ms;
			ms = less_ms;
		}
	}
}

/* One kernel in all steps of all ranks of a stage. @values: room for two per cell. */
static void find_long_runs(double *kept, const struct cell *cells, size_t n, double *values)
{
	for (size_t i = 0; i < n; i++) {
		values[i] = mean_ms(&cells[i]);
	}
	double usual_ms = fsl_median(values, n, values + n);
	for (size_t i = 0; i < n; i++) {
		keep_long(kept + (size_t)cells[i].rank_idx * FSL_LONG_RUNS_MAX,
			  long_run_ms(&cells[i], usual_ms));
	}
}

static void sum_long_runs(double *ms, const double *kept, const struct fsl_kernels_job *job,
			  const struct pile *pile)
{
	double n_looks = job->look.n_looks > 1 ? (double)job->look.n_looks : 1.0;
	double step_ms = fsl_profile_longest_step_ms(job->profile);
	for (size_t r = 0; r < job->profile->n_ranks; r++) {
		double sum_ms = 0.0;
		for (size_t k = 0; k < FSL_LONG_RUNS_MAX; k++) {
			sum_ms += kept[r * FSL_LONG_RUNS_MAX + k];
		}
		ms[r] = pile->n_steps[r] > 0.0 ? sum_ms / pile->n_steps[r] : 0.0;
		bool is_fault = ms[r] >= FSL_LONG_RUNS_SHARE_MAX * n_looks * step_ms;
		ms[r] = is_fault ? 0.0 : ms[r];
	}
}

enum fsl_status fsl_kernel_peers_find_long_runs(double *ms, const struct fsl_kernels_job *job,
						struct fsl_error *err)
{
	struct pile pile;
	double *kept = NULL;
	enum fsl_status status = pile_up(&pile, job, err);
	FSL_THEN(status,
		 FSL_NEW(kept, FSL_LONG_RUNS_MAX * job->profile->n_ranks + 1, "ranks", err));
	FSL_THEN(status, FSL_NEW(pile.means, 2 * pile.n_cells + 1, "kernels", err));
	for (size_t begin = 0, end = 0; begin < pile.n_cells && status == FSL_OK; begin = end) {
		end = begin + 1;
		while (end < pile.n_cells &&
		       compare_kernel(&pile.cells[begin], &pile.cells[end]) == 0) {
			end++;
		}
		find_long_runs(kept, &pile.cells[begin], end - begin, pile.means);
	}
	if (status == FSL_OK) {
		sum_long_runs(ms, kept, job, &pile);
	}
	fsl_free(kept);
	pile_fini(&pile);
	return status;
}

/* Types of operators, summed over kernels or statistics of all ranks. */
#include "blame/operator_types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "capture/comm_kernels.h"
#include "capture/step_rows.h"

/* One rank on its way into the sums. */
struct pass {
	struct fsl_operator_types *types;
	const struct fsl_profile_rank *rank;
	double n_steps;
};

static bool is_ai_cpu(const struct fsl_profile_rank *rank, uint32_t core_id)
{
	return strcmp(fsl_strpool_text(rank->names, core_id), "AI_CPU") == 0;
}

/* Ids of names count from 0: they are positions of items. */
static enum fsl_status item_of(struct pass *pass, uint32_t type_id, struct fsl_operator_type **out,
			       struct fsl_error *err)
{
	struct fsl_operator_types *types = pass->types;
	const char *name = fsl_strpool_text(pass->rank->names, type_id);
	uint32_t at = 0;
	enum fsl_status status = fsl_strpool_intern(types->names, name, strlen(name), &at, err);
	if (status == FSL_OK) {
		status = FSL_GROW(types->items, types->capacity, (size_t)at + 1, err);
	}
	if (status != FSL_OK) {
		return status;
	}
	if (at == types->n_items) {
		types->items[types->n_items++] =
			(struct fsl_operator_type){.name = fsl_strpool_text(types->names, at)};
	}
	*out = &types->items[at];
	return FSL_OK;
}

static enum fsl_status add(struct pass *pass, uint32_t type_id, uint32_t core_id, int64_t total_ns,
			   int64_t count, struct fsl_error *err)
{
	struct fsl_operator_type *item = NULL;
	FSL_TRY(item_of(pass, type_id, &item, err));
	double ms = (double)total_ns / (double)FSL_NS_PER_MS / pass->n_steps;
	item->ms += ms;
	item->count += (double)count / pass->n_steps;
	if (is_ai_cpu(pass->rank, core_id)) {
		item->cpu_ms += ms;
		item->cpu_count += (double)count / pass->n_steps;
	}
	pass->types->ms += ms;
	return FSL_OK;
}

static enum fsl_status add_pipes(struct pass *pass, const struct fsl_profile_kernels *kernels,
				 struct fsl_error *err)
{
	struct fsl_operator_type *item = NULL;
	FSL_TRY(item_of(pass, kernels->type_id, &item, err));
	for (size_t p = 0; p < FSL_PIPES_N; p++) {
		item->pipe_ms[p] +=
			(double)kernels->pipe_ns[p] / (double)FSL_NS_PER_MS / pass->n_steps;
	}
	return FSL_OK;
}

static int by_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_shapes(const void *left, const void *right)
{
	const struct fsl_profile_kernels *a = left, *b = right;
	int order = by_number(a->type_id, b->type_id);
	order = order != 0 ? order : by_number(a->shape_id, b->shape_id);
	return order != 0 ? order : by_number(a->step, b->step);
}

/* Shapes of one type of the rank: @kernels sorted by shape, then step. */
static enum fsl_status add_shapes(struct pass *pass, const struct fsl_profile_kernels *kernels,
				  size_t n, struct fsl_error *err)
{
	struct fsl_operator_type *item = NULL;
	enum fsl_status status = item_of(pass, kernels->type_id, &item, err);
	double n_shapes = 0.0, calls = 0.0;
	for (size_t begin = 0, end = 0; begin < n && status == FSL_OK; begin = end) {
		double own = 0.0;
		for (end = begin; end < n && kernels[end].shape_id == kernels[begin].shape_id;
		     end++) {
			own += (double)kernels[end].count;
		}
		bool is_once = kernels[end - 1].step == kernels[begin].step;
		item->calls_once += is_once ? own : 0.0;
		calls += own;
		n_shapes += 1.0;
	}
	if (status == FSL_OK) {
		item->calls += calls;
		if (n_shapes > item->n_shapes_max) {
			item->n_shapes_max = n_shapes;
			item->calls_of_shapes_max = calls / pass->n_steps;
		}
	}
	return status;
}

/* A copy; free with fsl_free. NULL if out of memory. */
static struct fsl_profile_kernels *sorted_kernels(const struct fsl_profile_rank *rank,
						  int (*compare)(const void *, const void *),
						  struct fsl_error *err)
{
	size_t n = rank->n_kernels;
	struct fsl_profile_kernels *kernels = fsl_calloc(n, sizeof(*kernels));
	if (kernels == NULL) {
		(void)FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: kernels=%zu", n);
		return NULL;
	}
	memcpy(kernels, rank->kernels, n * sizeof(*kernels));
	qsort(kernels, n, sizeof(*kernels), compare);
	return kernels;
}

static enum fsl_status add_all_shapes(struct pass *pass, struct fsl_error *err)
{
	size_t n = pass->rank->n_kernels;
	struct fsl_profile_kernels *kernels = sorted_kernels(pass->rank, compare_shapes, err);
	enum fsl_status status = kernels != NULL ? FSL_OK : FSL_ERR_MEMORY;
	for (size_t begin = 0, end = 0; begin < n && status == FSL_OK; begin = end) {
		while (end < n && kernels[end].type_id == kernels[begin].type_id) {
			end++;
		}
		if (kernels[begin].shape_id != FSL_STR_NONE) {
			status = add_shapes(pass, &kernels[begin], end - begin, err);
		}
	}
	fsl_free(kernels);
	return status;
}

static int compare_blocks(const void *left, const void *right)
{
	const struct fsl_profile_kernels *a = left, *b = right;
	int order = by_number(a->core_id, b->core_id);
	order = order != 0 ? order : by_number(b->n_blocks, a->n_blocks);
	return order != 0 ? order : by_number(a->type_id, b->type_id);
}

/*
 * No file tells how many cores a device has. Kernels that can use all of them ask for so many
 * blocks, so it is the greatest number that several types of operators ask for; 0: none.
 * @kernels: of one kind of core, by compare_blocks.
 */
static int64_t count_cores(const struct fsl_profile_kernels *kernels, size_t n)
{
	size_t n_types = 0;
	for (size_t k = 0; k < n; k++) {
		bool is_new = k == 0 || kernels[k].n_blocks != kernels[k - 1].n_blocks;
		bool is_other = is_new || kernels[k].type_id != kernels[k - 1].type_id;
		n_types = is_new ? 1 : n_types + is_other;
		if (n_types == FSL_CORES_TYPES_MIN) {
			return kernels[k].n_blocks;
		}
	}
	return 0;
}

static enum fsl_status add_blocks(struct pass *pass, const struct fsl_profile_kernels *kernels,
				  int64_t n_cores, struct fsl_error *err)
{
	struct fsl_operator_type *item = NULL;
	FSL_TRY(item_of(pass, kernels->type_id, &item, err));
	double ms = (double)kernels->total_ns / (double)FSL_NS_PER_MS / pass->n_steps;
	item->placed_ms += ms;
	item->blocks_ms += ms * (double)kernels->n_blocks;
	item->cores_ms += ms * (double)n_cores;
	return FSL_OK;
}

static enum fsl_status add_all_blocks(struct pass *pass, struct fsl_error *err)
{
	size_t n = pass->rank->n_kernels;
	struct fsl_profile_kernels *kernels = sorted_kernels(pass->rank, compare_blocks, err);
	enum fsl_status status = kernels != NULL ? FSL_OK : FSL_ERR_MEMORY;
	for (size_t begin = 0, end = 0; begin < n && status == FSL_OK; begin = end) {
		while (end < n && kernels[end].core_id == kernels[begin].core_id) {
			end++;
		}
		int64_t n_cores = count_cores(&kernels[begin], end - begin);
		for (size_t k = begin; k < end && n_cores > 0 && status == FSL_OK; k++) {
			status = kernels[k].n_blocks > 0
					 ? add_blocks(pass, &kernels[k], n_cores, err)
					 : FSL_OK;
		}
	}
	fsl_free(kernels);
	return status;
}

/* A row of an operator that only communicates is no work of the rank. */
static bool is_work(const struct fsl_profile_rank *rank, const struct fsl_profile_statistic *row)
{
	const char *name = fsl_strpool_text(rank->names, row->name_id);
	enum fsl_comm_kernel kind = fsl_comm_kernel_of(rank->found, name, strlen(name));
	return kind == FSL_COMM_KERNEL_NONE || kind == FSL_COMM_KERNEL_FUSED;
}

bool fsl_operator_types_are_cut(const struct fsl_profile_rank *rank)
{
	double kernels_ns = 0.0, statistics_ns = 0.0;
	for (size_t k = 0; k < rank->n_kernels; k++) {
		kernels_ns += (double)rank->kernels[k].total_ns;
	}
	for (size_t k = 0; k < rank->n_op_statistics; k++) {
		const struct fsl_profile_statistic *row = &rank->op_statistics[k];
		statistics_ns += is_work(rank, row) ? (double)row->total_ns : 0.0;
	}
	double ms = kernels_ns / FSL_NS_PER_MS / (double)fsl_profile_n_steps(rank);
	double statistics_ms =
		statistics_ns / FSL_NS_PER_MS / (double)fsl_profile_steps_captured(rank);
	double computing_ms = fsl_profile_part_ms(rank, FSL_PART_COMPUTING); /* NaN: not told */
	return rank->n_kernels > 0 &&
	       ms < FSL_KERNELS_TOLD_SHARE_MIN * fmax(computing_ms, statistics_ms);
}

static enum fsl_status add_statistics(struct pass *pass, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = pass->rank;
	for (size_t k = 0; k < rank->n_op_statistics; k++) {
		const struct fsl_profile_statistic *row = &rank->op_statistics[k];
		if (is_work(rank, row)) {
			FSL_TRY(add(pass, row->name_id, row->kind_id, row->total_ns, row->count,
				    err));
		}
	}
	return FSL_OK;
}

static bool uses_statistics(const struct fsl_profile_rank *rank)
{
	return rank->n_kernels == 0 ||
	       (rank->n_op_statistics > 0 && fsl_operator_types_are_cut(rank));
}

static enum fsl_status add_rank(struct pass *pass, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = pass->rank;
	if (uses_statistics(rank)) {
		pass->types->n_ranks += rank->n_op_statistics > 0;
		return add_statistics(pass, err);
	}
	enum fsl_status status = FSL_OK;
	for (size_t k = 0; k < rank->n_kernels && status == FSL_OK; k++) {
		const struct fsl_profile_kernels *kernels = &rank->kernels[k];
		status = add(pass, kernels->type_id, kernels->core_id, kernels->total_ns,
			     kernels->count, err);
		if (status == FSL_OK) {
			status = add_pipes(pass, kernels, err);
		}
	}
	if (status == FSL_OK) {
		status = add_all_shapes(pass, err);
		FSL_THEN(status, add_all_blocks(pass, err));
		size_t n_steps = (size_t)pass->n_steps;
		if (pass->types->n_steps_min == 0 || n_steps < pass->types->n_steps_min) {
			pass->types->n_steps_min = n_steps;
		}
	}
	pass->types->n_ranks++;
	return status;
}

static int compare_types(const void *left, const void *right)
{
	const struct fsl_operator_type *a = left, *b = right;
	if (a->ms != b->ms) {
		return a->ms > b->ms ? -1 : 1;
	}
	return strcmp(a->name, b->name);
}

static size_t bound_of(const struct fsl_operator_type *type)
{
	size_t most = 0;
	if (type->placed_ms >= FSL_KERNELS_TOLD_SHARE_MIN * type->ms && type->placed_ms > 0.0 &&
	    type->blocks_ms <= FSL_BLOCKS_SHARE_MAX * type->cores_ms) {
		return FSL_BOUND_BLOCKS;
	}
	for (size_t p = 1; p < FSL_PIPES_N; p++) {
		most = type->pipe_ms[p] > type->pipe_ms[most] ? p : most;
	}
	return type->pipe_ms[most] >= FSL_PIPE_BOUND_MIN * type->ms && type->ms > 0.0
		       ? most
		       : FSL_BOUNDS_N;
}

/* Shapes that only one step has or, if a step or two were captured, very many of them. */
static bool is_changing(const struct fsl_operator_types *types,
			const struct fsl_operator_type *type)
{
	if (types->n_steps_min >= FSL_USUAL_STEPS_MIN) {
		return type->calls_once > FSL_SHAPES_ONCE_MIN * type->calls;
	}
	return type->n_shapes_max >= (double)FSL_SHAPES_OF_ONE_STEP_MIN &&
	       type->n_shapes_max > FSL_SHAPES_ONCE_MIN * type->calls_of_shapes_max;
}

/* Compares the types, longest first. */
static void compare_all(struct fsl_operator_types *types)
{
	double n_ranks = (double)types->n_ranks, most_ms = 0.0;
	for (size_t i = 0; i < types->n_items; i++) {
		struct fsl_operator_type *type = &types->items[i];
		type->bound = bound_of(type);
		types->cpu_ms += type->cpu_ms / n_ranks;
		types->cpu_count += type->cpu_count / n_ranks;
		if (type->cpu_ms > most_ms) {
			types->most_on_cpu = type;
			most_ms = type->cpu_ms;
		}
		if (is_changing(types, type)) {
			types->first_changing =
				types->n_changing == 0 ? type : types->first_changing;
			types->changing_ms += type->ms;
			types->n_changing++;
		}
	}
	if (!(types->cpu_ms > FSL_CAPTURE_MENTION_SHARE_MIN * types->ms / n_ranks)) {
		types->most_on_cpu = NULL;
	}
	if (!(types->changing_ms > FSL_CHANGING_SHARE_MIN * types->ms)) {
		types->first_changing = NULL;
	}
}

enum fsl_status fsl_operator_types_sum(struct fsl_operator_types *types,
				       const struct fsl_profile *profile, struct fsl_error *err)
{
	types->names = fsl_strpool_create();
	enum fsl_status status =
		types->names != NULL
			? FSL_OK
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"operator types\"");
	for (size_t r = 0; r < profile->n_ranks && status == FSL_OK; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		size_t n_steps = uses_statistics(rank) ? fsl_profile_steps_captured(rank)
						       : fsl_profile_n_steps(rank);
		struct pass pass = {types, rank, (double)n_steps};
		status = add_rank(&pass, err);
	}
	if (status == FSL_OK && types->n_items > 1) {
		qsort(types->items, types->n_items, sizeof(*types->items), compare_types);
	}
	if (status == FSL_OK) {
		compare_all(types);
	}
	return status;
}

void fsl_operator_types_fini(struct fsl_operator_types *types)
{
	fsl_free(types->items);
	fsl_strpool_destroy(types->names);
	*types = (struct fsl_operator_types){0};
}

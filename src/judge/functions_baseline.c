/* Functions of the same ranks in two captures, side by side. */
#include "judge/functions_baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "blame/baseline_model.h"
#include "blame/limits.h"
#include "judge/limits.h"

enum { NOW, THEN, SIDES };

/* A function in both captures: sums over the ranks. */
struct cell {
	enum fsl_function_class class;
	const char *name, *shape;
	double ns[SIDES], calls[SIDES]; /* of a step */
	double total_ns[SIDES], count[SIDES];
	double rank_ns[SIDES]; /* of the rank at work */
	int32_t worst_rank;
	double worst_ns;
};

struct cells {
	struct fsl_strpool *keys;
	struct cell *items; /* by id of the key */
	size_t n_items, items_capacity;
	char *key;
	size_t key_capacity;
	double *own_ns; /* by which the own work of each pair grew */
	size_t n_pairs;
};

bool fsl_function_waits(enum fsl_function_class class, const char *name)
{
	/* The host's side of collectives in libraries of CUDA: ACK's traces have them. */
	bool is_collective = strncmp(name, "pnccl", 5) == 0 || strncmp(name, "nccl", 4) == 0;
	return class == FSL_FUNCTION_COLLECTIVE ||
	       (class == FSL_FUNCTION_RUNTIME &&
		(is_collective || strstr(name, "Synchronize") != NULL));
}

static bool has_functions(const struct fsl_profile_rank *rank)
{
	return rank != NULL && rank->functions != NULL && rank->functions->n_items > 0 &&
	       rank->functions->window_ns > 0;
}

static enum fsl_status find(struct cells *all, const struct fsl_function *function,
			    struct cell **cell, struct fsl_error *err)
{
	uint32_t id = 0;
	size_t n_shape = strlen(function->shape), n_name = strlen(function->name);
	FSL_TRY(FSL_GROW(all->key, all->key_capacity, n_shape + n_name + 2, err));
	all->key[0] = (char)('0' + (int)function->class);
	memcpy(all->key + 1, function->shape, n_shape + 1);
	memcpy(all->key + n_shape + 2, function->name, n_name);
	FSL_TRY(fsl_strpool_intern(all->keys, all->key, n_shape + n_name + 2, &id, err));
	if (id == all->n_items) {
		const struct cell made = {.class = function->class,
					  .name = function->name,
					  .shape = function->shape,
					  .worst_ns = -INFINITY};
		FSL_TRY(FSL_APPEND(all, items, &made, err));
	}
	*cell = &all->items[id];
	return FSL_OK;
}

/* @scale: from the trace to a step. */
static enum fsl_status add_side(struct cells *all, const struct fsl_profile_rank *rank, size_t side,
				double scale, struct fsl_error *err)
{
	for (size_t i = 0; i < rank->functions->n_items; i++) {
		const struct fsl_function *function = &rank->functions->items[i];
		struct cell *cell = NULL;
		FSL_TRY(find(all, function, &cell, err));
		cell->rank_ns[side] = (double)function->exclusive_ns * scale;
		cell->ns[side] += cell->rank_ns[side];
		cell->calls[side] += (double)function->count * scale;
		cell->total_ns[side] += (double)function->total_ns;
		cell->count[side] += (double)function->count;
	}
	return FSL_OK;
}

/* The rank on which each function grew most, and how much the own work of this one grew. */
static void end_rank(struct cells *all, int32_t rank)
{
	double own_ns = 0.0;
	for (size_t i = 0; i < all->n_items; i++) {
		struct cell *cell = &all->items[i];
		double grown_ns = cell->rank_ns[NOW] - cell->rank_ns[THEN];
		if (grown_ns > cell->worst_ns) {
			cell->worst_ns = grown_ns;
			cell->worst_rank = rank;
		}
		own_ns += fsl_function_waits(cell->class, cell->name) ? 0.0 : grown_ns;
		cell->rank_ns[NOW] = cell->rank_ns[THEN] = 0.0;
	}
	all->own_ns[all->n_pairs++] = own_ns;
}

/* Ranks in both captures, and whether all of them have steps. */
static void count_pairs(struct fsl_functions_baseline *out, const struct fsl_profile *now,
			const struct fsl_profile *then)
{
	size_t n_now = 0, n_then = 0;
	out->is_per_step = true;
	for (size_t r = 0; r < then->n_ranks; r++) {
		n_then += has_functions(&then->ranks[r]);
	}
	for (size_t r = 0; r < now->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &now->ranks[r];
		const struct fsl_profile_rank *other = fsl_profile_rank_of(then, rank->rank);
		n_now += has_functions(rank);
		if (has_functions(rank) && has_functions(other)) {
			out->n_ranks++;
			out->is_per_step &= rank->trace.n_ranges > 0 && other->trace.n_ranges > 0;
		}
	}
	out->n_unpaired = n_now + n_then - 2 * out->n_ranks;
}

static enum fsl_status fill(struct cells *all, struct fsl_functions_baseline *out,
			    const struct fsl_profile *now, const struct fsl_profile *then,
			    struct fsl_error *err)
{
	double n_ranks = (double)out->n_ranks;
	for (size_t r = 0; r < now->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &now->ranks[r];
		const struct fsl_profile_rank *other = fsl_profile_rank_of(then, rank->rank);
		if (!has_functions(rank) || !has_functions(other)) {
			continue;
		}
		double now_ns = (double)rank->functions->window_ns;
		double then_ns = (double)other->functions->window_ns;
		double scale =
			out->is_per_step ? 1.0 / (double)rank->trace.n_ranges : then_ns / now_ns;
		double other_scale = out->is_per_step ? 1.0 / (double)other->trace.n_ranges : 1.0;
		out->window_now_ns += now_ns * scale / n_ranks;
		out->window_then_ns += then_ns * other_scale / n_ranks;
		FSL_TRY(add_side(all, rank, NOW, scale, err));
		FSL_TRY(add_side(all, other, THEN, other_scale, err));
		end_rank(all, rank->rank);
	}
	return FSL_OK;
}

static int compare_numbers(const void *left, const void *right)
{
	const double *a = left, *b = right;
	return FSL_ORDER(*a, *b);
}

/* By how much the own work of one rank grew beyond the median of all: the others wait for it. */
static double beyond_others(struct cells *all)
{
	qsort(all->own_ns, all->n_pairs, sizeof(*all->own_ns), compare_numbers);
	return fmax(all->own_ns[all->n_pairs - 1] - all->own_ns[(all->n_pairs - 1) / 2], 0.0);
}

static int compare_growth(const void *left, const void *right)
{
	const struct fsl_grown_function *a = left, *b = right;
	FSL_ORDER_BY(b->now_ns - b->then_ns, a->now_ns - a->then_ns);
	FSL_ORDER_BY(a->class, b->class);
	int order = strcmp(a->name, b->name);
	return order != 0 ? order : strcmp(a->shape, b->shape);
}

/* Keeps those that grew most. */
static void keep(struct fsl_functions_baseline *out, const struct fsl_grown_function *grown)
{
	size_t at = out->n_items;
	if (at == FSL_GROWN_FUNCTIONS_MAX) {
		out->n_left_out++;
		at--;
		if (compare_growth(grown, &out->items[at]) >= 0) {
			return;
		}
	} else {
		out->n_items++;
	}
	for (; at > 0 && compare_growth(grown, &out->items[at - 1]) < 0; at--) {
		out->items[at] = out->items[at - 1];
	}
	out->items[at] = *grown;
}

static struct fsl_grown_function grown_of(const struct cell *cell, double n_ranks)
{
	return (struct fsl_grown_function){
		.class = cell->class,
		.name = cell->name,
		.shape = cell->shape,
		.now_ns = cell->ns[NOW] / n_ranks,
		.then_ns = cell->ns[THEN] / n_ranks,
		.now_calls = cell->calls[NOW] / n_ranks,
		.then_calls = cell->calls[THEN] / n_ranks,
		.now_call_ns = cell->count[NOW] > 0.0 ? cell->total_ns[NOW] / cell->count[NOW]
						      : (double)NAN,
		.then_call_ns = cell->count[THEN] > 0.0 ? cell->total_ns[THEN] / cell->count[THEN]
							: (double)NAN,
		.worst_rank = cell->worst_rank,
		.worst_ns = cell->worst_ns,
	};
}

static void list(struct fsl_functions_baseline *out, struct cells *all, double ratio_min)
{
	double least_ns = ratio_min * out->window_then_ns;
	double waited_ns = fmax(least_ns, beyond_others(all));
	for (size_t i = 0; i < all->n_items; i++) {
		const struct cell *cell = &all->items[i];
		struct fsl_grown_function grown = grown_of(cell, (double)out->n_ranks);
		bool is_wait = fsl_function_waits(cell->class, cell->name);
		double wanted_ns = fmax(is_wait ? waited_ns : least_ns,
					FSL_JUDGE_FUNCTION_EXCESS_MIN * grown.then_ns);
		bool has_grown = grown.now_ns - grown.then_ns >= wanted_ns;
		grown.is_of_one =
			!has_grown && !is_wait &&
			grown.worst_ns >= fmax(FSL_JUDGE_ONE_RANK_TIMES_MIN * least_ns,
					       FSL_JUDGE_FUNCTION_EXCESS_MIN * grown.then_ns);
		if (has_grown || grown.is_of_one) {
			keep(out, &grown);
		}
	}
}

enum fsl_status fsl_functions_compare_baseline(struct fsl_functions_baseline *out,
					       const struct fsl_profile *now,
					       const struct fsl_profile *then, double ratio_min,
					       struct fsl_error *err)
{
	struct cells all = {.keys = fsl_strpool_create()};
	*out = (struct fsl_functions_baseline){.model_share = NAN};
	enum fsl_status status = FSL_MADE(all.keys, now->n_ranks, "ranks", err);
	FSL_THEN(status, FSL_NEW(all.own_ns, now->n_ranks + 1, "ranks", err));
	FSL_THEN(status, fsl_baseline_liken(&out->model_share, now, then, err));
	if (status == FSL_OK) {
		count_pairs(out, now, then);
		out->is_other_model = out->model_share < FSL_BASELINE_MODEL_SHARE_MIN;
	}
	if (status == FSL_OK && out->n_ranks > 0 && !out->is_other_model) {
		status = fill(&all, out, now, then, err);
		if (status == FSL_OK) {
			list(out, &all, ratio_min);
		}
	}
	fsl_strpool_destroy(all.keys);
	fsl_free(all.items);
	fsl_free(all.key);
	fsl_free(all.own_ns);
	return status;
}

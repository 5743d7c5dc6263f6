/* Kernels of two captures side by side, by name and shape and by name. */
#include "blame/baseline_model.h"

#include <math.h>
#include <string.h>

#include "base/try.h"
#include "blame/limits.h"
#include "capture/step_rows.h"

enum { NOW, THEN, SIDES };

/* Time and calls of a kernel in both captures. */
struct tally {
	double ns[SIDES], calls[SIDES];
};

struct tallies {
	struct fsl_strpool *keys;
	struct tally *items; /* by id of the key */
	size_t n_items, items_capacity;
	char *key;
	size_t key_capacity;
};

static enum fsl_status count(struct tallies *all, const char *type, const char *shape, size_t side,
			     const struct fsl_profile_kernels *kernels, double n_steps,
			     struct fsl_error *err)
{
	uint32_t id = 0;
	const struct tally none = {{0.0}, {0.0}};
	size_t n_type = strlen(type), n_shape = strlen(shape);
	FSL_TRY(FSL_GROW(all->key, all->key_capacity, n_type + n_shape + 1, err));
	memcpy(all->key, type, n_type + 1);
	memcpy(all->key + n_type + 1, shape, n_shape);
	FSL_TRY(fsl_strpool_intern(all->keys, all->key, n_type + n_shape + 1, &id, err));
	if (id == all->n_items) {
		FSL_TRY(FSL_APPEND(all, items, &none, err));
	}
	all->items[id].ns[side] += (double)kernels->total_ns / n_steps;
	all->items[id].calls[side] += (double)kernels->count / n_steps;
	return FSL_OK;
}

static enum fsl_status count_rank(struct tallies *all, const struct fsl_profile_rank *rank,
				  size_t side, bool is_by_shape, struct fsl_error *err)
{
	double n_steps = (double)fsl_profile_n_steps(rank);
	for (size_t k = 0; k < rank->n_kernels; k++) {
		const struct fsl_profile_kernels *kernels = &rank->kernels[k];
		const char *shape =
			is_by_shape ? fsl_strpool_text(rank->names, kernels->shape_id) : "";
		FSL_TRY(count(all, fsl_strpool_text(rank->names, kernels->type_id), shape, side,
			      kernels, n_steps, err));
	}
	return FSL_OK;
}

static double common_share(const struct tallies *all, bool is_by_shape)
{
	double common[SIDES] = {0.0}, whole[SIDES] = {0.0};
	for (size_t i = 0; i < all->n_items; i++) {
		const struct tally *item = &all->items[i];
		double most = fmax(item->calls[NOW], item->calls[THEN]);
		bool is_common = item->calls[NOW] > 0.0 && item->calls[THEN] > 0.0;
		bool is_as_often = fabs(item->calls[NOW] - item->calls[THEN]) <=
				   FSL_BASELINE_MODEL_CALLS_SHARE_MAX * most;
		for (size_t side = 0; side < SIDES; side++) {
			whole[side] += item->ns[side];
			common[side] +=
				is_common && (is_by_shape || is_as_often) ? item->ns[side] : 0.0;
		}
	}
	return whole[NOW] > 0.0 && whole[THEN] > 0.0
		       ? fmax(common[NOW] / whole[NOW], common[THEN] / whole[THEN])
		       : (double)NAN;
}

static enum fsl_status liken(double *share, const struct fsl_profile *now,
			     const struct fsl_profile *then, bool is_by_shape,
			     struct fsl_error *err)
{
	struct tallies all = {.keys = fsl_strpool_create()};
	enum fsl_status status = FSL_MADE(all.keys, now->n_ranks, "ranks", err);
	for (size_t r = 0; r < now->n_ranks && status == FSL_OK; r++) {
		const struct fsl_profile_rank *rank = &now->ranks[r];
		const struct fsl_profile_rank *other = fsl_profile_rank_of(then, rank->rank);
		if (rank->n_kernels > 0 && other != NULL && other->n_kernels > 0) {
			status = count_rank(&all, rank, NOW, is_by_shape, err);
			FSL_THEN(status, count_rank(&all, other, THEN, is_by_shape, err));
		}
	}
	*share = common_share(&all, is_by_shape);
	fsl_strpool_destroy(all.keys);
	fsl_free(all.items);
	fsl_free(all.key);
	return status;
}

enum fsl_status fsl_baseline_liken(double *share, const struct fsl_profile *now,
				   const struct fsl_profile *then, struct fsl_error *err)
{
	double by_shape = NAN, by_name = NAN;
	FSL_TRY(liken(&by_shape, now, then, true, err));
	FSL_TRY(liken(&by_name, now, then, false, err));
	*share = fmax(by_shape, by_name);
	return FSL_OK;
}

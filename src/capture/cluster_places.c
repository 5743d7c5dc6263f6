/* Places of ranks in the parallel layout, by the order in which Megatron-LM assigns ranks
 * (RankGenerator, default order "tp-cp-ep-dp-pp"): tensor parallelism fastest, pipeline slowest. */
#include "capture/cluster_parts.h"

static int64_t at_least_one(int64_t size)
{
	return size > 0 ? size : 1;
}

/* Product of the sizes; false on overflow, far beyond any world. */
static bool product(const struct fsl_layout *layout, int64_t *out)
{
	return !__builtin_mul_overflow(layout->tp, layout->cp, out) &&
	       !__builtin_mul_overflow(*out, layout->pp, out) &&
	       !__builtin_mul_overflow(*out, layout->dp, out) && *out <= FSL_PROFILE_RANKS_MAX;
}

/* Completes the layout. Megatron's data_parallel_size excludes context parallelism. Some writers
 * include it; the product is then too large by exactly that factor. */
static bool complete(struct fsl_layout *layout, const struct fsl_profile_info *info)
{
	int64_t n = 0;
	layout->dp = 1;
	if (!product(layout, &n)) {
		return false;
	}
	if (info->data_size <= 0) {
		layout->dp = info->world_size / n;
	} else if (info->world_size > 0 && layout->cp > 1 && info->data_size % layout->cp == 0 &&
		   info->world_size == n / layout->cp * info->data_size) {
		layout->dp = info->data_size / layout->cp;
	} else {
		layout->dp = info->data_size;
	}
	return layout->dp > 0 && product(layout, &layout->world) &&
	       (info->world_size <= 0 || info->world_size == layout->world);
}

static bool has_sizes(const struct fsl_profile_info *info)
{
	return info->world_size > 0 ||
	       (info->tensor_size > 0 && info->pipeline_size > 0 && info->data_size > 0);
}

bool fsl_layout_find(const struct fsl_profile *profile, struct fsl_layout *layout)
{
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_info *info = &profile->ranks[r].info;
		if (has_sizes(info)) {
			*layout = (struct fsl_layout){.tp = at_least_one(info->tensor_size),
						      .cp = at_least_one(info->context_size),
						      .pp = at_least_one(info->pipeline_size)};
			return complete(layout, info);
		}
	}
	return false;
}

struct fsl_profile_place fsl_layout_place(const struct fsl_layout *layout, int32_t rank)
{
	if (rank < 0 || rank >= layout->world) {
		return (struct fsl_profile_place){-1, -1, -1, -1};
	}
	int64_t rest = rank;
	struct fsl_profile_place place = {.tp = (int32_t)(rest % layout->tp)};
	rest /= layout->tp;
	place.cp = (int32_t)(rest % layout->cp);
	rest /= layout->cp;
	place.dp = (int32_t)(rest % layout->dp);
	place.pp = (int32_t)(rest / layout->dp);
	return place;
}

enum fsl_status fsl_cluster_find_places(struct fsl_profile_cluster *out,
					const struct fsl_profile *profile, struct fsl_error *err)
{
	struct fsl_layout layout = {0};
	out->places = fsl_arena_alloc(&out->arena, (profile->n_ranks + 1) * sizeof(*out->places));
	if (out->places == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", profile->n_ranks);
	}
	out->has_places = fsl_layout_find(profile, &layout);
	layout.world = out->has_places ? layout.world : 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		out->places[r] = fsl_layout_place(&layout, profile->ranks[r].rank);
	}
	return FSL_OK;
}

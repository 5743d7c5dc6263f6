/*
 * Stages of the pipeline. First from the groups that were used: p2p groups named "pp" are merged to
 * pipelines. A collective group in which no two ranks are of one pipeline lies inside a stage, and
 * such groups that share ranks are of the same stage. Otherwise from the sizes in the metadata.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sort.h"
#include "capture/cluster_parts.h"

/* Merged sets of ranks (union-find): the root of a set is its least rank. */
struct sets {
	int32_t *ranks; /* all ranks in any group; ascending */
	size_t n;
	size_t *pipeline, *stage; /* parent of each rank */
	bool *is_piped, *is_staged;
	size_t *stamps; /* for the root of each pipeline: last group seen there, from 1 */
};

static size_t position_of(const struct sets *sets, int32_t rank)
{
	const int32_t *found =
		bsearch(&rank, sets->ranks, sets->n, sizeof(*sets->ranks), fsl_compare_i32);
	return (size_t)(found - sets->ranks);
}

static size_t root_of(size_t *parents, size_t at)
{
	while (parents[at] != at) {
		parents[at] = parents[parents[at]];
		at = parents[at];
	}
	return at;
}

static void merge(const struct sets *sets, size_t *parents, bool *is_in,
		  const struct fsl_profile_group *group)
{
	size_t first = root_of(parents, position_of(sets, group->ranks[0]));
	for (size_t i = 0; i < group->n_ranks; i++) {
		size_t at = position_of(sets, group->ranks[i]);
		size_t root = root_of(parents, at);
		is_in[at] = true;
		parents[root > first ? root : first] = root > first ? first : root;
		first = root > first ? first : root;
	}
}

static bool is_pipeline(const struct fsl_profile_group *group)
{
	return group->is_p2p && strncasecmp(group->name, "pp", 2) == 0 && group->n_ranks > 0;
}

/* True if no two ranks of the group are of one pipeline. @stamp: unique number of the group. */
static bool is_inside_stage(struct sets *sets, const struct fsl_profile_group *group, size_t stamp)
{
	for (size_t i = 0; i < group->n_ranks; i++) {
		size_t at = position_of(sets, group->ranks[i]);
		size_t root = root_of(sets->pipeline, at);
		if (sets->is_piped[at] && sets->stamps[root] == stamp) {
			return false;
		}
		sets->stamps[root] = sets->is_piped[at] ? stamp : sets->stamps[root];
	}
	return group->n_ranks > 0;
}

static void gather_ranks(struct sets *sets, const struct fsl_profile_cluster *cluster)
{
	size_t n = 0;
	for (size_t g = 0; g < cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		memcpy(sets->ranks + n, group->ranks, group->n_ranks * sizeof(*sets->ranks));
		n += group->n_ranks;
	}
	qsort(sets->ranks, n, sizeof(*sets->ranks), fsl_compare_i32);
	for (size_t i = 0; i < n; i++) {
		if (sets->n == 0 || sets->ranks[sets->n - 1] != sets->ranks[i]) {
			sets->ranks[sets->n++] = sets->ranks[i];
		}
	}
	for (size_t i = 0; i < sets->n; i++) {
		sets->pipeline[i] = sets->stage[i] = i;
	}
}

static void sets_fini(struct sets *sets)
{
	fsl_free(sets->ranks);
	fsl_free(sets->pipeline);
	fsl_free(sets->stage);
	fsl_free(sets->is_piped);
	fsl_free(sets->is_staged);
	fsl_free(sets->stamps);
}

static enum fsl_status sets_init(struct sets *sets, const struct fsl_profile_cluster *cluster,
				 struct fsl_error *err)
{
	size_t n = 1;
	for (size_t g = 0; g < cluster->n_groups; g++) {
		n += cluster->groups[g].n_ranks;
	}
	*sets = (struct sets){.ranks = fsl_calloc(n, sizeof(*sets->ranks)),
			      .pipeline = fsl_calloc(n, sizeof(*sets->pipeline)),
			      .stage = fsl_calloc(n, sizeof(*sets->stage)),
			      .is_piped = fsl_calloc(n, sizeof(*sets->is_piped)),
			      .is_staged = fsl_calloc(n, sizeof(*sets->is_staged)),
			      .stamps = fsl_calloc(n, sizeof(*sets->stamps))};
	if (sets->ranks == NULL || sets->pipeline == NULL || sets->stage == NULL ||
	    sets->is_piped == NULL || sets->is_staged == NULL || sets->stamps == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", n);
	}
	gather_ranks(sets, cluster);
	return FSL_OK;
}

static bool merge_groups(struct sets *sets, const struct fsl_profile_cluster *cluster)
{
	bool has_pipeline = false;
	for (size_t g = 0; g < cluster->n_groups; g++) {
		if (is_pipeline(&cluster->groups[g])) {
			merge(sets, sets->pipeline, sets->is_piped, &cluster->groups[g]);
			has_pipeline = true;
		}
	}
	for (size_t g = 0; has_pipeline && g < cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		if (!group->is_p2p && is_inside_stage(sets, group, g + 1)) {
			merge(sets, sets->stage, sets->is_staged, group);
		}
	}
	return has_pipeline;
}

/* Roots are least ranks, so that stages come in the order of their least ranks. */
static enum fsl_status copy_stages(struct fsl_profile_cluster *out, struct sets *sets,
				   struct fsl_error *err)
{
	size_t *number = sets->stamps; /* reuses stamps: number of the stage, by its root */
	out->stages = fsl_arena_alloc(&out->arena, (sets->n + 1) * sizeof(*out->stages));
	int32_t *ranks = fsl_arena_take(&out->arena, (sets->n + 1) * sizeof(*ranks));
	if (out->stages == NULL || ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", sets->n);
	}
	for (size_t i = 0; i < sets->n; i++) {
		size_t root = root_of(sets->stage, i);
		if (root == i && sets->is_staged[i]) {
			number[root] = out->n_stages++;
		}
		if (sets->is_staged[i]) {
			out->stages[number[root]].n_ranks++;
		}
	}
	for (size_t s = 0; s < out->n_stages; s++) {
		out->stages[s].ranks = ranks;
		ranks += out->stages[s].n_ranks;
		out->stages[s].n_ranks = 0;
	}
	for (size_t i = 0; i < sets->n; i++) {
		if (sets->is_staged[i]) {
			struct fsl_profile_stage *stage =
				&out->stages[number[root_of(sets->stage, i)]];
			stage->ranks[stage->n_ranks++] = sets->ranks[i];
		}
	}
	return FSL_OK;
}

static bool holds_all(const struct fsl_profile_cluster *cluster, const struct fsl_profile *profile)
{
	for (size_t r = 0; r < profile->n_ranks; r++) {
		if (fsl_profile_stage_of(cluster, profile->ranks[r].rank) == SIZE_MAX) {
			return false;
		}
	}
	return cluster->n_stages > 0;
}

/* The pipeline varies slowest, so a stage is a run of consecutive ranks. */
static enum fsl_status stages_of_layout(struct fsl_profile_cluster *out,
					const struct fsl_layout *layout, struct fsl_error *err)
{
	size_t n_each = (size_t)(layout->world / layout->pp);
	out->stages = fsl_arena_alloc(&out->arena, (size_t)layout->pp * sizeof(*out->stages));
	int32_t *ranks = fsl_arena_take(&out->arena, (size_t)layout->world * sizeof(*ranks));
	if (out->stages == NULL || ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
				(size_t)layout->world);
	}
	for (int32_t rank = 0; rank < layout->world; rank++) {
		ranks[rank] = rank;
	}
	out->n_stages = (size_t)layout->pp;
	for (size_t s = 0; s < out->n_stages; s++) {
		out->stages[s] = (struct fsl_profile_stage){ranks + s * n_each, n_each};
	}
	return FSL_OK;
}

enum fsl_status fsl_cluster_find_stages(struct fsl_profile_cluster *out,
					const struct fsl_profile *profile, struct fsl_error *err)
{
	struct sets sets = {0};
	struct fsl_layout layout = {0};
	enum fsl_status status = sets_init(&sets, out, err);
	if (status == FSL_OK && merge_groups(&sets, out)) {
		status = copy_stages(out, &sets, err);
	}
	if (status == FSL_OK && !holds_all(out, profile) && fsl_layout_find(profile, &layout) &&
	    layout.pp > 1) {
		status = stages_of_layout(out, &layout, err);
	}
	sets_fini(&sets);
	return status;
}

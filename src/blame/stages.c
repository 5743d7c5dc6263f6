/* Pipeline stages: the place of a rank in its pipeline, told by who hands over to whom. */
#include "blame/stages.h"

#include <stdlib.h>

/* A pipeline group by its first rank. */
struct hand_over {
	int32_t first_rank;
	uint32_t group_idx;
};

static int compare_hand_overs(const void *a, const void *b)
{
	const struct hand_over *x = a, *y = b;
	if (x->first_rank != y->first_rank) {
		return x->first_rank < y->first_rank ? -1 : 1;
	}
	return (x->group_idx > y->group_idx) - (x->group_idx < y->group_idx);
}

/*
 * Pipelines whose neighbours have a communicator each: the stage of a rank is one more than the
 * stage that hands over to it. False where no rank is in two pipeline groups.
 */
static bool chain_stages(int32_t *stage_of, const struct fsl_run *run,
			 const struct fsl_topology *topology, struct hand_over *chain)
{
	size_t n = 0;
	bool is_chain = false;
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		if (group->kind == FSL_GROUP_PP && group->n_ranks > 0) {
			chain[n++] = (struct hand_over){group->ranks[0], (uint32_t)g};
		}
	}
	qsort(chain, n, sizeof(*chain), compare_hand_overs);
	for (size_t i = 0; i < n; i++) {
		const struct fsl_group *group = &topology->groups[chain[i].group_idx];
		int32_t stage = -1;
		for (size_t m = 0; m < group->n_ranks; m++) {
			size_t r = fsl_run_rank_idx(run, group->ranks[m]);
			stage++;
			if (r != SIZE_MAX) {
				is_chain |= m == 0 && stage_of[r] > 0;
				stage_of[r] = stage > stage_of[r] ? stage : stage_of[r];
				stage = stage_of[r];
			}
		}
	}
	return is_chain;
}

/*
 * Stage of each rank: its place in its pipeline group. In a group that lacks ranks the place
 * follows from the usual layout, where stage = rank * stages / ranks.
 */
static void find_stages(int32_t *stage_of, const struct fsl_run *run,
			const struct fsl_topology *topology)
{
	size_t n_stages = 0;
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		if (group->kind == FSL_GROUP_PP && group->n_ranks > n_stages) {
			n_stages = group->n_ranks;
		}
	}
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		if (group->kind != FSL_GROUP_PP) {
			continue;
		}
		for (size_t m = 0; m < group->n_ranks; m++) {
			size_t rank_idx = fsl_run_rank_idx(run, group->ranks[m]);
			if (rank_idx == SIZE_MAX) {
				continue;
			}
			size_t by_layout = topology->n_expected_ranks > 0
						   ? (size_t)group->ranks[m] * n_stages /
							     topology->n_expected_ranks
						   : m;
			stage_of[rank_idx] = (int32_t)(group->n_ranks == n_stages ? m : by_layout);
		}
	}
}

/* Root of a rank in the forest of ranks that share a group inside a stage. */
static uint32_t find_root(uint32_t *parent, uint32_t r)
{
	while (parent[r] != r) {
		parent[r] = parent[parent[r]];
		r = parent[r];
	}
	return r;
}

/* Ranks that share a group of tensors, data or experts are of one stage. */
static void join_stages(uint32_t *parent, const struct fsl_run *run,
			const struct fsl_topology *topology)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		parent[r] = (uint32_t)r;
	}
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		bool is_inside = group->kind == FSL_GROUP_TP || group->kind == FSL_GROUP_DP ||
				 group->kind == FSL_GROUP_EP;
		uint32_t first = UINT32_MAX;
		for (size_t m = 0; m < group->n_ranks && is_inside; m++) {
			size_t r = fsl_run_rank_idx(run, group->ranks[m]);
			if (r == SIZE_MAX) {
				continue;
			}
			uint32_t root = find_root(parent, (uint32_t)r);
			first = first == UINT32_MAX ? root : find_root(parent, first);
			parent[root] = first;
		}
	}
}

/* True when no pipeline group has two ranks of one stage: then the forest's trees are stages. */
static bool are_stages_apart(uint32_t *parent, const struct fsl_run *run,
			     const struct fsl_topology *topology)
{
	size_t n_pipelines = 0;
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		n_pipelines += group->kind == FSL_GROUP_PP;
		for (size_t m = 1; m < group->n_ranks && group->kind == FSL_GROUP_PP; m++) {
			for (size_t k = 0; k < m; k++) {
				size_t a = fsl_run_rank_idx(run, group->ranks[m]);
				size_t b = fsl_run_rank_idx(run, group->ranks[k]);
				if (a != SIZE_MAX && b != SIZE_MAX &&
				    find_root(parent, (uint32_t)a) ==
					    find_root(parent, (uint32_t)b)) {
					return false;
				}
			}
		}
	}
	return n_pipelines > 0;
}

/*
 * Ranks may be numbered in any order; their places in the pipeline groups, which are sorted, say
 * nothing then. It shows where ranks that share a group inside a stage have different places: every
 * tree of the forest is a stage instead, numbered by its lowest rank. Ranks that left no operators
 * are in no group and no stage. @parent: ranks.
 */
static void settle_stages(int32_t *stage_of, uint32_t *parent, const struct fsl_run *run,
			  const struct fsl_topology *topology)
{
	join_stages(parent, run, topology);
	bool agrees = true;
	for (size_t r = 0; r < run->n_ranks; r++) {
		agrees &= stage_of[r] == stage_of[find_root(parent, (uint32_t)r)];
	}
	if (agrees || !are_stages_apart(parent, run, topology)) {
		return;
	}
	int32_t n_stages = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		stage_of[r] = run->ranks[r].n_ops > 0 ? -1 : 0;
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		uint32_t root = find_root(parent, (uint32_t)r);
		stage_of[root] = stage_of[root] >= 0 ? stage_of[root] : n_stages++;
		stage_of[r] = stage_of[root];
	}
}

enum fsl_status fsl_stages_find(int32_t *stage_of, const struct fsl_run *run,
				const struct fsl_topology *topology, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct hand_over *chain = fsl_arena_alloc(&scratch, topology->n_groups * sizeof(*chain));
	uint32_t *parent = fsl_arena_alloc(&scratch, run->n_ranks * sizeof(*parent));
	if (chain == NULL || parent == NULL) {
		fsl_arena_fini(&scratch);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", run->n_ranks);
	}
	if (!chain_stages(stage_of, run, topology, chain)) {
		find_stages(stage_of, run, topology);
	}
	settle_stages(stage_of, parent, run, topology);
	fsl_arena_fini(&scratch);
	return FSL_OK;
}

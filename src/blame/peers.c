/* Peers: ranks of the same pipeline stage that use the same operators. */
#include <stdlib.h>

#include "base/log.h"
#include "base/sort.h"
#include "blame/blame.h"
#include "match/group_sizes.h"
#include "match/topology_parts.h"

/* Pipeline stages: the place of a rank in its pipeline, told by who hands over to whom. */

/* A pipeline group by its first rank. */
struct hand_over {
	int32_t first_rank;
	uint32_t group_idx;
};

static int compare_hand_overs(const void *a, const void *b)
{
	const struct hand_over *x = a, *y = b;
	FSL_ORDER_BY(x->first_rank, y->first_rank);
	return FSL_ORDER(x->group_idx, y->group_idx);
}

/*
 * Pipelines whose neighbours have a communicator each: the stage of a rank is one more than the
 * stage that hands over to it. False if no rank is in two pipeline groups.
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
 * follows from the usual layout: stage = rank * stages / ranks.
 */
static void find_stages(int32_t *stage_of, const struct fsl_run *run,
			const struct fsl_topology *topology)
{
	struct fsl_group_sizes sizes;
	fsl_group_sizes_find(&sizes, run, topology);
	size_t n_stages = sizes.n_ranks[FSL_GROUP_PP];
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

static void join_members(uint32_t *parent, const struct fsl_run *run, const struct fsl_group *group)
{
	uint32_t first = UINT32_MAX;
	for (size_t m = 0; m < group->n_ranks; m++) {
		size_t r = fsl_run_rank_idx(run, group->ranks[m]);
		if (r == SIZE_MAX) {
			continue;
		}
		uint32_t root = fsl_forest_root(parent, (uint32_t)r);
		first = first == UINT32_MAX ? root : fsl_forest_root(parent, first);
		parent[root] = first;
	}
}

/* Ranks that share a group of tensors, data or experts are of one stage. */
static void join_stages(uint32_t *parent, const struct fsl_run *run,
			const struct fsl_topology *topology)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		parent[r] = (uint32_t)r;
	}
	for (size_t g = 0; g < topology->n_groups; g++) {
		enum fsl_group_kind kind = topology->groups[g].kind;
		if (kind == FSL_GROUP_TP || kind == FSL_GROUP_DP || kind == FSL_GROUP_EP) {
			join_members(parent, run, &topology->groups[g]);
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
				    fsl_forest_root(parent, (uint32_t)a) ==
					    fsl_forest_root(parent, (uint32_t)b)) {
					return false;
				}
			}
		}
	}
	return n_pipelines > 0;
}

/*
 * Ranks may be numbered in any order; their places in the pipeline groups, which are sorted, say
 * nothing then. It shows if ranks that share a group inside a stage have different places: every
 * tree of the forest is a stage instead, numbered by its lowest rank. Ranks that left no operators
 * are in no group and no stage. False if places tell the stages. @parent: ranks; gets the forest.
 */
static bool settle_stages(int32_t *stage_of, uint32_t *parent, const struct fsl_run *run,
			  const struct fsl_topology *topology)
{
	join_stages(parent, run, topology);
	bool agrees = true;
	for (size_t r = 0; r < run->n_ranks; r++) {
		agrees &= stage_of[r] == stage_of[fsl_forest_root(parent, (uint32_t)r)];
	}
	if (agrees || !are_stages_apart(parent, run, topology)) {
		return false;
	}
	int32_t n_stages = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		stage_of[r] = run->ranks[r].n_ops > 0 ? -1 : 0;
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		uint32_t root = fsl_forest_root(parent, (uint32_t)r);
		stage_of[root] = stage_of[root] >= 0 ? stage_of[root] : n_stages++;
		stage_of[r] = stage_of[root];
	}
	return true;
}

/*
 * A stage without any data cuts the pipelines in two, and places are counted anew behind it. A
 * piece is joined by hand-overs and groups inside stages.
 */
struct pieces {
	const struct fsl_run *run;
	const struct fsl_topology *topology;
	uint32_t *parent; /* per rank index: the forest of stages, then that of pieces */
	/* Per rank index: the nearest rank that it hands over to, and that hands over to it. */
	int32_t *next, *previous;
	/* Per root: ranks of a stage; least and greatest stage of a piece, and the first as told.
	 */
	size_t *n_ranks;
	int32_t *least, *greatest, *begin;
};

static enum fsl_status pieces_alloc(struct pieces *pieces, struct fsl_arena *arena,
				    struct fsl_error *err)
{
	size_t n = pieces->run->n_ranks;
	FSL_TRY(FSL_ARENA_NEW(pieces->next, arena, n, "next", err));
	FSL_TRY(FSL_ARENA_NEW(pieces->previous, arena, n, "previous", err));
	FSL_TRY(FSL_ARENA_NEW(pieces->n_ranks, arena, n, "n_ranks", err));
	FSL_TRY(FSL_ARENA_NEW(pieces->least, arena, n, "least", err));
	FSL_TRY(FSL_ARENA_NEW(pieces->greatest, arena, n, "greatest", err));
	return FSL_ARENA_NEW(pieces->begin, arena, n, "begin", err);
}

/* Ranks that a stage should have: as many as the largest that was seen, or as few more as divide
 * those of the job. */
static size_t ranks_per_stage(struct pieces *pieces)
{
	size_t n_most = 1, n_expected = pieces->topology->n_expected_ranks;
	for (size_t r = 0; r < pieces->run->n_ranks; r++) {
		size_t n = ++pieces->n_ranks[fsl_forest_root(pieces->parent, (uint32_t)r)];
		n_most = n > n_most ? n : n_most;
	}
	while (n_most < n_expected && n_expected % n_most != 0) {
		n_most++;
	}
	return n_most;
}

static bool is_pair(const struct fsl_group *group)
{
	return group->kind == FSL_GROUP_PP && group->n_ranks == 2;
}

/* If stages are interleaved, the last hands back to the first. They are no neighbours: each has
 * one, or had, that is nearer. */
static void find_neighbours(struct pieces *pieces)
{
	for (size_t r = 0; r < pieces->run->n_ranks; r++) {
		pieces->next[r] = INT32_MAX;
		pieces->previous[r] = -1;
	}
	for (size_t g = 0; g < pieces->topology->n_groups; g++) {
		const struct fsl_group *group = &pieces->topology->groups[g];
		if (!is_pair(group)) {
			continue;
		}
		int32_t a = group->ranks[0], b = group->ranks[1];
		size_t from = fsl_run_rank_idx(pieces->run, a);
		size_t to = fsl_run_rank_idx(pieces->run, b);
		if (from != SIZE_MAX && to != SIZE_MAX) {
			pieces->next[from] = b < pieces->next[from] ? b : pieces->next[from];
			pieces->previous[to] = a > pieces->previous[to] ? a : pieces->previous[to];
		}
	}
}

static bool is_hand_back(const struct pieces *pieces, const struct fsl_group *group)
{
	if (!is_pair(group)) {
		return false;
	}
	size_t from = fsl_run_rank_idx(pieces->run, group->ranks[0]);
	size_t to = fsl_run_rank_idx(pieces->run, group->ranks[1]);
	return from != SIZE_MAX && to != SIZE_MAX &&
	       (pieces->next[from] != group->ranks[1] || pieces->previous[to] != group->ranks[0]);
}

static void join_pieces(struct pieces *pieces)
{
	find_neighbours(pieces);
	for (size_t g = 0; g < pieces->topology->n_groups; g++) {
		const struct fsl_group *group = &pieces->topology->groups[g];
		bool is_across = group->kind == FSL_GROUP_PP && !is_hand_back(pieces, group);
		if (is_across || group->kind == FSL_GROUP_CP) {
			join_members(pieces->parent, pieces->run, group);
		}
	}
}

static void find_ends(struct pieces *pieces, const int32_t *stage_of)
{
	for (size_t r = 0; r < pieces->run->n_ranks; r++) {
		pieces->least[r] = INT32_MAX;
		pieces->greatest[r] = pieces->begin[r] = -1;
	}
	for (size_t r = 0; r < pieces->run->n_ranks; r++) {
		uint32_t root = fsl_forest_root(pieces->parent, (uint32_t)r);
		int32_t stage = stage_of[r];
		pieces->least[root] = stage < pieces->least[root] ? stage : pieces->least[root];
		pieces->greatest[root] =
			stage > pieces->greatest[root] ? stage : pieces->greatest[root];
	}
}

/*
 * Numbers the stages of each piece on from those of the one before. By the usual layout, stage =
 * rank / ranks of a stage, stages without data are left out. Pieces come in order of their lowest
 * ranks.
 */
static void number_pieces(struct pieces *pieces, int32_t *stage_of, size_t n_per_stage)
{
	const struct fsl_topology *topology = pieces->topology;
	int32_t next_stage = 0;
	size_t place = 0;
	for (size_t r = 0; r < pieces->run->n_ranks; r++) {
		const struct fsl_rank *rank = &pieces->run->ranks[r];
		while (place < topology->n_expected_ranks &&
		       topology->expected_ranks[place] < rank->rank) {
			place++;
		}
		if (rank->n_ops == 0) {
			continue;
		}
		uint32_t root = fsl_forest_root(pieces->parent, (uint32_t)r);
		if (pieces->begin[root] < 0) {
			int32_t usual = (int32_t)(place / n_per_stage);
			pieces->begin[root] = usual > next_stage ? usual : next_stage;
			next_stage = pieces->begin[root] + pieces->greatest[root] -
				     pieces->least[root] + 1;
		}
		stage_of[r] += pieces->begin[root] - pieces->least[root];
	}
}

static bool misses_ranks(const struct fsl_run *run, const struct fsl_topology *topology)
{
	bool has_pipelines = false;
	for (size_t g = 0; g < topology->n_groups && !has_pipelines; g++) {
		has_pipelines = topology->groups[g].kind == FSL_GROUP_PP;
	}
	return has_pipelines && fsl_ranks_seen(run) < topology->n_expected_ranks;
}

/* Stages in different pieces are different ones. */
static enum fsl_status part_pieces(struct pieces *pieces, int32_t *stage_of,
				   struct fsl_arena *arena, struct fsl_error *err)
{
	FSL_TRY(pieces_alloc(pieces, arena, err));
	size_t n_per_stage = ranks_per_stage(pieces);
	join_pieces(pieces);
	find_ends(pieces, stage_of);
	number_pieces(pieces, stage_of, n_per_stage);
	return FSL_OK;
}

enum fsl_status fsl_stages_find(int32_t *stage_of, struct fsl_arena *arena,
				const struct fsl_run *run, const struct fsl_topology *topology,
				struct fsl_error *err)
{
	struct hand_over *chain = NULL;
	struct pieces pieces = {.run = run, .topology = topology};
	FSL_TRY(FSL_ARENA_NEW(chain, arena, topology->n_groups, "chain", err));
	FSL_TRY(FSL_ARENA_NEW(pieces.parent, arena, run->n_ranks, "parent", err));
	if (!chain_stages(stage_of, run, topology, chain)) {
		find_stages(stage_of, run, topology);
	}
	if (!settle_stages(stage_of, pieces.parent, run, topology) && misses_ranks(run, topology)) {
		FSL_TRY(part_pieces(&pieces, stage_of, arena, err));
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		FSL_ASSERT(stage_of[r] >= 0);
	}
	return FSL_OK;
}

/* One rank's key while it is sorted into classes. */
struct key {
	int32_t stage;
	uint64_t ops; /* set of operators */
	uint32_t rank_idx;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	FSL_ORDER_BY(x->stage, y->stage);
	FSL_ORDER_BY(x->ops, y->ops);
	return FSL_ORDER(x->rank_idx, y->rank_idx);
}

static void number_classes(struct fsl_peers *out, const struct key *keys, size_t n_keys)
{
	for (size_t k = 0; k < n_keys; k++) {
		bool is_new = k == 0 || keys[k].stage != keys[k - 1].stage ||
			      keys[k].ops != keys[k - 1].ops;
		if (is_new) {
			out->begin[out->n_classes++] = k;
		}
		out->members[k] = keys[k].rank_idx;
		out->class_of[keys[k].rank_idx] = (uint32_t)(out->n_classes - 1);
	}
	FSL_ASSERT(out->n_classes <= n_keys);
	out->begin[out->n_classes] = n_keys;
}

enum fsl_status fsl_peers_build(struct fsl_peers *out, struct fsl_arena *arena,
				const struct fsl_run *run, const struct fsl_topology *topology,
				struct fsl_error *err)
{
	size_t n_keys = 0, n = run->n_ranks;
	struct key *keys = NULL;
	uint64_t *op_sets = topology->op_sets;
	*out = (struct fsl_peers){0};
	FSL_TRY(FSL_ARENA_NEW(out->class_of, arena, n, "class_of", err));
	FSL_TRY(FSL_ARENA_NEW(out->members, arena, n, "members", err));
	FSL_TRY(FSL_ARENA_NEW(out->begin, arena, n + 1, "begin", err));
	FSL_TRY(FSL_ARENA_NEW(out->stage_of, arena, n, "stage_of", err));
	FSL_TRY(FSL_ARENA_NEW(keys, arena, n, "keys", err));
	if (op_sets == NULL) { /* the topology does not know */
		FSL_TRY(FSL_ARENA_NEW(op_sets, arena, n, "op_sets", err));
		FSL_TRY(fsl_op_sets_count(op_sets, run, err));
	}
	FSL_TRY(fsl_stages_find(out->stage_of, arena, run, topology, err));
	for (size_t r = 0; r < n; r++) {
		out->class_of[r] = FSL_NO_CLASS;
		if (run->ranks[r].n_ops > 0) {
			keys[n_keys++] = (struct key){out->stage_of[r], op_sets[r], (uint32_t)r};
		}
	}
	qsort(keys, n_keys, sizeof(*keys), compare_keys);
	number_classes(out, keys, n_keys);
	return FSL_OK;
}

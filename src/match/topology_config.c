/* hccl_domain: what it must fulfil to be believed, and which communicators show its groups. */
#include <stdlib.h>

#include "base/sort.h"
#include "match/topology_build.h"
#include "match/topology_parts.h"

/* Which list of a kind a rank is in. */
struct placed {
	int32_t rank;
	size_t list_idx;
};

static int compare_placed(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;
	FSL_ORDER_BY(a->rank, b->rank);
	return FSL_ORDER(a->list_idx, b->list_idx);
}

bool fsl_hccl_domain_is_set(const struct fsl_config *config)
{
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		if (config->hccl_domain[kind].n_lists > 0) {
			return true;
		}
	}
	return false;
}

/* All ranks of a kind, sorted; each must be there once. */
static enum fsl_status place_ranks(struct placed **out, size_t *n_out, struct fsl_arena *scratch,
				   const struct fsl_config *config, enum fsl_group_kind group_kind,
				   struct fsl_error *err)
{
	const struct fsl_domain *domain = &config->hccl_domain[group_kind];
	const char *kind = fsl_group_kind_text(group_kind);
	size_t n = 0;
	for (size_t i = 0; i < domain->n_lists; i++) {
		if (domain->lists[i].n_ranks == 0) {
			return FSL_FAIL(err, FSL_ERR_CONFIG,
					"empty group, name its ranks or leave it out: "
					"key=\"hccl_domain.%s[%zu]\"",
					kind, i);
		}
		n += domain->lists[i].n_ranks;
	}
	struct placed *placed = NULL;
	FSL_TRY(FSL_ARENA_NEW(placed, scratch, n, "placed", err));
	n = 0;
	for (size_t i = 0; i < domain->n_lists; i++) {
		for (size_t k = 0; k < domain->lists[i].n_ranks; k++) {
			placed[n++] =
				(struct placed){.rank = domain->lists[i].ranks[k], .list_idx = i};
		}
	}
	qsort(placed, n, sizeof(*placed), compare_placed);
	*out = placed;
	*n_out = n;
	for (size_t i = 0; i < n; i++) {
		if (placed[i].rank < 0 || placed[i].rank >= FSL_RANKS_MAX) {
			return FSL_FAIL(err, FSL_ERR_CONFIG,
					"rank out of range: key=\"hccl_domain.%s\", rank=%d, "
					"least=0, greatest=%d",
					kind, placed[i].rank, FSL_RANKS_MAX - 1);
		}
		if (i > 0 && placed[i].rank == placed[i - 1].rank) {
			return FSL_FAIL(err, FSL_ERR_CONFIG,
					"rank named twice, a rank has one group of a kind: "
					"key=\"hccl_domain.%s\", rank=%d",
					kind, placed[i].rank);
		}
	}
	return FSL_OK;
}

struct crossing {
	size_t list_a, list_b;
	int32_t rank;
};

static int compare_crossings(const void *left, const void *right)
{
	const struct crossing *a = left, *b = right;
	FSL_ORDER_BY(a->list_a, b->list_a);
	FSL_ORDER_BY(a->list_b, b->list_b);
	return FSL_ORDER(a->rank, b->rank);
}

/* Groups of tp, dp and pp are orthogonal: two of them have at most one rank in common. */
static enum fsl_status check_crossings(const struct fsl_config *config, enum fsl_group_kind kind_a,
				       enum fsl_group_kind kind_b, struct fsl_arena *scratch,
				       struct fsl_error *err)
{
	const char *name_a = fsl_group_kind_text(kind_a), *name_b = fsl_group_kind_text(kind_b);
	struct placed *a = NULL, *b = NULL;
	struct crossing *crossings = NULL;
	size_t n_a = 0, n_b = 0, n = 0;
	FSL_TRY(place_ranks(&a, &n_a, scratch, config, kind_a, err));
	FSL_TRY(place_ranks(&b, &n_b, scratch, config, kind_b, err));
	FSL_TRY(FSL_ARENA_NEW(crossings, scratch, n_a, "crossings", err));
	for (size_t i = 0, k = 0; i < n_a; i++) {
		while (k < n_b && b[k].rank < a[i].rank) {
			k++;
		}
		if (k < n_b && b[k].rank == a[i].rank) {
			crossings[n++] = (struct crossing){a[i].list_idx, b[k].list_idx, a[i].rank};
		}
	}
	qsort(crossings, n, sizeof(*crossings), compare_crossings);
	for (size_t i = 1; i < n; i++) {
		const struct crossing *x = &crossings[i - 1], *y = &crossings[i];
		if (x->list_a == y->list_a && x->list_b == y->list_b) {
			return FSL_FAIL(
				err, FSL_ERR_CONFIG,
				"two groups share two ranks, they may share one: "
				"key=\"hccl_domain.%s[%zu]\", other=\"%s[%zu]\", ranks=\"%d,%d\"",
				name_a, x->list_a, name_b, x->list_b, x->rank, y->rank);
		}
	}
	return FSL_OK;
}

static enum fsl_status check_domain(const struct fsl_config *config, struct fsl_arena *scratch,
				    struct fsl_error *err)
{
	struct placed *placed = NULL;
	size_t n = 0;
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		FSL_TRY(place_ranks(&placed, &n, scratch, config, (enum fsl_group_kind)kind, err));
	}
	FSL_TRY(check_crossings(config, FSL_GROUP_TP, FSL_GROUP_DP, scratch, err));
	FSL_TRY(check_crossings(config, FSL_GROUP_TP, FSL_GROUP_PP, scratch, err));
	return check_crossings(config, FSL_GROUP_DP, FSL_GROUP_PP, scratch, err);
}

enum fsl_status fsl_hccl_domain_check(const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	enum fsl_status status = check_domain(config, &scratch, err);
	fsl_arena_fini(&scratch);
	return status;
}

/* Lists of one kind by rank. */
struct list_map {
	size_t n_numbers;
	size_t *list_of;   /* by rank number; SIZE_MAX: in no list */
	size_t *n_present; /* by list: ranks with operators */
};

static enum fsl_status map_lists(struct list_map *map, struct fsl_arena *scratch,
				 const struct fsl_domain *domain, const struct fsl_run *run,
				 struct fsl_error *err)
{
	map->n_numbers = run->n_ranks == 0 ? 0 : (size_t)run->ranks[run->n_ranks - 1].rank + 1;
	FSL_TRY(FSL_ARENA_NEW(map->list_of, scratch, map->n_numbers, "list_of", err));
	FSL_TRY(FSL_ARENA_NEW(map->n_present, scratch, domain->n_lists, "n_present", err));
	for (size_t i = 0; i < map->n_numbers; i++) {
		map->list_of[i] = SIZE_MAX;
	}
	for (size_t l = 0; l < domain->n_lists; l++) {
		for (size_t i = 0; i < domain->lists[l].n_ranks; i++) {
			int32_t rank = domain->lists[l].ranks[i];
			const struct fsl_rank *seen = fsl_run_rank(run, rank);
			if (seen != NULL && seen->n_ops > 0) {
				map->list_of[rank] = l;
				map->n_present[l]++;
			}
		}
	}
	return FSL_OK;
}

/* The list that @comm shows: all of its ranks that have data; SIZE_MAX: none. */
static size_t list_shown(const struct list_map *map, const struct fsl_comm *comm)
{
	size_t list = map->list_of[comm->ranks[0]];
	if (list == SIZE_MAX || map->n_present[list] != comm->n_ranks) {
		return SIZE_MAX;
	}
	for (size_t i = 1; i < comm->n_ranks; i++) {
		if (map->list_of[comm->ranks[i]] != list) {
			return SIZE_MAX;
		}
	}
	return list;
}

const char fsl_why_configured[] = "named by hccl_domain";

static void apply_lists(struct fsl_comms *comms, enum fsl_group_kind kind,
			const struct list_map *map, bool *is_shown)
{
	/* A start-up barrier over the same ranks gets the kind only when nothing else shows it. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t c = 0; c < comms->n_items; c++) {
			struct fsl_comm *comm = &comms->items[c];
			size_t list = list_shown(map, comm);
			bool is_free = comm->why != fsl_why_configured &&
				       (comm->kind != FSL_GROUP_WORLD ||
					(pass == 1 && list != SIZE_MAX && !is_shown[list]));
			if (list != SIZE_MAX && is_free && (pass == 0 || !is_shown[list])) {
				comm->kind = kind;
				comm->why = fsl_why_configured;
				is_shown[list] = true;
			}
		}
	}
}

enum fsl_status fsl_hccl_domain_apply(struct fsl_comms *comms, bool *is_shown,
				      struct fsl_arena *scratch, const struct fsl_run *run,
				      const struct fsl_config *config, struct fsl_error *err)
{
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		const struct fsl_domain *domain = &config->hccl_domain[kind];
		struct list_map map = {0};
		FSL_TRY(map_lists(&map, scratch, domain, run, err));
		apply_lists(comms, (enum fsl_group_kind)kind, &map, is_shown);
		is_shown += domain->n_lists;
	}
	return FSL_OK;
}

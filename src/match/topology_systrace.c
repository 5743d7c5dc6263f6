/* sysTrace's rule for tp, dp, pp and ep lists: each communicator by its operators alone. */
#include <string.h>

#include "base/sort.h"
#include "match/topology_parts.h"

enum fsl_status fsl_domain_add(struct fsl_domain *domain, size_t *capacity, struct fsl_arena *arena,
			       const int32_t *ranks, size_t n_ranks, struct fsl_error *err)
{
	if (domain->n_lists == *capacity) {
		size_t n_wanted = *capacity == 0 ? 16 : *capacity * 2;
		struct fsl_rank_list *lists = NULL;
		FSL_TRY(FSL_ARENA_NEW(lists, arena, n_wanted, "lists", err));
		if (domain->n_lists > 0) {
			memcpy(lists, domain->lists, domain->n_lists * sizeof(*lists));
		}
		domain->lists = lists;
		*capacity = n_wanted;
	}
	int32_t *copy = NULL;
	FSL_TRY(FSL_ARENA_NEW(copy, arena, n_ranks, "copy", err));
	memcpy(copy, ranks, n_ranks * sizeof(*copy));
	domain->lists[domain->n_lists++] =
		(struct fsl_rank_list){.ranks = copy, .n_ranks = n_ranks};
	return FSL_OK;
}

enum fsl_status fsl_domain_singletons(struct fsl_domain *domain, struct fsl_arena *arena,
				      const int32_t *ranks, size_t n_ranks, struct fsl_error *err)
{
	size_t capacity = 0;
	*domain = (struct fsl_domain){0};
	for (size_t i = 0; i < n_ranks; i++) {
		FSL_TRY(fsl_domain_add(domain, &capacity, arena, &ranks[i], 1, err));
	}
	return FSL_OK;
}

/* Broadcast tells nothing; an operator spelled in two ways counts once. */
static enum fsl_group_kind kind_of_operators(const struct fsl_comm *comm)
{
	size_t n_kinds = 0;
	for (int c = 0; c < FSL_OP_CLASSES_N; c++) {
		n_kinds += c != FSL_OP_BROADCAST && comm->n_calls[c] > 0;
	}
	if (comm->n_calls[FSL_OP_P2P] > 0) {
		return FSL_GROUP_PP;
	}
	if (comm->n_calls[FSL_OP_REDUCESCATTER] > 0 && n_kinds >= 2) {
		return FSL_GROUP_TP;
	}
	if (comm->n_calls[FSL_OP_ALLREDUCE] > 0 && n_kinds == 1) {
		return FSL_GROUP_DP;
	}
	return FSL_GROUP_UNKNOWN;
}

/* Which lists of a domain hold a rank: one chain of list indices per rank index. */
struct membership {
	size_t list_idx, next; /* next: SIZE_MAX ends the chain */
};
struct rank_index {
	const int32_t *ranks; /* ascending */
	size_t n_ranks;
	size_t *head;
	struct membership *items;
	size_t n_items, capacity;
};

static size_t rank_position(const struct rank_index *index, int32_t rank)
{
	size_t begin = 0;
	FSL_BISECT(begin, index->n_ranks, middle, index->ranks[middle] < rank);
	return begin < index->n_ranks && index->ranks[begin] == rank ? begin : SIZE_MAX;
}

static enum fsl_status note_members(struct rank_index *index, const struct fsl_rank_list *list,
				    size_t list_idx, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(index->items, index->capacity, index->n_items + list->n_ranks, err));
	for (size_t i = 0; i < list->n_ranks; i++) {
		size_t position = rank_position(index, list->ranks[i]);
		if (position != SIZE_MAX) {
			index->items[index->n_items] = (struct membership){
				.list_idx = list_idx, .next = index->head[position]};
			index->head[position] = index->n_items++;
		}
	}
	return FSL_OK;
}

static bool contains(const struct fsl_rank_list *outer, const struct fsl_comm *comm)
{
	return fsl_ranks_is_subset(comm->ranks, comm->n_ranks, outer->ranks, outer->n_ranks);
}

static bool is_contained(const struct fsl_rank_list *inner, const struct fsl_comm *comm)
{
	return fsl_ranks_is_subset(inner->ranks, inner->n_ranks, comm->ranks, comm->n_ranks);
}

/*
 * First list that contains @comm or is contained in it. Only lists that hold the first rank of
 * @comm, or begin with one of its ranks, can; SIZE_MAX when there is none.
 */
static size_t first_nested(const struct rank_index *index, const struct fsl_domain *domain,
			   const struct fsl_comm *comm)
{
	size_t first = SIZE_MAX;
	for (size_t i = 0; i < comm->n_ranks; i++) {
		size_t position = rank_position(index, comm->ranks[i]);
		size_t at = position != SIZE_MAX ? index->head[position] : SIZE_MAX;
		for (; at != SIZE_MAX; at = index->items[at].next) {
			size_t list_idx = index->items[at].list_idx;
			const struct fsl_rank_list *list = &domain->lists[list_idx];
			bool is_nested =
				(i == 0 && contains(list, comm)) ||
				(list->ranks[0] == comm->ranks[i] && is_contained(list, comm));
			if (list_idx < first && is_nested) {
				first = list_idx;
			}
		}
	}
	return first;
}

/* Adds the ranks of @comm, or merges them with a list that they contain or are contained in. */
static enum fsl_status merge_list(struct fsl_domain *domain, size_t *capacity,
				  struct rank_index *index, struct fsl_arena *arena,
				  const struct fsl_comm *comm, struct fsl_error *err)
{
	size_t nested = first_nested(index, domain, comm);
	if (nested != SIZE_MAX && contains(&domain->lists[nested], comm)) {
		return FSL_OK;
	}
	FSL_TRY(fsl_domain_add(domain, capacity, arena, comm->ranks, comm->n_ranks, err));
	size_t at = domain->n_lists - 1;
	if (nested != SIZE_MAX) {
		domain->lists[nested] = domain->lists[--domain->n_lists];
		at = nested;
	}
	return note_members(index, &domain->lists[at], at, err);
}

static enum fsl_status fill_domain(struct fsl_domain *domain, enum fsl_group_kind kind,
				   struct fsl_arena *arena, const struct fsl_comms *comms,
				   struct rank_index *index, struct fsl_error *err)
{
	size_t capacity = 0;
	index->n_items = 0;
	for (size_t i = 0; i < index->n_ranks; i++) {
		index->head[i] = SIZE_MAX;
	}
	*domain = (struct fsl_domain){0};
	for (size_t i = 0; i < comms->n_items; i++) {
		if (kind_of_operators(&comms->items[i]) == kind) {
			FSL_TRY(merge_list(domain, &capacity, index, arena, &comms->items[i], err));
		}
	}
	return FSL_OK;
}

/*
 * The reference's repair of dp: when the lists do not all have ranks / pp / tp members they are
 * made anew as i, i + tp, i + 2 tp... That is right for one pipeline stage only; kept for
 * compatibility.
 */
static enum fsl_status repair_dp(struct fsl_domain domains[FSL_GROUP_KINDS_N],
				 struct fsl_arena *arena, size_t n_ranks, struct fsl_error *err)
{
	size_t tp = domains[FSL_GROUP_TP].lists[0].n_ranks;
	size_t pp = domains[FSL_GROUP_PP].lists[0].n_ranks;
	struct fsl_domain *dp = &domains[FSL_GROUP_DP];
	size_t wanted = n_ranks / pp / tp;
	bool is_uniform = true;
	for (size_t i = 0; i < dp->n_lists; i++) {
		is_uniform = is_uniform && dp->lists[i].n_ranks == wanted;
	}
	if (is_uniform || wanted == 0) {
		return FSL_OK;
	}
	int32_t *ranks = NULL;
	FSL_TRY(FSL_ARENA_NEW(ranks, arena, wanted, "ranks", err));
	size_t capacity = 0;
	*dp = (struct fsl_domain){0};
	for (size_t i = 0; i < n_ranks / wanted; i++) {
		for (size_t k = 0; k < wanted; k++) {
			ranks[k] = (int32_t)(i + tp * k);
		}
		FSL_TRY(fsl_domain_add(dp, &capacity, arena, ranks, wanted, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_domains_systrace(struct fsl_domain domains[FSL_GROUP_KINDS_N],
				     struct fsl_arena *arena, const struct fsl_comms *comms,
				     const int32_t *ranks, size_t n_ranks, struct fsl_error *err)
{
	static const enum fsl_group_kind kinds[] = {FSL_GROUP_TP, FSL_GROUP_DP, FSL_GROUP_PP,
						    FSL_GROUP_EP};
	if (n_ranks == 0) {
		return FSL_OK;
	}
	struct rank_index index = {.ranks = ranks, .n_ranks = n_ranks};
	enum fsl_status status = FSL_ARENA_NEW(index.head, arena, n_ranks, "head", err);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && status == FSL_OK; i++) {
		struct fsl_domain *domain = &domains[kinds[i]];
		status = fill_domain(domain, kinds[i], arena, comms, &index, err);
		if (status == FSL_OK && domain->n_lists == 0) {
			status = fsl_domain_singletons(domain, arena, ranks, n_ranks, err);
		}
	}
	status = status == FSL_OK ? repair_dp(domains, arena, n_ranks, err) : status;
	fsl_free(index.items);
	return status;
}

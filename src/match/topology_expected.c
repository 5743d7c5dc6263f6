/* Which ranks a job should have, and on which servers. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "match/limits.h"
#include "match/topology_parts.h"

struct rank_set {
	int32_t *items;
	size_t n_items, capacity;
};

static enum fsl_status add_rank(struct rank_set *set, int32_t rank, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(set->items, set->capacity, set->n_items + 1, err));
	set->items[set->n_items++] = rank;
	return FSL_OK;
}

static enum fsl_status add_configured(struct rank_set *set, const struct fsl_config *config,
				      struct fsl_error *err)
{
	for (int kind = 0; kind < FSL_GROUP_KINDS_N; kind++) {
		const struct fsl_domain *domain = &config->hccl_domain[kind];
		for (size_t i = 0; i < domain->n_lists; i++) {
			const struct fsl_rank_list *list = &domain->lists[i];
			for (size_t k = 0; k < list->n_ranks; k++) {
				FSL_TRY(add_rank(set, list->ranks[k], err));
			}
		}
	}
	return FSL_OK;
}

/*
 * True when one rank behind the @n_seen that left operators is missing: some communicator was used
 * by one rank alone, and the largest groups share out a job of one more rank, and not this one.
 * Unless most ranks have such a communicator: then a part of the job was collected, or its groups
 * have one member.
 */
static bool lacks_last_rank(const struct fsl_topology *topology, size_t n_seen)
{
	size_t n_alone = 0, n_largest = 1;
	int32_t before = -1; /* groups are sorted by their ranks */
	for (size_t g = 0; g < topology->n_groups; g++) {
		const struct fsl_group *group = &topology->groups[g];
		if (group->n_ranks == 1 && group->n_calls > 0) {
			n_alone += group->ranks[0] != before;
			before = group->ranks[0];
		}
		if (group->n_ranks > n_largest && group->n_ranks < n_seen) {
			n_largest = group->n_ranks;
		}
	}
	bool is_uneven = n_seen % n_largest != 0 && (n_seen + 1) % n_largest == 0;
	return is_uneven && n_alone > 0 && 2 * n_alone <= n_seen + 1;
}

/*
 * 0 to the greatest rank seen: holes are missing ranks, unless most of the numbers are holes.
 * Without holes, the next number may be missing as well.
 */
static enum fsl_status add_numbers(struct rank_set *set, const struct fsl_topology *topology,
				   const struct fsl_run *run, struct fsl_error *err)
{
	int32_t greatest = run->n_ranks > 0 ? run->ranks[run->n_ranks - 1].rank : -1;
	size_t n_seen = fsl_ranks_seen(run);
	bool has_holes = (size_t)greatest + 1 != n_seen;
	if (greatest / FSL_SAMPLED_SHARE >= (int64_t)run->n_ranks) {
		fsl_log(FSL_LOG_INFO, "topology",
			"few ranks have files, the others are not taken for missing: "
			"ranks=%zu, greatest_rank=%d",
			run->n_ranks, greatest);
		return FSL_OK;
	}
	if (!has_holes && lacks_last_rank(topology, n_seen)) {
		FSL_TRY(add_rank(set, greatest + 1, err));
	}
	for (int32_t rank = 0; rank <= greatest; rank++) {
		FSL_TRY(add_rank(set, rank, err));
	}
	return FSL_OK;
}

static enum fsl_status add_all(struct rank_set *set, const struct fsl_topology *topology,
			       const struct fsl_run *run, const struct fsl_config *config,
			       const struct fsl_rank_table *table, struct fsl_error *err)
{
	if (fsl_hccl_domain_is_set(config)) {
		FSL_TRY(add_configured(set, config, err));
	} else if (table->n_items > 0) {
		for (size_t i = 0; i < table->n_items; i++) {
			FSL_TRY(add_rank(set, table->items[i].rank, err));
		}
	} else {
		FSL_TRY(add_numbers(set, topology, run, err));
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		FSL_TRY(add_rank(set, run->ranks[r].rank, err));
	}
	return FSL_OK;
}

/* Server of a rank: from its file name, else from the rank table; NULL: unknown. */
static const char *host_of(const struct fsl_run *run, int32_t rank,
			   const struct fsl_rank_table *table)
{
	const struct fsl_rank *seen = fsl_run_rank(run, rank);
	if (seen != NULL && strcmp(seen->server_ip, "localhost") != 0) {
		return seen->server_ip;
	}
	size_t begin = 0;
	FSL_BISECT(begin, table->n_items, middle, table->items[middle].rank < rank);
	bool is_listed = begin < table->n_items && table->items[begin].rank == rank;
	return is_listed ? table->items[begin].host : NULL;
}

/* Sorted, each rank once, with its server. */
static enum fsl_status fill(struct fsl_topology *out, struct rank_set *set,
			    const struct fsl_run *run, const struct fsl_rank_table *table,
			    struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(&out->arena, out->expected_ranks, set->n_items, err));
	FSL_TRY(FSL_NEW(&out->arena, out->expected_hosts, set->n_items, err));
	if (set->n_items > 1) {
		qsort(set->items, set->n_items, sizeof(*set->items), fsl_rank_compare);
	}
	for (size_t i = 0; i < set->n_items; i++) {
		if (i > 0 && set->items[i] == set->items[i - 1]) {
			continue;
		}
		const char *host = host_of(run, set->items[i], table);
		const char *copy = host != NULL ? fsl_arena_strdup(&out->arena, host) : NULL;
		if (host != NULL && copy == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"servers\"");
		}
		FSL_ASSERT(i == 0 || set->items[i - 1] < set->items[i]);
		out->expected_hosts[out->n_expected_ranks] = copy;
		out->expected_ranks[out->n_expected_ranks++] = set->items[i];
	}
	return FSL_OK;
}

enum fsl_status fsl_topology_expect(struct fsl_topology *out, const struct fsl_run *run,
				    const struct fsl_config *config, struct fsl_error *err)
{
	struct rank_set set = {0};
	struct fsl_rank_table table = {0};
	enum fsl_status status =
		fsl_rank_table_read(config->rank_table_json, &out->arena, &table, err);
	if (status == FSL_OK) {
		status = add_all(&set, out, run, config, &table, err);
	}
	if (status == FSL_OK) {
		status = fill(out, &set, run, &table, err);
	}
	fsl_free(set.items);
	return status;
}

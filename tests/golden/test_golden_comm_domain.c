/* Golden: sysTrace's tp, dp, pp and ep lists from communicators and their operators. */
#include <stdint.h>

#include "golden/golden.h"
#include "match/topology_parts.h"

static bool fill_comm(struct fsl_comm *comm, const cJSON *group)
{
	const cJSON *ranks = golden_item(group, "ranks");
	const cJSON *item = NULL;
	comm->name = golden_item(group, "name")->valuestring;
	cJSON_ArrayForEach(item, ranks)
	{
		if (FSL_GROW(comm->ranks, comm->ranks_capacity, comm->n_ranks + 1, NULL) !=
		    FSL_OK) {
			return false;
		}
		comm->ranks[comm->n_ranks++] = item->valueint;
	}
	cJSON_ArrayForEach(item, golden_item(group, "ops"))
	{
		comm->op_ids[comm->n_op_ids] = (uint32_t)comm->n_op_ids;
		comm->n_op_ids++;
		comm->n_calls[fsl_op_class_from_name(item->string)] += (uint64_t)item->valueint;
		comm->n_calls_all += (uint64_t)item->valueint;
	}
	return true;
}

/* Lists in the golden's order, ranks in theirs. */
static bool same_domain(const char *kind, const cJSON *expected, const struct fsl_domain *domain)
{
	size_t n_lists = (size_t)cJSON_GetArraySize(expected);
	if (n_lists != domain->n_lists) {
		printf("%s: expected %zu lists, got %zu\n", kind, n_lists, domain->n_lists);
		return false;
	}
	size_t i = 0;
	const cJSON *list = NULL;
	cJSON_ArrayForEach(list, expected)
	{
		const struct fsl_rank_list *actual = &domain->lists[i++];
		bool is_same = (size_t)cJSON_GetArraySize(list) == actual->n_ranks;
		size_t k = 0;
		const cJSON *rank = NULL;
		cJSON_ArrayForEach(rank, list)
		{
			is_same = is_same && actual->ranks[k] == rank->valueint;
			k++;
		}
		if (!is_same) {
			printf("%s[%zu] differs\n", kind, i - 1);
			return false;
		}
	}
	return true;
}

static bool check_case(const cJSON *golden)
{
	static const enum fsl_group_kind kinds[] = {FSL_GROUP_TP, FSL_GROUP_DP, FSL_GROUP_PP,
						    FSL_GROUP_EP};
	struct fsl_arena arena = {0};
	struct fsl_comms comms = {0};
	struct fsl_domain domains[FSL_GROUP_KINDS_N] = {0};
	size_t n_ranks = 0;
	double *values = golden_reals(golden_item(golden, "ranks"), &n_ranks);
	int32_t *ranks = calloc(n_ranks + 1, sizeof(*ranks));
	const cJSON *groups = golden_item(golden, "groups");
	const cJSON *group = NULL;
	bool ok = ranks != NULL;
	for (size_t i = 0; ok && i < n_ranks; i++) {
		ranks[i] = (int32_t)values[i];
	}
	comms.items = fsl_calloc((size_t)cJSON_GetArraySize(groups), sizeof(*comms.items));
	ok = ok && comms.items != NULL;
	cJSON_ArrayForEach(group, groups)
	{
		ok = ok && fill_comm(&comms.items[comms.n_items++], group);
	}
	ok = ok && fsl_domains_systrace(domains, &arena, &comms, ranks, n_ranks, NULL) == FSL_OK;
	for (size_t i = 0; ok && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *kind = fsl_group_kind_text(kinds[i]);
		ok = same_domain(kind, golden_item(golden_item(golden, "domains"), kind),
				 &domains[kinds[i]]);
	}
	fsl_comms_fini(&comms);
	fsl_arena_fini(&arena);
	free(ranks);
	free(values);
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("comm_domain.json", check_case, argc, argv);
}

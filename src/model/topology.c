/* Texts of a topology, and its release. */
#include "model/topology.h"

#include "base/sort.h"

const char *fsl_group_kind_text(enum fsl_group_kind kind)
{
	static const char *const texts[FSL_GROUP_KINDS_N] = {
		[FSL_GROUP_WORLD] = "world",     [FSL_GROUP_TP] = "tp", [FSL_GROUP_DP] = "dp",
		[FSL_GROUP_PP] = "pp",           [FSL_GROUP_EP] = "ep", [FSL_GROUP_CP] = "cp",
		[FSL_GROUP_UNKNOWN] = "unknown",
	};
	return texts[kind];
}

const char *fsl_known_by_text(enum fsl_known_by by)
{
	static const char *const texts[] = {
		[FSL_KNOWN_CONFIGURED] = "configured",
		[FSL_KNOWN_RANK_TABLE] = "rank table",
		[FSL_KNOWN_INFERRED] = "inferred",
	};
	return texts[by];
}

const char *fsl_topology_host(const struct fsl_topology *topology, int32_t rank)
{
	size_t at;
	FSL_LOWER_BOUND(at, topology->n_expected_ranks, topology->expected_ranks[at] < rank);
	bool is_expected = at < topology->n_expected_ranks && topology->expected_ranks[at] == rank;
	return is_expected && topology->expected_hosts != NULL ? topology->expected_hosts[at]
							       : NULL;
}

int fsl_rank_compare(const void *left, const void *right)
{
	return fsl_compare_i32(left, right);
}

int fsl_ranks_compare(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b)
{
	for (size_t i = 0; i < n_a && i < n_b; i++) {
		if (a[i] != b[i]) {
			return a[i] < b[i] ? -1 : 1;
		}
	}
	return n_a == n_b ? 0 : n_a < n_b ? -1 : 1;
}

void fsl_topology_fini(struct fsl_topology *topology)
{
	fsl_arena_fini(&topology->arena);
	*topology = (struct fsl_topology){0};
}

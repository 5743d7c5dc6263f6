/* Texts of a topology, and its release. */
#include "model/topology.h"

#include "base/sort.h"

const char *fsl_group_kind_text(enum fsl_group_kind kind)
{
	switch (kind) {
	case FSL_GROUP_WORLD:
		return "world";
	case FSL_GROUP_TP:
		return "tp";
	case FSL_GROUP_DP:
		return "dp";
	case FSL_GROUP_PP:
		return "pp";
	case FSL_GROUP_EP:
		return "ep";
	case FSL_GROUP_CP:
		return "cp";
	case FSL_GROUP_UNKNOWN:
	case FSL_GROUP_KINDS_N:
		break;
	}
	return "unknown";
}

const char *fsl_known_by_text(enum fsl_known_by by)
{
	switch (by) {
	case FSL_KNOWN_CONFIGURED:
		return "configured";
	case FSL_KNOWN_RANK_TABLE:
		return "rank table";
	case FSL_KNOWN_INFERRED:
		return "inferred";
	}
	return "unknown";
}

const char *fsl_topology_host(const struct fsl_topology *topology, int32_t rank)
{
	size_t begin = 0, end = topology->n_expected_ranks;
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;
		if (topology->expected_ranks[middle] < rank) {
			begin = middle + 1;
		} else {
			end = middle;
		}
	}
	if (begin == topology->n_expected_ranks || topology->expected_ranks[begin] != rank ||
	    topology->expected_hosts == NULL) {
		return NULL;
	}
	return topology->expected_hosts[begin];
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

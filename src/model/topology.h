/* Groups of ranks that communicate: which kind they are, and how we know. */
#ifndef FSL_MODEL_TOPOLOGY_H
#define FSL_MODEL_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

enum fsl_group_kind {
	FSL_GROUP_WORLD,
	FSL_GROUP_TP,
	FSL_GROUP_DP,
	FSL_GROUP_PP,
	FSL_GROUP_EP,
	FSL_GROUP_CP,
	FSL_GROUP_UNKNOWN,
	FSL_GROUP_KINDS_N
};
const char *fsl_group_kind_text(enum fsl_group_kind kind); /* "tp" */

enum fsl_known_by {
	FSL_KNOWN_CONFIGURED, /* hccl_domain */
	FSL_KNOWN_RANK_TABLE, /* rank_table_json */
	FSL_KNOWN_INFERRED,   /* from which ranks share a communicator and how communicators nest */
};
const char *fsl_known_by_text(enum fsl_known_by by); /* "configured" */

/* One communicator that was seen, or one configured group that no communicator shows. */
struct fsl_group {
	uint32_t name_id; /* run->names: the communicator; FSL_STR_NONE: configured only, or the
			     operators of an input that names no communicators */
	enum fsl_group_kind kind;
	enum fsl_known_by known_by;
	const char *why; /* one clause for the user; topology->arena or static */
	int32_t *ranks;  /* rank numbers, ascending */
	size_t n_ranks;
	size_t n_op_kinds; /* distinct operators used on it; 0: configured only */
	uint64_t n_calls;  /* operators over all members */
};

/* One list of ranks of a domain ("tp": [[0,1],[2,3]]). */
struct fsl_rank_list {
	int32_t *ranks;
	size_t n_ranks;
};
struct fsl_domain {
	struct fsl_rank_list *lists;
	size_t n_lists;
};

struct fsl_topology {
	struct fsl_arena arena;
	struct fsl_group *groups; /* sorted by kind, then ranks, then name */
	size_t n_groups;
	/*
	 * Lists of ranks per kind as sysTrace has them, [FSL_GROUP_TP] and so on; one singleton per
	 * rank where tp, dp, pp or ep is absent. hccl_domain as configured; else by sysTrace's
	 * rules under algorithm "systrace" and from the kinds of the groups above under "failslow".
	 */
	struct fsl_domain domains[FSL_GROUP_KINDS_N];
	int32_t *expected_ranks; /* every rank that the job should have: configured, table, or
				    0..max, and max + 1 where it is somebody's only partner */
	size_t n_expected_ranks;
	/* Server of each expected rank, from its files or the rank table; NULL where unknown. */
	const char **expected_hosts;
	/* Per rank index of the run it was built from: the operators in use, fsl_op_set_with().
	 * NULL where they were not counted or are no longer as they were. */
	uint64_t *op_sets;
};

/* Server of an expected rank; NULL when the rank is not expected or its server is unknown. */
const char *fsl_topology_host(const struct fsl_topology *topology, int32_t rank);

/* Order of two int32_t rank numbers, for qsort. */
int fsl_rank_compare(const void *left, const void *right);
/* -1, 0, 1: order of two ascending lists of ranks. */
int fsl_ranks_compare(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b);

void fsl_topology_fini(struct fsl_topology *topology);

#endif

/* Groups of ranks that communicate, the kind of each group, and how it is known. */
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
	FSL_KNOWN_INFERRED,   /* from the ranks of each communicator, and how they nest */
};
const char *fsl_known_by_text(enum fsl_known_by by); /* "configured" */

/* A communicator that was seen, or a configured group without a communicator. */
struct fsl_group {
	uint32_t name_id; /* run->names: the communicator; FSL_STR_NONE: configured only, or the
			     input names no communicators */
	enum fsl_group_kind kind;
	enum fsl_known_by known_by;
	const char *why; /* why the kind is believed, one clause; topology->arena or static */
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
	 * Lists of ranks per kind, as sysTrace has them, at [FSL_GROUP_TP] and so on. One singleton
	 * per rank if tp, dp, pp or ep is absent. They come from hccl_domain if it is configured.
	 * Otherwise algorithm "systrace" uses sysTrace's rules, and "failslow" the kinds of the
	 * groups above.
	 */
	struct fsl_domain domains[FSL_GROUP_KINDS_N];
	int32_t *expected_ranks; /* every rank that the job should have: as configured, from the
				    rank table, or 0..max; also max + 1 if a rank has no other
				    partner, and as many as an earlier run saw */
	size_t n_expected_ranks;
	/* Server of each expected rank, from its files or the rank table; NULL if unknown. */
	const char **expected_hosts;
	/* For each rank index of the run: the operators in use, fsl_op_set_with(). NULL if they
	 * were not counted or have changed since. */
	uint64_t *op_sets;
};

/* Server of an expected rank; NULL if the rank is not expected or its server is unknown. */
const char *fsl_topology_host(const struct fsl_topology *topology, int32_t rank);

/* Order of two int32_t rank numbers, for qsort. */
int fsl_rank_compare(const void *left, const void *right);
/* -1, 0, 1: order of two ascending lists of ranks. */
int fsl_ranks_compare(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b);

void fsl_topology_fini(struct fsl_topology *topology);

#endif

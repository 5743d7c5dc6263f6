/* Groups of ranks that communicate: which kind they are, and how we know. */
#ifndef FSL_SERIES_TOPOLOGY_H
#define FSL_SERIES_TOPOLOGY_H

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
	uint32_t name_id; /* run->names: the communicator; FSL_STR_NONE: configured only */
	enum fsl_group_kind kind;
	enum fsl_known_by known_by;
	const char *why; /* one clause for the user; topology->arena or static */
	int32_t *ranks;  /* rank numbers, ascending */
	size_t n_ranks;
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
	/* Domains as sysTrace has them, one singleton per rank where a kind is absent;
	 * [FSL_GROUP_TP] and so on. */
	struct fsl_domain domains[FSL_GROUP_KINDS_N];
	int32_t *expected_ranks; /* every rank that the job should have: configured, table, or
				    0..max */
	size_t n_expected_ranks;
};

void fsl_topology_fini(struct fsl_topology *topology);

#endif

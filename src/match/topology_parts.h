/* Shared by the parts of the topology builder: the communicators of a run and the rules on them. */
#ifndef FSL_MATCH_TOPOLOGY_PARTS_H
#define FSL_MATCH_TOPOLOGY_PARTS_H

#include <stdbool.h>

#include "config/config.h"
#include "match/limits.h"
#include "model/run.h"
#include "model/topology.h"

/* Class of an operator, told from its name in any spelling ("HcclAllReduce",
 * "ncclKernel_AllReduce"). */
enum fsl_op_class {
	FSL_OP_P2P,
	FSL_OP_ALLTOALL,
	FSL_OP_REDUCESCATTER,
	FSL_OP_ALLGATHER,
	FSL_OP_ALLREDUCE,
	FSL_OP_BROADCAST,
	FSL_OP_OTHER,
	FSL_OP_CLASSES_N
};
enum fsl_op_class fsl_op_class_from_name(const char *name);

/* One communicator: who used it, and for what. */
struct fsl_comm {
	uint32_t name_id;
	const char *name; /* borrowed from run->names */
	int32_t *ranks;   /* rank numbers with operators on it, ascending; heap */
	size_t n_ranks, ranks_capacity;
	uint64_t n_calls[FSL_OP_CLASSES_N]; /* over all members */
	uint64_t n_calls_all;
	uint32_t op_ids[FSL_COMM_OPS_MAX];
	size_t n_op_ids;
	/* Filled by fsl_comms_infer. */
	enum fsl_group_kind kind;
	const char *why;
};

/* Sorted by ranks, then name. Start as {0}. */
struct fsl_comms {
	struct fsl_comm *items;
	size_t n_items, capacity;
	bool has_more_ops; /* some rank uses more than FSL_COMM_OPS_MAX on one of them */
	double n_steps; /* numbered by the operators of the first rank that has numbers; 0: none has
			 */
};
/* @op_sets: [run->n_ranks], fsl_op_set_with(); of no use with comms->has_more_ops. */
enum fsl_status fsl_comms_collect(struct fsl_comms *comms, uint64_t *op_sets,
				  const struct fsl_run *run, struct fsl_error *err);
void fsl_comms_fini(struct fsl_comms *comms);

/* True when every rank of ascending @a is in ascending @b. */
bool fsl_ranks_is_subset(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b);

/* Kind and reason of every communicator, from membership, nesting and how often it is used. */
enum fsl_status fsl_comms_infer(struct fsl_comms *comms, const struct fsl_run *run,
				struct fsl_error *err);

/*
 * sysTrace's rule: operators -> tp, dp, pp; equal and contained lists are merged in the order of
 * @comms; absent kinds become one singleton per rank. @ranks ascending; @domains in @arena.
 */
enum fsl_status fsl_domains_systrace(struct fsl_domain domains[FSL_GROUP_KINDS_N],
				     struct fsl_arena *arena, const struct fsl_comms *comms,
				     const int32_t *ranks, size_t n_ranks, struct fsl_error *err);

/* Appends a copy of @ranks. */
enum fsl_status fsl_domain_add(struct fsl_domain *domain, size_t *capacity, struct fsl_arena *arena,
			       const int32_t *ranks, size_t n_ranks, struct fsl_error *err);
/* One singleton per rank. */
enum fsl_status fsl_domain_singletons(struct fsl_domain *domain, struct fsl_arena *arena,
				      const int32_t *ranks, size_t n_ranks, struct fsl_error *err);

/* Ranks of an Ascend rank table, sorted; texts in the caller's arena. Start as {0}. */
struct fsl_table_rank {
	int32_t rank;
	const char *host;
};
struct fsl_rank_table {
	struct fsl_table_rank *items;
	size_t n_items;
};

/* Fills expected_ranks and expected_hosts. */
enum fsl_status fsl_topology_expect(struct fsl_topology *out, const struct fsl_run *run,
				    const struct fsl_config *config, struct fsl_error *err);

bool fsl_hccl_domain_is_set(const struct fsl_config *config);
/*
 * Gives communicators the kind of the configured list whose ranks with data they have; their why
 * becomes fsl_why_configured. is_shown[]: configured lists that a communicator shows, all kinds in
 * a row.
 */
enum fsl_status fsl_hccl_domain_apply(struct fsl_comms *comms, bool *is_shown,
				      struct fsl_arena *scratch, const struct fsl_run *run,
				      const struct fsl_config *config, struct fsl_error *err);
extern const char fsl_why_configured[];

/* Which operators the ranks use: ranks with the same set are comparable. */
/* @set with one operator more; any order of the same operators gives the same. {} is 0. */
uint64_t fsl_op_set_with(uint64_t set, uint32_t op_id);
/* One pass over all operators, ranks on threads: sets[r] of run->ranks[r], without rare operators.
 */
enum fsl_status fsl_op_sets_count(uint64_t *sets, const struct fsl_run *run, struct fsl_error *err);

#endif

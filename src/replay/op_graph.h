/* Which operation of a step waits for which, from a table of operations. Only what_if.c uses it. */
#ifndef FSL_REPLAY_OP_GRAPH_H
#define FSL_REPLAY_OP_GRAPH_H

#include "base/strpool.h"
#include "model/op_table.h"

/* An operation of a pipeline; each replica and step has one of it. */
struct fsl_op_node {
	enum fsl_op_type type;
	int32_t stage, seq, chunk, global_chunk;
	double begin_s, end_s; /* in the first step of replica 0 */
	uint32_t compute;      /* forward or backward pass that a transfer serves */
	uint32_t group;        /* members end together; FSL_STR_NONE: a group of none */
	bool is_over_replicas; /* its group holds those of all replicas */
	bool is_idle;          /* a transfer without a peer */
};

struct fsl_op_edge {
	uint32_t from, to;
};

struct fsl_op_graph {
	struct fsl_strpool *keys; /* of nodes, in their order */
	struct fsl_op_node *nodes;
	size_t n_nodes, nodes_capacity;
	struct fsl_op_edge *edges; /* once built: by to */
	size_t n_edges, edges_capacity;
	size_t *first_edges;   /* [n_nodes + 1] */
	uint32_t *order;       /* [n_nodes]: none before those that it waits for */
	size_t *first_members; /* [n_groups + 1], in members */
	uint32_t *members;     /* of groups */
	size_t n_groups;
	int32_t n_stages, n_chunks; /* chunks of a stage */
};

/*
 * Builds the graph of @table, of whose operations those of replica 0 in @step are the pattern.
 * FSL_ERR_INPUT if they do not fit together, with the reason; FSL_ERR_MEMORY. Release it in any
 * case. The graph keeps nothing of the table.
 */
enum fsl_status fsl_op_graph_build(struct fsl_op_graph *graph, const struct fsl_op_table *table,
				   int32_t step, struct fsl_error *err);
void fsl_op_graph_fini(struct fsl_op_graph *graph);
/* FSL_STR_NONE: there is none. */
uint32_t fsl_op_graph_find(const struct fsl_op_graph *graph, enum fsl_op_type type, int32_t stage,
			   int32_t seq);

#endif

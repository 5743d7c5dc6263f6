/*
 * Operations of a stage follow each other on streams: passes; each kind of transfer; data-parallel
 * collectives. Between streams: a pass waits for its receive, a send for its pass; the first pass
 * of a chunk for its parameters; gradients for the last pass; the end of a step is a chain. As in
 * "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025).
 */
#include "replay/op_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/try.h"
#include "replay/limits.h"

enum {
	PASSES = 1 << FSL_OP_FORWARD | 1 << FSL_OP_BACKWARD,
	TRANSFERS = 1 << FSL_OP_FORWARD_SEND | 1 << FSL_OP_FORWARD_RECEIVE |
		    1 << FSL_OP_BACKWARD_SEND | 1 << FSL_OP_BACKWARD_RECEIVE,
};
/* Nodes of a stage in the order of their begins. */
struct list {
	uint32_t *items;
	size_t n;
};
struct builder {
	struct fsl_op_graph *graph;
	struct list list;                /* room for any list */
	struct fsl_strpool *pairs;       /* keys of pairs of transfers: groups in their order */
	bool has_replicas, has_separate; /* data parallelism; gradients that overlap passes */
};

static size_t key_of(char key[3 * sizeof(int32_t)], int32_t a, int32_t b, int32_t c)
{
	const int32_t parts[3] = {a, b, c};
	memcpy(key, parts, sizeof(parts));
	return sizeof(parts);
}

uint32_t fsl_op_graph_find(const struct fsl_op_graph *graph, enum fsl_op_type type, int32_t stage,
			   int32_t seq)
{
	char key[3 * sizeof(int32_t)];
	size_t n = key_of(key, (int32_t)type, stage, seq);
	return fsl_strpool_find(graph->keys, key, n);
}

static enum fsl_status add_node(struct fsl_op_graph *graph, const struct fsl_op_node *node,
				uint32_t *at, struct fsl_error *err)
{
	char key[3 * sizeof(int32_t)];
	size_t n = key_of(key, (int32_t)node->type, node->stage, node->seq);
	FSL_TRY(fsl_strpool_intern(graph->keys, key, n, at, err));
	if (*at < graph->n_nodes) {
		return FSL_OK; /* a row that stands there twice */
	}
	return FSL_APPEND(graph, nodes, node, err);
}

/* The operation; one without a duration if the table has none. */
static enum fsl_status need(struct fsl_op_graph *graph, enum fsl_op_type type, int32_t stage,
			    uint32_t *at, struct fsl_error *err)
{
	const struct fsl_op_node node = {
		.type = type, .stage = stage, .compute = FSL_STR_NONE, .group = FSL_STR_NONE};
	return add_node(graph, &node, at, err);
}

static enum fsl_status add_edge(struct fsl_op_graph *graph, uint32_t from, uint32_t to,
				struct fsl_error *err)
{
	const struct fsl_op_edge edge = {from, to};
	return from != FSL_STR_NONE && to != FSL_STR_NONE ? FSL_APPEND(graph, edges, &edge, err)
							  : FSL_OK;
}

/* @context: the nodes, passed by qsort_r. */
static int compare_begins(const void *left, const void *right, void *context)
{
	const struct fsl_op_node *nodes = context;
	const struct fsl_op_node *a = &nodes[*(const uint32_t *)left];
	const struct fsl_op_node *b = &nodes[*(const uint32_t *)right];
	FSL_ORDER_BY(a->begin_s, b->begin_s);
	FSL_ORDER_BY(a->seq, b->seq);
	return FSL_ORDER(a->type, b->type);
}

/* Nodes of a stage with types of the mask; the room holds until the next list. */
static const struct list *list(struct builder *builder, int32_t stage, int mask)
{
	struct fsl_op_graph *graph = builder->graph;
	struct list *out = &builder->list;
	out->n = 0;
	for (size_t i = 0; i < graph->n_nodes; i++) {
		if (graph->nodes[i].stage == stage && (mask & 1 << graph->nodes[i].type) != 0) {
			out->items[out->n++] = (uint32_t)i;
		}
	}
	if (out->n > 1) {
		qsort_r(out->items, out->n, sizeof(*out->items), compare_begins, graph->nodes);
	}
	return out;
}

static enum fsl_status add_chain(struct builder *builder, int32_t stage, int mask,
				 struct fsl_error *err)
{
	const struct list *chain = list(builder, stage, mask);
	for (size_t i = 1; i < chain->n; i++) {
		FSL_TRY(add_edge(builder->graph, chain->items[i - 1], chain->items[i], err));
	}
	return FSL_OK;
}

/* One kind of transfer. */
struct kind {
	enum fsl_op_type type, pass;
	bool is_receive;
	int32_t peer; /* distance to the stage and chunk of the peer */
};
static const struct kind kinds[] = {
	{FSL_OP_FORWARD_SEND, FSL_OP_FORWARD, false, 1},
	{FSL_OP_FORWARD_RECEIVE, FSL_OP_FORWARD, true, -1},
	{FSL_OP_BACKWARD_SEND, FSL_OP_BACKWARD, false, -1},
	{FSL_OP_BACKWARD_RECEIVE, FSL_OP_BACKWARD, true, 1},
};
enum { KINDS_N = sizeof(kinds) / sizeof(kinds[0]) };

/* Transfers before the first pass or behind the last one serve none: profilers record some that
 * were never launched. */
static bool serves(const struct fsl_op_node *node, bool is_receive, double last_begin_s,
		   double first_end_s)
{
	return is_receive ? node->begin_s <= last_begin_s + FSL_WHAT_IF_CLOCKS_S
			  : node->end_s >= first_end_s - FSL_WHAT_IF_CLOCKS_S;
}

/* Gives each transfer of a kind its pass, in order. */
static enum fsl_status match_kind(struct builder *builder, int32_t stage, const struct kind *kind,
				  struct fsl_error *err)
{
	struct fsl_op_graph *graph = builder->graph;
	const struct list *passes = list(builder, stage, 1 << kind->pass);
	size_t n_passes = passes->n, n_serving = 0;
	double last_begin_s = (double)-INFINITY, first_end_s = (double)INFINITY;
	for (size_t i = 0; i < passes->n; i++) {
		const struct fsl_op_node *pass = &graph->nodes[passes->items[i]];
		last_begin_s = fmax(last_begin_s, pass->begin_s);
		first_end_s = fmin(first_end_s, pass->end_s);
	}
	const struct list *transfers = list(builder, stage, 1 << kind->type);
	for (size_t i = 0; i < transfers->n; i++) {
		n_serving += serves(&graph->nodes[transfers->items[i]], kind->is_receive,
				    last_begin_s, first_end_s);
	}
	bool is_end = stage == 0 || stage == graph->n_stages - 1;
	bool is_one_less = n_serving + 1 == n_passes;
	if (n_serving != n_passes && !(is_end && (n_serving == 0 || is_one_less))) {
		return FSL_FAIL(
			err, FSL_ERR_INPUT,
			"transfers and passes of a stage do not match: stage=%d, type=\"%s\", "
			"transfers=%zu, passes=%zu",
			(int)stage, fsl_op_type_texts[kind->type], n_serving, n_passes);
	}
	int32_t seq = kind->is_receive && is_one_less ? 1 : 0;
	for (size_t i = 0; i < transfers->n; i++) {
		struct fsl_op_node *node = &graph->nodes[transfers->items[i]];
		if (!serves(node, kind->is_receive, last_begin_s, first_end_s)) {
			continue;
		}
		node->compute = fsl_op_graph_find(graph, kind->pass, stage, seq++);
		if (node->compute == FSL_STR_NONE) {
			return FSL_FAIL(err, FSL_ERR_INPUT,
					"a transfer has no pass: stage=%d, type=\"%s\", seq_id=%d",
					(int)stage, fsl_op_type_texts[kind->type], (int)node->seq);
		}
		int32_t peer = graph->nodes[node->compute].global_chunk + kind->peer;
		node->is_idle = peer < 0 || peer >= graph->n_chunks * graph->n_stages;
	}
	return FSL_OK;
}

/* Both sides of a transfer are one group; one without a peer is a group of its own. */
static enum fsl_status pair_kind(struct builder *builder, int32_t stage, const struct kind *kind,
				 struct fsl_error *err)
{
	struct fsl_op_graph *graph = builder->graph;
	const struct list *transfers = list(builder, stage, 1 << kind->type);
	int32_t sender =
		kind->is_receive ? (stage + kind->peer + graph->n_stages) % graph->n_stages : stage;
	int32_t n = 0;
	for (size_t i = 0; i < transfers->n; i++) {
		struct fsl_op_node *node = &graph->nodes[transfers->items[i]];
		char key[3 * sizeof(int32_t)];
		size_t length = node->is_idle ? key_of(key, -1, (int32_t)transfers->items[i], 0)
					      : key_of(key, (int32_t)kind->pass, sender, n++);
		FSL_TRY(fsl_strpool_intern(builder->pairs, key, length, &node->group, err));
	}
	return FSL_OK;
}

/* A send waits for its pass; a pass for its receive, and that for the pass before. */
static enum fsl_status join_passes(struct fsl_op_graph *graph, struct fsl_error *err)
{
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct fsl_op_node *node = &graph->nodes[i];
		bool is_send =
			node->type == FSL_OP_FORWARD_SEND || node->type == FSL_OP_BACKWARD_SEND;
		if ((TRANSFERS & 1 << node->type) == 0 || node->compute == FSL_STR_NONE) {
			continue;
		}
		const struct fsl_op_node *pass = &graph->nodes[node->compute];
		if (is_send) {
			FSL_TRY(add_edge(graph, node->compute, (uint32_t)i, err));
			continue;
		}
		uint32_t before = fsl_op_graph_find(graph, pass->type, pass->stage, pass->seq - 1);
		FSL_TRY(add_edge(graph, (uint32_t)i, node->compute, err));
		FSL_TRY(add_edge(graph, before, (uint32_t)i, err));
	}
	return FSL_OK;
}

/* The first transfers of the backward passes wait for the last forward pass but one. */
static enum fsl_status join_first_backward(struct builder *builder, int32_t stage,
					   struct fsl_error *err)
{
	struct fsl_op_graph *graph = builder->graph;
	const struct list *passes = list(builder, stage, PASSES);
	size_t first = 0;
	while (first < passes->n && graph->nodes[passes->items[first]].type != FSL_OP_BACKWARD) {
		first++;
	}
	if (first < 2 || first == passes->n) {
		return FSL_OK;
	}
	uint32_t before = passes->items[first - 2];
	FSL_TRY(add_edge(graph, before, fsl_op_graph_find(graph, FSL_OP_BACKWARD_RECEIVE, stage, 0),
			 err));
	return add_edge(graph, before, fsl_op_graph_find(graph, FSL_OP_BACKWARD_SEND, stage, 0),
			err);
}

/* The first or the last pass of a chunk. */
static uint32_t pass_of(const struct fsl_op_graph *graph, int32_t stage, enum fsl_op_type type,
			int32_t chunk)
{
	uint32_t found = FSL_STR_NONE;
	bool is_first = type == FSL_OP_FORWARD;
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct fsl_op_node *node = &graph->nodes[i];
		if (node->stage != stage || node->type != type || node->chunk != chunk) {
			continue;
		}
		const struct fsl_op_node *best =
			found != FSL_STR_NONE ? &graph->nodes[found] : NULL;
		bool is_better = best == NULL || (is_first ? node->begin_s < best->begin_s
							   : node->end_s > best->end_s);
		found = is_better ? (uint32_t)i : found;
	}
	return found;
}

static int32_t count_of(const struct fsl_op_graph *graph, enum fsl_op_type type, int32_t stage)
{
	int32_t n = 0;
	while (fsl_op_graph_find(graph, type, stage, n) != FSL_STR_NONE) {
		n++;
	}
	return n;
}

/* Forward passes wait for the last gathering of their chunk, gradients of a chunk for its last
 * backward pass. */
static enum fsl_status join_replicas(struct builder *builder, int32_t stage, struct fsl_error *err)
{
	struct fsl_op_graph *graph = builder->graph;
	int32_t n_gathers = count_of(graph, FSL_OP_PARAMS_GATHER, stage);
	int32_t n_scatters = count_of(graph, FSL_OP_GRADS_SCATTER, stage);
	for (int32_t chunk = 0; chunk < graph->n_chunks; chunk++) {
		uint32_t gather = FSL_STR_NONE, scatter = FSL_STR_NONE;
		for (int32_t i = 0; i < n_gathers; i++) {
			uint32_t at = fsl_op_graph_find(graph, FSL_OP_PARAMS_GATHER, stage, i);
			gather = graph->nodes[at].chunk == chunk ? at : gather;
		}
		for (int32_t i = n_scatters; builder->has_separate && i-- > 0;) {
			uint32_t at = fsl_op_graph_find(graph, FSL_OP_GRADS_SCATTER, stage, i);
			scatter = graph->nodes[at].chunk == chunk ? at : scatter;
		}
		FSL_TRY(add_edge(graph, gather, pass_of(graph, stage, FSL_OP_FORWARD, chunk), err));
		FSL_TRY(add_edge(graph, pass_of(graph, stage, FSL_OP_BACKWARD, chunk), scatter,
				 err));
	}
	return FSL_OK;
}

/* Goes on with a chain at the operation; @last becomes it. */
static enum fsl_status follow(struct fsl_op_graph *graph, uint32_t *last, uint32_t next,
			      struct fsl_error *err)
{
	FSL_TRY(add_edge(graph, *last, next, err));
	*last = next;
	return FSL_OK;
}

static enum fsl_status follow_type(struct fsl_op_graph *graph, uint32_t *last,
				   enum fsl_op_type type, int32_t stage, struct fsl_error *err)
{
	uint32_t next = FSL_STR_NONE;
	FSL_TRY(need(graph, type, stage, &next, err));
	return follow(graph, last, next, err);
}

/* Behind the last pass: collection of garbage, gradients, clipping, optimizer. */
static enum fsl_status end_stage(struct builder *builder, int32_t stage, struct fsl_error *err)
{
	struct fsl_op_graph *graph = builder->graph;
	const struct list *passes = list(builder, stage, PASSES);
	uint32_t last = FSL_STR_NONE;
	for (size_t i = 0; i < passes->n; i++) {
		bool is_later = last == FSL_STR_NONE ||
				graph->nodes[passes->items[i]].end_s > graph->nodes[last].end_s;
		last = is_later ? passes->items[i] : last;
	}
	int32_t n_scatters = count_of(graph, FSL_OP_GRADS_SCATTER, stage);
	uint32_t layernorm = FSL_STR_NONE;
	FSL_TRY(follow_type(graph, &last, FSL_OP_GC, stage, err));
	FSL_TRY(need(graph, FSL_OP_LAYERNORM_GRADS, stage, &layernorm, err));
	FSL_TRY(follow(graph, &last, layernorm, err));
	if (builder->has_replicas && builder->has_separate && n_scatters > 0) {
		FSL_TRY(add_edge(
			graph,
			fsl_op_graph_find(graph, FSL_OP_GRADS_SCATTER, stage, n_scatters - 1),
			layernorm, err));
	}
	if (stage == 0 || stage == graph->n_stages - 1) {
		FSL_TRY(follow_type(graph, &last, FSL_OP_EMBEDDING_GRADS, stage, err));
	}
	if (builder->has_replicas && builder->has_separate) {
		FSL_TRY(follow_type(graph, &last, FSL_OP_SEPARATE_GRADS, stage, err));
	}
	for (int32_t i = 0; builder->has_replicas && !builder->has_separate && i < n_scatters;
	     i++) {
		FSL_TRY(follow(graph, &last,
			       fsl_op_graph_find(graph, FSL_OP_GRADS_SCATTER, stage, i), err));
	}
	FSL_TRY(follow_type(graph, &last, FSL_OP_CLIP, stage, err));
	return follow_type(graph, &last, FSL_OP_OPTIMIZER, stage, err);
}

static enum fsl_status build_edges(struct builder *builder, struct fsl_error *err)
{
	struct fsl_op_graph *graph = builder->graph;
	enum { COLLECTIVES = 1 << FSL_OP_PARAMS_GATHER | 1 << FSL_OP_GRADS_SCATTER };
	for (int32_t stage = 0; stage < graph->n_stages; stage++) {
		FSL_TRY(add_chain(builder, stage, PASSES, err));
		for (size_t k = 0; k < KINDS_N; k++) {
			FSL_TRY(match_kind(builder, stage, &kinds[k], err));
			FSL_TRY(pair_kind(builder, stage, &kinds[k], err));
			FSL_TRY(add_chain(builder, stage, 1 << kinds[k].type, err));
		}
		FSL_TRY(join_first_backward(builder, stage, err));
		if (builder->has_replicas) {
			FSL_TRY(add_chain(builder, stage, COLLECTIVES, err));
			FSL_TRY(join_replicas(builder, stage, err));
		}
	}
	FSL_TRY(join_passes(graph, err));
	for (int32_t stage = 0; stage < graph->n_stages; stage++) {
		FSL_TRY(end_stage(builder, stage, err));
	}
	return FSL_OK;
}

static enum fsl_status list_members(struct fsl_op_graph *graph, struct fsl_error *err)
{
	size_t *first = NULL;
	FSL_TRY(FSL_NEW(graph->first_members, graph->n_groups + 2, "groups", err));
	FSL_TRY(FSL_NEW(graph->members, graph->n_nodes + 1, "groups", err));
	first = graph->first_members;
	for (size_t i = 0; i < graph->n_nodes; i++) {
		if (graph->nodes[i].group != FSL_STR_NONE) {
			first[graph->nodes[i].group + 2]++;
		}
	}
	for (size_t g = 1; g < graph->n_groups + 2; g++) {
		first[g] += first[g - 1];
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++) { /* makes [g + 1] the begin of g + 1 */
		if (graph->nodes[i].group != FSL_STR_NONE) {
			graph->members[first[graph->nodes[i].group + 1]++] = i;
		}
	}
	return FSL_OK;
}

static size_t size_of(const struct fsl_op_graph *graph, uint32_t group)
{
	return graph->first_members[group + 1] - graph->first_members[group];
}

/* Groups of collectives: over replicas each alone, embeddings of both ends, clipping over stages.
 */
static enum fsl_status set_groups(struct builder *builder, struct fsl_error *err)
{
	enum {
		OVER_REPLICAS = 1 << FSL_OP_PARAMS_GATHER | 1 << FSL_OP_GRADS_SCATTER |
				1 << FSL_OP_SEPARATE_GRADS
	};
	struct fsl_op_graph *graph = builder->graph;
	for (size_t i = 0; i < graph->n_nodes; i++) {
		struct fsl_op_node *node = &graph->nodes[i];
		char key[3 * sizeof(int32_t)];
		size_t length = 0;
		if (builder->has_replicas && (OVER_REPLICAS & 1 << node->type) != 0) {
			length = key_of(key, -2, (int32_t)i, 0);
			node->is_over_replicas = true;
		} else if (node->type == FSL_OP_EMBEDDING_GRADS && node->seq == 0) {
			length = key_of(key, -3, 0, 0);
		} else if (node->type == FSL_OP_CLIP && node->seq == 0) {
			length = key_of(key, -4, 0, 0);
			node->is_over_replicas = true;
		}
		if (length > 0) {
			FSL_TRY(fsl_strpool_intern(builder->pairs, key, length, &node->group, err));
		}
	}
	graph->n_groups = fsl_strpool_size(builder->pairs);
	FSL_TRY(list_members(graph, err));
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct fsl_op_node *node = &graph->nodes[i];
		bool is_pair = (TRANSFERS & 1 << node->type) != 0 && !node->is_idle;
		if (is_pair && size_of(graph, node->group) != 2) {
			return FSL_FAIL(err, FSL_ERR_INPUT,
					"a transfer has no peer: type=\"%s\", stage=%d, seq_id=%d",
					fsl_op_type_texts[node->type], (int)node->stage,
					(int)node->seq);
		}
	}
	return FSL_OK;
}

static int compare_edges(const void *left, const void *right)
{
	const struct fsl_op_edge *a = left, *b = right;
	FSL_ORDER_BY(a->to, b->to);
	return FSL_ORDER(a->from, b->from);
}

/* Nodes that may begin when others have ended. */
struct queue {
	struct fsl_op_graph *graph;
	size_t n_waiting, n_taken;
	size_t *first_nexts; /* [n_nodes + 1], by from */
	uint32_t *nexts;     /* [n_edges] */
	uint32_t *n_before;  /* of each node: edges from nodes that have not ended */
	uint32_t *n_begun;   /* of each group */
};

static void end_node(struct queue *queue, uint32_t node)
{
	for (size_t i = queue->first_nexts[node]; i < queue->first_nexts[node + 1]; i++) {
		uint32_t next = queue->nexts[i];
		if (--queue->n_before[next] == 0) {
			queue->graph->order[queue->n_waiting++] = next;
		}
	}
}

static void begin_node(struct queue *queue, uint32_t node)
{
	const struct fsl_op_graph *graph = queue->graph;
	uint32_t group = graph->nodes[node].group;
	if (group == FSL_STR_NONE) {
		end_node(queue, node);
	} else if (++queue->n_begun[group] == size_of(graph, group)) {
		for (size_t i = graph->first_members[group]; i < graph->first_members[group + 1];
		     i++) {
			end_node(queue, graph->members[i]);
		}
	}
}

static enum fsl_status list_nexts(struct queue *queue, struct fsl_error *err)
{
	struct fsl_op_graph *graph = queue->graph;
	size_t n = graph->n_nodes;
	FSL_TRY(FSL_NEW(graph->first_edges, n + 2, "operations", err));
	FSL_TRY(FSL_NEW(graph->order, n + 1, "operations", err));
	FSL_TRY(FSL_NEW(queue->first_nexts, n + 2, "operations", err));
	FSL_TRY(FSL_NEW(queue->nexts, graph->n_edges + 1, "operations", err));
	FSL_TRY(FSL_NEW(queue->n_before, n + 1, "operations", err));
	FSL_TRY(FSL_NEW(queue->n_begun, graph->n_groups + 1, "operations", err));
	if (graph->n_edges > 1) {
		qsort(graph->edges, graph->n_edges, sizeof(*graph->edges), compare_edges);
	}
	for (size_t i = 0; i < graph->n_edges; i++) {
		graph->first_edges[graph->edges[i].to + 1]++;
		queue->n_before[graph->edges[i].to]++;
		queue->first_nexts[graph->edges[i].from + 2]++;
	}
	for (size_t i = 1; i < n + 2; i++) {
		graph->first_edges[i] += graph->first_edges[i - 1];
		queue->first_nexts[i] += queue->first_nexts[i - 1];
	}
	for (size_t i = 0; i < graph->n_edges; i++) { /* makes [from + 1] the begin of from + 1 */
		queue->nexts[queue->first_nexts[graph->edges[i].from + 1]++] = graph->edges[i].to;
	}
	return FSL_OK;
}

static enum fsl_status set_order(struct fsl_op_graph *graph, struct fsl_error *err)
{
	struct queue queue = {.graph = graph};
	enum fsl_status status = list_nexts(&queue, err);
	for (uint32_t i = 0; i < graph->n_nodes && status == FSL_OK; i++) {
		if (queue.n_before[i] == 0) {
			graph->order[queue.n_waiting++] = i;
		}
	}
	while (status == FSL_OK && queue.n_taken < queue.n_waiting) {
		begin_node(&queue, graph->order[queue.n_taken++]);
	}
	if (status == FSL_OK && queue.n_taken < graph->n_nodes) {
		status = FSL_FAIL(err, FSL_ERR_INPUT,
				  "operations wait for each other in a circle: operations=%zu",
				  graph->n_nodes - queue.n_taken);
	}
	fsl_free(queue.first_nexts);
	fsl_free(queue.nexts);
	fsl_free(queue.n_before);
	fsl_free(queue.n_begun);
	return status;
}

static enum fsl_status add_pattern(struct builder *builder, const struct fsl_op_table *table,
				   int32_t step, struct fsl_error *err)
{
	struct fsl_op_graph *graph = builder->graph;
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct fsl_op_row *row = &table->rows[i];
		uint32_t at = 0;
		const struct fsl_op_node node = {
			.type = row->type,
			.stage = row->stage,
			.seq = row->seq,
			.chunk = row->chunk >= 0 ? row->chunk : 0,
			.global_chunk = row->global_chunk >= 0 ? row->global_chunk : row->stage,
			.begin_s = row->begin_s,
			.end_s = row->begin_s + row->dur_s,
			.compute = FSL_STR_NONE,
			.group = FSL_STR_NONE,
			.is_idle = (TRANSFERS & 1 << row->type) != 0,
		};
		builder->has_replicas |= row->dp > 0 || row->type == FSL_OP_GRADS_SCATTER;
		builder->has_separate |= row->type == FSL_OP_SEPARATE_GRADS;
		graph->n_stages = row->stage >= graph->n_stages ? row->stage + 1 : graph->n_stages;
		if (row->dp == 0 && row->step == step) {
			bool is_pass = (PASSES & 1 << row->type) != 0;
			graph->n_chunks = is_pass && node.chunk >= graph->n_chunks
						  ? node.chunk + 1
						  : graph->n_chunks;
			FSL_TRY(add_node(graph, &node, &at, err));
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_op_graph_build(struct fsl_op_graph *graph, const struct fsl_op_table *table,
				   int32_t step, struct fsl_error *err)
{
	enum { ENDS_OF_STAGE = 6 }; /* operations that may be added to a stage */
	struct builder builder = {.graph = graph, .pairs = fsl_strpool_create()};
	*graph = (struct fsl_op_graph){.keys = fsl_strpool_create()};
	enum fsl_status status =
		builder.pairs != NULL && graph->keys != NULL
			? add_pattern(&builder, table, step, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rows=%zu", table->n_rows);
	double looks =
		(double)graph->n_stages * (double)(graph->n_chunks + 8) * (double)graph->n_nodes;
	if (status == FSL_OK && (graph->n_nodes == 0 || looks > FSL_WHAT_IF_LOOKS_MAX)) {
		status =
			FSL_FAIL(err, FSL_ERR_INPUT,
				 "replica 0 does not tell a pipeline in the first step: stages=%d, "
				 "chunks=%d, operations=%zu",
				 (int)graph->n_stages, (int)graph->n_chunks, graph->n_nodes);
	}
	FSL_THEN(status,
		 FSL_NEW(builder.list.items,
			 graph->n_nodes + (size_t)ENDS_OF_STAGE * (size_t)graph->n_stages + 1,
			 "operations", err));
	FSL_THEN(status, build_edges(&builder, err));
	FSL_THEN(status, set_groups(&builder, err));
	FSL_THEN(status, set_order(graph, err));
	fsl_strpool_destroy(builder.pairs);
	fsl_free(builder.list.items);
	return status;
}

void fsl_op_graph_fini(struct fsl_op_graph *graph)
{
	fsl_strpool_destroy(graph->keys);
	fsl_free(graph->nodes);
	fsl_free(graph->edges);
	fsl_free(graph->first_edges);
	fsl_free(graph->order);
	fsl_free(graph->first_members);
	fsl_free(graph->members);
	*graph = (struct fsl_op_graph){0};
}

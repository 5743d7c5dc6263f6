/*
 * Clock offsets between ranks without any clock protocol: the members of a collective end together,
 * so the median difference of their ends is the difference of their clocks.
 */
#include <math.h>
#include <stdlib.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"

/* Fewer common ends give no offset. */
enum { ENDS_MIN = 3, ENDS_USED_MAX = 4096 };

/* "Clock of @to minus clock of @from is @offset_ns". */
struct edge {
	uint32_t from, to;
	int64_t offset_ns;
	double spread_ms; /* median deviation from the offset */
};

static int64_t end_of(const struct fsl_rank *rank, uint32_t op_idx)
{
	return fsl_op_end_ns(&rank->ops[op_idx]);
}

/* Differences of the ends of equally many uses, in order. */
static size_t diff_by_order(const struct fsl_channel *channel, const struct fsl_uses *uses,
			    const struct fsl_run *run, size_t m, int64_t *diff_ns)
{
	const struct fsl_rank *first = &run->ranks[channel->members[0]];
	const struct fsl_rank *other = &run->ranks[channel->members[m]];
	size_t stride = uses->n_uses[0] / ENDS_USED_MAX + 1, n = 0;
	for (size_t i = 0; i < uses->n_uses[0]; i += stride) {
		diff_ns[n++] =
			end_of(other, uses->op_idx[m][i]) - end_of(first, uses->op_idx[0][i]);
	}
	return n;
}

/* Differences of each end of the member to the nearest of member 0, where records are missing. */
static size_t diff_to_nearest(const struct fsl_channel *channel, const struct fsl_uses *uses,
			      const struct fsl_run *run, size_t m, int64_t *diff_ns)
{
	const struct fsl_rank *first = &run->ranks[channel->members[0]];
	const struct fsl_rank *other = &run->ranks[channel->members[m]];
	size_t stride = uses->n_uses[m] / ENDS_USED_MAX + 1, n = 0, k = 0;
	for (size_t i = 0; i < uses->n_uses[m]; i += stride) {
		int64_t end_ns = end_of(other, uses->op_idx[m][i]);
		while (k + 1 < uses->n_uses[0] &&
		       llabs(end_of(first, uses->op_idx[0][k + 1]) - end_ns) <=
			       llabs(end_of(first, uses->op_idx[0][k]) - end_ns)) {
			k++;
		}
		diff_ns[n++] = end_ns - end_of(first, uses->op_idx[0][k]);
	}
	return n;
}

/* Median difference and its spread; @diff_ns is reordered. */
static struct edge edge_of(const struct fsl_channel *channel, size_t m, int64_t *diff_ns, size_t n)
{
	qsort(diff_ns, n, sizeof(*diff_ns), fsl_compare_i64);
	int64_t median_ns = diff_ns[n / 2];
	for (size_t i = 0; i < n; i++) {
		diff_ns[i] = llabs(diff_ns[i] - median_ns);
	}
	qsort(diff_ns, n, sizeof(*diff_ns), fsl_compare_i64);
	int64_t spread_ns = diff_ns[n / 2];
	return (struct edge){channel->members[0], channel->members[m], median_ns,
			     (double)spread_ns / FSL_NS_PER_MS};
}

/*
 * Offset between member @m and member 0 from at most ENDS_USED_MAX ends spread evenly. Uses that
 * differ in number, or that do not belong together although they are equally many, are compared
 * with the nearest end: right while clocks differ by less than half the time between two uses. The
 * way with less spread wins.
 */
static bool measure(struct edge *edge, const struct fsl_channel *channel,
		    const struct fsl_uses *uses, const struct fsl_run *run, size_t m, int64_t *work)
{
	if (uses->n_uses[0] < ENDS_MIN || uses->n_uses[m] < ENDS_MIN) {
		return false;
	}
	*edge = edge_of(channel, m, work, diff_to_nearest(channel, uses, run, m, work));
	if (uses->n_uses[0] == uses->n_uses[m]) {
		struct edge ordered =
			edge_of(channel, m, work, diff_by_order(channel, uses, run, m, work));
		*edge = ordered.spread_ms <= edge->spread_ms ? ordered : *edge;
	}
	return true;
}

/* Edges with the least spread first, so that the best measurements carry the offsets. */
static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	if (x->spread_ms != y->spread_ms) {
		return x->spread_ms < y->spread_ms ? -1 : 1;
	}
	if (x->from != y->from) {
		return x->from < y->from ? -1 : 1;
	}
	return (x->to > y->to) - (x->to < y->to);
}

/* Root of a rank in the union-find forest, with the rank's offset to it in *offset_ns. */
static uint32_t find_root(const uint32_t *parent, const int64_t *to_parent_ns, uint32_t rank_idx,
			  int64_t *offset_ns)
{
	*offset_ns = 0;
	while (parent[rank_idx] != rank_idx) {
		*offset_ns += to_parent_ns[rank_idx];
		rank_idx = parent[rank_idx];
	}
	return rank_idx;
}

/* Joins the components of an edge; the smaller tree goes below the larger, so paths stay short. */
static void join(uint32_t *parent, uint32_t *size, int64_t *to_parent_ns, const struct edge *edge)
{
	int64_t from_ns = 0, to_ns = 0;
	uint32_t a = find_root(parent, to_parent_ns, edge->from, &from_ns);
	uint32_t b = find_root(parent, to_parent_ns, edge->to, &to_ns);
	if (a == b) {
		return;
	}
	/* clock(to) = clock(from) + offset, clock(x) = clock(root) + x_ns. */
	int64_t b_minus_a_ns = from_ns + edge->offset_ns - to_ns;
	if (size[a] >= size[b]) {
		parent[b] = a;
		to_parent_ns[b] = b_minus_a_ns;
		size[a] += size[b];
	} else {
		parent[a] = b;
		to_parent_ns[a] = -b_minus_a_ns;
		size[b] += size[a];
	}
}

/* Offsets relative to the lowest rank of each component; components without a common end stay at 0.
 */
static void carry_offsets(struct fsl_match *out, size_t n_ranks, const uint32_t *parent,
			  const int64_t *to_parent_ns, int64_t *root_ns)
{
	out->offset_max_ms = 0.0;
	for (size_t r = 0; r < n_ranks; r++) {
		root_ns[r] = INT64_MIN;
	}
	for (size_t r = 0; r < n_ranks; r++) {
		int64_t offset_ns = 0;
		uint32_t root = find_root(parent, to_parent_ns, (uint32_t)r, &offset_ns);
		if (root_ns[root] == INT64_MIN) {
			root_ns[root] = offset_ns;
		}
		out->clock_ns[r] = offset_ns - root_ns[root];
		double offset_ms = fabs((double)out->clock_ns[r]) / FSL_NS_PER_MS;
		out->offset_max_ms = fmax(out->offset_max_ms, offset_ms);
	}
}

static size_t list_edges(struct edge *edges, const struct fsl_match *match,
			 const struct fsl_uses *uses, const struct fsl_run *run, int64_t *work)
{
	size_t n_edges = 0;
	for (size_t c = 0; c < match->n_channels; c++) {
		for (size_t m = 1; m < match->channels[c].n_members; m++) {
			n_edges += measure(&edges[n_edges], &match->channels[c], &uses[c], run, m,
					   work);
		}
	}
	return n_edges;
}

enum fsl_status fsl_clocks_estimate(struct fsl_match *out, const struct fsl_uses *uses,
				    const struct fsl_run *run, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	size_t n_edges_max = 1, n_ranks = run->n_ranks;
	for (size_t c = 0; c < out->n_channels; c++) {
		n_edges_max += out->channels[c].n_members;
	}
	out->offset_max_ms = NAN;
	out->residual_ms = NAN;
	out->clock_ns = fsl_arena_alloc(&out->arena, (n_ranks + 1) * sizeof(*out->clock_ns));
	struct edge *edges = fsl_arena_alloc(&scratch, n_edges_max * sizeof(*edges));
	int64_t *work = fsl_arena_alloc(&scratch, (ENDS_USED_MAX + 1) * sizeof(*work));
	uint32_t *parent = fsl_arena_alloc(&scratch, (n_ranks + 1) * sizeof(*parent));
	uint32_t *size = fsl_arena_alloc(&scratch, (n_ranks + 1) * sizeof(*size));
	int64_t *to_parent_ns = fsl_arena_alloc(&scratch, (n_ranks + 1) * sizeof(*to_parent_ns));
	int64_t *root_ns = fsl_arena_alloc(&scratch, (n_ranks + 1) * sizeof(*root_ns));
	double *spreads = fsl_arena_alloc(&scratch, 2 * n_edges_max * sizeof(*spreads));
	if (out->clock_ns == NULL || edges == NULL || work == NULL || parent == NULL ||
	    size == NULL || to_parent_ns == NULL || root_ns == NULL || spreads == NULL) {
		fsl_arena_fini(&scratch);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: clock edges=%zu", n_edges_max);
	}
	size_t n_edges = list_edges(edges, out, uses, run, work);
	qsort(edges, n_edges, sizeof(*edges), compare_edges);
	for (size_t r = 0; r < n_ranks; r++) {
		parent[r] = (uint32_t)r;
		size[r] = 1;
	}
	for (size_t e = 0; e < n_edges; e++) {
		join(parent, size, to_parent_ns, &edges[e]);
		spreads[e] = edges[e].spread_ms;
	}
	if (n_edges > 0) {
		carry_offsets(out, n_ranks, parent, to_parent_ns, root_ns);
		out->residual_ms = fsl_median(spreads, n_edges, spreads + n_edges);
	}
	fsl_arena_fini(&scratch);
	return FSL_OK;
}

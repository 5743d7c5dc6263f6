/*
 * Clock offsets between ranks without any clock protocol: the members of a collective end together,
 * so the median difference of their ends is the difference of their clocks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"
#include "match/offset.h"

/* "Clock of @to minus clock of @from is @offset_ns". */
struct edge {
	uint32_t from, to;
	int64_t offset_ns;
	double spread_ms; /* median deviation from the offset */
	double tail_ms;   /* nine of ten deviate less */
	bool is_known;
	bool is_searched; /* what was measured in order may be wrong, or is missing */
};

/* Uses that belong together in order but for the first of one side: use i of the first member to
 * use i + shift of the other. */
struct overlap {
	size_t begin, end; /* of i */
	ptrdiff_t shift;
};

static struct overlap overlap_of(const struct fsl_slot *first, const struct fsl_slot *other,
				 ptrdiff_t shift)
{
	size_t begin = shift < 0 ? (size_t)-shift : 0;
	size_t end = shift < 0 ? other->n + begin
			       : (other->n > (size_t)shift ? other->n - (size_t)shift : 0);
	end = end < first->n ? end : first->n;
	return (struct overlap){begin, end > begin ? end : begin, shift};
}

/* Differences of the ends of an overlap: at most about @n_max, spread evenly. */
static size_t diff_by_order(const struct fsl_slot *first, const struct fsl_slot *other,
			    const struct overlap *overlap, size_t n_max, int64_t *diff_ns)
{
	size_t stride = (overlap->end - overlap->begin) / n_max + 1, n = 0;
	for (size_t i = overlap->begin; i < overlap->end; i += stride) {
		diff_ns[n++] =
			other->end_ns[(size_t)((ptrdiff_t)i + overlap->shift)] - first->end_ns[i];
	}
	return n;
}

/* Median difference and its spread; @diff_ns is reordered. */
static struct edge edge_of(const struct fsl_slot *first, const struct fsl_slot *other,
			   int64_t *diff_ns, size_t n)
{
	int64_t median_ns = fsl_select_i64(diff_ns, n, n / 2);
	for (size_t i = 0; i < n; i++) {
		diff_ns[i] = llabs(diff_ns[i] - median_ns);
	}
	size_t half = n / 2; /* behind it is nothing smaller */
	int64_t spread_ns = fsl_select_i64(diff_ns, n, half);
	int64_t tail_ns =
		fsl_select_i64(diff_ns + half, n - half, n * FSL_NEAR_PERCENT / 100 - half);
	return (struct edge){.from = first->rank_idx,
			     .to = other->rank_idx,
			     .offset_ns = median_ns,
			     .spread_ms = (double)spread_ns / FSL_NS_PER_MS,
			     .tail_ms = (double)tail_ns / FSL_NS_PER_MS};
}

/* Ends of one member, ascending; copied to @ends and sorted if they are not in order. */
static struct fsl_ends ends_of(const struct fsl_slot *slot, int64_t *ends)
{
	size_t i = 1;
	while (i < slot->n && slot->end_ns[i - 1] <= slot->end_ns[i]) {
		i++;
	}
	if (i >= slot->n) {
		return (struct fsl_ends){slot->end_ns, slot->n};
	}
	memcpy(ends, slot->end_ns, slot->n * sizeof(*ends));
	qsort(ends, slot->n, sizeof(*ends), fsl_compare_i64);
	return (struct fsl_ends){ends, slot->n};
}

/* Scratch of one thread, sized for the largest channel. */
struct bench {
	struct fsl_arena arena;
	int64_t *first, *other;              /* ends of two members */
	struct fsl_difference *items, *hits; /* FSL_DIFFERENCES_MAX */
	int64_t *work;
};

/* The most common difference of any two ends, if the order does not tell which ends belong
 * together. */
static bool edge_by_search(struct edge *edge, const struct fsl_slot *a, const struct fsl_slot *b,
			   const struct bench *bench)
{
	struct fsl_ends first = ends_of(a, bench->first), other = ends_of(b, bench->other);
	FSL_ASSERT(fsl_ends_ascend(first) && fsl_ends_ascend(other));
	struct fsl_differences differences = {.items = bench->items, .n_max = FSL_DIFFERENCES_MAX};
	int64_t half_ns = fsl_usual_interval_ns(first, bench->work) / 2;
	struct fsl_offset_range range = {0, half_ns > FSL_CLOCK_REACH_NS ? half_ns
									 : FSL_CLOCK_REACH_NS};
	struct fsl_offset found;
	fsl_differences_add(&differences, first, other, range, FSL_ENDS_COMPARED_MAX);
	size_t n_wanted = differences.n_asked / 2 + 1;
	n_wanted = n_wanted > FSL_CLOCK_ENDS_MIN ? n_wanted : FSL_CLOCK_ENDS_MIN;
	if (!fsl_offset_find(&found, &differences, n_wanted, bench->hits, bench->work)) {
		return false;
	}
	/* Half of the differences lie in the width: half of it is the median deviation. */
	*edge = (struct edge){.from = a->rank_idx,
			      .to = b->rank_idx,
			      .offset_ns = found.offset_ns,
			      .spread_ms = (double)found.width_ns / 2.0 / FSL_NS_PER_MS,
			      .tail_ms = (double)found.width_ns / 2.0 / FSL_NS_PER_MS};
	return true;
}

/* Offset between two members as if these uses belonged together. */
static struct edge edge_in_order(const struct fsl_slot *first, const struct fsl_slot *other,
				 const struct overlap *overlap, size_t n_max, int64_t *diff_ns)
{
	size_t n = diff_by_order(first, other, overlap, n_max, diff_ns);
	return edge_of(first, other, diff_ns, n);
}

/* The best shifts so far. */
struct shifts {
	struct overlap best;
	double best_ms, next_ms; /* their tails */
	int64_t reach_ns;        /* greatest offset */
};

/* False if no median of the differences can lie within reach. */
static bool is_in_reach(const int64_t *diff_ns, size_t n, int64_t reach_ns)
{
	int64_t least_ns = INT64_MAX, most_ns = INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		least_ns = diff_ns[i] < least_ns ? diff_ns[i] : least_ns;
		most_ns = diff_ns[i] > most_ns ? diff_ns[i] : most_ns;
	}
	return least_ns <= reach_ns && most_ns >= -reach_ns;
}

/*
 * True if the tail is longer than @tail_ms, whatever the median: if two neighbours differ by more
 * than twice as much, at least one of them lies that far from it. Most shifts are ruled out by the
 * first ends.
 */
static bool is_tail_longer(const int64_t *diff_ns, size_t n, double tail_ms)
{
	size_t n_far = 0, n_allowed = n - n * FSL_NEAR_PERCENT / 100;
	double most_ns = 2.0 * tail_ms * FSL_NS_PER_MS;
	for (size_t i = 1; i < n && n_far < n_allowed; i += 2) {
		n_far += (double)llabs(diff_ns[i] - diff_ns[i - 1]) > most_ns;
	}
	return n_far >= n_allowed;
}

/* Uses that have to belong together: half of the longer member's; of files that clocks far apart
 * cut, half of the shorter one's. */
static size_t least_overlap(const struct shifts *shifts, size_t n_first, size_t n_other)
{
	size_t n_most = n_first > n_other ? n_first : n_other;
	size_t n_least = n_first < n_other ? n_first : n_other;
	bool is_far = shifts->reach_ns > FSL_CLOCK_REACH_NS;
	size_t n = is_far ? n_least / 2 : n_most / 2;
	size_t n_min = is_far ? FSL_SHIFT_FAR_USES_MIN : FSL_CLOCK_ENDS_MIN;
	return n > n_min ? n : n_min;
}

static void try_shift(struct shifts *shifts, const struct fsl_slot *first,
		      const struct fsl_slot *other, ptrdiff_t shift, int64_t *diff_ns)
{
	struct overlap overlap = overlap_of(first, other, shift);
	size_t n_uses = overlap.end - overlap.begin;
	if (n_uses < least_overlap(shifts, first->n, other->n)) {
		return;
	}
	size_t n = diff_by_order(first, other, &overlap, FSL_SHIFT_ENDS, diff_ns);
	if (!is_in_reach(diff_ns, n, shifts->reach_ns) ||
	    is_tail_longer(diff_ns, n, shifts->next_ms)) {
		return;
	}
	struct edge tried = edge_of(first, other, diff_ns, n);
	if (llabs(tried.offset_ns) > shifts->reach_ns) {
		return;
	}
	bool is_better = tried.tail_ms < shifts->best_ms;
	shifts->next_ms = is_better ? shifts->best_ms : fmin(shifts->next_ms, tried.tail_ms);
	shifts->best_ms = is_better ? tried.tail_ms : shifts->best_ms;
	shifts->best = is_better ? overlap : shifts->best;
}

/* True if ends agree so well under one shift that another one, with the tail @next_ms, is out of
 * the question. */
static bool is_right_tail(double tail_ms, double next_ms)
{
	return (tail_ms <= FSL_TAIL_SURE_MS && tail_ms * FSL_SHIFT_GAIN_MIN < next_ms) ||
	       (tail_ms <= FSL_SHIFT_TAIL_MAX_MS && tail_ms * FSL_SHIFT_CLEAR_GAIN < next_ms);
}

/* The shift within reach that makes the ends agree, and no other; false if there is no such one. */
static bool find_shift(struct overlap *out, const struct fsl_slot *first,
		       const struct fsl_slot *other, int64_t reach_ns, int64_t *diff_ns)
{
	struct shifts shifts = {.best_ms = INFINITY, .next_ms = INFINITY, .reach_ns = reach_ns};
	try_shift(&shifts, first, other, 0, diff_ns);
	for (ptrdiff_t shift = 1; shift <= FSL_SHIFT_USES_MAX; shift++) {
		try_shift(&shifts, first, other, -shift, diff_ns);
		try_shift(&shifts, first, other, shift, diff_ns);
	}
	*out = shifts.best;
	return is_right_tail(shifts.best_ms, shifts.next_ms);
}

/*
 * Offset between two members if one was cut off earlier than the other, as at the begin of a
 * chapter: one shift within reach, and no other, makes the ends agree. False if there is no such
 * shift.
 */
static bool edge_by_shift(struct edge *edge, const struct fsl_slot *first,
			  const struct fsl_slot *other, int64_t reach_ns, int64_t *diff_ns)
{
	struct overlap shifted;
	if (!find_shift(&shifted, first, other, reach_ns, diff_ns)) {
		return false;
	}
	*edge = edge_in_order(first, other, &shifted, FSL_ENDS_COMPARED_MAX, diff_ns);
	return edge->tail_ms <= FSL_SHIFT_TAIL_MAX_MS;
}

/* Offset between two members as if their uses belonged together in order. */
static void measure_in_order(struct edge *edge, struct fsl_couple *couple)
{
	const struct fsl_slot *first = couple->first, *other = couple->other;
	int64_t diff_ns[FSL_ENDS_COMPARED_MAX + 1];
	*edge = (struct edge){0};
	if (first->n < FSL_CLOCK_ENDS_MIN || other->n < FSL_CLOCK_ENDS_MIN) {
		return;
	}
	if (first->n == other->n) {
		const struct overlap all = {0, first->n, 0};
		*edge = edge_in_order(first, other, &all, FSL_ENDS_COMPARED_MAX, diff_ns);
		edge->is_known = true;
		couple->apart_ns = edge->offset_ns;
	}
	edge->is_searched = !edge->is_known || edge->tail_ms > FSL_TAIL_SURE_MS;
	struct edge shifted;
	if (edge->is_searched &&
	    edge_by_shift(&shifted, first, other, FSL_CLOCK_REACH_NS, diff_ns)) {
		*edge = shifted;
		edge->is_known = true;
	}
}

/*
 * Uses that differ in number, or that do not belong together although they are equally many, are
 * told by the most common difference of their ends. The way with less spread wins. If no difference
 * is common, clocks that nobody keeps may be many steps apart, and files that were cut at a time
 * are cut at different steps.
 */
static void measure_by_search(struct edge *edge, const struct fsl_couple *couple,
			      const struct bench *bench)
{
	struct edge searched;
	if (edge_by_search(&searched, couple->first, couple->other, bench) &&
	    (!edge->is_known || searched.spread_ms < edge->spread_ms)) {
		*edge = searched;
		edge->is_known = true;
	}
	bool is_vague = !edge->is_known || edge->spread_ms > FSL_SHIFT_TAIL_MAX_MS;
	if (is_vague && couple->first->n >= FSL_CLOCK_ENDS_MIN &&
	    edge_by_shift(&searched, couple->first, couple->other, INT64_MAX, bench->work)) {
		*edge = searched;
		edge->is_known = true;
	}
}

/* Edges with the least spread first, so that the best measurements carry the offsets. */
static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	FSL_ORDER_BY(x->spread_ms, y->spread_ms);
	FSL_ORDER_BY(x->from, y->from);
	return FSL_ORDER(x->to, y->to);
}

/* Root of a rank in the union-find forest, with the rank's offset to it in *offset_ns. */
static uint32_t find_root(const struct fsl_clocks *clocks, uint32_t rank_idx, int64_t *offset_ns)
{
	*offset_ns = 0;
	FSL_ASSERT(rank_idx < clocks->n_ranks);
	while (clocks->parent[rank_idx] != rank_idx) {
		*offset_ns += clocks->to_parent_ns[rank_idx];
		rank_idx = clocks->parent[rank_idx];
	}
	return rank_idx;
}

enum fsl_status fsl_clocks_init(struct fsl_clocks *out, struct fsl_arena *arena, size_t n_ranks,
				struct fsl_error *err)
{
	out->n_ranks = n_ranks;
	out->is_measured = false;
	FSL_TRY(FSL_ARENA_NEW(out->parent, arena, n_ranks + 1, "parent", err));
	FSL_TRY(FSL_ARENA_NEW(out->size, arena, n_ranks + 1, "size", err));
	FSL_TRY(FSL_ARENA_NEW(out->to_parent_ns, arena, n_ranks + 1, "to_parent_ns", err));
	for (size_t r = 0; r < n_ranks; r++) {
		out->parent[r] = (uint32_t)r;
		out->size[r] = 1;
	}
	return FSL_OK;
}

bool fsl_clocks_offset(const struct fsl_clocks *clocks, uint32_t from, uint32_t to,
		       int64_t *offset_ns)
{
	int64_t from_ns = 0, to_ns = 0;
	uint32_t a = find_root(clocks, from, &from_ns), b = find_root(clocks, to, &to_ns);
	*offset_ns = a == b ? to_ns - from_ns : 0;
	return a == b;
}

void fsl_clocks_join(struct fsl_clocks *clocks, uint32_t from, uint32_t to, int64_t offset_ns)
{
	int64_t from_ns = 0, to_ns = 0;
	uint32_t a = find_root(clocks, from, &from_ns), b = find_root(clocks, to, &to_ns);
	clocks->is_measured = true;
	if (a == b) {
		return;
	}
	/* clock(to) = clock(from) + offset, clock(x) = clock(root) + x_ns; the smaller tree goes
	 * below the larger, so paths stay short. */
	int64_t b_minus_a_ns = from_ns + offset_ns - to_ns;
	FSL_ASSERT(clocks->size[a] > 0 && clocks->size[a] + clocks->size[b] <= clocks->n_ranks);
	if (clocks->size[a] >= clocks->size[b]) {
		clocks->parent[b] = a;
		clocks->to_parent_ns[b] = b_minus_a_ns;
		clocks->size[a] += clocks->size[b];
	} else {
		clocks->parent[a] = b;
		clocks->to_parent_ns[a] = -b_minus_a_ns;
		clocks->size[b] += clocks->size[a];
	}
}

enum fsl_status fsl_clocks_publish(struct fsl_match *out, const struct fsl_clocks *clocks,
				   struct fsl_arena *scratch, struct fsl_error *err)
{
	size_t n_ranks = clocks->n_ranks;
	int64_t *root_ns = NULL;
	FSL_TRY(FSL_ARENA_NEW(root_ns, scratch, n_ranks, "root_ns", err));
	FSL_TRY(FSL_ARENA_NEW(out->clock_ns, &out->arena, n_ranks + 1, "clock_ns", err));
	out->offset_max_ms = clocks->is_measured ? 0.0 : NAN;
	for (size_t r = 0; r < n_ranks; r++) {
		root_ns[r] = INT64_MIN;
	}
	for (size_t r = 0; r < n_ranks && clocks->is_measured; r++) {
		int64_t offset_ns = 0;
		uint32_t root = find_root(clocks, (uint32_t)r, &offset_ns);
		if (root_ns[root] == INT64_MIN) {
			root_ns[root] = offset_ns;
		}
		out->clock_ns[r] = offset_ns - root_ns[root];
		double offset_ms = fabs((double)out->clock_ns[r]) / FSL_NS_PER_MS;
		out->offset_max_ms = fmax(out->offset_max_ms, offset_ms);
	}
	return FSL_OK;
}

static bool bench_init(struct bench *bench, size_t n_uses_max)
{
	*bench = (struct bench){0};
	struct fsl_arena *arena = &bench->arena;
	bench->first = fsl_arena_take(arena, n_uses_max * sizeof(*bench->first));
	bench->other = fsl_arena_take(arena, n_uses_max * sizeof(*bench->other));
	bench->items = fsl_arena_take(arena, FSL_DIFFERENCES_MAX * sizeof(*bench->items));
	bench->hits = fsl_arena_take(arena, FSL_DIFFERENCES_MAX * sizeof(*bench->hits));
	bench->work = fsl_arena_take(arena, FSL_DIFFERENCES_MAX * sizeof(*bench->work));
	return bench->first != NULL && bench->other != NULL && bench->items != NULL &&
	       bench->hits != NULL && bench->work != NULL;
}

/* Couples on threads: edges[k] of couple k. True when some are to be searched. */
static bool measure_in_orders(struct edge *edges, const struct fsl_listing *listing)
{
	bool is_searched = false;
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : is_searched)
	for (size_t k = 0; k < listing->n_couples; k++) {
		measure_in_order(&edges[k], &listing->couples[k]);
		is_searched = is_searched || edges[k].is_searched;
	}
	return is_searched;
}

/* False: out of memory. */
static bool measure_by_searches(struct edge *edges, const struct fsl_listing *listing)
{
	size_t n_uses_max = 1;
	bool is_short = false;
	for (size_t k = 0; k < listing->n_couples; k++) {
		const struct fsl_couple *couple = &listing->couples[k];
		n_uses_max = couple->first->n > n_uses_max ? couple->first->n : n_uses_max;
		n_uses_max = couple->other->n > n_uses_max ? couple->other->n : n_uses_max;
	}
#pragma omp parallel reduction(|| : is_short)
	{
		struct bench bench;
		is_short = !bench_init(&bench, n_uses_max);
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t k = 0; k < listing->n_couples; k++) {
			if (edges[k].is_searched && !is_short) {
				measure_by_search(&edges[k], &listing->couples[k], &bench);
			}
		}
		fsl_arena_fini(&bench.arena);
	}
	return !is_short;
}

enum fsl_status fsl_clocks_measure(struct fsl_clocks *clocks, struct fsl_match *out,
				   const struct fsl_listing *listing, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	size_t n_edges = 0, n_edges_max = listing->n_couples + 1;
	struct edge *edges = fsl_arena_alloc(&scratch, n_edges_max * sizeof(*edges));
	double *spreads = fsl_arena_alloc(&scratch, 2 * n_edges_max * sizeof(*spreads));
	if (edges == NULL || spreads == NULL ||
	    (measure_in_orders(edges, listing) && !measure_by_searches(edges, listing))) {
		fsl_arena_fini(&scratch);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: clock edges=%zu", n_edges_max);
	}
	for (size_t k = 0; k < listing->n_couples; k++) {
		if (edges[k].is_known) {
			edges[n_edges++] = edges[k];
		}
	}
	qsort(edges, n_edges, sizeof(*edges), compare_edges);
	for (size_t e = 0; e < n_edges; e++) {
		fsl_clocks_join(clocks, edges[e].from, edges[e].to, edges[e].offset_ns);
		spreads[e] = edges[e].spread_ms;
	}
	if (n_edges > 0) {
		out->residual_ms = fsl_median(spreads, n_edges, spreads + n_edges);
	}
	fsl_arena_fini(&scratch);
	return FSL_OK;
}

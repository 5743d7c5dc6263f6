/* Patterns of rank numbers: strides, families of equal pattern, and how two families nest. */
#include "match/topology_shape.h"

#include "base/log.h"
#include "base/sort.h"
#include "match/limits.h"

#include <stdlib.h>
#include <string.h>

struct shape {
	int64_t stride;
	size_t size;
	/* Read with missing ranks between its members; without them it is its ranks this far apart.
	 * 0: there is but one reading. */
	int64_t plain_stride;
	unsigned operators; /* bits per class; irregular shapes only */
	struct fsl_comm *comm;
	size_t family; /* position of its family among all */
};

static bool is_missing(const struct fsl_rank_facts *facts, int64_t rank)
{
	return rank >= 0 && rank < (int64_t)facts->n_numbers && !facts->has_ops[rank];
}

static int64_t gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/*
 * True when first, first + stride, ... last are the members of @comm and otherwise only ranks that
 * are missing from the data, fewer of them than members: a few lost files must not change a
 * pattern, and one file per server must not look like whole servers.
 */
static bool is_progression(const struct fsl_comm *comm, int64_t stride, size_t *size,
			   const struct fsl_rank_facts *facts)
{
	int64_t first = comm->ranks[0], last = comm->ranks[comm->n_ranks - 1];
	size_t n_places = (size_t)((last - first) / stride) + 1;
	if (n_places - comm->n_ranks >= comm->n_ranks) {
		return false;
	}
	size_t member = 0;
	for (int64_t rank = first; rank <= last; rank += stride) {
		if (comm->ranks[member] == rank) {
			member++;
		} else if (!is_missing(facts, rank)) {
			return false;
		}
	}
	*size = n_places;
	return member == comm->n_ranks;
}

static struct shape shape_of(struct fsl_comm *comm, const struct fsl_rank_facts *facts)
{
	struct shape shape = {.stride = 1, .size = comm->n_ranks, .comm = comm};
	int64_t stride = 0;
	for (size_t i = 1; i < comm->n_ranks; i++) {
		stride = gcd(comm->ranks[i] - comm->ranks[i - 1], stride);
	}
	if (is_progression(comm, 1, &shape.size, facts)) {
		int64_t length = comm->ranks[comm->n_ranks - 1] - comm->ranks[0];
		bool has_plain = stride > 1 && length == stride * (int64_t)(comm->n_ranks - 1);
		shape.plain_stride = has_plain ? stride : 0;
		return shape;
	}
	shape.stride = stride > 0 ? stride : 1;
	if (!is_progression(comm, shape.stride, &shape.size, facts)) {
		shape.stride = 0;
		for (int c = FSL_OP_REDUCESCATTER; c <= FSL_OP_ALLREDUCE; c++) {
			shape.operators |= comm->n_calls[c] > 0 ? 1U << c : 0;
		}
	}
	return shape;
}

static int compare_shapes(const void *left, const void *right)
{
	const struct shape *a = left, *b = right;
	FSL_ORDER_BY((uint64_t)(a->stride - 1), (uint64_t)(b->stride - 1)); /* 0 sorts last */
	FSL_ORDER_BY(a->size, b->size);
	FSL_ORDER_BY(a->operators, b->operators);
	return FSL_ORDER(a->comm, b->comm);
}

static double rate_of(const struct shape *shape)
{
	return (double)shape->comm->n_calls_all / (double)shape->comm->n_ranks;
}

/* Communicators of one pattern that can be read in one way only. */
struct pattern {
	int64_t stride;
	size_t size;
	double least_rate, most_rate;
};

/* True when some pattern of this stride is as large and used about as often as @shape. */
static bool is_shown(const struct pattern *patterns, size_t n, int64_t stride, size_t size,
		     const struct shape *shape)
{
	double rate = rate_of(shape);
	for (size_t i = 0; i < n; i++) {
		if (patterns[i].stride == stride && patterns[i].size >= size &&
		    rate < patterns[i].most_rate * FSL_RATE_RATIO &&
		    patterns[i].least_rate < rate * FSL_RATE_RATIO) {
			return true;
		}
	}
	return false;
}

static size_t list_patterns(struct pattern *patterns, const struct shape *shapes, size_t n)
{
	size_t n_patterns = 0;
	for (size_t i = 0; i < n; i++) {
		double rate = rate_of(&shapes[i]);
		struct pattern *last = n_patterns > 0 ? &patterns[n_patterns - 1] : NULL;
		if (shapes[i].plain_stride != 0 || shapes[i].stride == 0) {
			continue;
		}
		if (last == NULL || last->stride != shapes[i].stride ||
		    last->size != shapes[i].size) {
			last = &patterns[n_patterns++];
			*last = (struct pattern){shapes[i].stride, shapes[i].size, rate, rate};
		}
		last->least_rate = rate < last->least_rate ? rate : last->least_rate;
		last->most_rate = rate > last->most_rate ? rate : last->most_rate;
	}
	return n_patterns;
}

/*
 * Ranks 0 and 2 may be the rest of neighbours whose rank 1 is missing, or be two apart by design.
 * Other communicators tell, if they are used as often and have no such holes. @shapes: sorted.
 */
static void settle_readings(struct shape *shapes, size_t n, struct pattern *patterns)
{
	size_t n_patterns = list_patterns(patterns, shapes, n);
	for (size_t i = 0; i < n; i++) {
		struct shape *shape = &shapes[i];
		if (shape->plain_stride != 0 &&
		    !is_shown(patterns, n_patterns, shape->stride, shape->size, shape) &&
		    is_shown(patterns, n_patterns, shape->plain_stride, shape->comm->n_ranks,
			     shape)) {
			shape->stride = shape->plain_stride;
			shape->size = shape->comm->n_ranks;
		}
	}
}

static bool is_same_shape(const struct shape *a, const struct shape *b)
{
	return a->stride == b->stride && a->size == b->size && a->operators == b->operators;
}

static int compare_by_family(const void *left, const void *right)
{
	const struct shape *a = left, *b = right;
	FSL_ORDER_BY(a->family, b->family);
	return FSL_ORDER(a->comm, b->comm);
}

/* Ranks missing from the data that would go on the pattern of @shape at its two ends. */
static size_t missing_at_ends(const struct shape *shape, const struct fsl_rank_facts *facts)
{
	size_t n = 0;
	int64_t first = shape->comm->ranks[0];
	int64_t last = shape->comm->ranks[shape->comm->n_ranks - 1];
	for (int64_t rank = first - shape->stride; is_missing(facts, rank); rank -= shape->stride) {
		n++;
	}
	for (int64_t rank = last + shape->stride; is_missing(facts, rank); rank += shape->stride) {
		n++;
	}
	return n;
}

/* Most frequent size among the shapes of one stride, the greater one of equals. */
static size_t usual_size(const struct shape *shapes, size_t n)
{
	size_t best_size = 0, best_n = 0;
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		while (end < n && shapes[end].size == shapes[begin].size) {
			end++;
		}
		if (end - begin >= best_n) {
			best_n = end - begin;
			best_size = shapes[begin].size;
		}
	}
	return best_size;
}

/* Gives communicators that are short by missing ranks at their ends the size of the others. */
static void complete_short_ones(struct shape *shapes, size_t n, const struct fsl_rank_facts *facts)
{
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		while (end < n && shapes[end].stride == shapes[begin].stride) {
			end++;
		}
		size_t size = usual_size(&shapes[begin], end - begin);
		for (size_t i = begin; i < end && shapes[i].stride > 0; i++) {
			if (shapes[i].size < size &&
			    shapes[i].size + missing_at_ends(&shapes[i], facts) >= size) {
				shapes[i].size = size;
			}
		}
	}
}

static bool spans_hosts(const struct fsl_comm *comm, const struct fsl_rank_facts *facts)
{
	for (size_t i = 1; i < comm->n_ranks; i++) {
		if (strcmp(facts->host[comm->ranks[i]], facts->host[comm->ranks[0]]) != 0) {
			return true;
		}
	}
	return false;
}

static void fill_family(struct fsl_family *family, const struct shape *shapes, size_t n,
			struct fsl_comm **comms, const struct fsl_rank_facts *facts)
{
	*family = (struct fsl_family){.stride = shapes[0].stride,
				      .size = shapes[0].size,
				      .comms = comms,
				      .n_comms = n,
				      .only_allreduce = true};
	for (size_t i = 0; i < n; i++) {
		const struct fsl_comm *comm = shapes[i].comm;
		comms[i] = shapes[i].comm;
		family->rate += (double)comm->n_calls_all / (double)comm->n_ranks / (double)n;
		family->spans_hosts = family->spans_hosts || spans_hosts(comm, facts);
		family->only_allreduce =
			family->only_allreduce &&
			comm->n_calls[FSL_OP_ALLREDUCE] + comm->n_calls[FSL_OP_BROADCAST] ==
				comm->n_calls_all;
	}
}

/* A stretch of sorted shapes that are the same. */
struct cut {
	size_t begin, end;
	int64_t stride;
	size_t size;
	double rate;
	size_t merged; /* first cut of its family */
};

static int compare_cuts(const void *left, const void *right)
{
	const struct cut *a = left, *b = right;
	FSL_ORDER_BY(a->size, b->size);
	FSL_ORDER_BY(b->rate, a->rate);
	return FSL_ORDER(a->begin, b->begin);
}

static size_t cut_shapes(struct cut *cuts, const struct shape *shapes, size_t n)
{
	size_t n_cuts = 0;
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		double rate = 0.0;
		while (end < n && is_same_shape(&shapes[end], &shapes[begin])) {
			rate += rate_of(&shapes[end++]);
		}
		cuts[n_cuts++] = (struct cut){.begin = begin,
					      .end = end,
					      .stride = shapes[begin].stride,
					      .size = shapes[begin].size,
					      .rate = rate / (double)(end - begin)};
	}
	qsort(cuts, n_cuts, sizeof(*cuts), compare_cuts);
	return n_cuts;
}

/* True when no rank of @cut is taken by @family yet. */
static bool is_apart(const struct cut *cut, const struct shape *shapes, const size_t *taken_by,
		     size_t family)
{
	for (size_t i = cut->begin; i < cut->end; i++) {
		for (size_t k = 0; k < shapes[i].comm->n_ranks; k++) {
			if (taken_by[shapes[i].comm->ranks[k]] == family) {
				return false;
			}
		}
	}
	return true;
}

static void take_ranks(const struct cut *cut, const struct shape *shapes, size_t *taken_by,
		       size_t family)
{
	for (size_t i = cut->begin; i < cut->end; i++) {
		for (size_t k = 0; k < shapes[i].comm->n_ranks; k++) {
			taken_by[shapes[i].comm->ranks[k]] = family;
		}
	}
}

/*
 * If ranks are numbered freely, groups of one kind show several patterns: cuts of one size and
 * about one rate that share no rank are one family. Its stride is that of most of its
 * communicators; with less than FSL_FAMILY_STRIDE_SHARE_MIN of them it has none.
 */
static void merge_cuts(struct cut *cuts, size_t n, const struct shape *shapes, size_t *taken_by)
{
	for (size_t first = 0, next = 0; first < n; first = next) {
		size_t n_all = 0, n_most = 0;
		int64_t stride = 0;
		for (; next < n; next++) {
			bool fits = cuts[next].size == cuts[first].size &&
				    cuts[first].rate < cuts[next].rate * FSL_RATE_RATIO &&
				    is_apart(&cuts[next], shapes, taken_by, first);
			if (next > first && !fits) {
				break;
			}
			size_t n_here = cuts[next].end - cuts[next].begin;
			take_ranks(&cuts[next], shapes, taken_by, first);
			cuts[next].merged = first;
			n_all += n_here;
			if (n_here > n_most) {
				n_most = n_here;
				stride = cuts[next].stride;
			}
		}
		for (size_t i = first; i < next; i++) {
			cuts[i].stride =
				(double)n_most >= FSL_FAMILY_STRIDE_SHARE_MIN * (double)n_all
					? stride
					: 0;
		}
	}
}

/* Order of the result: rising strides, irregular last; then sizes. */
static int compare_merged(const void *left, const void *right)
{
	const struct cut *a = left, *b = right;
	FSL_ORDER_BY((uint64_t)(a->stride - 1), (uint64_t)(b->stride - 1)); /* 0 sorts last */
	FSL_ORDER_BY(a->size, b->size);
	FSL_ORDER_BY(a->merged, b->merged);
	return FSL_ORDER(a->begin, b->begin);
}

/* Numbers the families in their order and tells every shape its family. */
static size_t number_families(struct cut *cuts, size_t n, struct shape *shapes)
{
	size_t n_families = 0;
	qsort(cuts, n, sizeof(*cuts), compare_merged);
	for (size_t c = 0; c < n; c++) {
		n_families += c == 0 || cuts[c].merged != cuts[c - 1].merged ? 1 : 0;
		for (size_t i = cuts[c].begin; i < cuts[c].end; i++) {
			shapes[i].family = n_families - 1;
			shapes[i].stride = cuts[c].stride;
		}
	}
	return n_families;
}

static enum fsl_status fill_families(struct fsl_families *out, struct shape *shapes, size_t n,
				     struct fsl_arena *arena, const struct fsl_rank_facts *facts,
				     struct fsl_error *err)
{
	struct cut *cuts = NULL;
	size_t *taken_by = NULL;
	struct fsl_comm **members = NULL;
	FSL_TRY(FSL_ARENA_NEW(cuts, arena, n, "cuts", err));
	FSL_TRY(FSL_ARENA_NEW(taken_by, arena, facts->n_numbers, "taken_by", err));
	FSL_TRY(FSL_ARENA_NEW(members, arena, n, "members", err));
	for (size_t i = 0; i < facts->n_numbers; i++) {
		taken_by[i] = SIZE_MAX;
	}
	size_t n_cuts = cut_shapes(cuts, shapes, n);
	merge_cuts(cuts, n_cuts, shapes, taken_by);
	out->n_items = number_families(cuts, n_cuts, shapes);
	FSL_TRY(FSL_ARENA_NEW(out->items, arena, out->n_items, "items", err));
	qsort(shapes, n, sizeof(*shapes), compare_by_family);
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		while (end < n && shapes[end].family == shapes[begin].family) {
			end++;
		}
		FSL_ASSERT(shapes[begin].family < out->n_items);
		fill_family(&out->items[shapes[begin].family], &shapes[begin], end - begin,
			    &members[begin], facts);
	}
	return FSL_OK;
}

enum fsl_status fsl_families_build(struct fsl_families *out, struct fsl_arena *arena,
				   struct fsl_comm **comms, size_t n_comms,
				   const struct fsl_rank_facts *facts, struct fsl_error *err)
{
	struct shape *shapes = NULL;
	struct pattern *patterns = NULL;
	FSL_TRY(FSL_ARENA_NEW(shapes, arena, n_comms, "shapes", err));
	FSL_TRY(FSL_ARENA_NEW(patterns, arena, n_comms, "patterns", err));
	for (size_t i = 0; i < n_comms; i++) {
		shapes[i] = shape_of(comms[i], facts);
	}
	qsort(shapes, n_comms, sizeof(*shapes), compare_shapes);
	settle_readings(shapes, n_comms, patterns);
	qsort(shapes, n_comms, sizeof(*shapes), compare_shapes);
	complete_short_ones(shapes, n_comms, facts);
	qsort(shapes, n_comms, sizeof(*shapes), compare_shapes);
	return fill_families(out, shapes, n_comms, arena, facts, err);
}

enum fsl_status fsl_owner_map_init(struct fsl_owner_map *map, struct fsl_arena *arena,
				   size_t n_numbers, size_t n_comms, struct fsl_error *err)
{
	FSL_TRY(FSL_ARENA_NEW(map->owner_of, arena, n_numbers, "owner_of", err));
	FSL_TRY(FSL_ARENA_NEW(map->n_hits, arena, n_comms, "n_hits", err));
	return FSL_OK;
}

/* One communicator against the owners of its ranks */
struct fits {
	bool apart, orthogonal, inside, outside;
};

static struct fits fits_of(const struct fsl_family *base, const struct fsl_comm *comm,
			   const struct fsl_owner_map *map)
{
	size_t n_owned = 0, n_owners = 0, n_ranks_of_owners = 0;
	for (size_t i = 0; i < comm->n_ranks; i++) {
		size_t owner = map->owner_of[comm->ranks[i]];
		if (owner != SIZE_MAX) {
			n_owned++;
			if (map->n_hits[owner]++ == 0) {
				n_owners++;
				n_ranks_of_owners += base->comms[owner]->n_ranks;
			}
		}
	}
	for (size_t i = 0; i < comm->n_ranks; i++) {
		size_t owner = map->owner_of[comm->ranks[i]];
		if (owner != SIZE_MAX) {
			map->n_hits[owner] = 0;
		}
	}
	return (struct fits){.apart = n_owned == 0,
			     .orthogonal = n_owners == n_owned,
			     .inside = n_owners == 1 && n_owned == comm->n_ranks,
			     .outside = n_ranks_of_owners == n_owned};
}

enum fsl_relation fsl_family_relate(const struct fsl_family *base, const struct fsl_family *other,
				    const struct fsl_owner_map *map, size_t n_numbers)
{
	for (size_t i = 0; i < n_numbers; i++) {
		map->owner_of[i] = SIZE_MAX;
	}
	for (size_t c = 0; c < base->n_comms; c++) {
		for (size_t i = 0; i < base->comms[c]->n_ranks; i++) {
			map->owner_of[base->comms[c]->ranks[i]] = c;
		}
	}
	struct fits all = {true, true, true, true};
	for (size_t c = 0; c < other->n_comms; c++) {
		struct fits fits = fits_of(base, other->comms[c], map);
		all.apart = all.apart && fits.apart;
		all.orthogonal = all.orthogonal && fits.orthogonal;
		all.inside = all.inside && fits.inside;
		all.outside = all.outside && fits.outside;
	}
	return all.apart        ? FSL_RELATION_APART
	       : all.orthogonal ? FSL_RELATION_ORTHOGONAL
	       : all.inside     ? FSL_RELATION_INSIDE
	       : all.outside    ? FSL_RELATION_OUTSIDE
				: FSL_RELATION_MIXED;
}

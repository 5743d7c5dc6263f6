/* Finds the ranks of a group that talk to each other, and the offset of their clocks. */
#include "match/pair.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"

struct end {
	int64_t end_ns;
	uint32_t op_idx;
};

static int compare_ends(const void *left, const void *right)
{
	const struct end *a = left, *b = right;
	int order = FSL_ORDER(a->end_ns, b->end_ns);
	return order != 0 ? order : FSL_ORDER(a->op_idx, b->op_idx);
}

/* Sorts the ends of one kind into the side. @ends: room for all uses. */
static bool fill_kind(struct fsl_p2p_side *side, enum fsl_p2p_kind kind, struct fsl_arena *arena,
		      struct end *ends, size_t n)
{
	struct fsl_p2p_uses *uses = &side->kinds[kind];
	uses->end_ns = fsl_arena_alloc(arena, n * sizeof(*uses->end_ns));
	uses->op_idx = fsl_arena_alloc(arena, n * sizeof(*uses->op_idx));
	if (uses->end_ns == NULL || uses->op_idx == NULL) {
		return false;
	}
	qsort(ends, n, sizeof(*ends), compare_ends);
	for (size_t i = 0; i < n; i++) {
		uses->end_ns[i] = ends[i].end_ns;
		uses->op_idx[i] = ends[i].op_idx;
	}
	uses->n = n;
	FSL_ASSERT(fsl_ends_ascend((struct fsl_ends){uses->end_ns, n}));
	return true;
}

static void measure_side(struct fsl_p2p_side *side, int64_t *work)
{
	for (size_t k = 0; k < FSL_P2P_KINDS_N; k++) {
		const struct fsl_p2p_uses *uses = &side->kinds[k];
		if (uses->n == 0) {
			continue;
		}
		int64_t first_ns = uses->end_ns[0], last_ns = uses->end_ns[uses->n - 1];
		side->first_ns =
			side->n_uses == 0 || first_ns < side->first_ns ? first_ns : side->first_ns;
		side->last_ns =
			side->n_uses == 0 || last_ns > side->last_ns ? last_ns : side->last_ns;
		side->n_uses += uses->n;
		int64_t interval_ns =
			fsl_usual_interval_ns((struct fsl_ends){uses->end_ns, uses->n}, work);
		bool is_less = side->interval_ns == 0 || interval_ns < side->interval_ns;
		side->interval_ns = interval_ns > 0 && is_less ? interval_ns : side->interval_ns;
	}
}

/* Tables and scratch of the listing of sides. */
struct lister {
	const uint8_t *kind_of; /* per name */
	struct fsl_arena *arena;
	int64_t *work;
};

static enum fsl_p2p_kind kind_of(const struct lister *lister, const struct fsl_slot *slot)
{
	return (enum fsl_p2p_kind)lister->kind_of[slot->op_id];
}

/* Adds the rank of slots[0 .. n) when it has point-to-point operators. */
static bool add_side(struct fsl_p2p_group *group, const struct lister *lister,
		     const struct fsl_slot *slots, size_t n, struct end *ends)
{
	struct fsl_p2p_side *side = &group->sides[group->n_sides];
	*side = (struct fsl_p2p_side){.rank_idx = slots[0].rank_idx};
	for (size_t k = 0; k < FSL_P2P_KINDS_N; k++) {
		size_t n_ends = 0;
		for (size_t i = 0; i < n; i++) {
			if (kind_of(lister, &slots[i]) != (enum fsl_p2p_kind)k) {
				continue;
			}
			side->kinds[k].op_id = n_ends == 0 ? slots[i].op_id : side->kinds[k].op_id;
			for (size_t u = 0; u < slots[i].n; u++) {
				ends[n_ends++] =
					(struct end){slots[i].end_ns[u], slots[i].op_idx[u]};
			}
		}
		if (!fill_kind(side, (enum fsl_p2p_kind)k, lister->arena, ends, n_ends)) {
			return false;
		}
	}
	measure_side(side, lister->work);
	group->n_sides += side->n_uses > 0;
	return true;
}

/* Ranks with point-to-point operators among the slots of a group, and uses of all slots. */
static size_t count_sides(const struct lister *lister, const struct fsl_slot *slots, size_t n_slots,
			  size_t *n_uses)
{
	size_t n = 0;
	uint32_t last = UINT32_MAX;
	*n_uses = 0;
	for (size_t i = 0; i < n_slots; i++) {
		*n_uses += slots[i].n;
		if (slots[i].rank_idx != last && kind_of(lister, &slots[i]) < FSL_P2P_KINDS_N) {
			last = slots[i].rank_idx;
			n++;
		}
	}
	return n;
}

/* Lists the ranks of a group with their point-to-point operators; none when they are no pipeline.
 */
static enum fsl_status list_sides(struct fsl_p2p_group *group, const struct lister *lister,
				  const struct fsl_slot *slots, size_t n_slots,
				  struct fsl_error *err)
{
	size_t n_uses = 0, n = count_sides(lister, slots, n_slots, &n_uses);
	if (n < 3 || n > FSL_PAIR_SIDES_MAX) { /* groups of two are channels already */
		return FSL_OK;
	}
	/* One more than there are: a rank without such operators is filled and left. */
	group->sides = fsl_arena_alloc(lister->arena, (n + 1) * sizeof(*group->sides));
	group->pairs = fsl_arena_alloc(lister->arena, n * n / 2 * sizeof(*group->pairs));
	struct end *ends = fsl_arena_alloc(lister->arena, n_uses * sizeof(*ends));
	bool is_short = group->sides == NULL || group->pairs == NULL || ends == NULL;
	for (size_t begin = 0, end = 0; begin < n_slots && !is_short; begin = end) {
		while (end < n_slots && slots[end].rank_idx == slots[begin].rank_idx) {
			end++;
		}
		is_short = !add_side(group, lister, slots + begin, end - begin, ends);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: operators=%zu", n_uses)
			: FSL_OK;
}

/* Scratch of a search: FSL_DIFFERENCES_MAX of each. */
struct bench {
	struct fsl_difference *items, *hits;
	int64_t *work;
};

/* True when a good part of the ends of the two sides differ by one offset inside @range. */
static bool search(struct fsl_p2p_pair *pair, const struct fsl_p2p_group *group,
		   struct fsl_offset_range range, const struct bench *bench)
{
	const struct fsl_p2p_side *a = &group->sides[pair->a], *b = &group->sides[pair->b];
	struct fsl_differences differences = {.items = bench->items, .n_max = FSL_DIFFERENCES_MAX};
	struct fsl_offset found;
	/* The side with fewer operators is asked: all of them may go to the other one. */
	bool is_swapped = b->n_uses < a->n_uses;
	const struct fsl_p2p_side *asked = is_swapped ? b : a, *other = is_swapped ? a : b;
	range.around_ns = is_swapped ? -range.around_ns : range.around_ns;
	for (size_t k = 0; k < FSL_P2P_KINDS_N; k++) {
		const struct fsl_p2p_uses *from = &asked->kinds[k];
		const struct fsl_p2p_uses *to =
			&other->kinds[fsl_p2p_kind_that_meets((enum fsl_p2p_kind)k)];
		fsl_differences_add(&differences, (struct fsl_ends){from->end_ns, from->n},
				    (struct fsl_ends){to->end_ns, to->n}, range, FSL_PAIR_ENDS);
	}
	size_t n_wanted = (size_t)(FSL_PAIR_COMMON_SHARE_MIN * (double)differences.n_asked) + 1;
	n_wanted = n_wanted > FSL_PAIR_USES_MIN ? n_wanted : FSL_PAIR_USES_MIN;
	int64_t interval_ns = a->interval_ns < b->interval_ns ? a->interval_ns : b->interval_ns;
	if (interval_ns <= 0 ||
	    !fsl_offset_find(&found, &differences, n_wanted, bench->hits, bench->work)) {
		return false;
	}
	pair->offset_ns = is_swapped ? -found.offset_ns : found.offset_ns;
	pair->relative_jitter = (double)found.jitter_ns / (double)interval_ns;
	pair->tolerance_ns = (int64_t)(FSL_END_APART_SHARE_MAX * (double)interval_ns);
	return (double)found.width_ns <= FSL_PAIR_WIDTH_SHARE_MAX * (double)interval_ns;
}

/* Range in which the offset of a pair must lie. */
static struct fsl_offset_range range_of(const struct fsl_p2p_pair *pair,
					const struct fsl_p2p_group *group,
					const struct fsl_clocks *clocks, bool *is_known)
{
	struct fsl_offset_range range = {0, FSL_CLOCK_REACH_NS};
	*is_known = fsl_clocks_offset(clocks, group->sides[pair->a].rank_idx,
				      group->sides[pair->b].rank_idx, &range.around_ns);
	range.reach_ns = *is_known ? FSL_CLOCK_KNOWN_REACH_NS : FSL_CLOCK_REACH_NS;
	return range;
}

/* Steadiest first. */
static int compare_pairs(const void *left, const void *right)
{
	const struct fsl_p2p_pair *x = left, *y = right;
	FSL_ORDER_BY(x->relative_jitter, y->relative_jitter);
	return x->a != y->a ? FSL_ORDER(x->a, y->a) : FSL_ORDER(x->b, y->b);
}

/*
 * Pairs with common ends. If clocks are not known, ranks two hops apart may seem to fit under an
 * offset of the work between their ends; but work varies and ends do not, so the steadiest pairs
 * connect the clocks first, and the others must fit them.
 */
static void find_pairs(struct fsl_p2p_group *group, struct fsl_clocks *clocks,
		       const struct bench *bench)
{
	bool is_known = false;
	for (size_t a = 0; a < group->n_sides; a++) {
		for (size_t b = a + 1; b < group->n_sides; b++) {
			struct fsl_p2p_pair *pair = &group->pairs[group->n_pairs];
			*pair = (struct fsl_p2p_pair){.a = (uint32_t)a, .b = (uint32_t)b};
			struct fsl_offset_range range = range_of(pair, group, clocks, &is_known);
			group->n_pairs += search(pair, group, range, bench);
		}
	}
	qsort(group->pairs, group->n_pairs, sizeof(*group->pairs), compare_pairs);
	size_t n_kept = 0;
	for (size_t p = 0; p < group->n_pairs; p++) {
		struct fsl_p2p_pair pair = group->pairs[p];
		struct fsl_offset_range range = range_of(&pair, group, clocks, &is_known);
		if (is_known && llabs(pair.offset_ns - range.around_ns) > range.reach_ns &&
		    !search(&pair, group, range, bench)) {
			continue;
		}
		fsl_clocks_join(clocks, group->sides[pair.a].rank_idx,
				group->sides[pair.b].rank_idx, pair.offset_ns);
		group->pairs[n_kept++] = pair;
	}
	FSL_ASSERT(n_kept <= group->n_pairs);
	group->n_pairs = n_kept;
}

/* Kinds of all names, and of how many operators go from one rank to another. */
static size_t set_kinds(uint8_t *kinds, const struct fsl_strpool *names)
{
	size_t n = fsl_strpool_size(names), n_p2p = 0;
	for (size_t i = 0; i < n; i++) {
		kinds[i] = (uint8_t)fsl_p2p_kind_from_name(fsl_strpool_text(names, (uint32_t)i));
		n_p2p += kinds[i] < FSL_P2P_KINDS_N;
	}
	return n_p2p;
}

static enum fsl_status match_groups(struct fsl_channel_list *out, struct fsl_match *match,
				    struct fsl_clocks *clocks, const struct fsl_listing *listing,
				    const uint8_t *kinds, struct fsl_error *err)
{
	struct bench bench = {.items = fsl_calloc(FSL_DIFFERENCES_MAX, sizeof(*bench.items)),
			      .hits = fsl_calloc(FSL_DIFFERENCES_MAX, sizeof(*bench.hits)),
			      .work = fsl_calloc(FSL_DIFFERENCES_MAX, sizeof(*bench.work))};
	enum fsl_status status = FSL_OK;
	if (bench.items == NULL || bench.hits == NULL || bench.work == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: differences=%d",
				  FSL_DIFFERENCES_MAX);
	}
	for (size_t g = 0; g < listing->n_groups && status == FSL_OK; g++) {
		struct fsl_arena scratch = {0};
		struct fsl_p2p_group group = {.group_idx = g};
		size_t begin = listing->slot_begin[g], end = listing->slot_begin[g + 1];
		struct lister lister = {kinds, &scratch, bench.work};
		status = list_sides(&group, &lister, listing->slots + begin, end - begin, err);
		if (status == FSL_OK && group.n_sides > 0) {
			find_pairs(&group, clocks, &bench);
			status = fsl_pairs_assign(out, match, &group, err);
		}
		fsl_arena_fini(&scratch);
	}
	fsl_free(bench.work);
	fsl_free(bench.hits);
	fsl_free(bench.items);
	return status;
}

/* Most jobs name no such operator, and then nothing is looked at. */
enum fsl_status fsl_pairs_match(struct fsl_channel_list *out, struct fsl_match *match,
				struct fsl_clocks *clocks, const struct fsl_listing *listing,
				const struct fsl_run *run, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(run->names);
	uint8_t *kinds = fsl_calloc(n_names + 1, sizeof(*kinds));
	if (kinds == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n_names);
	}
	enum fsl_status status = FSL_OK;
	if (set_kinds(kinds, run->names) > 0) {
		status = match_groups(out, match, clocks, listing, kinds, err);
	}
	fsl_free(kinds);
	return status;
}

/* Takes different speeds of the hosts' clocks out of a run. */
#include "match/drift.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "match/channel.h"
#include "match/offset.h"

/* "The clock of @to gains @drift ns per ns on that of @from." */
struct measured {
	uint32_t from, to;
	double drift, tail_ms;
	bool is_known;
};

/* Ends of a channel's member 0 and of another, use by use. */
struct couple {
	const int64_t *first_ns, *other_ns;
	size_t n;
};

static int64_t difference_ns(const struct couple *couple, size_t i)
{
	return couple->other_ns[i] - couple->first_ns[i];
}

/* Median difference of the ends over [begin, end), at most FSL_DRIFT_ENDS_MAX of them. */
static int64_t median_ns(const struct couple *couple, size_t begin, size_t end, int64_t *work)
{
	size_t n = 0, stride = (end - begin) / FSL_DRIFT_ENDS_MAX + 1;
	for (size_t i = begin; i < end && n < FSL_DRIFT_ENDS_MAX; i += stride) {
		work[n++] = difference_ns(couple, i);
	}
	return fsl_select_i64(work, n, n / 2);
}

/* A line through the differences at the begin and at the end of the capture; false when the uses
 * do not belong together or are too few. */
static bool measure(struct measured *out, const struct couple *couple)
{
	int64_t work[FSL_DRIFT_ENDS_MAX];
	size_t n = couple->n, part = n / FSL_DRIFT_PARTS, count = 0,
	       stride = n / FSL_DRIFT_ENDS_MAX + 1;
	if (n < FSL_DRIFT_USES_MIN) {
		return false;
	}
	int64_t early_ns = median_ns(couple, 0, part, work);
	int64_t late_ns = median_ns(couple, n - part, n, work);
	int64_t from_ns = couple->first_ns[part / 2], to_ns = couple->first_ns[n - 1 - part / 2];
	if (to_ns <= from_ns) {
		return false;
	}
	FSL_ASSERT(part > 0 && 2 * part <= n);
	out->drift = (double)(late_ns - early_ns) / (double)(to_ns - from_ns);
	for (size_t i = 0; i < n && count < FSL_DRIFT_ENDS_MAX; i += stride) {
		double line_ns = out->drift * (double)(couple->first_ns[i] - from_ns);
		work[count++] = llabs(difference_ns(couple, i) - early_ns - (int64_t)line_ns);
	}
	out->tail_ms =
		(double)fsl_select_i64(work, count, count * FSL_NEAR_PERCENT / 100) / FSL_NS_PER_MS;
	return fabs(out->drift) <= FSL_DRIFT_MAX && out->tail_ms <= FSL_DRIFT_TAIL_MAX_MS;
}

static int compare_measured(const void *a, const void *b)
{
	const struct measured *x = a, *y = b;
	FSL_ORDER_BY(x->tail_ms, y->tail_ms);
	return x->from != y->from ? FSL_ORDER(x->from, y->from) : FSL_ORDER(x->to, y->to);
}

/* Couples on threads, then those that tell a speed in order. @items: [listing->n_couples]. */
static size_t measure_all(struct measured *items, const struct fsl_listing *listing)
{
	size_t n = 0;
#pragma omp parallel for schedule(dynamic, 8)
	for (size_t k = 0; k < listing->n_couples; k++) {
		const struct fsl_slot *first = listing->couples[k].first;
		const struct fsl_slot *other = listing->couples[k].other;
		struct couple couple = {first->end_ns, other->end_ns, first->n};
		items[k] = (struct measured){.from = first->rank_idx, .to = other->rank_idx};
		items[k].is_known = other->n == first->n && measure(&items[k], &couple);
	}
	for (size_t k = 0; k < listing->n_couples; k++) {
		if (items[k].is_known) {
			items[n++] = items[k];
		}
	}
	return n;
}

/* Room for the common uses of two members. */
struct common {
	struct fsl_difference *items, *hits; /* FSL_DRIFT_DIFFERENCES_MAX */
	int64_t *work;                       /* FSL_DRIFT_DIFFERENCES_MAX */
	int64_t *ends_ns[2];                 /* as many as a channel has uses */
};

/* Most common difference of the first ends. */
static bool find_first_offset(int64_t *offset_ns, const struct common *common,
			      const struct fsl_slot *a, const struct fsl_slot *b)
{
	struct fsl_offset found;
	struct fsl_differences differences = {.items = common->items,
					      .n_max = FSL_DRIFT_DIFFERENCES_MAX};
	struct fsl_ends first = {a->end_ns,
				 a->n < FSL_DRIFT_HEAD_ENDS ? a->n : FSL_DRIFT_HEAD_ENDS};
	struct fsl_ends other = {b->end_ns, b->n};
	fsl_differences_add(&differences, first, other,
			    (struct fsl_offset_range){0, FSL_CLOCK_REACH_NS}, FSL_DRIFT_HEAD_ENDS);
	size_t n_wanted = differences.n_asked / 2 + 1;
	if (!fsl_offset_find(&found, &differences, n_wanted, common->hits, common->work)) {
		return false;
	}
	*offset_ns = found.offset_ns;
	return true;
}

/* Follows the difference of the ends from one common use to the next; returns how many there are.
 */
static size_t follow(const struct common *common, const struct fsl_slot *first,
		     const struct fsl_slot *other, int64_t offset_ns)
{
	size_t n = 0, i = 0, k = 0;
	int64_t last_ns = first->end_ns[0];
	while (i < first->n && k < other->n) {
		int64_t step_ns = other->end_ns[k] - first->end_ns[i] - offset_ns;
		double gain_ns = FSL_DRIFT_STEP_RATE * (double)(first->end_ns[i] - last_ns);
		if (llabs(step_ns) > FSL_DRIFT_STEP_MAX_NS + (int64_t)gain_ns) {
			i += step_ns > 0;
			k += step_ns < 0;
			continue;
		}
		offset_ns += step_ns;
		last_ns = first->end_ns[i];
		FSL_ASSERT(n < first->n && n < other->n);
		common->ends_ns[0][n] = first->end_ns[i++];
		common->ends_ns[1][n++] = other->end_ns[k++];
	}
	return n;
}

/* As measure(), for members that lack different records. */
static bool measure_common(struct measured *out, const struct fsl_slot *first,
			   const struct fsl_slot *other, const struct common *common)
{
	size_t n_least = first->n < other->n ? first->n : other->n;
	int64_t offset_ns = 0;
	if (n_least < FSL_DRIFT_USES_MIN || !find_first_offset(&offset_ns, common, first, other)) {
		return false;
	}
	size_t n = follow(common, first, other, offset_ns);
	struct couple couple = {common->ends_ns[0], common->ends_ns[1], n};
	out->from = first->rank_idx;
	out->to = other->rank_idx;
	return (double)n >= FSL_DRIFT_COMMON_SHARE_MIN * (double)n_least && measure(out, &couple);
}

/* Speeds relative to a root, which is the lowest rank of its component. */
struct forest {
	uint32_t *parent;
	double *to_parent; /* drift against the parent */
};

static uint32_t find_root(const struct forest *forest, uint32_t rank_idx, double *drift)
{
	*drift = 0.0;
	while (forest->parent[rank_idx] != rank_idx) {
		*drift += forest->to_parent[rank_idx];
		rank_idx = forest->parent[rank_idx];
	}
	return rank_idx;
}

/* Adds a measurement, best first; an earlier one stays. */
static void join(struct forest *forest, const struct measured *item)
{
	double from = 0.0, to = 0.0;
	uint32_t a = find_root(forest, item->from, &from), b = find_root(forest, item->to, &to);
	double b_minus_a = from + item->drift - to;
	if (a < b) {
		forest->parent[b] = a;
		forest->to_parent[b] = b_minus_a;
	} else if (b < a) {
		forest->parent[a] = b;
		forest->to_parent[a] = -b_minus_a;
	}
}

static enum fsl_status alloc_common(struct common *common, struct fsl_arena *arena,
				    const struct fsl_listing *listing, struct fsl_error *err)
{
	size_t n_max = 1;
	for (size_t k = 0; k < listing->slot_begin[listing->n_groups]; k++) {
		n_max = listing->slots[k].n > n_max ? listing->slots[k].n : n_max;
	}
	FSL_TRY(FSL_ARENA_NEW(common->items, arena, FSL_DRIFT_DIFFERENCES_MAX, "items", err));
	FSL_TRY(FSL_ARENA_NEW(common->hits, arena, FSL_DRIFT_DIFFERENCES_MAX, "hits", err));
	FSL_TRY(FSL_ARENA_NEW(common->work, arena, FSL_DRIFT_DIFFERENCES_MAX, "work", err));
	FSL_TRY(FSL_ARENA_NEW(common->ends_ns[0], arena, n_max, "0", err));
	return FSL_ARENA_NEW(common->ends_ns[1], arena, n_max, "1", err);
}

/* Joins what equally many uses did not join. */
static enum fsl_status join_common(struct forest *forest, const struct fsl_listing *listing,
				   size_t n_channels, struct fsl_arena *arena,
				   struct fsl_error *err)
{
	struct common common = {.items = NULL};
	for (size_t c = 0; c < n_channels; c++) {
		const struct fsl_uses *uses = &listing->uses[c];
		for (size_t m = 1; m < uses->n_members; m++) {
			const struct fsl_slot *first = uses->of[0], *other = uses->of[m];
			struct measured item;
			double drift = 0.0;
			if (find_root(forest, first->rank_idx, &drift) ==
			    find_root(forest, other->rank_idx, &drift)) {
				continue;
			}
			if (common.items == NULL) {
				FSL_TRY(alloc_common(&common, arena, listing, err));
			}
			if (measure_common(&item, first, other, &common)) {
				join(forest, &item);
			}
		}
	}
	return FSL_OK;
}

/* As llround, without a call for each of a rank's times: the fraction is exact. */
static int64_t round_ns(double ns)
{
	int64_t whole_ns = (int64_t)ns;
	double rest = ns - (double)whole_ns;
	return whole_ns + (rest >= 0.5) - (rest <= -0.5);
}

static void straighten(int64_t *time_ns, int64_t origin_ns, double drift)
{
	if (*time_ns != FSL_NS_ABSENT) {
		*time_ns -= round_ns(drift * (double)(*time_ns - origin_ns));
	}
}

static void straighten_ops(struct fsl_op *ops, size_t n, int64_t origin_ns, double drift)
{
	for (size_t i = 0; i < n; i++) {
		int64_t *times[] = {&ops[i].host_begin_ns, &ops[i].host_end_ns,
				    &ops[i].dev_begin_ns, &ops[i].dev_end_ns};
		for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
			straighten(times[k], origin_ns, drift);
		}
	}
}

static void straighten_rank(struct fsl_rank *rank, int64_t origin_ns, double drift)
{
	straighten_ops(rank->ops, rank->n_ops, origin_ns, drift);
	straighten_ops(rank->remnants, rank->n_remnants, origin_ns, drift);
	for (size_t i = 0; i < rank->n_stages; i++) {
		straighten(&rank->stages[i].begin_ns, origin_ns, drift);
		straighten(&rank->stages[i].end_ns, origin_ns, drift);
	}
	for (size_t i = 0; i < rank->n_steps; i++) {
		straighten(&rank->steps[i].begin_ns, origin_ns, drift);
	}
	straighten(&rank->last_event_ns, origin_ns, drift);
	straighten(&rank->open_begin_ns, origin_ns, drift);
}

/* First event of the run, at which all clocks keep their time, and how long the run lasts. */
static int64_t origin_of(const struct fsl_run *run, int64_t *span_ns)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (rank->n_ops > 0) {
			int64_t begin_ns = fsl_op_begin_ns(&rank->ops[0]);
			int64_t end_ns = fsl_op_end_ns(&rank->ops[rank->n_ops - 1]);
			first_ns = begin_ns < first_ns ? begin_ns : first_ns;
			last_ns = end_ns > last_ns ? end_ns : last_ns;
		}
	}
	*span_ns = last_ns > first_ns ? last_ns - first_ns : 0;
	return first_ns;
}

static void straighten_run(struct fsl_run *run, const struct forest *forest, double *drift_max_ppm)
{
	int64_t span_ns = 0, origin_ns = origin_of(run, &span_ns);
	double greatest = 0.0, drift = 0.0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		(void)find_root(forest, (uint32_t)r, &drift);
		greatest = fmax(greatest, fabs(drift));
	}
	if (greatest * (double)span_ns < FSL_DRIFT_MATTERS_MS * FSL_NS_PER_MS) {
		return;
	}
	*drift_max_ppm = greatest * 1e6;
#pragma omp parallel for schedule(dynamic, 1) private(drift)
	for (size_t r = 0; r < run->n_ranks; r++) {
		(void)find_root(forest, (uint32_t)r, &drift);
		if (drift != 0.0) {
			straighten_rank(&run->ranks[r], origin_ns, drift);
		}
	}
}

enum fsl_status fsl_drift_remove(struct fsl_run *run, const struct fsl_listing *listing,
				 size_t n_channels, double *drift_max_ppm, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	size_t n_items = listing->n_couples + 1;
	*drift_max_ppm = 0.0;
	struct forest forest = {fsl_arena_alloc(&scratch, (run->n_ranks + 1) * sizeof(uint32_t)),
				fsl_arena_alloc(&scratch, (run->n_ranks + 1) * sizeof(double))};
	struct measured *items = fsl_arena_alloc(&scratch, n_items * sizeof(*items));
	if (forest.parent == NULL || forest.to_parent == NULL || items == NULL) {
		fsl_arena_fini(&scratch);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: clocks=%zu", n_items);
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		forest.parent[r] = (uint32_t)r;
	}
	size_t n = measure_all(items, listing);
	qsort(items, n, sizeof(*items), compare_measured);
	for (size_t i = 0; i < n; i++) {
		join(&forest, &items[i]);
	}
	enum fsl_status status = join_common(&forest, listing, n_channels, &scratch, err);
	if (status == FSL_OK) {
		straighten_run(run, &forest, drift_max_ppm);
	}
	fsl_arena_fini(&scratch);
	return status;
}

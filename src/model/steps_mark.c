/* Finds the operator that marks the begin of steps: the rarest at regular distances. */
#include <math.h>
#include <stdlib.h>

#include <failslow/stats.h>

#include "base/sort.h"
#include "model/steps_parts.h"

enum {
	USES_PER_STEP_MAX = 16, /* most uses of the marking operator in one period */
	FREQUENT_USES_MAX = 4,  /* the same for a frequent operator that is not regular with
				   fewer */
	FREQUENT_PARTS = 4,     /* a frequent operator makes up this part of all */
	SLOTS_MIN = 1024,       /* first size of the hash table, enough for most jobs */
	SLOTS_GROWTH = 16,
};
/* Share of equal distances that makes an operator regular. Lost records and checkpoints change some
 * distances, and each change touches two. */
static const double REGULAR_SHARE_MIN = 0.6;
/* At this share of equal distances the search for a better number of uses ends. */
static const double REGULAR_SHARE_ENOUGH = 0.9;
/* Numbers of uses whose shares differ by less than this are equally regular. */
static const double SHARE_TIE = 0.1;
/* Slack of distances if one record in twenty is lost. The operator that marks the steps is then
 * only this regular, while a pair of operators inside the step still looks exact. */
static const double ROUGH_SLACK = 1.0 / 4.0;
/*
 * Lost records change distances at random, most of them by less than this many standard deviations.
 */
static const double LOST_DEVIATIONS = 2.0;
/*
 * Distances between the passes of micro-batches also differ by less than lost records may explain,
 * but their times do not repeat. A mark is steady if this share of the times from use to use is the
 * usual time, within STEADY_SLACK of it.
 */
static const double STEADY_SHARE_MIN = 0.6;
static const double STEADY_SLACK = 0.2;
/*
 * Greatest share of lost records at which steps are derived: beyond it, regularity may be chance.
 */
static const double LOST_SHARE_MAX = 0.2;
/*
 * A symbol with this share of all uses counts as the only one, apart from a barrier at the start.
 */
static const double ALONE_SHARE_MIN = 0.95;
/* Share of the capture that the distances must span, or the operator marks a phase, not steps. */
static const double PERIOD_COVER_MIN = 0.8;

/* Element of the searched sequence: an operator on a communicator, of one size. */
struct symbol {
	uint64_t kind;        /* operator and communicator */
	uint64_t size;        /* elements; 0 if the size of messages changes from step to step */
	size_t first, n_uses; /* range of its uses */
};

/* Orders by number of uses, the rarest symbol first. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	int order = FSL_ORDER(a->n_uses, b->n_uses);
	order = order != 0 ? order : FSL_ORDER(a->kind, b->kind);
	return order != 0 ? order : FSL_ORDER(a->size, b->size);
}

/* The different symbols of a rank, which are few, and the uses of each. */
struct symbols {
	struct fsl_arena *arena; /* borrowed */
	struct symbol *items;    /* [n_slots / 2 + 1], but at most one per operator */
	size_t n;
	uint32_t *slots;          /* hash: number of a symbol + 1; 0: free */
	size_t n_slots;           /* a power of two */
	uint32_t *number_of;      /* [operator] */
	size_t *uses;             /* [n_ops] positions in the rank's operators, by symbol, rising */
	double *scratch;          /* [2 * uses of the most frequent symbol] */
	const struct fsl_op *ops; /* operators of the rank */
	size_t n_ops;
	double lost_share; /* share of records lost, among operators that left any record */
};

static double lost_share_of(const struct fsl_rank *rank)
{
	size_t n_lost = rank->n_remnants, n = rank->n_ops + n_lost;
	return n > 0 ? (double)n_lost / (double)n : 0.0;
}

/* False: out of memory. */
static bool symbols_init(struct symbols *symbols, struct fsl_arena *arena,
			 const struct fsl_rank *rank)
{
	size_t n_ops = rank->n_ops;
	*symbols = (struct symbols){.arena = arena,
				    .ops = rank->ops,
				    .n_ops = n_ops,
				    .lost_share = lost_share_of(rank)};
	symbols->number_of = fsl_arena_take(arena, n_ops * sizeof(*symbols->number_of));
	symbols->uses = fsl_arena_take(arena, n_ops * sizeof(*symbols->uses));
	return symbols->number_of != NULL && symbols->uses != NULL;
}

/* Number of a symbol; a new one at its first use. Fibonacci hashing; the high bits are folded down
 * in between, because sizes may differ only in high bits. */
static uint32_t number_of(struct symbols *symbols, uint64_t kind, uint64_t size)
{
	uint64_t hash = kind ^ (size * UINT64_C(0xBF58476D1CE4E5B9));
	hash = (hash ^ (hash >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
	size_t mask = symbols->n_slots - 1, slot = (size_t)(hash >> 32) & mask;
	for (; symbols->slots[slot] != 0; slot = (slot + 1) & mask) {
		const struct symbol *symbol = &symbols->items[symbols->slots[slot] - 1];
		if (symbol->kind == kind && symbol->size == size) {
			return symbols->slots[slot] - 1;
		}
	}
	symbols->items[symbols->n] = (struct symbol){.kind = kind, .size = size};
	symbols->slots[slot] = (uint32_t)++symbols->n;
	return symbols->slots[slot] - 1;
}

/* Numbers the operators by symbol, as long as the symbols fill at most half of the slots. */
static bool number_ops(struct symbols *symbols, const struct fsl_rank *rank, bool by_size)
{
	symbols->n = 0;
	for (size_t i = 0; i < rank->n_ops && 2 * symbols->n <= symbols->n_slots; i++) {
		const struct fsl_op *op = &rank->ops[i];
		fsl_op_fetch_ahead(op);
		uint32_t number = number_of(symbols, ((uint64_t)op->group_id << 32) | op->op_id,
					    by_size ? op->n_elements : 0);
		symbols->number_of[i] = number;
		symbols->items[number].n_uses++;
	}
	return 2 * symbols->n <= symbols->n_slots;
}

/* Sets slots, items and the numbers, with as few slots as possible. False: out of memory. */
static bool number_symbols(struct symbols *symbols, const struct fsl_rank *rank, bool by_size)
{
	struct fsl_arena *arena = symbols->arena;
	for (size_t n_slots = SLOTS_MIN;; n_slots *= SLOTS_GROWTH) {
		size_t n_most = n_slots / 2 + 1 < rank->n_ops ? n_slots / 2 + 1 : rank->n_ops;
		symbols->n_slots = n_slots;
		symbols->slots = fsl_arena_alloc(arena, n_slots * sizeof(*symbols->slots));
		symbols->items = fsl_arena_take(arena, n_most * sizeof(*symbols->items));
		if (symbols->slots == NULL || symbols->items == NULL) {
			return false;
		}
		if (number_ops(symbols, rank, by_size)) {
			return true;
		}
	}
}

/* Makes room for the search over the numbered symbols. False: out of memory. */
static bool take_scratch(struct symbols *symbols)
{
	size_t n_most = 0;
	for (size_t k = 0; k < symbols->n; k++) {
		size_t n_uses = symbols->items[k].n_uses;
		n_most = n_uses > n_most ? n_uses : n_most;
	}
	symbols->scratch = fsl_arena_take(symbols->arena, n_most * 2 * sizeof(*symbols->scratch));
	return symbols->scratch != NULL;
}

/* Lists the uses of each symbol, the rarest first. False: out of memory. */
static bool list_symbols(struct symbols *symbols, const struct fsl_rank *rank, bool by_size)
{
	if (!number_symbols(symbols, rank, by_size) || !take_scratch(symbols)) {
		return false;
	}
	for (size_t k = 0, n_before = 0; k < symbols->n; k++) {
		symbols->items[k].first = n_before;
		n_before += symbols->items[k].n_uses;
		symbols->items[k].n_uses = 0; /* counts up again while uses are listed */
	}
	for (size_t i = 0; i < rank->n_ops; i++) {
		struct symbol *symbol = &symbols->items[symbols->number_of[i]];
		symbols->uses[symbol->first + symbol->n_uses++] = i;
	}
	if (symbols->n > 1) {
		qsort(symbols->items, symbols->n, sizeof(*symbols->items), compare_symbols);
	}
	return true;
}

/*
 * Distances between each use and the @k-th use after it, and their median. @distances: [2 * uses].
 */
static double distances_of(const struct fsl_step_mark *mark, size_t k, double *distances)
{
	size_t n = mark->n_uses - k;
	for (size_t j = 0; j < n; j++) {
		distances[j] = (double)(mark->uses[j + k] - mark->uses[j]);
	}
	return fsl_median(distances, n, distances + n);
}

/* Part of @period by which distances may differ after operators were lost, but at least @slack. */
static double slack_of(const struct symbols *symbols, double period, double slack)
{
	double lost = symbols->lost_share;
	double deviation = sqrt(lost * (1.0 - lost) / fmax(period, 1.0));
	return fmax(slack, fmin(LOST_DEVIATIONS * deviation, ROUGH_SLACK));
}

/*
 * Share of the distances that equal the period within the slack of the mark; 0 if the distances do
 * not span the capture. For many uses per period the tolerance is at most half of the distance
 * between two uses, because ten of eleven uses in a step take nearly as long as all eleven.
 */
static double regular_share(const struct fsl_step_mark *mark, size_t k, double period,
			    const struct symbols *symbols)
{
	const double *distances = symbols->scratch;
	size_t n_distances = mark->n_uses - k, n_equal = 0;
	double slack = mark->slack;
	double tolerance = k > FREQUENT_USES_MAX ? fmin(slack, 0.5 / (double)k) : slack;
	for (size_t j = 0; j < n_distances; j++) {
		n_equal += fabs(distances[j] - period) <= tolerance * period ? 1 : 0;
	}
	double n_covered = period * (double)mark->n_uses / (double)k;
	double n_expected =
		(1.0 - symbols->lost_share) * (double)symbols->n_ops; /* uses get lost, too */
	bool is_spanning = period > (double)k && n_covered >= PERIOD_COVER_MIN * n_expected;
	return is_spanning ? (double)n_equal / (double)n_distances : 0.0;
}

/* True if most uses are followed by the @k-th use after the same time. Overwrites the distances. */
static bool is_steady(const struct fsl_step_mark *mark, size_t k, const struct symbols *symbols)
{
	double *times = symbols->scratch;
	size_t n = mark->n_uses - k, n_usual = 0;
	for (size_t j = 0; j < n; j++) {
		times[j] = (double)(fsl_op_end_ns(&symbols->ops[mark->uses[j + k]]) -
				    fsl_op_end_ns(&symbols->ops[mark->uses[j]]));
	}
	double usual = fsl_median(times, n, times + n);
	for (size_t j = 0; j < n; j++) {
		n_usual += fabs(times[j] - usual) <= STEADY_SLACK * usual;
	}
	return (double)n_usual >= STEADY_SHARE_MIN * (double)n;
}

/* Share of equal distances over @k uses. If records were lost, a steady mark gets more slack. Sets
 * slack, per_period and n_ops of @mark. */
static double share_of(struct fsl_step_mark *mark, size_t k, const struct symbols *symbols,
		       double slack)
{
	double period = distances_of(mark, k, symbols->scratch);
	mark->per_period = k;
	mark->n_ops = (size_t)period;
	mark->slack = slack_of(symbols, period, slack);
	double share = regular_share(mark, k, period, symbols);
	if (mark->slack > slack && share >= REGULAR_SHARE_MIN && !is_steady(mark, k, symbols)) {
		mark->slack = slack;
		(void)distances_of(mark, k, symbols->scratch);
		share = regular_share(mark, k, period, symbols);
	}
	return share;
}

/*
 * Sets how many uses of a symbol make one period: the least k for which uses[j + k] - uses[j] is
 * the same number for most j, unless clearly more distances are equal for a greater k that is no
 * multiple. Example: with four uses per step and a long gap after the fourth, three of four
 * distances over three uses are equal, but all distances over four. Multiples of a period are as
 * regular or more so, because lost records are a smaller part of them. False: the symbol is not
 * regular, or follows upon itself among other symbols. A rank that hardly uses another symbol uses
 * this one once per period.
 */
static bool find_period(struct fsl_step_mark *mark, const struct symbols *symbols, double slack)
{
	size_t n_ops = symbols->n_ops;
	bool is_alone = (double)mark->n_uses >= ALONE_SHARE_MIN * (double)n_ops;
	bool is_frequent = mark->n_uses > n_ops / FREQUENT_PARTS;
	size_t k_most = is_frequent ? FREQUENT_USES_MAX : USES_PER_STEP_MAX;
	k_most = is_alone ? 1 : k_most;
	struct fsl_step_mark best = *mark;
	double best_share = 0.0;
	for (size_t k = 1; k <= k_most && mark->n_uses / k >= FSL_STEP_PERIODS_MIN &&
			   best_share < REGULAR_SHARE_ENOUGH;
	     k++) {
		struct fsl_step_mark other = *mark;
		double share = share_of(&other, k, symbols, slack);
		share = is_alone ? 1.0 : share;
		bool is_multiple = best_share > 0.0 && k % best.per_period == 0;
		if (share >= REGULAR_SHARE_MIN && share > best_share + SHARE_TIE && !is_multiple) {
			best_share = share;
			best = other;
			k_most = is_alone ? 1 : USES_PER_STEP_MAX;
		}
	}
	*mark = best;
	return best_share > 0.0;
}

/* The rarest regular symbol with fewer than @n_uses_max uses. A step repeats many small patterns,
 * but its rarest operator marks it. */
static struct fsl_step_mark find_mark(const struct symbols *symbols, double slack,
				      size_t n_uses_max)
{
	for (size_t k = 0; k < symbols->n && symbols->items[k].n_uses < n_uses_max; k++) {
		const struct symbol *symbol = &symbols->items[k];
		struct fsl_step_mark mark = {.uses = &symbols->uses[symbol->first],
					     .n_uses = symbol->n_uses};
		if (find_period(&mark, symbols, slack)) {
			return mark;
		}
	}
	return (struct fsl_step_mark){0};
}

/* A period of very few operators may be a pair inside a step. A much rarer mark is then better, if
 * it is regular but for more lost records. */
static struct fsl_step_mark mark_of(const struct symbols *symbols)
{
	struct fsl_step_mark mark = find_mark(symbols, FSL_STEP_DISTANCE_SLACK, SIZE_MAX);
	if (mark.n_uses > 0 && mark.n_ops < FSL_STEP_COUNTED_OPS_MIN) {
		struct fsl_step_mark rough =
			find_mark(symbols, ROUGH_SLACK, mark.n_uses / 2 + mark.n_uses % 2);
		mark = rough.n_uses > 0 ? rough : mark;
	}
	return mark;
}

enum fsl_status fsl_step_mark_find(struct fsl_step_mark *mark, const struct fsl_rank *rank,
				   struct fsl_arena *arena, struct fsl_error *err)
{
	struct symbols symbols;
	*mark = (struct fsl_step_mark){0};
	if (lost_share_of(rank) > LOST_SHARE_MAX) {
		return FSL_OK;
	}
	bool is_short = !symbols_init(&symbols, arena, rank);
	for (int by_size = 1; by_size >= 0 && mark->n_uses == 0 && !is_short; by_size--) {
		is_short = !list_symbols(&symbols, rank, by_size == 1);
		*mark = is_short ? *mark : mark_of(&symbols);
	}
	return !is_short ? FSL_OK
			 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: operators=%zu",
				    rank->n_ops);
}

/* Steps from communication operators: their step numbers, else the period of their sequence. */
#include <math.h>
#include <stdlib.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "series/steps_parts.h"

enum {
	USES_PER_STEP_MAX = 4, /* uses of the marking operator within one period */
	LAG_MAX = 128,         /* periods per step that are told from the pattern of their times */
	LAG_TIMES_MAX = 16384, /* times between operators that are looked at */
	LOST_MARKS_MAX = 3,    /* one after the other; more is a pause of the job */
	LOST_OPS_MAX = 4,      /* other operators lost within a period */
	COUNTED_OPS_MIN = 4,   /* operators of a period by which it is told from two */
	SLOTS_MIN = 1024,      /* a hash table has room for most jobs, and grows by so much */
	SLOTS_GROWTH = 16,
};
/* Share of equal distances that makes an operator regular: lost records and checkpoints change some
 * of them, and each change touches two. */
static const double REGULAR_SHARE_MIN = 0.6;
/* Distances that differ by this part of the usual one are equal: of a hundred operators in a step
 * some records are lost in most steps. Short periods must be exact. */
static const double DISTANCE_SLACK = 1.0 / 16.0;
/* Where one record in twenty is lost, what marks the steps is no more regular than this, while a
 * pair of operators inside of them still is. */
static const double ROUGH_SLACK = 1.0 / 4.0;
/* Times that repeat after a lag differ by less than this part of what neighbours differ by. */
static const double LAG_GAIN_MAX = 1.0 / 3.0;
/* Neighbours that differ by less than this part of a usual time are alike: there is no pattern. */
static const double TIMES_DIFFER_MIN = 1e-3;
/* Of lags that repeat as well to within this part of what neighbours differ by, the shortest is the
 * step. */
static const double LAG_TIE = 0.05;
/* A symbol with this share of all uses is the only one, but for a barrier at the start. */
static const double ALONE_SHARE_MIN = 0.95;
/* The regular distances must span the capture, or the operator marks a phase and not the steps. */
static const double PERIOD_COVER_MIN = 0.8;

/* The first operator that begins at or after @ns. */
static size_t first_op_from(const struct fsl_rank *rank, int64_t ns)
{
	size_t low = 0, high = rank->n_ops;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (fsl_op_begin_ns(&rank->ops[middle]) < ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* The latest end of the operators that begin within each step, from the first open one on. */
static enum fsl_status end_by_ops(struct fsl_steps *steps, const struct fsl_rank *rank,
				  struct fsl_error *err)
{
	int64_t *ends = fsl_calloc(steps->n_items, sizeof(*ends));
	if (ends == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu",
				steps->n_items);
	}
	size_t next = 0;
	while (next < steps->n_items && steps->items[next].dur_ns != FSL_NS_ABSENT) {
		next++;
	}
	bool has_open = next < steps->n_items;
	size_t first = has_open ? first_op_from(rank, steps->items[next].begin_ns) : rank->n_ops;
	for (size_t i = first; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		while (next < steps->n_items &&
		       steps->items[next].begin_ns <= fsl_op_begin_ns(op)) {
			ends[next] = steps->items[next].begin_ns;
			next++;
		}
		if (next > 0) {
			int64_t end_ns = fsl_op_end_ns(op);
			ends[next - 1] = end_ns > ends[next - 1] ? end_ns : ends[next - 1];
		}
	}
	enum fsl_status status = fsl_steps_end_open(steps, ends, err);
	fsl_free(ends);
	return status;
}

/* Formats that number their operators by step: the first operator of each step begins it. */
enum fsl_status fsl_steps_from_op_steps(struct fsl_steps *steps, const struct fsl_rank *rank,
					struct fsl_error *err)
{
	enum fsl_status status = fsl_steps_alloc(steps, rank->n_ops, err);
	if (status != FSL_OK) {
		return status;
	}
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		if (op->step >= 0 && fsl_op_begin_ns(op) != FSL_NS_ABSENT) {
			steps->items[steps->n_items++] = (struct fsl_job_step){
				.step = op->step,
				.begin_ns = fsl_op_begin_ns(op),
			};
		}
	}
	fsl_steps_make_unique(steps);
	steps->n_duplicates = 0; /* a step has many operators */
	steps->source = "operator steps";
	steps->source_rank = rank->rank;
	fsl_steps_close(steps);
	return end_by_ops(steps, rank, err);
}

/* What the sequence that is searched is made of: an operator on a communicator, of one size. */
struct symbol {
	uint64_t kind;        /* operator and communicator */
	uint64_t size;        /* elements; 0 when messages change their size from step to step */
	size_t first, n_uses; /* range of the uses */
};

/* The rarest first. */
static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	if (a->n_uses != b->n_uses) {
		return a->n_uses < b->n_uses ? -1 : 1;
	}
	if (a->kind != b->kind) {
		return a->kind < b->kind ? -1 : 1;
	}
	return (a->size > b->size) - (a->size < b->size);
}

/* The different symbols of a rank, which are few, and where each is used. */
struct symbols {
	struct fsl_arena arena;
	struct symbol *items; /* [n_slots / 2 + 1], but at most one per operator */
	size_t n;
	uint32_t *slots;     /* hash: number of a symbol + 1; 0: free */
	size_t n_slots;      /* a power of two */
	uint32_t *number_of; /* [operator] */
	size_t *uses;        /* [n_ops] positions in the rank's operators, by symbol, rising */
	double *scratch;     /* twice the uses of any symbol, or the times that are looked at */
};

/* End it with symbols_fini() in any case. False: out of memory. */
static bool symbols_init(struct symbols *symbols, size_t n_ops)
{
	*symbols = (struct symbols){.n = 0};
	struct fsl_arena *arena = &symbols->arena;
	symbols->number_of = fsl_arena_take(arena, n_ops * sizeof(*symbols->number_of));
	symbols->uses = fsl_arena_take(arena, n_ops * sizeof(*symbols->uses));
	return symbols->number_of != NULL && symbols->uses != NULL;
}

static void symbols_fini(struct symbols *symbols)
{
	fsl_arena_fini(&symbols->arena);
}

/* Number of a symbol, a new one at its first use. Fibonacci hashing, with the high bits brought
 * down in between: sizes may differ in those alone. */
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

/* Numbers the operators by symbol, as long as these fill at most half of the slots. */
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

/* Sets slots, items and the numbers, with as few slots as will do. False: out of memory. */
static bool number_symbols(struct symbols *symbols, const struct fsl_rank *rank, bool by_size)
{
	struct fsl_arena *arena = &symbols->arena;
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

/* Room for what is asked of the symbols that are numbered. False: out of memory. */
static bool take_scratch(struct symbols *symbols, size_t n_ops)
{
	size_t n_most = n_ops < LAG_TIMES_MAX ? n_ops : LAG_TIMES_MAX;
	for (size_t k = 0; k < symbols->n; k++) {
		size_t n_uses = symbols->items[k].n_uses;
		n_most = n_uses > n_most ? n_uses : n_most;
	}
	symbols->scratch = fsl_arena_take(&symbols->arena, n_most * 2 * sizeof(*symbols->scratch));
	return symbols->scratch != NULL;
}

/* Lists the uses of each symbol, the rarest first. False: out of memory. */
static bool list_symbols(struct symbols *symbols, const struct fsl_rank *rank, bool by_size)
{
	if (!number_symbols(symbols, rank, by_size) || !take_scratch(symbols, rank->n_ops)) {
		return false;
	}
	for (size_t k = 0, n_before = 0; k < symbols->n; k++) {
		symbols->items[k].first = n_before;
		n_before += symbols->items[k].n_uses;
		symbols->items[k].n_uses = 0; /* until they are listed */
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
 * How many uses of a symbol make one period: the least k for which uses[j + k] - uses[j] is the
 * same number, to within @slack of it for lost records, for most j and these distances span the
 * capture. 0: the symbol is not regular, or follows upon itself among others. A rank that hardly
 * uses another symbol uses it once per period.
 */
static size_t uses_per_period(const size_t *uses, size_t n_uses, size_t n_ops, double slack,
			      double *scratch)
{
	if ((double)n_uses >= ALONE_SHARE_MIN * (double)n_ops) {
		return 1;
	}
	for (size_t k = 1; k <= USES_PER_STEP_MAX && n_uses / k >= FSL_STEP_PERIODS_MIN; k++) {
		size_t n_distances = n_uses - k;
		for (size_t j = 0; j < n_distances; j++) {
			scratch[j] = (double)(uses[j + k] - uses[j]);
		}
		double period = fsl_median(scratch, n_distances, scratch + n_distances);
		size_t n_equal = 0;
		for (size_t j = 0; j < n_distances; j++) {
			n_equal += fabs(scratch[j] - period) <= slack * period ? 1 : 0;
		}
		double n_covered = period * (double)n_uses / (double)k;
		if (period > (double)k &&
		    (double)n_equal >= REGULAR_SHARE_MIN * (double)n_distances &&
		    n_covered >= PERIOD_COVER_MIN * (double)n_ops) {
			return k;
		}
	}
	return 0;
}

/* The operator at which steps begin. */
struct mark {
	const size_t *uses; /* positions in the rank's operators */
	size_t n_uses;      /* 0: none */
	size_t per_period;
};

/* The rarest regular symbol: a step repeats many small patterns, but its rarest operator marks it.
 */
static struct mark find_mark(const struct symbols *symbols, size_t n_ops, double slack)
{
	for (size_t k = 0; k < symbols->n; k++) {
		const struct symbol *symbol = &symbols->items[k];
		const size_t *uses = &symbols->uses[symbol->first];
		size_t per_period = symbol->n_uses < FSL_STEP_PERIODS_MIN
					    ? 0
					    : uses_per_period(uses, symbol->n_uses, n_ops, slack,
							      symbols->scratch);
		if (per_period > 0) {
			return (struct mark){uses, symbol->n_uses, per_period};
		}
	}
	return (struct mark){0};
}

/* Operators in one period of the mark, as the median says. */
static size_t ops_per_period(const struct mark *mark, double *scratch)
{
	size_t n = mark->n_uses - mark->per_period;
	for (size_t j = 0; j < n; j++) {
		scratch[j] = (double)(mark->uses[j + mark->per_period] - mark->uses[j]);
	}
	return (size_t)fsl_median(scratch, n, scratch + n);
}

/* A period of so few operators may be a pair inside of a step: a rarer mark that is regular but for
 * more lost records is better. */
static struct mark mark_of(const struct symbols *symbols, size_t n_ops)
{
	struct mark mark = find_mark(symbols, n_ops, DISTANCE_SLACK);
	if (mark.n_uses > 0 && ops_per_period(&mark, symbols->scratch) < COUNTED_OPS_MIN) {
		struct mark rough = find_mark(symbols, n_ops, ROUGH_SLACK);
		mark = 2 * rough.n_uses < mark.n_uses ? rough : mark;
	}
	return mark;
}

/* The mark of the steps. Where no symbol is regular, messages of one operator may change their
 * size. False: out of memory. */
static bool look_for_mark(struct mark *mark, struct symbols *symbols, const struct fsl_rank *rank)
{
	*mark = (struct mark){0};
	if (!list_symbols(symbols, rank, true)) {
		return false;
	}
	*mark = mark_of(symbols, rank->n_ops);
	if (mark->n_uses > 0) {
		return true;
	}
	if (!list_symbols(symbols, rank, false)) {
		return false;
	}
	*mark = mark_of(symbols, rank->n_ops);
	return true;
}

/* Mean difference of times that lie @lag apart, each at most two usual times: a pause must not
 * outweigh the rest. Infinite as soon as it is known to be above @bound. */
static double lag_difference(const double *times, size_t n_times, size_t lag, double usual,
			     double bound)
{
	enum { LANES = 4, BLOCK = 1024 }; /* sums that do not wait for each other */
	double sums[LANES] = {0.0}, most = 2.0 * usual, sum = 0.0;
	const double *later = times + lag;
	size_t n = n_times - lag, i = 0;
	while (i + LANES <= n && sum <= bound * (double)n) {
		size_t end = n - i > BLOCK ? i + BLOCK : n;
		for (; i + LANES <= end; i += LANES) {
			for (size_t k = 0; k < LANES; k++) {
				double difference = fabs(later[i + k] - times[i + k]);
				sums[k] += difference < most ? difference : most;
			}
		}
		sum = sums[0] + sums[1] + sums[2] + sums[3];
	}
	for (; i < n && i + LANES > n; i++) {
		sum += fmin(fabs(later[i] - times[i]), most);
	}
	return sum <= bound * (double)n ? sum / (double)n : (double)INFINITY;
}

/*
 * Periods per step. A step may hold the same operators several times (forward, backward); the times
 * between operators then repeat only after several periods of @n_ops operators. The shortest such
 * number, 1 when none repeats better.
 */
static size_t periods_per_step(const double *times, size_t n_times, double usual, size_t n_ops)
{
	size_t n_lags = n_times / n_ops / FSL_STEP_PERIODS_MIN;
	n_lags = n_lags < LAG_MAX ? n_lags : LAG_MAX;
	if (n_lags < 2) {
		return 1;
	}
	double neighbours = lag_difference(times, n_times, n_ops, usual, (double)INFINITY);
	if (neighbours <= TIMES_DIFFER_MIN * usual) {
		return 1;
	}
	double least = (double)INFINITY;
#pragma omp parallel for schedule(static) reduction(min : least)
	for (size_t lag = 2; lag <= n_lags; lag++) {
		double bound = fmin(least, LAG_GAIN_MAX * neighbours);
		double difference = lag_difference(times, n_times, lag * n_ops, usual, bound);
		least = difference < least ? difference : least;
	}
	if (isinf(least)) {
		return 1;
	}
	double bound = least + LAG_TIE * neighbours;
	size_t lag = 2;
	while (isinf(lag_difference(times, n_times, lag * n_ops, usual, bound))) {
		lag++;
	}
	return lag;
}

/* Times between the ends of operators that follow each other, ms, from operator @first on. */
static size_t times_between(double *times, const struct fsl_rank *rank, size_t first)
{
	size_t n_times = 0;
	for (size_t i = first + 1; i < rank->n_ops && n_times < LAG_TIMES_MAX; i++) {
		int64_t ns = fsl_op_end_ns(&rank->ops[i]) - fsl_op_end_ns(&rank->ops[i - 1]);
		times[n_times++] = (double)ns / FSL_NS_PER_MS;
	}
	return n_times;
}

/* Periods between two marks that follow each other; more than one where records of marks between
 * them were lost. Known only where a step has one mark, and operators enough to count by. */
static size_t periods_between(const struct mark *mark, size_t from, size_t to, size_t n_ops)
{
	if (mark->per_period != 1 || n_ops < COUNTED_OPS_MIN) {
		return 1;
	}
	double n_periods = round((double)(to - from) / (double)n_ops);
	double rest = fabs((double)(to - from) - n_periods * (double)n_ops);
	bool is_whole = rest <= fmax(1.0, DISTANCE_SLACK * n_periods * (double)n_ops);
	return is_whole && n_periods > 1.0 && n_periods <= LOST_MARKS_MAX + 1 ? (size_t)n_periods
									      : 1;
}

static bool is_same_op(const struct fsl_op *a, const struct fsl_op *b)
{
	return a->op_id == b->op_id && a->group_id == b->group_id;
}

/*
 * When a mark ended whose record was lost: as long before the operator that follows it as after the
 * mark @from. That operator is found by its neighbours near @expected, where counting has it.
 */
static int64_t lost_mark_ns(const struct fsl_rank *rank, size_t from, size_t to, size_t expected)
{
	const struct fsl_op *ops = rank->ops;
	const struct fsl_op *after = &ops[from + 1], *before = &ops[to - 1];
	size_t at = expected;
	for (size_t away = 0; away <= 2 * LOST_OPS_MAX; away++) {
		size_t k = away % 2 == 0 ? expected - away / 2 : expected + (away + 1) / 2;
		if (k > from + 1 && k < to && is_same_op(&ops[k], after) &&
		    is_same_op(&ops[k - 1], before)) {
			at = k;
			break;
		}
	}
	int64_t gap_ns = fsl_op_begin_ns(after) - fsl_op_end_ns(&ops[from]);
	int64_t ns = fsl_op_begin_ns(&ops[at]) - (gap_ns > 0 ? gap_ns : 0);
	int64_t earliest_ns = fsl_op_end_ns(&ops[at - 1]);
	return ns > earliest_ns ? ns : earliest_ns;
}

/* When the marks ended, also those whose record was lost; returns how many. @ends_ns: room for
 * LOST_MARKS_MAX + 1 per use. */
static size_t list_marks(int64_t *ends_ns, const struct fsl_rank *rank, const struct mark *mark,
			 size_t n_ops)
{
	size_t n = 0;
	for (size_t j = 0; j < mark->n_uses; j++) {
		size_t pos = mark->uses[j];
		ends_ns[n++] = fsl_op_end_ns(&rank->ops[pos]);
		if (j + 1 == mark->n_uses) {
			break;
		}
		size_t next = mark->uses[j + 1];
		size_t n_periods = periods_between(mark, pos, next, n_ops);
		for (size_t k = 1; k < n_periods; k++) {
			size_t expected = pos + (k * (next - pos) + n_periods / 2) / n_periods;
			ends_ns[n++] = lost_mark_ns(rank, pos, next, expected);
		}
	}
	return n;
}

/* Steps of which each begins at every @stride-th mark. */
static enum fsl_status begin_at_marks(struct fsl_steps *steps, const int64_t *ends_ns,
				      size_t n_marks, size_t stride, struct fsl_error *err)
{
	enum fsl_status status = fsl_steps_alloc(steps, n_marks / stride + 1, err);
	for (size_t j = 0; j < n_marks && status == FSL_OK; j += stride) {
		steps->items[steps->n_items] = (struct fsl_job_step){
			.step = (int64_t)steps->n_items,
			.begin_ns = ends_ns[j],
		};
		steps->n_items++;
	}
	return status;
}

/*
 * A step begins where its mark ends: members of a collective end together, while they begin as late
 * as each of them is, so that a boundary at the begin would cut other ranks at another operator.
 */
static enum fsl_status cut_at_mark(struct fsl_steps *steps, const struct fsl_rank *rank,
				   struct symbols *symbols, const struct mark *mark,
				   size_t n_step_ops, struct fsl_error *err)
{
	double *scratch = symbols->scratch;
	size_t n_room = mark->n_uses * (LOST_MARKS_MAX + 1);
	int64_t *ends_ns = fsl_arena_take(&symbols->arena, n_room * sizeof(*ends_ns));
	if (ends_ns == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu", n_room);
	}
	size_t n_ops = ops_per_period(mark, scratch);
	size_t n_times = times_between(scratch, rank, mark->uses[0]);
	double usual = fsl_median(scratch, n_times, scratch + n_times);
	bool is_known = n_step_ops > 0 && n_step_ops % n_ops == 0;
	size_t n_periods =
		is_known ? n_step_ops / n_ops : periods_per_step(scratch, n_times, usual, n_ops);
	size_t n_marks = list_marks(ends_ns, rank, mark, n_ops);
	enum fsl_status status =
		begin_at_marks(steps, ends_ns, n_marks, mark->per_period * n_periods, err);
	if (status != FSL_OK) {
		return status;
	}
	fsl_steps_make_unique(steps);
	steps->source = "operator period";
	steps->source_rank = rank->rank;
	steps->is_ordinal = true;
	steps->n_ops = n_ops * n_periods;
	fsl_steps_close(steps);
	return end_by_ops(steps, rank, err);
}

enum fsl_status fsl_steps_from_op_period(struct fsl_steps *steps, const struct fsl_rank *rank,
					 size_t n_ops, struct fsl_error *err)
{
	struct symbols symbols;
	struct mark mark = {0};
	enum fsl_status status = FSL_OK;
	if (!symbols_init(&symbols, rank->n_ops) || !look_for_mark(&mark, &symbols, rank)) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: operators=%zu",
				  rank->n_ops);
	} else if (mark.n_uses > 0) {
		status = cut_at_mark(steps, rank, &symbols, &mark, n_ops, err);
	}
	symbols_fini(&symbols);
	return status;
}

/* Steps from communication operators: their step numbers, else the period of their sequence. */
#include <math.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "series/steps_parts.h"

enum {
	LAG_MAX = 128,         /* periods per step that are told from the pattern of their times */
	LAG_TIMES_MAX = 16384, /* times between operators that are looked at */
	LOST_MARKS_MAX = 3,    /* one after the other; more is a pause of the job */
	LOST_OPS_MAX = 4,      /* other operators lost within a period */
};
/* Times that repeat after a lag differ by less than this part of what neighbours differ by. */
static const double LAG_GAIN_MAX = 1.0 / 3.0;
/* Neighbours that differ by less than this part of a usual time are alike: there is no pattern. */
static const double TIMES_DIFFER_MIN = 1e-3;
/* Of lags that repeat as well to within this part of what neighbours differ by, the shortest is the
 * step. */
static const double LAG_TIE = 0.05;

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
static size_t periods_between(const struct fsl_step_mark *mark, size_t from, size_t to,
			      size_t n_ops)
{
	if (mark->per_period != 1 || n_ops < FSL_STEP_COUNTED_OPS_MIN) {
		return 1;
	}
	double n_periods = round((double)(to - from) / (double)n_ops);
	double rest = fabs((double)(to - from) - n_periods * (double)n_ops);
	bool is_whole = rest <= fmax(1.0, FSL_STEP_DISTANCE_SLACK * n_periods * (double)n_ops);
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
static size_t list_marks(int64_t *ends_ns, const struct fsl_rank *rank,
			 const struct fsl_step_mark *mark, size_t n_ops)
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
				   const struct fsl_step_mark *mark, size_t n_step_ops,
				   struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n_room = mark->n_uses * (LOST_MARKS_MAX + 1);
	size_t n_looked_at = rank->n_ops < LAG_TIMES_MAX ? rank->n_ops : LAG_TIMES_MAX;
	int64_t *ends_ns = fsl_arena_take(arena, n_room * sizeof(*ends_ns));
	double *times = fsl_arena_take(arena, 2 * n_looked_at * sizeof(*times));
	if (ends_ns == NULL || times == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu", n_room);
	}
	size_t n_ops = mark->n_ops;
	size_t n_times = times_between(times, rank, mark->uses[0]);
	double usual = fsl_median(times, n_times, times + n_times);
	bool is_known = n_step_ops > 0 && n_step_ops % n_ops == 0;
	size_t n_periods =
		is_known ? n_step_ops / n_ops : periods_per_step(times, n_times, usual, n_ops);
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
	struct fsl_arena arena = {0};
	struct fsl_step_mark mark;
	enum fsl_status status = fsl_step_mark_find(&mark, rank, &arena, err);
	if (status == FSL_OK && mark.n_uses > 0) {
		status = cut_at_mark(steps, rank, &mark, n_ops, &arena, err);
	}
	fsl_arena_fini(&arena);
	return status;
}

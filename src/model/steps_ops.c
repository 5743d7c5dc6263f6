/* Steps from communication operators: from step numbers, else from the period of the sequence. */
#include <float.h>
#include <math.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "model/steps_parts.h"

enum {
	LOOK_TIMES_MAX = 16384, /* greatest number of times between operators that are examined */
	LOST_MARKS_MAX = 3,     /* lost marks in a row; a longer gap is a pause of the job */
	LOST_OPS_MAX = 4,       /* other operators that may be lost within a period */
};

/* Index of the first operator that begins at or after @ns. */
static size_t first_op_from(const struct fsl_rank *rank, int64_t ns)
{
	size_t at;
	FSL_LOWER_BOUND(at, rank->n_ops, fsl_op_begin_ns(&rank->ops[at]) < ns);
	return at;
}

/* The latest end of the operators that begin within each step, from the first open one on. */
static enum fsl_status end_by_ops(struct fsl_steps *steps, const struct fsl_rank *rank,
				  struct fsl_error *err)
{
	int64_t *ends = NULL;
	FSL_TRY(FSL_NEW(ends, steps->n_items, "steps", err));
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

/* Some formats number their operators by step: the first operator of a step begins it. */
enum fsl_status fsl_steps_from_op_steps(struct fsl_steps *steps, const struct fsl_rank *rank,
					struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(steps->items, rank->n_ops, "steps", err));
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
	steps->n_duplicates = 0; /* not an error: a step has many operators */
	steps->source = "operator steps";
	steps->source_rank = rank->rank;
	fsl_steps_close(steps);
	return end_by_ops(steps, rank, err);
}

/* Times in ms between the ends of consecutive operators, from operator @first on. */
static size_t times_between(double *times, const struct fsl_rank *rank, size_t first)
{
	size_t n_times = 0;
	for (size_t i = first + 1; i < rank->n_ops && n_times < LOOK_TIMES_MAX; i++) {
		int64_t ns = fsl_op_end_ns(&rank->ops[i]) - fsl_op_end_ns(&rank->ops[i - 1]);
		times[n_times++] = (double)ns / FSL_NS_PER_MS;
	}
	return n_times;
}

/* Median of the times between consecutive marks. */
static enum fsl_status usual_time(double *usual_ns, const struct fsl_rank *rank,
				  const struct fsl_step_mark *mark, struct fsl_arena *arena,
				  struct fsl_error *err)
{
	size_t n = mark->n_uses - 1;
	double *times = fsl_arena_take(arena, 2 * n * sizeof(*times));
	if (times == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: marks=%zu", n);
	}
	for (size_t j = 0; j < n; j++) {
		times[j] = (double)(fsl_op_end_ns(&rank->ops[mark->uses[j + 1]]) -
				    fsl_op_end_ns(&rank->ops[mark->uses[j]]));
	}
	*usual_ns = fsl_median(times, n, times + n);
	return FSL_OK;
}

/* If so many other records were lost that counting is in doubt, a whole multiple of the usual time
 * decides, unless the count contradicts it. */
static bool is_timely(const struct fsl_rank *rank, const struct fsl_step_mark *mark,
		      double usual_ns, size_t from, size_t to, double n_periods)
{
	static const double TIME_SLACK = 0.1;
	int64_t ns = fsl_op_end_ns(&rank->ops[to]) - fsl_op_end_ns(&rank->ops[from]);
	double n_ops = (double)mark->n_ops;
	return rank->n_remnants > 0 &&
	       fabs((double)ns - n_periods * usual_ns) <= TIME_SLACK * usual_ns &&
	       fabs((double)(to - from) - n_periods * n_ops) < n_ops;
}

/* Number of periods between two consecutive marks; more than one if records of marks between them
 * were lost. Known only if a period has one mark and enough operators to count by. */
static size_t periods_between(const struct fsl_rank *rank, const struct fsl_step_mark *mark,
			      double usual_ns, size_t from, size_t to)
{
	size_t n_ops = mark->n_ops;
	if (mark->per_period != 1 || n_ops < FSL_STEP_COUNTED_OPS_MIN) {
		return 1;
	}
	double n_counted = round((double)(to - from) / (double)n_ops);
	double rest = fabs((double)(to - from) - n_counted * (double)n_ops);
	bool is_whole = rest <= fmax(1.0, mark->slack * n_counted * (double)n_ops);
	int64_t ns = fsl_op_end_ns(&rank->ops[to]) - fsl_op_end_ns(&rank->ops[from]);
	double n_timed = round((double)ns / usual_ns);
	if (is_timely(rank, mark, usual_ns, from, to, n_timed)) {
		n_counted = n_timed;
		is_whole = true;
	}
	return is_whole && n_counted > 1.0 && n_counted <= LOST_MARKS_MAX + 1 ? (size_t)n_counted
									      : 1;
}

static bool is_same_op(const struct fsl_op *a, const struct fsl_op *b)
{
	return a->op_id == b->op_id && a->group_id == b->group_id;
}

/* Begin of a period. */
struct period_begin {
	int64_t ns; /* end of the mark */
	size_t op;  /* the mark, or the operator before it if its record was lost */
};

/* Finds the remnant of a lost mark near @expected_ns, at most a quarter of @period_ns away. Its end
 * is the begin of the period. False: there is none. */
static bool find_mark_remnant(struct period_begin *begin, const struct fsl_rank *rank, size_t from,
			      int64_t expected_ns, int64_t period_ns)
{
	const struct fsl_op *mark = &rank->ops[from], *found = NULL;
	int64_t least_ns = period_ns / 4, earliest_ns = expected_ns - least_ns;
	size_t first;
	FSL_LOWER_BOUND(first, rank->n_remnants,
			fsl_remnant_ns(&rank->remnants[first]) < earliest_ns);
	for (size_t i = first; i < rank->n_remnants; i++) {
		const struct fsl_op *remnant = &rank->remnants[i];
		int64_t away_ns = fsl_remnant_ns(remnant) - expected_ns;
		if (away_ns > period_ns / 4) {
			break;
		}
		away_ns = away_ns < 0 ? -away_ns : away_ns;
		if (is_same_op(remnant, mark) && remnant->dev_end_ns != FSL_NS_ABSENT &&
		    remnant->n_elements == mark->n_elements && away_ns <= least_ns) {
			least_ns = away_ns;
			found = remnant;
		}
	}
	if (found != NULL) {
		*begin = (struct period_begin){found->dev_end_ns,
					       first_op_from(rank, found->dev_end_ns) - 1};
	}
	return found != NULL;
}

/*
 * Begin of a period whose mark lost its record. The mark ended as long before the next operator as
 * the mark @from did before its next operator. The next operator is found by its neighbours, near
 * @expected, its place by counting.
 */
static struct period_begin find_lost_mark(const struct fsl_rank *rank, size_t from, size_t to,
					  size_t expected)
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
	return (struct period_begin){ns > earliest_ns ? ns : earliest_ns, at - 1};
}

/* Begin of the @k-th of @n_periods periods between two recorded marks. */
static struct period_begin find_lost(const struct fsl_rank *rank, size_t from, size_t to, size_t k,
				     size_t n_periods)
{
	int64_t from_ns = fsl_op_end_ns(&rank->ops[from]);
	int64_t period_ns = (fsl_op_end_ns(&rank->ops[to]) - from_ns) / (int64_t)n_periods;
	int64_t expected_ns = from_ns + (int64_t)k * period_ns;
	struct period_begin begin;
	if (find_mark_remnant(&begin, rank, from, expected_ns, period_ns)) {
		return begin;
	}
	size_t expected = first_op_from(rank, expected_ns);
	return find_lost_mark(rank, from, to, expected);
}

/*
 * Lists the begins of periods, also of those whose mark was lost; returns their number. A mark that
 * is missing in every step (in a pipeline, between backward and forward passes) counts as lost,
 * too, so that every step has the same number of periods. @begins: room for LOST_MARKS_MAX + 1 per
 * use.
 */
static size_t list_periods(struct period_begin *begins, const struct fsl_rank *rank,
			   const struct fsl_step_mark *mark, double usual_ns)
{
	size_t n = 0;
	for (size_t j = 0; j < mark->n_uses; j++) {
		size_t pos = mark->uses[j];
		if (j % mark->per_period == 0) {
			begins[n++] = (struct period_begin){fsl_op_end_ns(&rank->ops[pos]), pos};
		}
		if (j + 1 == mark->n_uses) {
			break;
		}
		size_t next = mark->uses[j + 1];
		size_t n_periods = periods_between(rank, mark, usual_ns, pos, next);
		for (size_t k = 1; k < n_periods; k++) {
			begins[n++] = find_lost(rank, pos, next, k, n_periods);
		}
	}
	return n;
}

/*
 * How many operator periods make one step. A step may repeat the same operators (forward,
 * backward). The times between operators then repeat only after several periods.
 */
/* Consecutive periods of a rank's operators. */
struct period_times {
	const double *times; /* times between the ends of consecutive operators, any unit */
	/* [n + 1], never falling: period k has the times from begins[k] to begins[k + 1]. */
	const size_t *begins;
	size_t n;
	double usual; /* median of the times */
};

enum {
	LAG_MAX = 128,  /* greatest number of periods per step that is found */
	RUNGS_MAX = 16, /* number of lags that are examined first */
};
/*
 * Times repeat after a lag if they differ by less than this part of their greatest difference after
 * a shorter lag. The difference between neighbours would not do: if the parts of a step are long,
 * neighbours differ little.
 */
static const double LAG_GAIN_MAX = 1.0 / 3.0;
/* The same part if the greatest difference is at least PARTS_RATIO_MIN times the difference between
 * neighbours. Long parts cause such a ratio, a pause of some periods does not. */
static const double PARTS_GAIN_MAX = 0.5;
static const double PARTS_RATIO_MIN = 1.5;
/*
 * Neighbours that differ by less than this part of the usual time are alike: there is no pattern.
 */
static const double TIMES_DIFFER_MIN = 1e-3;
/* The shortest lag wins among all that are as good as the best: within LAG_TIE of the difference
 * between neighbours, or REST_TIE of the remaining difference. */
static const double LAG_TIE = 0.05;
static const double REST_TIE = 0.1;

/* Greatest difference of two times that counts, as a part of the usual time: a pause must not
 * outweigh the rest. */
static const double DIFFERENCE_MAX = 1.0;

/* Sum of the differences between @n times and @n other times, in pairs, each at most @most. */
static double sum_differences(const double *left, const double *right, size_t n, double most)
{
	enum { LANES = 4 }; /* independent sums, which do not wait for each other */
	double sums[LANES] = {0.0};
	size_t i = 0;
	for (; i + LANES <= n; i += LANES) {
		for (size_t k = 0; k < LANES; k++) {
			double difference = fabs(left[i + k] - right[i + k]);
			sums[k] += difference < most ? difference : most;
		}
	}
	for (; i < n; i++) {
		sums[0] += fmin(fabs(left[i] - right[i]), most);
	}
	return sums[0] + sums[1] + sums[2] + sums[3];
}

/* Difference between two periods of different length: a time without a partner counts @most. */
static double difference_of_unequal(const struct period_times *periods, size_t a, size_t b,
				    double most)
{
	const size_t *begins = periods->begins;
	size_t n_a = begins[a + 1] - begins[a], n_b = begins[b + 1] - begins[b];
	size_t n = n_a < n_b ? n_a : n_b;
	return most * (double)(n_a + n_b - 2 * n) +
	       sum_differences(periods->times + begins[a], periods->times + begins[b], n, most);
}

/* Mean difference of times that lie @lag periods apart. It is computed period by period: if records
 * were lost, the next period is in step again. Infinite as soon as it is known to exceed @bound. */
static double difference_after(const struct period_times *periods, size_t lag, double bound)
{
	enum { RUN_MAX = 512 };
	const size_t *begins = periods->begins;
	size_t n = periods->n - lag;
	double most = DIFFERENCE_MAX * periods->usual, sum = 0.0;
	double n_times = (double)(begins[n] - begins[0]);
	for (size_t k = 0; k < n && sum <= bound * n_times;) {
		size_t first = k, apart = begins[k + lag] - begins[k];
		size_t end = n - k < RUN_MAX ? n : k + RUN_MAX;
		while (k < end && begins[k + 1 + lag] - begins[k + 1] == apart) {
			k++; /* the period is as long as its partner */
		}
		const double *times = periods->times + begins[first];
		sum += k > first ? sum_differences(times, times + apart, begins[k] - begins[first],
						   most)
				 : difference_of_unequal(periods, k, k + lag, most);
		k += k == first;
	}
	return sum <= bound * n_times ? sum / n_times : (double)INFINITY;
}

/* Differences after some lags, each about one and a half times the lag before. Within a step of
 * long parts, differences rise and fall slowly, so that these lags suffice. */
struct rungs {
	size_t lags[RUNGS_MAX];
	double largest[RUNGS_MAX]; /* greatest difference up to this lag */
	size_t n;
};

static struct rungs look_at_some(const struct period_times *periods, size_t n_lags)
{
	struct rungs rungs = {.n = 0};
	double largest = 0.0;
	for (size_t lag = 1; lag <= n_lags && rungs.n < RUNGS_MAX; lag += lag / 2 + 1) {
		largest = fmax(largest, difference_after(periods, lag, (double)INFINITY));
		rungs.lags[rungs.n] = lag;
		rungs.largest[rungs.n++] = largest;
	}
	return rungs;
}

/* Greatest difference after @lag at which times still count as repeating. */
static double bound_of(const struct rungs *rungs, size_t lag)
{
	size_t n = rungs->n;
	while (n > 1 && rungs->lags[n - 1] >= lag) {
		n--;
	}
	double neighbours = rungs->largest[0], largest = rungs->largest[n - 1];
	return largest * (largest >= PARTS_RATIO_MIN * neighbours ? PARTS_GAIN_MAX : LAG_GAIN_MAX);
}

/* Least difference after 2 to @n_lags periods, among the lags after which times repeat; infinite if
 * there is none. */
static double least_difference(const struct period_times *periods, const struct rungs *rungs,
			       size_t n_lags)
{
	double least = (double)INFINITY;
#pragma omp parallel for schedule(static) reduction(min : least)
	for (size_t lag = 2; lag <= n_lags; lag++) {
		double bound = fmin(least, bound_of(rungs, lag));
		double difference = difference_after(periods, lag, bound);
		least = difference < least ? difference : least;
	}
	/* Threads begin with the greatest number there is: infinity for gcc, DBL_MAX for clang. */
	return least < DBL_MAX ? least : (double)INFINITY;
}

/* Number of periods in a step, at most LAG_MAX: the least after which times repeat better than
 * after fewer; 1 if they never do. */
static size_t periods_of_step(const struct period_times *periods)
{
	size_t n_lags = periods->n / FSL_STEP_PERIODS_MIN;
	n_lags = n_lags < LAG_MAX ? n_lags : LAG_MAX;
	if (n_lags < 2) {
		return 1;
	}
	struct rungs rungs = look_at_some(periods, n_lags);
	double neighbours = rungs.largest[0];
	if (neighbours <= TIMES_DIFFER_MIN * periods->usual) {
		return 1;
	}
	double least = least_difference(periods, &rungs, n_lags);
	if (isinf(least)) {
		return 1;
	}
	double most = least + fmax(LAG_TIE * neighbours, REST_TIE * least);
	size_t lag = 2;
	while (lag < n_lags &&
	       isinf(difference_after(periods, lag, fmin(most, bound_of(&rungs, lag))))) {
		lag++;
	}
	return lag;
}

/* Counts the periods of one step, by the times between their operators. */
static enum fsl_status count_periods(size_t *out, const struct fsl_rank *rank,
				     const struct period_begin *begins, size_t n_begins,
				     struct fsl_arena *arena, struct fsl_error *err)
{
	size_t first = begins[0].op, n_ops = rank->n_ops - first, n = 0;
	n_ops = n_ops < LOOK_TIMES_MAX ? n_ops : LOOK_TIMES_MAX;
	double *times = fsl_arena_take(arena, 2 * n_ops * sizeof(*times));
	size_t *places = fsl_arena_take(arena, n_begins * sizeof(*places));
	if (times == NULL || places == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: periods=%zu",
				n_begins);
	}
	size_t n_times = times_between(times, rank, first);
	for (; n < n_begins && begins[n].op - first <= n_times; n++) {
		size_t place = begins[n].op - first;
		/* Each lost mark is placed by nearby operators; places must stay in order. */
		places[n] = n > 0 && place < places[n - 1] ? places[n - 1] : place;
	}
	struct period_times periods = {.times = times,
				       .begins = places,
				       .n = n - 1,
				       .usual = fsl_median(times, n_times, times + n_ops)};
	*out = periods_of_step(&periods);
	return FSL_OK;
}

/* Builds the steps: each begins with every @stride-th period. */
static enum fsl_status begin_steps(struct fsl_steps *steps, const struct period_begin *begins,
				   size_t n_begins, size_t stride, struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(steps->items, n_begins / stride + 1, "steps", err));
	for (size_t j = 0; j < n_begins; j += stride) {
		steps->items[steps->n_items] = (struct fsl_job_step){
			.step = (int64_t)steps->n_items,
			.begin_ns = begins[j].ns,
		};
		steps->n_items++;
	}
	return FSL_OK;
}

/* A step begins at the end of its mark. Members of a collective end together, but each begins as
 * late as it arrives: a boundary at the begin would cut other ranks at another operator. */
static enum fsl_status cut_at_mark(struct fsl_steps *steps, const struct fsl_rank *rank,
				   const struct fsl_step_mark *mark, size_t n_step_ops,
				   struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n_room = mark->n_uses * (LOST_MARKS_MAX + 1), n_periods = 1;
	struct period_begin *begins = fsl_arena_take(arena, n_room * sizeof(*begins));
	if (begins == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu", n_room);
	}
	double usual_ns = 0.0;
	FSL_TRY(usual_time(&usual_ns, rank, mark, arena, err));
	size_t n_begins = list_periods(begins, rank, mark, usual_ns);
	if (n_step_ops > 0 && n_step_ops % mark->n_ops == 0) {
		n_periods = n_step_ops / mark->n_ops;
	} else {
		FSL_TRY(count_periods(&n_periods, rank, begins, n_begins, arena, err));
	}
	FSL_TRY(begin_steps(steps, begins, n_begins, n_periods, err));
	fsl_steps_make_unique(steps);
	steps->source = "operator period";
	steps->source_rank = rank->rank;
	steps->is_ordinal = true;
	steps->n_ops = mark->n_ops * n_periods;
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

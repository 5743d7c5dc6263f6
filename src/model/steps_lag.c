/* How many operator periods make one step. A step may repeat the same operators (forward,
 * backward). The times between operators then repeat only after several periods. */
#include <math.h>

#include <failslow/stats.h>

#include "model/steps_parts.h"

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
static double difference_of_unequal(const struct fsl_period_times *periods, size_t a, size_t b,
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
static double difference_after(const struct fsl_period_times *periods, size_t lag, double bound)
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

static struct rungs look_at_some(const struct fsl_period_times *periods, size_t n_lags)
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
static double least_difference(const struct fsl_period_times *periods, const struct rungs *rungs,
			       size_t n_lags)
{
	double least = (double)INFINITY;
#pragma omp parallel for schedule(static) reduction(min : least)
	for (size_t lag = 2; lag <= n_lags; lag++) {
		double bound = fmin(least, bound_of(rungs, lag));
		double difference = difference_after(periods, lag, bound);
		least = difference < least ? difference : least;
	}
	return least;
}

size_t fsl_step_periods(const struct fsl_period_times *periods)
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

/*
 * Finds checkpoints that take longer from some checkpoint on, for good or for a while. The steps
 * that they make long count as explained, so no step shows the change. If the storage of all ranks
 * is slow, no rank is above its peers either.
 */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "detect/perceive_parts.h"

enum {
	SAVES_BESIDE_MIN = 3, /* least number of long saves, and of usual ones on a side */
	SAVES_MAX = 512       /* number of latest saves examined: each may be the change */
};
/* Ratio of levels from which storage counts as slow. */
static const double RATIO_MIN = 1.5;
static const double P_VALUE_MAX = 0.01;

/* Checkpoints, and the time that the job waited for each. */
struct saves {
	size_t n;
	size_t at[SAVES_MAX];      /* first step of each save */
	double cost_ms[SAVES_MAX]; /* 0: written beside other work */
	double scratch[SAVES_MAX];
	size_t begin, end; /* the saves that take longer; end is n if the rise lasts */
};

/* Step at which the latest saves begin. */
static size_t first_step(const struct fsl_step_series *series)
{
	size_t i = series->n, n = 0;
	while (i > 0 && n < SAVES_MAX) {
		i--;
		n += series->items[i].ckpt_ns > 0;
	}
	return i;
}

/* A checkpoint holds up the step in which it begins, and sometimes the next step. */
static void collect(struct saves *saves, const struct fsl_step_series *series, size_t first)
{
	saves->n = saves->begin = saves->end = 0;
	for (size_t i = first; i < series->n; i++) {
		bool goes_on = saves->n > 0 && saves->at[saves->n - 1] + 1 == i;
		if (series->items[i].ckpt_ns > 0 && !goes_on) {
			saves->at[saves->n] = i;
			saves->cost_ms[saves->n++] = 0.0;
			goes_on = true;
		}
		if (goes_on && series->is_explained[i] != 0) {
			saves->cost_ms[saves->n - 1] += series->dur_ms[i] - series->clear_ms[i];
		}
	}
}

/* Writes the rank of each save's cost, minus the middle rank, to the scratch; ties share a rank. */
static void rank_costs(struct saves *saves)
{
	for (size_t i = 0; i < saves->n; i++) {
		double rank = 0.0;
		for (size_t j = 0; j < saves->n; j++) {
			rank += (saves->cost_ms[j] < saves->cost_ms[i]) -
				(saves->cost_ms[j] > saves->cost_ms[i]);
		}
		saves->scratch[i] = rank;
	}
}

/* Finds the saves in a row that rank highest against all others, by Mann and Whitney, with usual
 * saves on both sides. If most saves are long, their ranks say too little. */
static void find_passing(struct saves *saves)
{
	double highest = 0.0;
	rank_costs(saves);
	for (size_t begin = SAVES_BESIDE_MIN; begin + SAVES_BESIDE_MIN <= saves->n; begin++) {
		double sum = 0.0;
		for (size_t end = begin + 1; end + SAVES_BESIDE_MIN <= saves->n; end++) {
			size_t n_long = end - begin;
			sum += saves->scratch[end - 1];
			double height = sum / sqrt((double)n_long * (double)(saves->n - n_long));
			if (n_long >= SAVES_BESIDE_MIN && height > highest) {
				saves->begin = begin;
				saves->end = end;
				highest = height;
			}
		}
	}
}

/* Number of saves on the wrong side of the middle between both levels. */
static size_t count_misplaced(const struct saves *saves, size_t begin, double middle_ms)
{
	size_t n = 0;
	for (size_t i = 0; i < saves->n; i++) {
		n += (saves->cost_ms[i] > middle_ms) != (i >= begin);
	}
	return n;
}

/* Finds the save from which on saves take longer than before, with the fewest exceptions. */
static void find_lasting(struct saves *saves)
{
	size_t fewest = saves->n / 10 + 1;
	double best_ms = INFINITY; /* no begin is found yet */
	for (size_t k = SAVES_BESIDE_MIN; k + SAVES_BESIDE_MIN <= saves->n; k++) {
		double before_ms = fsl_median(saves->cost_ms, k, saves->scratch);
		double after_ms = fsl_median(saves->cost_ms + k, saves->n - k, saves->scratch);
		size_t n_wrong = count_misplaced(saves, k, (before_ms + after_ms) / 2.0);
		double rise_ms = after_ms - before_ms;
		bool is_better = n_wrong < fewest || (n_wrong == fewest && rise_ms > best_ms);
		if (after_ms >= RATIO_MIN * before_ms && is_better) {
			saves->begin = k;
			saves->end = saves->n;
			fewest = n_wrong;
			best_ms = rise_ms;
		}
	}
}

/* Puts the costs of the long saves behind all others; returns the index of the first. */
static size_t part_costs(struct saves *saves)
{
	size_t n_usual = 0, n_long = saves->end - saves->begin;
	memcpy(saves->scratch, saves->cost_ms + saves->begin, n_long * sizeof(double));
	for (size_t i = 0; i < saves->n; i++) {
		if (i < saves->begin || i >= saves->end) {
			saves->cost_ms[n_usual++] = saves->cost_ms[i];
		}
	}
	memcpy(saves->cost_ms + n_usual, saves->scratch, n_long * sizeof(double));
	return n_usual;
}

/* True if saves from @n_usual on take longer than the saves before, except at most one in ten. */
static bool takes_longer(struct saves *saves, size_t n_usual)
{
	const double *long_ms = saves->cost_ms + n_usual;
	double before_ms = fsl_median(saves->cost_ms, n_usual, saves->scratch);
	double after_ms = fsl_median(long_ms, saves->n - n_usual, saves->scratch);
	size_t n_wrong = count_misplaced(saves, n_usual, (before_ms + after_ms) / 2.0);
	return after_ms >= RATIO_MIN * before_ms && n_wrong <= saves->n / 10;
}

/* Mean time of @n_steps steps with saves that cost @costs_ms. */
static double mean_ms(const struct fsl_step_series *series, const double *costs_ms, size_t n,
		      size_t n_steps)
{
	return series->median_ms + fsl_mean(costs_ms, n) * (double)n / (double)n_steps;
}

/* True if the change is no chance and costs enough. @first: first step of the saves. */
static bool is_rise(struct fsl_step_rise *out, const struct fsl_step_series *series,
		    struct saves *saves, size_t first)
{
	size_t at = saves->at[saves->begin];
	size_t until = saves->end < saves->n ? saves->at[saves->end] : series->n;
	size_t n_usual = part_costs(saves), n_long = saves->n - n_usual;
	const double *long_ms = saves->cost_ms + n_usual;
	double before_ms =
		mean_ms(series, saves->cost_ms, n_usual, series->n - first - (until - at));
	double after_ms = mean_ms(series, long_ms, n_long, until - at);
	*out = (struct fsl_step_rise){
		.begin = at,
		.until = until,
		.base_ms = before_ms,
		.before_ms = before_ms,
		.after_ms = after_ms,
		.p_value = fsl_mann_whitney_p(saves->cost_ms, n_usual, long_ms, n_long),
		.is_of_saves = true,
	};
	return takes_longer(saves, n_usual) && out->p_value <= P_VALUE_MAX &&
	       after_ms >= before_ms * (1.0 + series->degree_thr / 2.0);
}

enum fsl_status fsl_step_series_saves(const struct fsl_step_series *series,
				      struct fsl_step_rise *rises, size_t *n_rises,
				      struct fsl_error *err)
{
	static void (*const finders[])(struct saves *) = {find_lasting, find_passing};
	struct saves *saves = fsl_calloc(1, sizeof(*saves));
	if (saves == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu",
				series->n);
	}
	size_t first = first_step(series);
	for (size_t i = 0; i < sizeof(finders) / sizeof(finders[0]) && *n_rises == 0; i++) {
		collect(saves, series, first);
		finders[i](saves);
		if (saves->begin < saves->end && is_rise(&rises[0], series, saves, first)) {
			*n_rises = 1;
		}
	}
	fsl_free(saves);
	return FSL_OK;
}

/*
 * Checkpoints that take longer from one of them on. The steps that they make long are explained, so
 * that no step shows it, and where the storage of all ranks gets slow none is above its peers.
 */
#include <math.h>

#include <failslow/stats.h>

#include "detect/perceive_parts.h"

enum {
	SAVES_BESIDE_MIN = 3, /* on either side of the change */
	SAVES_MAX = 512       /* the latest are looked at: each may be the change */
};
/* Saves differ by this much before anybody speaks of slow storage. */
static const double RATIO_MIN = 1.5;
static const double P_VALUE_MAX = 0.01;

/* Checkpoints and what the job waited for each. */
struct saves {
	size_t n;
	size_t at[SAVES_MAX];      /* first step */
	double cost_ms[SAVES_MAX]; /* 0: written beside other work */
	double scratch[SAVES_MAX];
};

/* Where the latest begin. */
static size_t first_step(const struct fsl_step_series *series)
{
	size_t i = series->n, n = 0;
	while (i > 0 && n < SAVES_MAX) {
		i--;
		n += series->items[i].ckpt_ns > 0;
	}
	return i;
}

/* A checkpoint holds the step that it begins in, and sometimes the next. */
static void collect(struct saves *saves, const struct fsl_step_series *series, size_t first)
{
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

/* How many of the saves lie on the wrong side of the middle between both levels. */
static size_t count_misplaced(const struct saves *saves, size_t k, double middle_ms)
{
	size_t n = 0;
	for (size_t i = 0; i < saves->n; i++) {
		n += (saves->cost_ms[i] > middle_ms) != (i >= k);
	}
	return n;
}

/* The save from which on they take longest against those before; 0: none takes long enough. */
static size_t find_change(struct saves *saves)
{
	size_t best = 0;
	double best_ms = 0.0;
	for (size_t k = SAVES_BESIDE_MIN; k + SAVES_BESIDE_MIN <= saves->n; k++) {
		double before_ms = fsl_median(saves->cost_ms, k, saves->scratch);
		double after_ms = fsl_median(saves->cost_ms + k, saves->n - k, saves->scratch);
		size_t n_wrong = count_misplaced(saves, k, (before_ms + after_ms) / 2.0);
		double rise_ms = after_ms - before_ms;
		if (after_ms >= RATIO_MIN * before_ms && n_wrong <= saves->n / 10 &&
		    rise_ms > best_ms) {
			best = k;
			best_ms = rise_ms;
		}
	}
	return best;
}

/* Mean time of a step with its part of the saves [@begin, @end), which fill @n_steps steps. */
static double mean_ms(const struct fsl_step_series *series, const struct saves *saves, size_t begin,
		      size_t end, size_t n_steps)
{
	double sum_ms = 0.0;
	for (size_t i = begin; i < end; i++) {
		sum_ms += saves->cost_ms[i];
	}
	return series->median_ms + sum_ms / (double)n_steps;
}

/* Whether the change is none of chance and costs what counts. @first: step that saves were
 * collected from. */
static bool is_rise(struct fsl_step_rise *out, const struct fsl_step_series *series,
		    const struct saves *saves, size_t first, size_t k)
{
	size_t at = saves->at[k];
	double before_ms = mean_ms(series, saves, 0, k, at - first);
	double after_ms = mean_ms(series, saves, k, saves->n, series->n - at);
	*out = (struct fsl_step_rise){
		.begin = at,
		.until = series->n,
		.base_ms = before_ms,
		.before_ms = before_ms,
		.after_ms = after_ms,
		.p_value = fsl_mann_whitney_p(saves->cost_ms, k, saves->cost_ms + k, saves->n - k),
		.is_of_saves = true,
	};
	return out->p_value <= P_VALUE_MAX &&
	       after_ms >= before_ms * (1.0 + series->degree_thr / 2.0);
}

enum fsl_status fsl_step_series_saves(const struct fsl_step_series *series,
				      struct fsl_step_rise *rises, size_t *n_rises,
				      struct fsl_error *err)
{
	struct saves *saves = fsl_calloc(1, sizeof(*saves));
	if (saves == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu",
				series->n);
	}
	size_t first = first_step(series);
	collect(saves, series, first);
	size_t k = find_change(saves);
	if (k > 0 && is_rise(&rises[0], series, saves, first, k)) {
		*n_rises = 1;
	}
	fsl_free(saves);
	return FSL_OK;
}

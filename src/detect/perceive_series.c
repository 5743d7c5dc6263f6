/* The series of step times that perception judges, without checkpoints and GC. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/shift.h"
#include "detect/perceive_parts.h"

enum { LEVEL_HALF = 5 /* steps on either side that give the level of a step */ };
/* A checkpoint shorter than this share of a step does not delay other ranks for long. */
static const double CKPT_SHARE_MIN = 0.1;
/* Least sigma, as a share of a step: clocks and schedulers are not finer. */
static const double SIGMA_MIN = 0.001;
static const double SIGMAS_LONG = 3.0;
static const double SIGMAS_RISE = 10.0; /* for one step; see fsl_step_series_is_rise */
static const double SIGMAS_RISE_MIN = 2.0;

bool fsl_step_series_is_long(const struct fsl_step_series *series, size_t i, double step_ms)
{
	double excess = log(step_ms / series->level_ms[i]);
	return excess > log1p(series->degree_thr) && excess > SIGMAS_LONG * series->sigma;
}

bool fsl_step_series_is_rise(const struct fsl_step_series *series, double base_ms, double level_ms,
			     size_t n_steps, double share_min)
{
	double sigmas = fmax(SIGMAS_RISE / sqrt((double)n_steps), SIGMAS_RISE_MIN);
	double excess = log(level_ms / base_ms);
	return excess >= log1p(share_min) && excess >= sigmas * series->sigma;
}

static double pause_ms(const struct fsl_job_step *item)
{
	return (double)(item->ckpt_ns + item->gc_ns) / FSL_NS_PER_MS;
}

/* Lower of the two middle values: at an edge of the level, half of the neighbours are normal. */
static double lower_median(double *values, size_t n)
{
	fsl_sort(values, n);
	return values[(n - 1) / 2];
}

/*
 * Median of the steps around each step. Steps with a checkpoint count only if there are few others.
 */
static void find_levels(struct fsl_step_series *series)
{
	double around[2 * LEVEL_HALF + 1];
	for (size_t i = 0; i < series->n; i++) {
		size_t begin = i > LEVEL_HALF ? i - LEVEL_HALF : 0;
		size_t end = i + LEVEL_HALF < series->n ? i + LEVEL_HALF + 1 : series->n;
		size_t n_around = 0;
		for (size_t j = begin; j < end; j++) {
			if (series->items[j].ckpt_ns == 0) {
				around[n_around++] = series->dur_ms[j];
			}
		}
		if (n_around <= LEVEL_HALF / 2) {
			n_around = end - begin;
			memcpy(around, series->dur_ms + begin, n_around * sizeof(*around));
		}
		series->level_ms[i] = lower_median(around, n_around);
	}
}

/* Takes off explained time only as far as the step is longer than its neighbours: a pause behind
 * other work cost nothing. */
static void clear_pauses(struct fsl_step_series *series)
{
	for (size_t i = 0; i < series->n; i++) {
		double dur_ms = series->dur_ms[i];
		double rest_ms = dur_ms - pause_ms(&series->items[i]);
		series->clear_ms[i] =
			dur_ms > series->level_ms[i] ? fmax(series->level_ms[i], rest_ms) : dur_ms;
	}
}

static bool has_long_ckpt(const struct fsl_step_series *series, size_t i)
{
	return (double)series->items[i].ckpt_ns / FSL_NS_PER_MS >=
	       CKPT_SHARE_MIN * series->level_ms[i];
}

/*
 * A rank without a timeline may save longer than ranks that have one. The job then waits for that
 * rank once, in the same or the next step: such time belongs to the checkpoint, too. If the step
 * after it is long, too, the job has become slower.
 */
static void clear_aftermath(struct fsl_step_series *series)
{
	for (size_t i = 0; i < series->n; i++) {
		bool follows_ckpt =
			has_long_ckpt(series, i) || (i > 0 && has_long_ckpt(series, i - 1));
		bool is_single = i + 1 == series->n || has_long_ckpt(series, i + 1) ||
				 !fsl_step_series_is_long(series, i + 1, series->clear_ms[i + 1]);
		if (follows_ckpt && is_single &&
		    fsl_step_series_is_long(series, i, series->clear_ms[i])) {
			series->clear_ms[i] = series->level_ms[i];
		}
	}
}

/* Noise of the logarithms. @buffers: 3 n. */
static double find_sigma(const struct fsl_step_series *series, double *buffers)
{
	for (size_t i = 0; i < series->n; i++) {
		buffers[i] = log(series->clear_ms[i]);
	}
	return fmax(SIGMA_MIN, fsl_shift_sigma(buffers, series->n, buffers + series->n));
}

static enum fsl_status measure(struct fsl_step_series *series, struct fsl_error *err)
{
	double *buffers = fsl_calloc(series->n, 3 * sizeof(*buffers));
	if (buffers == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu",
				series->n);
	}
	find_levels(series);
	clear_pauses(series);
	series->median_ms = fsl_median(series->clear_ms, series->n, buffers);
	series->sigma = find_sigma(series, buffers);
	fsl_free(buffers);
	clear_aftermath(series);
	for (size_t i = 0; i < series->n; i++) {
		series->is_explained[i] = fsl_step_series_is_long(series, i, series->dur_ms[i]) &&
					  !fsl_step_series_is_long(series, i, series->clear_ms[i]);
	}
	return FSL_OK;
}

enum fsl_status fsl_step_series_init(struct fsl_step_series *series, const struct fsl_steps *steps,
				     const struct fsl_config *config, struct fsl_error *err)
{
	*series = (struct fsl_step_series){
		.median_ms = NAN, .sigma = NAN, .degree_thr = config->anomaly_degree_thr};
	size_t n_stable = config->task_stable_step > 0 ? (size_t)config->task_stable_step : 0;
	size_t n_max = config->max_data_queue_steps > 0 ? (size_t)config->max_data_queue_steps : 0;
	size_t n = steps->n_items > n_stable ? steps->n_items - n_stable : 0;
	n = n < n_max ? n : n_max;
	if (n == 0) {
		return FSL_OK;
	}
	series->items = steps->items + (steps->n_items - n);
	series->n = n;
	series->dur_ms = fsl_calloc(n, sizeof(double));
	series->level_ms = fsl_calloc(n, sizeof(double));
	series->clear_ms = fsl_calloc(n, sizeof(double));
	series->is_explained = fsl_calloc(n, 1);
	enum fsl_status status = FSL_OK;
	if (series->dur_ms == NULL || series->level_ms == NULL || series->clear_ms == NULL ||
	    series->is_explained == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu", n);
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		FSL_REQUIRE(series->items[i].dur_ns > 0);
		series->dur_ms[i] = (double)series->items[i].dur_ns / FSL_NS_PER_MS;
	}
	status = measure(series, err);
out:
	if (status != FSL_OK) {
		fsl_step_series_fini(series);
	}
	return status;
}

void fsl_step_series_fini(struct fsl_step_series *series)
{
	fsl_free(series->dur_ms);
	fsl_free(series->level_ms);
	fsl_free(series->clear_ms);
	fsl_free(series->is_explained);
	*series = (struct fsl_step_series){.median_ms = NAN, .sigma = NAN};
}

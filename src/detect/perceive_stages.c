/* Slow data loading and slow checkpoints of the job, each against its own past. */
#include <math.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "detect/perceive_parts.h"

enum {
	PAST_MAX = 50,       /* number of earlier values that are kept as the past */
	LOADER_PAST_MIN = 5, /* values needed before any is judged */
	CKPT_PAST_MIN = 3,   /* the same for checkpoints, which are rare */
};
/* Data loading is slow only if it takes at least this share of the step. */
static const double LOADER_SHARE_MIN = 0.05;
static const double SIGMAS = 3.0;

/* One value of a stage series. */
struct sample {
	int64_t step;
	int64_t begin_ns;
	double ms;
};

struct past {
	double values[PAST_MAX]; /* ring of normal values */
	size_t n_values;         /* number of values ever added */
	size_t n_min;
	double degree_thr;
	double excess_min_ms;
};

/*
 * True if @ms exceeds the past; *normal_ms is the median of the past. Normal values join the past.
 */
static bool is_slow(struct past *past, double ms, double *normal_ms)
{
	double scratch[PAST_MAX];
	size_t n = past->n_values < PAST_MAX ? past->n_values : PAST_MAX;
	bool is_above = false;
	if (n >= past->n_min) {
		*normal_ms = fsl_median(past->values, n, scratch);
		double sigma_ms = fsl_mad_sigma(past->values, n, *normal_ms, scratch);
		double least_ms = fmax(past->excess_min_ms,
				       fmax(SIGMAS * sigma_ms, past->degree_thr * *normal_ms));
		is_above = ms - *normal_ms > least_ms;
	}
	if (!is_above) {
		past->values[past->n_values % PAST_MAX] = ms;
		past->n_values++;
	}
	return is_above;
}

/* Samples without time (the step has no record) are skipped. */
static enum fsl_status judge(struct fsl_perception *out, const struct sample *samples, size_t n,
			     struct past *past, bool is_ckpt, struct fsl_error *err)
{
	for (size_t i = 0; i < n; i++) {
		double normal_ms = 0.0;
		if (samples[i].ms <= 0.0 || !is_slow(past, samples[i].ms, &normal_ms)) {
			continue;
		}
		struct fsl_step_anomaly slow = {
			.step = samples[i].step,
			.begin_ns = samples[i].begin_ns,
			.degree = samples[i].ms / normal_ms - 1.0,
			.step_ms = samples[i].ms,
			.normal_ms = normal_ms,
		};
		FSL_TRY(is_ckpt ? FSL_APPEND(out, slow_ckpt, &slow, err)
				: FSL_APPEND(out, slow_dataloader, &slow, err));
	}
	return FSL_OK;
}

static double median_step_ms(const struct fsl_steps *steps, double *scratch)
{
	for (size_t i = 0; i < steps->n_items; i++) {
		scratch[i] = (double)steps->items[i].dur_ns / FSL_NS_PER_MS;
	}
	return fsl_median(scratch, steps->n_items, scratch + steps->n_items);
}

static enum fsl_status perceive_loading(struct fsl_perception *out,
					const struct fsl_progress *progress,
					const struct fsl_config *config, struct fsl_error *err)
{
	const struct fsl_steps *steps = &progress->steps;
	size_t n_stable = config->task_stable_step > 0 ? (size_t)config->task_stable_step : 0;
	if (steps->n_items <= n_stable) {
		return FSL_OK;
	}
	struct sample *samples = fsl_calloc(steps->n_items, sizeof(*samples));
	double *scratch = fsl_calloc(steps->n_items * 2, sizeof(*scratch));
	enum fsl_status status = FSL_OK;
	if (samples == NULL || scratch == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu",
				  steps->n_items);
		goto out;
	}
	for (size_t i = 0; i < steps->n_items; i++) {
		samples[i].step = steps->items[i].step;
		samples[i].begin_ns = steps->items[i].begin_ns;
		samples[i].ms = (double)progress->loading_ns[i] / FSL_NS_PER_MS;
	}
	struct past past = {
		.n_min = LOADER_PAST_MIN,
		.degree_thr = config->anomaly_degree_thr,
		.excess_min_ms = LOADER_SHARE_MIN * median_step_ms(steps, scratch),
	};
	status = judge(out, samples + n_stable, steps->n_items - n_stable, &past, false, err);
out:
	fsl_free(scratch);
	fsl_free(samples);
	return status;
}

static enum fsl_status perceive_ckpts(struct fsl_perception *out,
				      const struct fsl_progress *progress,
				      const struct fsl_config *config, struct fsl_error *err)
{
	struct sample *samples = fsl_calloc(progress->n_saves, sizeof(*samples));
	if (samples == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: checkpoints=%zu",
				progress->n_saves);
	}
	for (size_t i = 0; i < progress->n_saves; i++) {
		const struct fsl_save *save = &progress->saves[i];
		samples[i] = (struct sample){save->step, save->begin_ns,
					     (double)save->dur_ns / FSL_NS_PER_MS};
	}
	struct past past = {.n_min = CKPT_PAST_MIN, .degree_thr = config->anomaly_degree_thr};
	enum fsl_status status = judge(out, samples, progress->n_saves, &past, true, err);
	fsl_free(samples);
	return status;
}

enum fsl_status fsl_perceive_stages(struct fsl_perception *out, const struct fsl_progress *progress,
				    const struct fsl_config *config, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	if (config->enable_dataloader) {
		status = perceive_loading(out, progress, config, err);
	}
	if (status == FSL_OK && config->enable_ckpt) {
		status = perceive_ckpts(out, progress, config, err);
	}
	return status;
}

/* Joins hang, step time, data loading and checkpoints to one verdict. */
#include "detect/perceive.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "detect/perceive_parts.h"

/* Facts for the sentence to the user. */
struct judgement {
	const struct fsl_run *run;
	const struct fsl_progress *progress;
	const struct fsl_steps *steps; /* steps of the progress */
	const struct fsl_config *config;
	struct fsl_step_series series;
	struct fsl_silence silence;
	struct fsl_step_rise rises[FSL_STEP_RISES_MAX];
	size_t n_rises;
};

/* Milliseconds as the reference counts them: the difference of truncated times. */
static double whole_ms(const struct fsl_job_step *item)
{
	int64_t begin_ms = item->begin_ns / FSL_NS_PER_MS;
	int64_t end_ms = (item->begin_ns + item->dur_ns) / FSL_NS_PER_MS;
	return (double)(end_ms - begin_ms);
}

static enum fsl_status add_anomaly(struct fsl_perception *out, const struct fsl_step_series *series,
				   size_t i, double step_ms, double normal_ms,
				   struct fsl_error *err)
{
	struct fsl_step_anomaly anomaly = {
		.step = series->items[i].step,
		.begin_ns = series->items[i].begin_ns,
		.degree = step_ms / normal_ms - 1.0,
		.step_ms = whole_ms(&series->items[i]),
		.normal_ms = normal_ms,
	};
	return FSL_APPEND(out, anomalies, &anomaly, err);
}

/* Adds all steps of all rises, each once, with the job's normal step time. */
static enum fsl_status add_anomalies(struct fsl_perception *out, const struct judgement *judgement,
				     struct fsl_error *err)
{
	const struct fsl_step_series *series = &judgement->series;
	size_t next = 0; /* steps before this one are listed */
	for (size_t r = 0; r < judgement->n_rises; r++) {
		const struct fsl_step_rise *rise = &judgement->rises[r];
		next = next > rise->begin ? next : rise->begin;
		for (; next < rise->until; next++) {
			double step_ms =
				rise->is_of_saves ? series->dur_ms[next] : series->clear_ms[next];
			bool is_of_it = !rise->is_of_saves || series->is_explained[next] != 0;
			enum fsl_status status = is_of_it && step_ms > rise->base_ms
							 ? add_anomaly(out, series, next, step_ms,
								       rise->base_ms, err)
							 : FSL_OK;
			if (status != FSL_OK) {
				return status;
			}
		}
	}
	return FSL_OK;
}

static enum fsl_status add_episodes(struct fsl_perception *out, const struct judgement *judgement,
				    struct fsl_error *err)
{
	const struct fsl_step_series *series = &judgement->series;
	for (size_t r = 0; r < judgement->n_rises; r++) {
		const struct fsl_step_rise *rise = &judgement->rises[r];
		struct fsl_step_episode episode = {
			.onset_step = series->items[rise->begin].step,
			.until_step =
				rise->until < series->n ? series->items[rise->until].step : -1,
			.onset_ns = series->items[rise->begin].begin_ns,
			.before_ms = rise->before_ms,
			.after_ms = rise->after_ms,
			.p_value = rise->p_value,
			.n_steps = rise->until - rise->begin,
			.is_of_saves = rise->is_of_saves,
		};
		enum fsl_status status = FSL_APPEND(out, episodes, &episode, err);
		if (status != FSL_OK) {
			return status;
		}
	}
	return FSL_OK;
}

static enum fsl_status add_explained(struct fsl_perception *out,
				     const struct fsl_step_series *series, struct fsl_error *err)
{
	for (size_t i = 0; i < series->n; i++) {
		if (series->is_explained[i] == 0) {
			continue;
		}
		const struct fsl_job_step *item = &series->items[i];
		/* A step after a checkpoint may have none of its own and still be held up by it. */
		bool is_gc =
			item->gc_ns > item->ckpt_ns && (i == 0 || item[-1].ckpt_ns <= item->gc_ns);
		struct fsl_step_explained explained = {
			.step = item->step,
			.begin_ns = item->begin_ns,
			.step_ms = series->dur_ms[i],
			.normal_ms = series->level_ms[i],
			.explained_ms = series->dur_ms[i] - series->clear_ms[i],
			.why = is_gc ? "gc" : "checkpoint",
		};
		enum fsl_status status = FSL_APPEND(out, explained, &explained, err);
		if (status != FSL_OK) {
			return status;
		}
	}
	return FSL_OK;
}

/*
 * First and last point of the reference, which has no point for a step that no later step closes.
 */
static void set_range(struct fsl_perception *out, const struct judgement *judgement)
{
	const struct fsl_step_series *series = &judgement->series;
	if (series->n == 0) {
		return;
	}
	const struct fsl_job_step *first = &series->items[0];
	const struct fsl_job_step *last = &series->items[series->n - 1];
	out->start_ns = first->begin_ns + first->dur_ns;
	out->end_ns = judgement->steps->is_last_open && series->n > 1
			      ? last->begin_ns
			      : last->begin_ns + last->dur_ns;
}

static enum fsl_status perceive_steps(struct fsl_perception *out, struct judgement *judgement,
				      struct fsl_error *err)
{
	const struct fsl_step_series *series = &judgement->series;
	struct fsl_step_rise *rises = judgement->rises;
	size_t *n_rises = &judgement->n_rises;
	enum fsl_status status = fsl_step_series_shifts(series, rises, n_rises, err);
	if (status == FSL_OK) {
		status = fsl_step_series_runs(series, judgement->config, rises, n_rises, err);
	}
	if (status == FSL_OK && *n_rises == 0) {
		status = fsl_step_series_saves(series, rises, n_rises, err);
	}
	if (status == FSL_OK) {
		status = add_episodes(out, judgement, err);
	}
	if (status == FSL_OK) {
		status = add_anomalies(out, judgement, err);
	}
	return status == FSL_OK ? add_explained(out, series, err) : status;
}

/* algorithm "systrace": only the reference's alarms, on the reference's series. */
static enum fsl_status perceive_as_systrace(struct fsl_perception *out, struct judgement *judgement,
					    struct fsl_error *err)
{
	const struct fsl_step_series *series = &judgement->series;
	struct fsl_step_alarms alarms = {0};
	size_t n = series->n - (judgement->steps->is_last_open ? 1 : 0);
	enum fsl_status status = fsl_step_alarms_init(&alarms, n, err);
	if (status != FSL_OK) {
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		alarms.values[i] = whole_ms(&series->items[i]);
	}
	alarms.n = n;
	status = fsl_step_alarms_find(&alarms, false, judgement->config, err);
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		struct fsl_step_anomaly anomaly = {
			.step = series->items[i].step,
			.begin_ns = series->items[i].begin_ns,
			.degree = alarms.values[i] / alarms.normal_ms[i] - 1.0,
			.step_ms = alarms.values[i],
			.normal_ms = alarms.normal_ms[i],
		};
		if (alarms.labels[i] != 0) {
			status = FSL_APPEND(out, anomalies, &anomaly, err);
		}
	}
out:
	fsl_step_alarms_fini(&alarms);
	return status;
}

static size_t count_spikes(const struct judgement *judgement)
{
	const struct fsl_step_series *series = &judgement->series;
	size_t n_spikes = 0;
	for (size_t i = 0; i < series->n; i++) {
		n_spikes += fsl_step_series_is_long(series, i, series->clear_ms[i]) ? 1 : 0;
	}
	return n_spikes;
}

/* Appends to @text as printf; cuts the sentence if it gets too long for a terminal. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
							 const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text + length, size - length, format, args);
	va_end(args);
}

static void say_hang(char *text, size_t size, const struct fsl_perception *out,
		     const struct judgement *judgement)
{
	const struct fsl_silence *silence = &judgement->silence;
	append(text, size, "no event for %.1f min on %s%zu %s (limit %g min): ", out->hang_mins,
	       silence->n_ranks == 1 ? "" : "any of ", silence->n_ranks,
	       silence->n_ranks == 1 ? "rank" : "ranks", judgement->config->hang_times_mins_thr);
	if (silence->n_waiting > 0) {
		append(text, size, "the job hangs, %zu %s in %s", silence->n_waiting,
		       silence->n_waiting == 1 ? "rank waits" : "ranks wait",
		       fsl_strpool_text(judgement->run->names, silence->waits_in));
	} else {
		append(text, size,
		       "the job ended or hangs (if it ended, judge it as of its end with --now)");
	}
	for (size_t i = 0; i < out->n_stopped_first && i < 8; i++) {
		append(text, size, "%s%d", i > 0 ? ", " : "; stopped first: rank ",
		       (int)out->stopped_first[i]);
	}
	if (out->n_stopped_first > 8) {
		append(text, size, " and %zu more", out->n_stopped_first - 8);
	}
}

static void say_saves(char *text, size_t size, const struct fsl_step_episode *episode)
{
	if (episode->until_step >= 0) {
		append(text, size,
		       "checkpoints took longer from step %lld to step %lld: with them a "
		       "step took ",
		       (long long)episode->onset_step, (long long)episode->until_step - 1);
	} else {
		append(text, size,
		       "checkpoints take longer since step %lld: with them a step takes ",
		       (long long)episode->onset_step);
	}
	append(text, size, "%.1f ms on average instead of %.1f ms", episode->after_ms,
	       episode->before_ms);
}

static void say_rises(char *text, size_t size, const struct fsl_perception *out)
{
	/* The sentence tells the worst rise; the list has the others. */
	const struct fsl_step_episode *worst = &out->episodes[0];
	for (size_t i = 1; i < out->n_episodes; i++) {
		const struct fsl_step_episode *episode = &out->episodes[i];
		if (episode->after_ms - episode->before_ms > worst->after_ms - worst->before_ms) {
			worst = episode;
		}
	}
	append(text, size, "step time rose %.2f times at step %lld, from %.1f ms to %.1f ms, ",
	       worst->after_ms / worst->before_ms, (long long)worst->onset_step, worst->before_ms,
	       worst->after_ms);
	if (worst->until_step >= 0) {
		append(text, size, "and recovered at step %lld after %zu steps",
		       (long long)worst->until_step, worst->n_steps);
	} else {
		append(text, size, "and has stayed up for %zu steps", worst->n_steps);
	}
	if (out->n_episodes > 1) {
		append(text, size, "; %zu more %s", out->n_episodes - 1,
		       out->n_episodes == 2 ? "rise" : "rises");
	}
}

static void say_normal(char *text, size_t size, const struct judgement *judgement)
{
	const struct fsl_step_series *series = &judgement->series;
	append(text, size,
	       "no lasting rise of the step time: median %.1f ms over %zu steps (%lld to %lld)",
	       series->median_ms, series->n, (long long)series->items[0].step,
	       (long long)series->items[series->n - 1].step);
	size_t n_spikes = count_spikes(judgement);
	if (n_spikes > 0) {
		append(text, size, "; %zu single long %s", n_spikes,
		       n_spikes == 1 ? "step" : "steps");
	}
}

static void say_insufficient(char *text, size_t size, const struct judgement *judgement)
{
	if (judgement->steps->n_items == 0) {
		append(text, size,
		       "no step times: no timeline, step-time file or training log, and the "
		       "operators show no period");
		return;
	}
	append(text, size,
	       "too few steps to judge: %zu after the first %lld, at least %lld are needed",
	       judgement->series.n, (long long)judgement->config->task_stable_step,
	       (long long)judgement->config->min_startup_detection_steps);
}

static void say_extras(char *text, size_t size, const struct fsl_perception *out,
		       const struct judgement *judgement)
{
	const struct fsl_silence *silence = &judgement->silence;
	uint64_t n_left_out = judgement->steps->n_duplicates + judgement->steps->n_disordered;
	if (n_left_out > 0) {
		append(text, size, "; %" PRIu64 " %s left out: number twice or clock set back",
		       n_left_out, n_left_out == 1 ? "step" : "steps");
	}
	if (out->n_explained > 0) {
		append(text, size, "; %zu long %s explained by checkpoints or GC", out->n_explained,
		       out->n_explained == 1 ? "step" : "steps");
	}
	if (out->n_slow_dataloader > 0) {
		append(text, size, "; slow data loading in %zu %s", out->n_slow_dataloader,
		       out->n_slow_dataloader == 1 ? "step" : "steps");
	}
	if (out->n_slow_ckpt > 0) {
		append(text, size, "; %zu slow %s", out->n_slow_ckpt,
		       out->n_slow_ckpt == 1 ? "checkpoint" : "checkpoints");
	}
	if (silence->is_over) {
		append(text, size, "; no event for over %g h: the job is taken as ended",
		       judgement->config->hang_forget_hours);
	}
	if (out->n_stalled > 0) {
		append(text, size, "; no event for %.1f min while %zu %s in %s, no hang yet",
		       out->hang_mins, out->n_stalled,
		       out->n_stalled == 1 ? "rank waits" : "ranks wait",
		       fsl_strpool_text(judgement->run->names, silence->waits_in));
	}
	if (silence->n_silent > 0 && silence->n_silent < silence->n_ranks) {
		append(text, size,
		       "; no event for over %g min from %zu of %zu ranks (first: rank %d) while "
		       "the others go on",
		       judgement->config->hang_times_mins_thr, silence->n_silent, silence->n_ranks,
		       (int)silence->silent_rank);
	}
}

enum { REASON_MAX = 1024 };

static enum fsl_status set_reason(struct fsl_perception *out, const struct judgement *judgement,
				  struct fsl_error *err)
{
	char text[REASON_MAX] = "";
	if (out->kind == FSL_VERDICT_HANG) {
		say_hang(text, sizeof(text), out, judgement);
		bool was_slow = out->n_episodes > 0 || out->n_anomalies > 0;
		append(text, sizeof(text), "%s", was_slow ? "; before that, " : "");
	}
	if (out->n_episodes > 0 && out->episodes[0].is_of_saves) {
		say_saves(text, sizeof(text), &out->episodes[0]);
	} else if (out->n_episodes > 0) {
		say_rises(text, sizeof(text), out);
	} else if (out->n_anomalies > 0) {
		append(text, sizeof(text), "%zu steps above k-sigma, the first is step %lld",
		       out->n_anomalies, (long long)out->anomalies[0].step);
	} else if (out->kind == FSL_VERDICT_NORMAL) {
		say_normal(text, sizeof(text), judgement);
	} else if (out->kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE) {
		say_insufficient(text, sizeof(text), judgement);
	}
	say_extras(text, sizeof(text), out, judgement);
	out->reason = fsl_arena_strdup(&out->arena, text);
	if (out->reason == NULL) {
		out->reason = "";
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"reason\"");
	}
	return FSL_OK;
}

static void set_kind(struct fsl_perception *out, const struct judgement *judgement, bool is_enough)
{
	const struct fsl_silence *silence = &judgement->silence;
	if (silence->n_ranks > 0 && silence->n_silent == silence->n_ranks) {
		out->kind = FSL_VERDICT_HANG;
		out->anomaly_type = "hang";
	} else if (out->n_anomalies > 0) {
		out->kind = FSL_VERDICT_JOB_SLOWDOWN;
		out->anomaly_type = "failSlow";
	} else {
		out->kind = is_enough ? FSL_VERDICT_NORMAL : FSL_VERDICT_INSUFFICIENT_EVIDENCE;
		out->anomaly_type = "normal";
	}
	out->is_anomaly = out->kind == FSL_VERDICT_HANG || out->kind == FSL_VERDICT_JOB_SLOWDOWN;
}

static void set_coverage(struct fsl_perception *out, const struct judgement *judgement)
{
	const struct fsl_steps *steps = judgement->steps;
	out->coverage.n_ranks_seen = judgement->silence.n_ranks;
	out->coverage.n_steps = steps->n_items;
	out->coverage.steps_source = steps->source;
	if (steps->n_items > 0) {
		const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
		out->coverage.begin_ns = steps->items[0].begin_ns;
		out->coverage.end_ns = last->begin_ns + last->dur_ns;
	}
}

/* Notes checks that the user switched off: they are no evidence of health. */
static enum fsl_status note_skipped(struct fsl_perception *out, const struct fsl_config *config,
				    struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < config->n_detectors && status == FSL_OK; i++) {
		const struct fsl_detector_config *detector = &config->detectors[i];
		if (!detector->enabled && (strcmp(detector->name, "Hang") == 0 ||
					   strcmp(detector->name, "StepKSigma") == 0)) {
			status = fsl_coverage_add_skipped(&out->coverage, &out->arena, err,
							  "%s: switched off by the configuration",
							  detector->name);
		}
	}
	return status;
}

static enum fsl_status perceive(struct fsl_perception *out, struct judgement *judgement,
				struct fsl_error *err)
{
	const struct fsl_config *config = judgement->config;
	struct fsl_step_series *series = &judgement->series;
	bool is_enough = series->n > 0 && (int64_t)series->n >= config->min_startup_detection_steps;
	set_range(out, judgement);
	enum fsl_status status = fsl_perceive_silence(out, &judgement->silence, judgement->run,
						      series->median_ms, config, err);
	if (status == FSL_OK && is_enough) {
		status = config->algorithm == FSL_ALGORITHM_SYSTRACE
				 ? perceive_as_systrace(out, judgement, err)
				 : perceive_steps(out, judgement, err);
	}
	if (status == FSL_OK) {
		status = fsl_perceive_stages(out, judgement->progress, config, err);
	}
	if (status == FSL_OK) {
		set_kind(out, judgement, is_enough);
		set_coverage(out, judgement);
		status = note_skipped(out, config, err);
	}
	if (status == FSL_OK) {
		status = set_reason(out, judgement, err);
	}
	return status;
}

enum fsl_status fsl_perceive(struct fsl_perception *out, const struct fsl_run *run,
			     const struct fsl_progress *progress, const struct fsl_config *config,
			     struct fsl_error *err)
{
	const struct fsl_steps *steps = &progress->steps;
	fsl_perception_init(out);
	struct judgement judgement = {
		.run = run, .progress = progress, .steps = steps, .config = config};
	enum fsl_status status = fsl_step_series_init(&judgement.series, steps, config, err);
	if (status == FSL_OK) {
		status = perceive(out, &judgement, err);
	}
	fsl_step_series_fini(&judgement.series);
	if (status != FSL_OK) {
		fsl_perception_fini(out);
		return FSL_CAUSE(err, status, "cannot judge the step times: steps=%zu",
				 steps->n_items);
	}
	return FSL_OK;
}

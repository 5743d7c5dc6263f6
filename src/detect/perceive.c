/* Joins hang, step time, data loading and checkpoints to one verdict. */
#include "detect/perceive.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "detect/engine.h"
#include "detect/perceive_parts.h"
#include "text/phrase.h"

/* Slow data loading and slow checkpoints of the job, each against its own past. */
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
					const struct fsl_config *config, struct fsl_arena *arena,
					struct fsl_error *err)
{
	const struct fsl_steps *steps = &progress->steps;
	size_t n_stable = config->task_stable_step > 0 ? (size_t)config->task_stable_step : 0;
	if (steps->n_items <= n_stable) {
		return FSL_OK;
	}
	struct sample *samples = NULL;
	double *scratch = NULL;
	FSL_TRY(FSL_ARENA_NEW(samples, arena, steps->n_items, "samples", err));
	FSL_TRY(FSL_ARENA_NEW(scratch, arena, 2 * steps->n_items, "scratch", err));
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
	return judge(out, samples + n_stable, steps->n_items - n_stable, &past, false, err);
}

static enum fsl_status perceive_ckpts(struct fsl_perception *out,
				      const struct fsl_progress *progress,
				      const struct fsl_config *config, struct fsl_arena *arena,
				      struct fsl_error *err)
{
	struct sample *samples = NULL;
	FSL_TRY(FSL_ARENA_NEW(samples, arena, progress->n_saves, "samples", err));
	for (size_t i = 0; i < progress->n_saves; i++) {
		const struct fsl_save *save = &progress->saves[i];
		samples[i] = (struct sample){save->step, save->begin_ns,
					     (double)save->dur_ns / FSL_NS_PER_MS};
	}
	struct past past = {.n_min = CKPT_PAST_MIN, .degree_thr = config->anomaly_degree_thr};
	return judge(out, samples, progress->n_saves, &past, true, err);
}

/* Fills slow_dataloader and slow_ckpt, if they are enabled. */
static enum fsl_status perceive_stages(struct fsl_perception *out,
				       const struct fsl_progress *progress,
				       const struct fsl_config *config, struct fsl_arena *arena,
				       struct fsl_error *err)
{
	if (config->enable_dataloader) {
		FSL_TRY(perceive_loading(out, progress, config, arena, err));
	}
	if (config->enable_ckpt) {
		FSL_TRY(perceive_ckpts(out, progress, config, arena, err));
	}
	return FSL_OK;
}

/* Tells whether the job still moves, and if not, which rank stopped first. */

static const double MINUTES_PER_HOUR = 60.0;
/*
 * A silence of at least this many minutes and this many steps is reported, although it is no hang
 * yet. Shorter ones are normal: records are written in blocks, so the last records of a running job
 * are always a little old.
 */
static const double TOLD_MINS = 1.0;
static const double TOLD_STEPS = 10.0;

/* Makes one window with the age of the last event of each rank that has events. */
static enum fsl_status make_ages(struct fsl_windows *windows, const struct fsl_run *run,
				 size_t n_ranks, int64_t now_ns, struct fsl_error *err)
{
	FSL_TRY(fsl_windows_init(windows, FSL_METRIC_EVENT_AGE, FSL_WINDOW_TIME, n_ranks, 1, err));
	size_t m = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		int64_t last_ns = run->ranks[r].last_event_ns;
		if (last_ns == FSL_NS_ABSENT) {
			continue;
		}
		/* An event after now comes from a clock that runs ahead. */
		int64_t age_ns = last_ns < now_ns ? now_ns - last_ns : 0;
		windows->ranks[m] = run->ranks[r].rank;
		windows->values[m] = (double)age_ns / FSL_NS_PER_MS;
		windows->first_ns[m] = last_ns;
		m++;
	}
	return FSL_OK;
}

static enum fsl_status find_silent(struct fsl_silence *silence, const struct fsl_windows *ages,
				   const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_arena arena = {0};
	struct fsl_findings findings = {0};
	struct fsl_detector_config detector = {0};
	bool is_skipped = false;
	const struct fsl_perceive_key keys[] = {{"threshold_mins", config->hang_times_mins_thr},
						{0}};
	enum fsl_status status =
		fsl_perceive_detector(&detector, config, "Hang", keys, &arena, err);
	if (status == FSL_OK) {
		status = fsl_engine_scan(&detector, ages, &findings, &is_skipped, err);
	}
	silence->n_silent = findings.n_items;
	silence->silent_rank = findings.n_items > 0 ? findings.items[0].rank : FSL_RANK_UNKNOWN;
	fsl_findings_fini(&findings);
	fsl_arena_fini(&arena);
	return status;
}

static struct fsl_silence count_ranks(const struct fsl_run *run)
{
	struct fsl_silence silence = {.silent_rank = FSL_RANK_UNKNOWN, .waits_in = FSL_STR_NONE};
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		silence.n_ranks += rank->last_event_ns != FSL_NS_ABSENT ? 1 : 0;
		silence.n_restarts = rank->n_restarts > silence.n_restarts ? rank->n_restarts
									   : silence.n_restarts;
		if (fsl_rank_waits(rank)) {
			silence.waits_in =
				silence.n_waiting == 0 ? rank->open_op_id : silence.waits_in;
			silence.n_waiting++;
		}
	}
	return silence;
}

/* True if the job may be about to hang: silent for a while, but not long enough for a hang. */
static bool is_stalled(const struct fsl_silence *silence, double silent_mins, double step_ms)
{
	double steps_mins = TOLD_STEPS * step_ms * FSL_NS_PER_MS / (60.0 * FSL_NS_PER_S);
	return !silence->is_over && silence->n_silent < silence->n_ranks &&
	       silent_mins >= fmax(TOLD_MINS, steps_mins); /* fmax ignores NaN */
}

/*
 * True if a log tells that the job is done: its rank adds no step after that, and no rank does
 * anything for longer than a job takes to end. Ranks go in lock step: one log is enough.
 */
static bool has_finished(const struct fsl_run *run, int64_t newest_ns,
			 const struct fsl_config *config)
{
	double end_ns = config->hang_times_mins_thr * 60.0 * FSL_NS_PER_S;
	int64_t finished_ns = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		size_t n = rank->n_steps;
		while (n > 0 && !rank->steps[n - 1].is_logged) {
			n--;
		}
		const struct fsl_step_time *last = n > 0 ? &rank->steps[n - 1] : NULL;
		if (last != NULL && rank->finished_ns >= last->begin_ns + last->dur_ns &&
		    rank->finished_ns > finished_ns) {
			finished_ns = rank->finished_ns;
		}
	}
	return finished_ns > 0 && (double)(newest_ns - finished_ns) <= end_ns;
}

/* Judges the age of the last events by the detector Hang. Sets out->hang_mins, hang_since_ns,
 * n_stalled, and for a hang stopped_first. @step_ms: usual step time, NaN if unknown. */
static enum fsl_status perceive_silence(struct fsl_perception *out, struct fsl_silence *silence,
					const struct fsl_run *run, double step_ms,
					const struct fsl_config *config, struct fsl_error *err)
{
	*silence = count_ranks(run);
	if (silence->n_ranks == 0) {
		return FSL_OK;
	}
	struct fsl_windows ages = {0};
	enum fsl_status status = make_ages(&ages, run, silence->n_ranks, config->now_ns, err);
	if (status != FSL_OK) {
		goto out;
	}
	size_t newest = 0;
	for (size_t m = 1; m < ages.n_members; m++) {
		newest = ages.first_ns[m] > ages.first_ns[newest] ? m : newest;
	}
	out->hang_mins = ages.values[newest] * FSL_NS_PER_MS / (60.0 * FSL_NS_PER_S);
	out->hang_since_ns = ages.first_ns[newest];
	if (config->lacks_present && fsl_perceive_holds_steps_alone(run)) {
		goto out; /* logs are looked at when the job is over: nothing tells that it hangs */
	}
	silence->is_finished = has_finished(run, out->hang_since_ns, config);
	silence->is_over = silence->is_finished ||
			   (config->hang_forget_hours > 0.0 &&
			    out->hang_mins > MINUTES_PER_HOUR * config->hang_forget_hours);
	out->is_over = silence->is_over;
	if (silence->is_over) {
		goto out; /* nobody waits for the job */
	}
	status = find_silent(silence, &ages, config, err);
	if (status == FSL_OK && silence->n_silent == silence->n_ranks) {
		status = fsl_perceive_stopped_first(out, run, &ages, step_ms, err);
	}
	out->n_stalled = is_stalled(silence, out->hang_mins, step_ms) ? silence->n_waiting : 0;
out:
	fsl_windows_fini(&ages);
	return status;
}

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
			if (is_of_it && step_ms > rise->base_ms) {
				FSL_TRY(add_anomaly(out, series, next, step_ms, rise->base_ms,
						    err));
			}
		}
	}
	return FSL_OK;
}

static enum fsl_status add_episodes(struct fsl_perception *out, const struct judgement *judgement,
				    struct fsl_error *err)
{
	const struct fsl_step_series *series = &judgement->series;
	size_t n_each = judgement->steps->stride > 1 ? (size_t)judgement->steps->stride : 1;
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
			.n_steps = (rise->until - rise->begin) * n_each,
			.is_of_saves = rise->is_of_saves,
			.is_drift = rise->is_drift,
		};
		FSL_TRY(FSL_APPEND(out, episodes, &episode, err));
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
		FSL_TRY(FSL_APPEND(out, explained, &explained, err));
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
	struct fsl_step_series *series = &judgement->series;
	struct fsl_step_rise *rises = judgement->rises;
	size_t *n_rises = &judgement->n_rises;
	FSL_TRY(fsl_step_series_shifts(series, rises, n_rises, err));
	FSL_TRY(fsl_step_series_runs(series, judgement->config, rises, n_rises, err));
	if (*n_rises == 0) {
		FSL_TRY(fsl_step_series_saves(series, rises, n_rises, err));
	}
	FSL_TRY(add_episodes(out, judgement, err));
	FSL_TRY(add_anomalies(out, judgement, err));
	return add_explained(out, series, err);
}

/* algorithm "systrace": only the reference's alarms, on the reference's series. */
static enum fsl_status perceive_as_systrace(struct fsl_perception *out, struct judgement *judgement,
					    struct fsl_error *err)
{
	const struct fsl_step_series *series = &judgement->series;
	struct fsl_step_alarms alarms = {0};
	size_t n = series->n - (judgement->steps->is_last_open ? 1 : 0);
	FSL_TRY(fsl_step_alarms_init(&alarms, &judgement->series.arena, n, err));
	for (size_t i = 0; i < n; i++) {
		alarms.values[i] = whole_ms(&series->items[i]);
	}
	alarms.n = n;
	FSL_TRY(fsl_step_alarms_find(&alarms, false, judgement->config, err));
	for (size_t i = 0; i < n; i++) {
		struct fsl_step_anomaly anomaly = {
			.step = series->items[i].step,
			.begin_ns = series->items[i].begin_ns,
			.degree = alarms.values[i] / alarms.normal_ms[i] - 1.0,
			.step_ms = alarms.values[i],
			.normal_ms = alarms.normal_ms[i],
		};
		if (alarms.labels[i] != 0) {
			FSL_TRY(FSL_APPEND(out, anomalies, &anomaly, err));
		}
	}
	return FSL_OK;
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

/* A length of steps as the headline tells it: "90.2 s". */
static struct fsl_phrase length_of(double ms)
{
	struct fsl_phrase phrase = {0};
	fsl_phrase_add_ms(&phrase, ms);
	return phrase;
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
	append(text, size, "%s on average instead of %s", length_of(episode->after_ms).text,
	       length_of(episode->before_ms).text);
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
	struct fsl_phrase before = length_of(worst->before_ms), after = length_of(worst->after_ms);
	if (worst->is_drift) {
		append(text, size,
		       "step time grows steadily since step %lld, from %s to %s, %.2f times",
		       (long long)worst->onset_step, before.text, after.text,
		       worst->after_ms / worst->before_ms);
		return;
	}
	append(text, size, "step time rose %.2f times at step %lld, from %s to %s, ",
	       worst->after_ms / worst->before_ms, (long long)worst->onset_step, before.text,
	       after.text);
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
	       "no lasting rise of the step time: median %s over %zu steps (%lld to %lld)",
	       length_of(series->median_ms).text, series->n, (long long)series->items[0].step,
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
	if (silence->n_restarts > 0) {
		append(text, size, "; restarted %u %s (step numbers begin again)",
		       silence->n_restarts, silence->n_restarts == 1 ? "time" : "times");
	}
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
	if (silence->is_finished) {
		append(text, size, "; the job has finished, by its log");
	} else if (silence->is_over) {
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
	for (size_t i = 0; i < config->n_detectors; i++) {
		const struct fsl_detector_config *detector = &config->detectors[i];
		if (!detector->enabled && (strcmp(detector->name, "Hang") == 0 ||
					   strcmp(detector->name, "StepKSigma") == 0)) {
			FSL_TRY(fsl_coverage_add_skipped(&out->coverage, &out->arena, err,
							 "%s: switched off by the configuration",
							 detector->name));
		}
	}
	return FSL_OK;
}

static enum fsl_status perceive(struct fsl_perception *out, struct judgement *judgement,
				struct fsl_error *err)
{
	const struct fsl_config *config = judgement->config;
	struct fsl_step_series *series = &judgement->series;
	bool is_enough = series->n > 0 && (int64_t)series->n >= config->min_startup_detection_steps;
	set_range(out, judgement);
	FSL_TRY(perceive_silence(out, &judgement->silence, judgement->run, series->median_ms,
				 config, err));
	if (is_enough) {
		FSL_TRY(config->algorithm == FSL_ALGORITHM_SYSTRACE
				? perceive_as_systrace(out, judgement, err)
				: perceive_steps(out, judgement, err));
	}
	FSL_TRY(perceive_stages(out, judgement->progress, config, &series->arena, err));
	set_kind(out, judgement, is_enough);
	set_coverage(out, judgement);
	FSL_TRY(note_skipped(out, config, err));
	return set_reason(out, judgement, err);
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

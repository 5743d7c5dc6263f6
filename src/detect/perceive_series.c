/* The series of step times that perception judges, without checkpoints and GC, and its rises. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/growth.h"
#include "base/log.h"
#include "base/number.h"
#include "base/shift.h"
#include "base/sort.h"
#include "detect/engine.h"
#include "detect/perceive_parts.h"
#include "plugin/registry.h"

static const double SIGMAS_LONG = 3.0;
static const double SIGMAS_RISE = 10.0; /* for one step; see is_risen */
static const double SIGMAS_RISE_MIN = 1.5;
/* A lasting level counts from this part of what makes a single step long: it costs all steps, and
 * many of them tell it from noise. Simulated jobs that slow down by 5 % are told with a quarter and
 * not with a half; neither is told in healthy ones. */
static const double LEVEL_SHARE = 0.25;

bool fsl_step_series_is_long(const struct fsl_step_series *series, size_t i, double step_ms)
{
	double excess = log(step_ms / series->level_ms[i]);
	return excess > log1p(series->degree_thr) && excess > SIGMAS_LONG * series->sigma;
}

/*
 * True if the median of @n_steps steps lies so far above @base_ms that noise does not explain it:
 * by at least @share_min, and by 10 / sqrt(n_steps) sigma (at least 1.5). That is about 4
 * deviations of such a median if neighbours correlate by 0.6, so that one such window in a thousand
 * is not yet a rise.
 */
static bool is_risen(const struct fsl_step_series *series, double base_ms, double level_ms,
		     size_t n_steps, double share_min)
{
	double sigmas = fmax(SIGMAS_RISE / sqrt((double)n_steps), SIGMAS_RISE_MIN);
	double excess = log(level_ms / base_ms);
	return excess >= log1p(share_min) && excess >= sigmas * series->sigma;
}

/* Lasting rises of the step time: walks the level shifts of base/shift.h and remembers the normal
 * level of the job. */

/* Steps of one level. */
struct segment {
	size_t begin, end;
	double level_ms;
	double p_value; /* p of the change with which it began */
};

struct segmentation {
	const struct fsl_step_series *series;
	double *scratch;                             /* n */
	struct segment segments[FSL_STEP_RISES_MAX]; /* sorted */
	size_t n_segments;
};

static bool is_above(const struct fsl_step_series *series, double base_ms,
		     const struct segment *segment)
{
	return is_risen(series, base_ms, segment->level_ms, segment->end - segment->begin,
			LEVEL_SHARE * series->degree_thr);
}

/* Ends the rises that @segment has returned from; true if other rises go on. */
static bool end_rises(const struct fsl_step_series *series, const struct segment *segment,
		      struct fsl_step_rise *rises, size_t n_rises)
{
	bool goes_on = false;
	for (size_t r = 0; r < n_rises; r++) {
		double before_ms = rises[r].before_ms;
		if (rises[r].until < series->n) {
			continue;
		}
		if (is_above(series, before_ms, segment)) {
			goes_on = true;
		} else {
			rises[r].until = segment->begin;
		}
	}
	return goes_on;
}

/* Walks the segments. Normal is the median of all steps so far that belong to no rise. So a job
 * that ran faster for a while and comes back is not slow. @normal holds n values. */
static size_t collect_rises(struct segmentation *s, double *normal, struct fsl_step_rise *rises)
{
	const struct fsl_step_series *series = s->series;
	size_t n_rises = 0;
	size_t n_normal = 0;
	for (size_t k = 0; k < s->n_segments; k++) {
		const struct segment *segment = &s->segments[k];
		double base_ms = fsl_median(normal, n_normal, s->scratch);
		bool goes_on = end_rises(series, segment, rises, n_rises);
		if (k == 0 || !is_above(series, base_ms, segment)) {
			size_t n_steps = segment->end - segment->begin;
			memcpy(normal + n_normal, series->clear_ms + segment->begin,
			       n_steps * sizeof(*normal));
			n_normal += n_steps;
		} else if (!goes_on || segment->level_ms > segment[-1].level_ms) {
			rises[n_rises++] = (struct fsl_step_rise){
				.begin = segment->begin,
				.until = series->n,
				.base_ms = base_ms,
				.before_ms = goes_on ? segment[-1].level_ms : base_ms,
				.after_ms = segment->level_ms,
				.p_value = segment->p_value,
			};
		}
	}
	return n_rises;
}

/* Finds all lasting levels: changes in both directions of at least the size that counts. */
static enum fsl_status find_segments(struct segmentation *s, struct fsl_error *err)
{
	const struct fsl_step_series *series = s->series;
	struct fsl_shifts shifts = {0};
	struct fsl_shift_options options = fsl_shift_steps;
	options.change_min = LEVEL_SHARE * series->degree_thr;
	options.sigma_min = series->sigma;
	options.changes_max = FSL_STEP_RISES_MAX - 1;
	size_t n_last = series->n < FSL_SHIFT_VALUES_MAX ? series->n : FSL_SHIFT_VALUES_MAX;
	size_t first = series->n - n_last;
	enum fsl_status status =
		fsl_shifts_find(&shifts, series->clear_ms + first, n_last, &options, err);
	if (status != FSL_OK) {
		return status;
	}
	s->segments[0] = (struct segment){.begin = 0, .p_value = 1.0};
	for (size_t i = 0; i < shifts.n; i++) {
		s->segments[i].end = first + shifts.items[i].at;
		s->segments[i + 1] = (struct segment){.begin = first + shifts.items[i].at,
						      .p_value = shifts.items[i].p_value};
	}
	s->n_segments = shifts.n + 1;
	s->segments[shifts.n].end = series->n;
	for (size_t k = 0; k < s->n_segments; k++) {
		struct segment *segment = &s->segments[k];
		segment->level_ms = fsl_median(series->clear_ms + segment->begin,
					       segment->end - segment->begin, s->scratch);
	}
	fsl_shifts_fini(&shifts);
	return FSL_OK;
}

/* One rise in place of all others if the steps grow steadily. Growth that no level shows has to be
 * as much as what a slow step exceeds the others by. */
static enum fsl_status find_drift(const struct fsl_step_series *series,
				  const struct segmentation *s, struct fsl_step_rise *rises,
				  size_t *n_rises, struct fsl_error *err)
{
	struct fsl_growth drift;
	struct fsl_shift items[FSL_STEP_RISES_MAX];
	struct fsl_shifts shifts = {.items = items, .n = s->n_segments - 1};
	double change_min = *n_rises > 0 ? series->degree_thr / 2 : series->degree_thr;
	for (size_t k = 1; k < s->n_segments; k++) {
		items[k - 1].at = s->segments[k].begin;
	}
	FSL_TRY(fsl_growth_find(&drift, series->clear_ms, series->n, &shifts, change_min, err));
	if (drift.is_found && drift.to > drift.from) {
		*n_rises = 1;
		rises[0] = (struct fsl_step_rise){.begin = drift.begin,
						  .until = series->n,
						  .base_ms = drift.from,
						  .before_ms = drift.from,
						  .after_ms = drift.to,
						  .p_value = s->segments[s->n_segments - 1].p_value,
						  .is_drift = true};
	}
	return FSL_OK;
}

enum fsl_status fsl_step_series_shifts(struct fsl_step_series *series, struct fsl_step_rise *rises,
				       size_t *n_rises, struct fsl_error *err)
{
	*n_rises = 0;
	if (series->n == 0) {
		return FSL_OK;
	}
	struct segmentation s = {.series = series};
	double *normal = NULL;
	FSL_TRY(FSL_ARENA_NEW(normal, &series->arena, series->n, "normal", err));
	FSL_TRY(FSL_ARENA_NEW(s.scratch, &series->arena, series->n, "scratch", err));
	FSL_TRY(find_segments(&s, err));
	*n_rises = collect_rises(&s, normal, rises);
	return find_drift(series, &s, rises, n_rises, err);
}

/*
 * Finds checkpoints that take longer from some checkpoint on, for good or for a while. The steps
 * that they make long count as explained, so no step shows the change. If the storage of all ranks
 * is slow, no rank is above its peers either.
 */
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

enum fsl_status fsl_step_series_saves(struct fsl_step_series *series, struct fsl_step_rise *rises,
				      size_t *n_rises, struct fsl_error *err)
{
	static void (*const finders[])(struct saves *) = {find_lasting, find_passing};
	struct saves *saves = NULL;
	FSL_TRY(FSL_ARENA_NEW(saves, &series->arena, 1, "saves", err));
	size_t first = first_step(series);
	for (size_t i = 0; i < sizeof(finders) / sizeof(finders[0]) && *n_rises == 0; i++) {
		collect(saves, series, first);
		finders[i](saves);
		if (saves->begin < saves->end && is_rise(&rises[0], series, saves, first)) {
			*n_rises = 1;
		}
	}
	return FSL_OK;
}

enum { LEVEL_HALF = 5 /* steps on either side that give the level of a step */ };
/* A checkpoint shorter than this share of a step does not delay other ranks for long. */
static const double CKPT_SHARE_MIN = 0.1;
/* Least sigma, as a share of a step: clocks and schedulers are not finer. */
static const double SIGMA_MIN = 0.001;

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
	double *buffers = NULL;
	FSL_TRY(FSL_ARENA_NEW(buffers, &series->arena, 3 * series->n, "buffers", err));
	find_levels(series);
	clear_pauses(series);
	series->median_ms = fsl_median(series->clear_ms, series->n, buffers);
	series->sigma = find_sigma(series, buffers);
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
	FSL_TRY(FSL_ARENA_NEW(series->dur_ms, &series->arena, n, "dur_ms", err));
	FSL_TRY(FSL_ARENA_NEW(series->level_ms, &series->arena, n, "level_ms", err));
	FSL_TRY(FSL_ARENA_NEW(series->clear_ms, &series->arena, n, "clear_ms", err));
	FSL_TRY(FSL_ARENA_NEW(series->is_explained, &series->arena, n, "is_explained", err));
	for (size_t i = 0; i < n; i++) {
		FSL_REQUIRE(series->items[i].dur_ns > 0);
		series->dur_ms[i] = (double)series->items[i].dur_ns / FSL_NS_PER_MS;
	}
	return measure(series, err);
}

void fsl_step_series_fini(struct fsl_step_series *series)
{
	fsl_arena_fini(&series->arena);
	*series = (struct fsl_step_series){.median_ms = NAN, .sigma = NAN};
}

/*
 * The reference's k-sigma on step times, by the detector StepKSigma, and the short rises it finds.
 */

enum {
	LONG_STEPS_MIN = 3, /* a rise has at least two long steps and one that confirms the last */
	SCANS_MAX = 100,    /* each scan may find steps that the previous one uncovered */
};

static const struct fsl_detector_config *configured(const struct fsl_config *config,
						    const char *name)
{
	for (size_t i = 0; i < config->n_detectors; i++) {
		if (strcmp(config->detectors[i].name, name) == 0) {
			return &config->detectors[i];
		}
	}
	return NULL;
}

/* Puts the section of @name into @json, where it overrides the model's keys. */
static bool put_given(const struct fsl_config *config, const char *name, cJSON *json)
{
	bool is_put = true;
	for (size_t i = 0; i < config->n_values && is_put; i++) {
		const struct fsl_config_value *value = &config->values[i];
		const char *key = strrchr(value->key, '.');
		size_t n_name = strlen(name);
		bool is_given = value->file[0] != '\0' && key != NULL &&
				strncmp(value->key, "detectors.", 10) == 0 &&
				strncmp(value->key + 10, name, n_name) == 0 &&
				value->key + 10 + n_name == key;
		if (is_given) {
			cJSON_DeleteItemFromObjectCaseSensitive(json, key + 1);
			is_put = cJSON_AddItemToObject(json, key + 1, cJSON_Parse(value->value));
		}
	}
	return is_put;
}

static enum fsl_status built_in(struct fsl_detector_config *out,
				const struct fsl_detector *detector, const cJSON *json,
				struct fsl_arena *arena, struct fsl_error *err)
{
	const void *params = NULL;
	FSL_TRY(fsl_registry_params(detector, json, "model_config.json", arena, &params, err));
	*out = (struct fsl_detector_config){
		.detector = detector, .params = params, .name = detector->name, .enabled = true};
	return FSL_OK;
}

static enum fsl_status choose(struct fsl_detector_config *out, const struct fsl_config *config,
			      const char *name, cJSON *json, struct fsl_arena *arena,
			      struct fsl_error *err)
{
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detector=\"%s\"", name);
	}
	const struct fsl_detector *detector = fsl_registry_find(registry, name);
	const struct fsl_detector_config *listed = configured(config, name);
	enum fsl_status status = FSL_OK;
	if (listed != NULL && (!listed->enabled || listed->detector != detector)) {
		*out = *listed;
		out->detector =
			listed->enabled ? listed->detector : NULL; /* the engine skips NULL */
	} else if (detector == NULL) {
		status = FSL_FAIL(err, FSL_ERR_INTERNAL, "no such detector: name=\"%s\"", name);
	} else if (listed != NULL && !put_given(config, name, json)) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detector=\"%s\"", name);
	} else {
		status = built_in(out, detector, json, arena, err);
	}
	fsl_registry_destroy(registry);
	return status;
}

enum fsl_status fsl_perceive_detector(struct fsl_detector_config *out,
				      const struct fsl_config *config, const char *name,
				      const struct fsl_perceive_key *keys, struct fsl_arena *arena,
				      struct fsl_error *err)
{
	cJSON *json = cJSON_CreateObject();
	bool is_made = json != NULL;
	for (; keys->name != NULL && is_made; keys++) {
		is_made = cJSON_AddNumberToObject(json, keys->name, keys->value) != NULL;
	}
	enum fsl_status status =
		is_made ? choose(out, config, name, json, arena, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detector=\"%s\"", name);
	cJSON_Delete(json);
	return status;
}

static enum fsl_status scan(const struct fsl_detector_config *detector,
			    const struct fsl_windows *windows, uint8_t *labels,
			    struct fsl_error *err)
{
	struct fsl_findings findings = {0};
	bool is_skipped = false;
	enum fsl_status status = fsl_engine_scan(detector, windows, &findings, &is_skipped, err);
	if (status == FSL_OK) {
		fsl_findings_to_labels(&findings, windows, labels);
	}
	fsl_findings_fini(&findings);
	return status;
}

enum fsl_status fsl_step_alarms_init(struct fsl_step_alarms *alarms, struct fsl_arena *arena,
				     size_t n_max, struct fsl_error *err)
{
	FSL_TRY(FSL_ARENA_NEW(alarms->values, arena, n_max, "values", err));
	FSL_TRY(FSL_ARENA_NEW(alarms->labels, arena, n_max, "labels", err));
	return FSL_ARENA_NEW(alarms->normal_ms, arena, n_max, "normal_ms", err);
}

/* Takes over the alarms of one scan; false if none is new. With @leave_out an alarmed step gets the
 * value of the step one window earlier, so that every window holds the latest normal steps. */
static bool take_found(struct fsl_step_alarms *alarms, struct fsl_windows *windows,
		       const uint8_t *found, size_t n_window, bool leave_out)
{
	double *values = windows->values;
	bool is_new = false;
	for (size_t i = n_window; i < alarms->n; i++) {
		if (found[i] == 0 || alarms->labels[i] != 0) {
			continue;
		}
		alarms->labels[i] = 1;
		alarms->normal_ms[i] = fsl_mean(values + i - n_window, n_window);
		values[i] = leave_out ? values[i - n_window] : values[i];
		is_new = true;
	}
	return is_new;
}

static enum fsl_status scan_repeatedly(struct fsl_step_alarms *alarms, struct fsl_windows *windows,
				       const struct fsl_config *config, bool leave_out,
				       struct fsl_error *err)
{
	const struct fsl_perceive_key keys[] = {
		{"steps_window_size", (double)config->steps_window_size},
		{"k_sigma", config->k_sigma},
		{"anomaly_degree_thr", config->anomaly_degree_thr},
		{0},
	};
	struct fsl_arena arena = {0};
	struct fsl_detector_config detector = {0};
	size_t n_window = (size_t)config->steps_window_size;
	uint8_t *found = NULL;
	enum fsl_status status = FSL_ARENA_NEW(found, &arena, alarms->n, "found", err);
	if (status == FSL_OK) {
		status = fsl_perceive_detector(&detector, config, "StepKSigma", keys, &arena, err);
	}
	bool is_new = true;
	for (int i = 0; i < SCANS_MAX && is_new && status == FSL_OK; i++) {
		status = scan(&detector, windows, found, err);
		is_new =
			status == FSL_OK && take_found(alarms, windows, found, n_window, leave_out);
	}
	fsl_arena_fini(&arena);
	return status;
}

enum fsl_status fsl_step_alarms_find(struct fsl_step_alarms *alarms, bool leave_out,
				     const struct fsl_config *config, struct fsl_error *err)
{
	if (config->steps_window_size < 1 || alarms->n <= (size_t)config->steps_window_size) {
		return FSL_OK;
	}
	struct fsl_windows windows = {0};
	enum fsl_status status = fsl_windows_init(&windows, FSL_METRIC_STEP_TIME, FSL_WINDOW_STEP,
						  1, alarms->n, err);
	if (status == FSL_OK) {
		windows.ranks[0] = -1;
		memcpy(windows.values, alarms->values, alarms->n * sizeof(*alarms->values));
		status = scan_repeatedly(alarms, &windows, config, leave_out, err);
	}
	fsl_windows_fini(&windows);
	return status;
}

static int compare_rises(const void *left, const void *right)
{
	const struct fsl_step_rise *a = left;
	const struct fsl_step_rise *b = right;
	return FSL_ORDER(a->begin, b->begin);
}

/* Search for short rises among the steps that belong to no known rise. */
struct search {
	const struct fsl_step_series *series;
	const struct fsl_config *config;
	const struct fsl_step_rise *known;
	size_t n_known;
	struct fsl_step_alarms alarms; /* room for series->n */
	size_t *positions;             /* position in the series of each entry of alarms.values */
	double *scratch;
};

static bool is_known(const struct search *search, size_t begin, size_t end)
{
	for (size_t r = 0; r < search->n_known; r++) {
		if (begin < search->known[r].until && search->known[r].begin < end) {
			return true;
		}
	}
	return false;
}

/* Makes the steps before @end that belong to no known rise the series of the alarms. */
static void collect_rest(struct search *search, size_t end)
{
	search->alarms.n = 0;
	for (size_t i = 0; i < end; i++) {
		if (!is_known(search, i, i + 1)) {
			search->positions[search->alarms.n] = i;
			search->alarms.values[search->alarms.n++] = search->series->clear_ms[i];
		}
	}
}

/* Sets labels and normal_ms by position in the series. */
static enum fsl_status label_rest(struct search *search, struct fsl_error *err)
{
	struct fsl_step_alarms *alarms = &search->alarms;
	collect_rest(search, search->series->n);
	FSL_TRY(fsl_step_alarms_find(alarms, true, search->config, err));
	/* From the end, because positions[i] >= i. */
	for (size_t i = alarms->n; i-- > 0;) {
		uint8_t label = alarms->labels[i];
		alarms->labels[i] = 0;
		alarms->labels[search->positions[i]] = label;
		alarms->normal_ms[search->positions[i]] = alarms->normal_ms[i];
	}
	return FSL_OK;
}

/* Makes the run [begin, end) a rise over the normal level before it. */
static struct fsl_step_rise make_rise(struct search *search, size_t begin, size_t end)
{
	const double *clear_ms = search->series->clear_ms;
	/* A window of ten steps forgets that the job had this step time before. */
	collect_rest(search, begin);
	double base_ms = fmax(search->alarms.normal_ms[begin],
			      fsl_median(search->alarms.values, search->alarms.n, search->scratch));
	size_t n_before = begin < 2 * (size_t)LONG_STEPS_MIN ? begin : 2 * (size_t)LONG_STEPS_MIN;
	return (struct fsl_step_rise){
		.begin = begin,
		.until = end,
		.base_ms = base_ms,
		.before_ms = base_ms,
		.after_ms = fsl_median(clear_ms + begin, end - begin, search->scratch),
		.p_value = fsl_mann_whitney_p(clear_ms + begin - n_before, n_before,
					      clear_ms + begin, end - begin),
	};
}

/* Collects runs of alarmed steps, each with the step that confirms its last. */
static void collect_runs(struct search *search, struct fsl_step_rise *rises, size_t *n_rises)
{
	const struct fsl_step_series *series = search->series;
	for (size_t begin = 0; begin < series->n && *n_rises < FSL_STEP_RISES_MAX;) {
		size_t end = begin;
		while (end < series->n && search->alarms.labels[end] != 0) {
			end++;
		}
		if (end == begin) {
			begin++;
			continue;
		}
		end = end < series->n ? end + 1 : end;
		if (end - begin >= LONG_STEPS_MIN && !is_known(search, begin, end)) {
			struct fsl_step_rise rise = make_rise(search, begin, end);
			/* In so short a run every step must be long: two spikes are no rise. */
			double least_ms = fsl_agg_apply(FSL_AGG_MIN, 0.0, series->clear_ms + begin,
							end - begin, search->scratch);
			bool is_rise = is_risen(series, rise.base_ms, least_ms, end - begin,
						series->degree_thr);
			rises[*n_rises] = rise;
			*n_rises += is_rise ? 1 : 0;
		}
		begin = end;
	}
}

enum fsl_status fsl_step_series_runs(struct fsl_step_series *series,
				     const struct fsl_config *config, struct fsl_step_rise *rises,
				     size_t *n_rises, struct fsl_error *err)
{
	struct fsl_step_rise known[FSL_STEP_RISES_MAX];
	memcpy(known, rises, *n_rises * sizeof(*rises));
	struct search search = {
		.series = series,
		.config = config,
		.known = known,
		.n_known = *n_rises,
	};
	FSL_TRY(FSL_ARENA_NEW(search.positions, &series->arena, series->n, "positions", err));
	FSL_TRY(FSL_ARENA_NEW(search.scratch, &series->arena, series->n, "scratch", err));
	FSL_TRY(fsl_step_alarms_init(&search.alarms, &series->arena, series->n, err));
	FSL_TRY(label_rest(&search, err));
	collect_runs(&search, rises, n_rises);
	qsort(rises, *n_rises, sizeof(*rises), compare_rises);
	return FSL_OK;
}

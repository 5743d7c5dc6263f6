/* The series of step times that perception judges, without checkpoints and GC. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/number.h"
#include "base/shift.h"
#include "detect/perceive_parts.h"

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
	return fsl_step_series_is_rise(series, base_ms, segment->level_ms,
				       segment->end - segment->begin, series->degree_thr / 2);
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
	options.change_min = series->degree_thr / 2;
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

enum fsl_status fsl_step_series_shifts(struct fsl_step_series *series, struct fsl_step_rise *rises,
				       size_t *n_rises, struct fsl_error *err)
{
	*n_rises = 0;
	if (series->n == 0) {
		return FSL_OK;
	}
	struct segmentation s = {.series = series};
	double *normal = NULL;
	FSL_TRY(FSL_NEW(&series->arena, normal, series->n, err));
	FSL_TRY(FSL_NEW(&series->arena, s.scratch, series->n, err));
	FSL_TRY(find_segments(&s, err));
	*n_rises = collect_rises(&s, normal, rises);
	return FSL_OK;
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
	FSL_TRY(FSL_NEW(&series->arena, saves, 1, err));
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
	double *buffers = NULL;
	FSL_TRY(FSL_NEW(&series->arena, buffers, 3 * series->n, err));
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
	FSL_TRY(FSL_NEW(&series->arena, series->dur_ms, n, err));
	FSL_TRY(FSL_NEW(&series->arena, series->level_ms, n, err));
	FSL_TRY(FSL_NEW(&series->arena, series->clear_ms, n, err));
	FSL_TRY(FSL_NEW(&series->arena, series->is_explained, n, err));
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

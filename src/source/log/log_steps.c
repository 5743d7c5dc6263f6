/* Steps of a log. A line tells a number, a duration, a clock, or some of them. */
#include "source/log/log_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"

/* Times without a stamp begin here; finish() moves them. */
static const int64_t BASE_NS = INT64_C(1000000000) * FSL_NS_PER_S;
/* No step takes a month. */
static const double STEP_S_MAX = 30.0 * 86400.0;
/* Between two lines there may pass so much more time than their steps took: a share of it. */
static const double GAP_SHARE = 0.02;
/* A clock tells a duration if it has moved by so many of its ticks. */
enum { TICKS_MIN = 10 };
/* Lines of several ranks may overtake each other by so many lines. */
enum { OVERTAKEN_MAX = 2 };
/* And by less time than so many steps take. */
static const double OVERTAKEN_TIMES = 3.0;

static int64_t max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Numbers of steps that begin again with each epoch go on in the job. */
static void follow_epoch(struct fsl_log_steps *s, const struct fsl_log_hit *hit)
{
	if (hit->epoch < 0 || !s->has_line || hit->epoch == s->epoch) {
		return;
	}
	bool falls = hit->step <= s->raw_step;
	int64_t length = hit->total > 0 ? hit->total : s->raw_step + 1;
	if (hit->epoch > s->epoch && falls && length < INT32_MAX) {
		s->offset += length * (hit->epoch - s->epoch < 1000 ? hit->epoch - s->epoch : 1);
	} else if (hit->epoch < s->epoch && s->offset > 0) {
		s->offset = max_i64(0, s->offset - length * (s->epoch - hit->epoch));
	}
}

/* Since the line before so much time went by that another rank prints no copy of it. */
static bool did_stand(const struct fsl_log_steps *s, const struct fsl_log_hit *hit)
{
	double usual_ns = hit->time_s * FSL_NS_PER_S * (double)max_i64(s->stride, 1);
	return usual_ns > 0.0 && hit->stamp_ns != FSL_NS_ABSENT && s->stamp_ns != FSL_NS_ABSENT &&
	       (double)(hit->stamp_ns - s->stamp_ns - hit->stamp_step_ns) >
		       OVERTAKEN_TIMES * usual_ns;
}

/*
 * Number of the step in the job, and *n_steps since the last added step. False if the line says
 * nothing new: another rank's copy, or a rank that was overtaken.
 */
static bool number_step(struct fsl_log_steps *s, const struct fsl_log_hit *hit, int64_t *number,
			int64_t *n_steps)
{
	bool is_known = hit->step >= 0 && !hit->is_rounded;
	if (is_known) {
		follow_epoch(s, hit);
		*number = hit->step + s->offset;
	} else {
		double n = hit->span_s > 0.0 && hit->time_s > 0.0 ? hit->span_s / hit->time_s : 1.0;
		int64_t more = hit->is_rounded ? s->stride : n < 1e9 ? llround(n) : 1;
		*number = s->has_line ? s->seen + max_i64(more, 1) : max_i64(more, 1);
	}
	if (s->has_line && is_known) {
		int64_t rise = *number - s->seen;
		bool is_again = !did_stand(s, hit) &&
				(rise == 0 || (rise < 0 && -rise <= OVERTAKEN_MAX * s->stride &&
					       hit->epoch == s->epoch));
		if (is_again) {
			return false;
		}
		if (rise <= 0) {
			s->has_end = false; /* a restart */
		}
	}
	if (s->has_line && hit->step < 0 && hit->stamp_ns != FSL_NS_ABSENT &&
	    hit->stamp_ns == s->stamp_ns && hit->stamp_step_ns < FSL_NS_PER_S &&
	    hit->time_s == s->time_s) {
		return false;
	}
	*n_steps = s->has_end ? *number - s->last : s->stride;
	return true;
}

static void note_line(struct fsl_log_steps *s, const struct fsl_log_hit *hit, int64_t number)
{
	s->has_line = true;
	s->raw_step = hit->step;
	s->epoch = hit->epoch;
	s->seen = number;
	s->time_s = hit->time_s;
	s->stamp_ns = hit->stamp_ns;
	s->is_done = hit->planned > 0 && hit->step >= hit->planned &&
		     (hit->epoch < 0 || (hit->epochs > 0 && hit->epoch >= hit->epochs));
}

/* Moves all steps so far, which had no stamp. */
static void move_steps(struct fsl_log_steps *s, int64_t by_ns)
{
	struct fsl_rank *events = &s->sink->events;
	for (size_t i = 0; i < events->n_steps; i++) {
		events->steps[i].begin_ns = max_i64(0, events->steps[i].begin_ns + by_ns);
	}
	events->last_event_ns = FSL_NS_ABSENT;
	for (size_t i = 0; i < events->n_steps; i++) {
		fsl_sink_seen(s->sink, events->steps[i].begin_ns + events->steps[i].dur_ns);
	}
}

/* The elapsed time of a line as a clock that goes on when the elapsed time begins again. */
static int64_t time_of_elapsed(struct fsl_log_steps *s, double elapsed_s)
{
	int64_t elapsed_ns = llround(elapsed_s * FSL_NS_PER_S);
	if (s->elapsed_base_ns == 0) {
		s->elapsed_base_ns = BASE_NS;
	} else if (elapsed_ns < s->elapsed_ns) {
		s->elapsed_base_ns += s->elapsed_ns;
	}
	s->elapsed_ns = elapsed_ns;
	return s->elapsed_base_ns + elapsed_ns;
}

/* Time of the line by its clock, and what it is rounded to; false if it has none. */
static bool read_clock(struct fsl_log_steps *s, const struct fsl_log_hit *hit, int64_t *time_ns,
		       int64_t *step_ns)
{
	double elapsed_s = s->is_cumulative ? hit->time_s : hit->elapsed_s;
	if (hit->stamp_ns != FSL_NS_ABSENT) {
		*time_ns = hit->stamp_ns + (s->clock->has_days ? BASE_NS : 0);
		*step_ns = hit->stamp_step_ns;
		if (s->is_relative && !s->clock->has_days && s->has_end) {
			move_steps(s, *time_ns - s->end_ns);
			s->has_end = false;
		}
		s->is_relative = s->clock->has_days;
		return true;
	}
	if (elapsed_s >= 0.0 && elapsed_s < 1e9 && (s->is_relative || !s->has_end)) {
		*time_ns = time_of_elapsed(s, elapsed_s);
		*step_ns = s->is_cumulative ? FSL_NS_PER_MS : hit->elapsed_step_ns;
		s->is_relative = true;
		return true;
	}
	return false;
}

/* A mean of all steps so far, undone by their count, is a clock, finer than the elapsed time. */
static void undo_average(struct fsl_log_steps *s, const struct fsl_log_hit *hit, int64_t number,
			 int64_t *time_ns, int64_t *step_ns)
{
	if (!(hit->time_s > 0.0) || !(hit->elapsed_s >= 0.0) || !s->is_relative) {
		return;
	}
	if (!s->has_line || s->elapsed_ns < llround(hit->time_s * FSL_NS_PER_S)) {
		s->average_from =
			fmax(0.0, round((double)number - hit->elapsed_s / hit->time_s - 0.5));
	}
	double since_s = ((double)number - s->average_from) * hit->time_s;
	double off_s = fabs(since_s - hit->elapsed_s);
	if (off_s < 5.0 + 0.02 * hit->elapsed_s) {
		*time_ns = s->elapsed_base_ns + llround(since_s * FSL_NS_PER_S);
		*step_ns = max_i64(llround(since_s * hit->rounding * FSL_NS_PER_S), FSL_NS_PER_MS);
	}
}

static void drop_old(struct fsl_log_steps *s)
{
	struct fsl_rank *events = &s->sink->events;
	if (events->n_steps < FSL_LOG_STEPS_MAX) {
		return;
	}
	size_t n = FSL_LOG_STEPS_MAX / 2;
	memmove(events->steps, events->steps + (events->n_steps - n), n * sizeof(*events->steps));
	s->sink->file->n_dropped[FSL_DROP_OUT_OF_RANGE] += events->n_steps - n;
	events->n_steps = n;
}

/* Adds a step, or several of the same mean, that end at @end_ns. */
static enum fsl_status add_step(struct fsl_log_steps *s, const struct fsl_log_hit *hit,
				int64_t number, int64_t end_ns, int64_t dur_ns,
				struct fsl_error *err)
{
	bool is_numbered = hit->step >= 0 || hit->span_s > 0.0;
	struct fsl_step_time step = {
		.step = is_numbered ? number : -1,
		.begin_ns = end_ns - dur_ns,
		.dur_ns = dur_ns,
		.data_ns = hit->data_s > 0.0 && hit->data_s < STEP_S_MAX
				   ? llround(hit->data_s * FSL_NS_PER_S)
				   : 0,
		.is_logged = 1,
	};
	drop_old(s);
	s->has_end = true;
	s->last = number;
	s->end_ns = end_ns;
	return fsl_sink_add_step(s->sink, &step, err);
}

/* A clock alone: the time since the last added step, once it has moved far enough. */
static enum fsl_status add_by_clock(struct fsl_log_steps *s, const struct fsl_log_hit *hit,
				    int64_t number, int64_t time_ns, int64_t step_ns,
				    struct fsl_error *err)
{
	int64_t since_ns = time_ns - s->end_ns;
	if (!s->has_end || since_ns < 0) {
		s->has_end = true;
		s->last = number;
		s->end_ns = time_ns;
		return FSL_OK;
	}
	if (since_ns < TICKS_MIN * step_ns || number <= s->last) {
		return FSL_OK;
	}
	return add_step(s, hit, number, time_ns, since_ns / (number - s->last), err);
}

/*
 * End of a line's last step: the clock says it up to a tick, and within the tick the durations add
 * up. *dur_ns: the duration that the line tells, set to what the clock says where they contradict.
 */
static int64_t end_by_clock(const struct fsl_log_steps *s, int64_t time_ns, int64_t step_ns,
			    int64_t n_steps, int64_t *dur_ns)
{
	int64_t sum_ns = *dur_ns * n_steps, sum_end_ns = s->end_ns + sum_ns;
	if (!s->has_end || time_ns + step_ns <= s->end_ns) {
		return time_ns;
	}
	int64_t end_ns = sum_end_ns < time_ns             ? time_ns
			 : sum_end_ns > time_ns + step_ns ? time_ns + step_ns
							  : sum_end_ns;
	int64_t gap_ns = end_ns - sum_end_ns;
	if ((s->flags & LINE_SMOOTHED) != 0 || (double)gap_ns <= GAP_SHARE * (double)sum_ns) {
		*dur_ns = (end_ns - s->end_ns) / n_steps;
	}
	return end_ns;
}

/* A duration, with or without a clock. */
static enum fsl_status add_by_time(struct fsl_log_steps *s, const struct fsl_log_hit *hit,
				   int64_t number, int64_t n_steps, const int64_t clock[2],
				   struct fsl_error *err)
{
	bool has_time = hit->time_s >= 0.0;
	double time_s = has_time ? hit->time_s : hit->span_s / (double)n_steps;
	int64_t dur_ns = llround(time_s * FSL_NS_PER_S);
	int64_t end_ns = 0;
	if (clock != NULL) {
		end_ns = end_by_clock(s, clock[0], clock[1], n_steps, &dur_ns);
	} else {
		s->is_relative |= s->end_ns == 0;
		int64_t begin_ns = s->end_ns == 0 ? BASE_NS : s->end_ns;
		end_ns = begin_ns + (n_steps < 1000000 ? dur_ns * n_steps : dur_ns);
	}
	return add_step(s, hit, number, end_ns, dur_ns, err);
}

enum fsl_status fsl_log_steps_add(struct fsl_log_steps *s, const struct fsl_log_hit *hit,
				  struct fsl_error *err)
{
	int64_t number = 0, n_steps = 1, clock[2] = {0, 0};
	bool has_time = hit->time_s >= 0.0 && hit->time_s < STEP_S_MAX;
	bool has_span = hit->span_s >= 0.0 && hit->span_s < STEP_S_MAX;
	if (!number_step(s, hit, &number, &n_steps)) {
		return FSL_OK;
	}
	n_steps = n_steps >= 1 && n_steps < 1000000 ? n_steps : 1;
	bool has_clock = read_clock(s, hit, &clock[0], &clock[1]);
	if ((s->flags & LINE_AVERAGE) != 0 && has_clock) {
		undo_average(s, hit, number, &clock[0], &clock[1]);
	}
	note_line(s, hit, number);
	bool is_clock_alone =
		(s->flags & LINE_AVERAGE) != 0 || s->is_cumulative || (!has_time && !has_span);
	if (is_clock_alone && has_clock) {
		return add_by_clock(s, hit, number, clock[0], clock[1], err);
	}
	return has_time || has_span
		       ? add_by_time(s, hit, number, n_steps, has_clock ? clock : NULL, err)
		       : FSL_OK;
}

void fsl_log_steps_finish(struct fsl_log_steps *s)
{
	if (s->is_relative && s->sink->events.n_steps > 0) {
		move_steps(s, s->clock->written_ns - s->end_ns);
	}
	if (s->is_done) {
		s->sink->events.finished_ns = s->sink->events.last_event_ns;
	}
}

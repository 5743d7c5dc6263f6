/* Lasting rises of the step time: walks the level shifts of base/shift.h and remembers the normal
 * level of the job. */
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/shift.h"
#include "detect/perceive_parts.h"

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

enum fsl_status fsl_step_series_shifts(const struct fsl_step_series *series,
				       struct fsl_step_rise *rises, size_t *n_rises,
				       struct fsl_error *err)
{
	*n_rises = 0;
	if (series->n == 0) {
		return FSL_OK;
	}
	struct segmentation s = {.series = series};
	double *normal = fsl_calloc(series->n, sizeof(double));
	s.scratch = fsl_calloc(series->n, sizeof(double));
	enum fsl_status status = FSL_OK;
	if (normal == NULL || s.scratch == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu",
				  series->n);
		goto out;
	}
	status = find_segments(&s, err);
	if (status == FSL_OK) {
		*n_rises = collect_rises(&s, normal, rises);
	}
out:
	fsl_free(s.scratch);
	fsl_free(normal);
	return status;
}

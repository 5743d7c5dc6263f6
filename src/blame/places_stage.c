/* Stages of a pipeline beside each other, by what their ranks compute. */
#include <math.h>

#include "base/try.h"
#include "blame/limits.h"
#include "blame/places_parts.h"

/* Times of the ranks of a class, ms per step: the least, mean and most computing, and the mean of
 * their own time. NaN: no rank tells. */
struct level {
	double least_ms, mean_ms, most_ms, own_ms;
	size_t n; /* ranks that tell what they compute */
};

static struct level level_of(const struct fsl_places_job *job, size_t class_idx)
{
	struct level level = {.least_ms = INFINITY};
	size_t n_own = 0;
	for (size_t r = 0; r < job->run->n_ranks; r++) {
		double ms = job->class_of[r] == class_idx ? job->computing_ms[r] : (double)NAN;
		double own_ms = job->class_of[r] == class_idx ? job->own_ms[r] : (double)NAN;
		level.least_ms = fmin(level.least_ms, ms);
		level.most_ms = fmax(level.most_ms, ms);
		level.mean_ms += isnan(ms) ? 0.0 : ms;
		level.own_ms += isnan(own_ms) ? 0.0 : own_ms;
		level.n += isnan(ms) ? 0 : 1;
		n_own += isnan(own_ms) ? 0 : 1;
	}
	level.mean_ms = level.n > 0 ? level.mean_ms / (double)level.n : (double)NAN;
	level.own_ms = n_own > 0 ? level.own_ms / (double)n_own : (double)NAN;
	return level;
}

static struct fsl_long_stage find_long(const struct fsl_places_job *job, const struct level *levels)
{
	struct fsl_long_stage found = {.stage = SIZE_MAX};
	double sum_ms = 0.0, least_ms = 0.0;
	for (size_t k = 0; k < job->n_stages; k++) {
		const struct level *level = &levels[k];
		if (level->n == 0) {
			continue;
		}
		found.n_stages++;
		sum_ms += level->mean_ms;
		found.spread =
			fmax(found.spread, (level->most_ms - level->least_ms) / level->mean_ms);
		if (found.stage == SIZE_MAX || level->mean_ms > found.computing_ms) {
			found.stage = k;
			found.n_ranks = level->n;
			found.computing_ms = level->mean_ms;
			least_ms = level->least_ms;
		}
	}
	found.others_ms = (sum_ms - found.computing_ms) / (double)(found.n_stages - 1);
	double more_ms = found.computing_ms - found.others_ms;
	bool is_long = found.n_stages >= 2 && more_ms >= job->long_stage_min * found.others_ms &&
		       least_ms >= found.others_ms + FSL_STAGE_RANK_SHARE_MIN * more_ms;
	found.stage = is_long ? found.stage : SIZE_MAX;
	return found;
}

enum fsl_status fsl_places_find_stage(struct fsl_place_work *work, struct fsl_error *err)
{
	const struct fsl_places_job *job = work->job;
	struct level *levels = NULL;
	double sum_ms = 0.0;
	size_t n = 0;
	FSL_TRY(FSL_ARENA_NEW(levels, &work->arena, job->n_classes + 1, "classes", err));
	for (size_t k = 0; k < job->n_classes; k++) {
		levels[k] = level_of(job, k);
		sum_ms += levels[k].n > 0 ? levels[k].mean_ms : 0.0;
		n += levels[k].n > 0;
	}
	work->out->long_stage = find_long(job, levels);
	if (work->out->long_stage.stage == SIZE_MAX) {
		return FSL_OK;
	}
	FSL_TRY(FSL_ARENA_NEW(work->even_factor, &work->arena, job->run->n_ranks, "ranks", err));
	for (size_t r = 0; r < job->run->n_ranks; r++) {
		const struct level *level = &levels[job->class_of[r]];
		double factor = 1.0 - (level->mean_ms - sum_ms / (double)n) / level->own_ms;
		work->even_factor[r] = factor > 0.0 ? factor : 1.0;
	}
	return FSL_OK;
}

/* One number for each side of how a host feeds its device, and workers in which it stands out. */
#include <math.h>

#include <failslow/stats.h>

#include "judge/functions.h"
#include "judge/limits.h"

const struct fsl_stream_figures *fsl_worker_busiest_stream(const struct fsl_worker_figures *figures)
{
	const struct fsl_stream_figures *busiest = NULL;
	for (size_t i = 0; figures != NULL && i < figures->n_streams; i++) {
		if (busiest == NULL || figures->streams[i].busy_ns > busiest->busy_ns) {
			busiest = &figures->streams[i];
		}
	}
	return busiest;
}

static double ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

static void fill(struct fsl_function_worker *worker)
{
	const struct fsl_worker_figures *figures = worker->rank->figures;
	const struct fsl_stream_figures *stream = fsl_worker_busiest_stream(figures);
	double *out = worker->figures;
	for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
		out[i] = (double)NAN;
	}
	if (figures == NULL) {
		return;
	}
	const struct fsl_launch_figures *launches = &figures->launches;
	const struct fsl_copy_figures *to_device = &figures->copies[FSL_COPY_TO_DEVICE];
	const struct fsl_copy_figures *to_host = &figures->copies[FSL_COPY_TO_HOST];
	const struct fsl_critical_path *path = &figures->path;
	int64_t n_bytes = to_device->n_bytes + to_host->n_bytes;
	if (launches->count > 0) {
		out[FSL_FIGURE_LAUNCH_DELAY] = (double)launches->delay_median_ns / 1e3;
		out[FSL_FIGURE_SHORT_WORK] = ratio(launches->n_short, launches->count);
	}
	if (stream != NULL && launches->count > 0) {
		out[FSL_FIGURE_HOST_WAIT] =
			ratio(stream->wait_ns[FSL_STREAM_HOST_WAIT], worker->functions->window_ns);
		out[FSL_FIGURE_QUEUE] = ratio(stream->length_sum, stream->n_lengths);
	}
	if (n_bytes > 0) {
		out[FSL_FIGURE_HOST_LINK] = ratio(n_bytes, to_device->time_ns + to_host->time_ns);
	}
	out[FSL_FIGURE_PATH_HOST] = ratio(
		path->parts_ns[FSL_PATH_HOST] + path->parts_ns[FSL_PATH_LOADING], path->length_ns);
}

/* Level of a figure among the workers of a stage. */
struct level {
	size_t stage, n;
	double median, mad;
};

static struct level level_of(const struct fsl_functions_view *view, size_t stage, size_t figure,
			     double *values)
{
	struct level level = {.stage = stage};
	double *scratch = values + view->n_workers;
	for (size_t w = 0; w < view->n_workers; w++) {
		double value = view->workers[w].figures[figure];
		if (view->workers[w].stage == stage && isfinite(value)) {
			values[level.n++] = value;
		}
	}
	level.median = fsl_median(values, level.n, scratch);
	for (size_t i = 0; i < level.n; i++) {
		values[i] = fabs(values[i] - level.median);
	}
	level.mad = fsl_median(values, level.n, scratch);
	return level;
}

/* The rule that holds for utilisation as well. */
static bool stands_out(const struct fsl_functions_view *view, const struct level *level,
		       size_t figure, double value)
{
	static const double least[FSL_WORKER_FIGURES_N] = {
		[FSL_FIGURE_HOST_WAIT] = FSL_JUDGE_FIGURE_SHARE_MIN,
		[FSL_FIGURE_LAUNCH_DELAY] = FSL_JUDGE_FIGURE_DELAY_US_MIN,
		[FSL_FIGURE_SHORT_WORK] = FSL_JUDGE_FIGURE_SHARE_MIN,
		[FSL_FIGURE_QUEUE] = FSL_JUDGE_FIGURE_QUEUE_MIN,
		[FSL_FIGURE_HOST_LINK] = FSL_JUDGE_FIGURE_GB_PER_S_MIN,
		[FSL_FIGURE_PATH_HOST] = FSL_JUDGE_FIGURE_SHARE_MIN,
	};
	double away = fmax(FSL_JUDGE_FUNCTION_EXCESS_MIN * level->median,
			   fmax(view->options.k * level->mad, least[figure]));
	return level->n >= FSL_JUDGE_FUNCTION_WORKERS_MIN && isfinite(value) &&
	       fabs(value - level->median) > away;
}

enum fsl_status fsl_function_figures(struct fsl_functions_view *view, struct fsl_error *err)
{
	double *values = NULL;
	FSL_TRY(FSL_ARENA_NEW(values, &view->arena, 2 * view->n_workers + 1, "workers", err));
	for (size_t w = 0; w < view->n_workers; w++) {
		fill(&view->workers[w]);
	}
	for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
		struct level level = {.stage = SIZE_MAX};
		for (size_t w = 0; w < view->n_workers; w++) { /* stages mostly follow each other */
			struct fsl_function_worker *worker = &view->workers[w];
			level = worker->stage != level.stage
					? level_of(view, worker->stage, i, values)
					: level;
			worker->is_unusual[i] = stands_out(view, &level, i, worker->figures[i]);
			worker->usual[i] = level.median;
		}
	}
	return FSL_OK;
}

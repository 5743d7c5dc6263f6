/*
 * Standing: how ranks and classes compare while nothing is wrong. Healthy devices differ by some
 * percent, and pipeline stages have different work; a fault is told from both by what was before.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include <failslow/stats.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sort.h"
#include "blame/blame.h"

/*
 * Outliers: devices that are slower all along than so many healthy ones ever are. Rosner's test for
 * several outliers (Technometrics 25, 1983), upwards only, over all classes together: devices of a
 * job are of one kind, so what they differ by in one class tells what they may in another.
 */

/* One rank: logarithm of its usual own time over that of its class, so that classes compare. */
struct mark {
	double value;
	uint32_t rank_idx;
};

/* One class while its slowest are taken out one by one. */
struct cloud {
	struct mark *marks; /* ascending */
	size_t n, n_left, n_stay;
	double sum, sum_squares; /* of those left */
};

/* Everything that is left. */
struct sample {
	struct cloud *clouds;
	size_t n_clouds;
	double squares; /* around the means of the clouds */
	size_t freedom;
};

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	FSL_ORDER_BY(x->value, y->value);
	return FSL_ORDER(x->rank_idx, y->rank_idx);
}

static double squares_of(const struct cloud *cloud)
{
	double n = (double)cloud->n_left;
	return cloud->n_left > 0 ? cloud->sum_squares - cloud->sum * cloud->sum / n : 0.0;
}

/* The cloud without its slowest. */
static struct cloud without_top(const struct cloud *cloud)
{
	struct cloud rest = *cloud;
	double top = cloud->marks[--rest.n_left].value;
	rest.sum -= top;
	rest.sum_squares -= top * top;
	return rest;
}

/* How far the slowest of a cloud lies above the rest of it, in sigmas of everything else. */
static double deviate_of(const struct sample *sample, const struct cloud *cloud)
{
	struct cloud rest = without_top(cloud);
	double n = (double)rest.n_left;
	double squares = sample->squares - squares_of(cloud) + squares_of(&rest);
	double sigma = sqrt(fmax(0.0, squares) / (double)(sample->freedom - 1));
	double above = cloud->marks[rest.n_left].value - rest.sum / n;
	return above / (fmax(sigma, FSL_OUTLIER_SIGMA_MIN) * sqrt(1.0 + 1.0 / n));
}

/* The cloud whose slowest lies farthest above the rest; NULL when none may be taken out. */
static struct cloud *farthest(const struct sample *sample, double *deviate)
{
	struct cloud *found = NULL;
	for (size_t k = 0; k < sample->n_clouds && sample->freedom > FSL_OUTLIER_FREEDOM_MIN; k++) {
		struct cloud *cloud = &sample->clouds[k];
		if (cloud->n_left <= cloud->n_stay) {
			continue;
		}
		double here = deviate_of(sample, cloud);
		if (found == NULL || here > *deviate) {
			*deviate = here;
			found = cloud;
		}
	}
	return found;
}

static void take_top(struct sample *sample, struct cloud *cloud)
{
	double before = squares_of(cloud);
	*cloud = without_top(cloud);
	sample->squares += squares_of(cloud) - before;
	sample->freedom--;
}

/* Limit that the slowest of @n healthy ranks hardly exceeds. */
static double limit_of(size_t n, size_t freedom)
{
	return gsl_cdf_tdist_Qinv(FSL_OUTLIER_ALPHA / (double)n, (double)freedom);
}

/* Takes the slowest out one by one; the last of them that is too far out, and all before it, are
 * outliers, as several hide each other. @taken: as many as there are marks. */
static size_t take_outliers(struct sample *sample, uint32_t *taken, size_t n_marks)
{
	size_t n_taken = 0, n_outliers = 0;
	double deviate = 0.0;
	for (struct cloud *cloud = farthest(sample, &deviate); cloud != NULL;
	     cloud = farthest(sample, &deviate)) {
		taken[n_taken] = cloud->marks[cloud->n_left - 1].rank_idx;
		take_top(sample, cloud);
		FSL_ASSERT(n_taken < n_marks && cloud->n_left >= cloud->n_stay);
		n_taken++;
		if (deviate > limit_of(n_marks - n_taken + 1, sample->freedom)) {
			n_outliers = n_taken;
		}
	}
	return n_outliers;
}

/* Fills a cloud from the members of a class; their marks are around the lowest. */
static void fill(struct cloud *cloud, struct mark *marks, const struct fsl_blame *blame, size_t k,
		 const double *usual_ms)
{
	*cloud = (struct cloud){.marks = marks};
	for (size_t i = blame->peers.begin[k]; i < blame->peers.begin[k + 1]; i++) {
		uint32_t r = blame->peers.members[i];
		if (usual_ms[r] > 0.0) {
			marks[cloud->n++] = (struct mark){log(usual_ms[r]), r};
		}
	}
	qsort(marks, cloud->n, sizeof(*marks), compare_marks);
	double origin = cloud->n > 0 ? marks[0].value : 0.0;
	for (size_t i = 0; i < cloud->n; i++) {
		marks[i].value -= origin;
		cloud->sum += marks[i].value;
		cloud->sum_squares += marks[i].value * marks[i].value;
	}
	cloud->n_left = cloud->n;
	cloud->n_stay = (cloud->n + 1) / 2 > FSL_OUTLIER_LEFT_MIN ? (cloud->n + 1) / 2
								  : FSL_OUTLIER_LEFT_MIN;
}

/* Ranks far above the middle of their class, as far as the others scatter (Student). @work: 2 * n.
 */
static void mark_far(bool *is_far, const struct cloud *cloud, double *work)
{
	double n = (double)cloud->n, middle = cloud->marks[cloud->n / 2].value;
	for (size_t i = 0; i < cloud->n; i++) {
		work[i] = cloud->marks[i].value;
	}
	double sigma = fsl_mad_sigma(work, cloud->n, middle, work + cloud->n);
	double limit =
		gsl_cdf_tdist_Qinv(FSL_FAR_ALPHA / n, n - 1.0) * fmax(sigma, FSL_FAR_SIGMA_MIN);
	for (size_t i = 0; i < cloud->n; i++) {
		is_far[cloud->marks[i].rank_idx] = cloud->marks[i].value - middle > limit;
	}
}

/*
 * Ranks that are slower all along than the slowest of so many healthy devices, as far as the others
 * differ; and ranks that are far from the middle of their class, which has FSL_FAR_RANKS_MIN ranks
 * at least. @usual_ms: per rank, its usual own time.
 */
static enum fsl_status find_outliers(bool *is_outlier, bool *is_far, const struct fsl_blame *blame,
				     const double *usual_ms, struct fsl_arena *scratch,
				     struct fsl_error *err)
{
	size_t n_marks = 0;
	struct mark *marks = NULL;
	uint32_t *taken = NULL;
	double *work = NULL;
	struct sample sample = {.clouds = NULL};
	FSL_TRY(FSL_ARENA_NEW(marks, scratch, blame->n_ranks, "marks", err));
	FSL_TRY(FSL_ARENA_NEW(taken, scratch, blame->n_ranks, "taken", err));
	FSL_TRY(FSL_ARENA_NEW(work, scratch, 2 * blame->n_ranks, "work", err));
	FSL_TRY(FSL_ARENA_NEW(sample.clouds, scratch, blame->peers.n_classes, "clouds", err));
	for (size_t r = 0; r < blame->n_ranks; r++) {
		is_outlier[r] = is_far[r] = false;
	}
	for (size_t k = 0; k < blame->peers.n_classes; k++) {
		struct cloud *cloud = &sample.clouds[sample.n_clouds++];
		fill(cloud, marks + n_marks, blame, k, usual_ms);
		if (cloud->n >= FSL_FAR_RANKS_MIN) {
			mark_far(is_far, cloud, work);
		}
		n_marks += cloud->n;
		sample.squares += squares_of(cloud);
		sample.freedom += cloud->n > 0 ? cloud->n - 1 : 0;
	}
	size_t n_outliers = take_outliers(&sample, taken, n_marks);
	for (size_t i = 0; i < n_outliers; i++) {
		is_outlier[taken[i]] = true;
	}
	return FSL_OK;
}

/* How many times as wide as a cloud the gap above it must be for the next rank to stand apart. */
static double least_gap(size_t n_cloud)
{
	if (n_cloud < FSL_CLOUD_MEDIUM_RANKS) {
		return FSL_CLOUD_GAP_SMALL;
	}
	return n_cloud < FSL_CLOUD_LARGE_RANKS ? FSL_CLOUD_GAP_MEDIUM : FSL_CLOUD_GAP_LARGE;
}

double fsl_best_level(const double *values, size_t n, double *scratch)
{
	size_t n_window = n / FSL_BEST_WINDOWS > FSL_BEST_STEPS_MIN ? n / FSL_BEST_WINDOWS
								    : FSL_BEST_STEPS_MIN;
	double best = NAN;
	for (size_t begin = 0; begin + n_window <= n; begin += (n_window + 1) / 2) {
		size_t n_seen = 0;
		for (size_t i = begin; i < begin + n_window; i++) {
			n_seen += isnan(values[i]) ? 0 : 1;
		}
		if (n_seen >= FSL_BEST_STEPS_MIN) {
			best = fmin(best, fsl_median(values + begin, n_window, scratch));
		}
	}
	return best;
}

/* Best ratio of own time to the level of the peers. @work: 2 * steps. */
static double find_ratio(const struct fsl_blame *blame, size_t r, double *work)
{
	for (size_t s = 0; s < blame->n_steps; s++) {
		size_t at = r * blame->n_steps + s;
		work[s] = blame->own_ms[at] / blame->reference_ms[at];
	}
	return fsl_best_level(work, blame->n_steps, work + blame->n_steps);
}

/* Median own time of one rank. */
struct level {
	double ms;
	uint32_t rank_idx;
};

static int compare_levels(const void *a, const void *b)
{
	const struct level *x = a, *y = b;
	FSL_ORDER_BY(x->ms, y->ms);
	return FSL_ORDER(x->rank_idx, y->rank_idx);
}

/*
 * Healthy devices form one cloud; a slow one stands apart from it. A rank stands out when a gap
 * below it is wide against all ranks below that gap together, and those are half of the class and
 * at least three.
 */
static void find_clouds(struct fsl_blame *out, size_t class_idx, struct level *levels,
			const double *usual_of)
{
	const struct fsl_peers *peers = &out->peers;
	size_t begin = peers->begin[class_idx], end = peers->begin[class_idx + 1], n = 0;
	for (size_t k = begin; k < end; k++) {
		uint32_t r = peers->members[k];
		double ms = usual_of[r];
		out->stands_out[r] = false;
		if (!isnan(ms)) {
			levels[n++] = (struct level){ms, r};
		}
	}
	qsort(levels, n, sizeof(*levels), compare_levels);
	bool is_above = false;
	for (size_t i = 0; i < n; i++) {
		out->stands_out[levels[i].rank_idx] = is_above;
		if (i + 1 < n && i + 1 >= FSL_CLOUD_RANKS_MIN && (i + 1) * 2 >= n) {
			double cloud_ms = levels[i].ms - levels[0].ms;
			is_above |= levels[i + 1].ms - levels[i].ms >= least_gap(i + 1) * cloud_ms;
		}
	}
}

/* How much the members of a class differ in one step: the scale of their own times over their usual
 * ones. @usual_of: per rank, its median own time. @ratios: 2 * members. */
static double spread_in_step(const struct fsl_blame *blame, size_t class_idx, size_t step,
			     const double *usual_of, double *ratios)
{
	const struct fsl_peers *peers = &blame->peers;
	size_t begin = peers->begin[class_idx], n_members = peers->begin[class_idx + 1] - begin;
	size_t n = 0;
	for (size_t m = 0; m < n_members; m++) {
		uint32_t r = peers->members[begin + m];
		double ratio = blame->own_ms[r * blame->n_steps + step] / usual_of[r];
		if (isfinite(ratio)) {
			ratios[n++] = ratio;
		}
	}
	double centre = fsl_median(ratios, n, ratios + n_members);
	double sigma = fsl_mad_sigma(ratios, n, centre, ratios + n_members);
	return n < FSL_CLOUD_RANKS_MIN ? (double)NAN : sigma / centre;
}

/* Level of a whole class step by step over its level at its best. @work: steps + 2 * members. */
static void set_growth(double *growth, const struct fsl_blame *blame, size_t class_idx,
		       double *best_ms, double *work)
{
	const struct fsl_peers *peers = &blame->peers;
	size_t begin = peers->begin[class_idx], n = peers->begin[class_idx + 1] - begin;
	for (size_t s = 0; s < blame->n_steps; s++) {
		for (size_t m = 0; m < n; m++) {
			work[m] = blame->own_ms[peers->members[begin + m] * blame->n_steps + s];
		}
		growth[s] = fsl_peer_level(work, n, work + n);
	}
	*best_ms = fsl_best_level(growth, blame->n_steps, work);
	for (size_t s = 0; s < blame->n_steps; s++) {
		growth[s] /= *best_ms;
	}
}

/* The search over classes. */
struct classes {
	struct fsl_blame *blame;
	double *growth;  /* [class * steps + step]: level over the level at its best */
	double *common;  /* [class * steps + step]: the same of the other classes */
	double *best_ms; /* [class] */
};

static void set_common(const struct classes *classes, double *work)
{
	size_t n_steps = classes->blame->n_steps, n_classes = classes->blame->peers.n_classes;
	double *levels = work + n_classes;
	for (size_t s = 0; s < n_steps; s++) {
		for (size_t k = 0; k < n_classes; k++) {
			work[k] = classes->growth[k * n_steps + s];
		}
		fsl_peer_levels(work, n_classes, levels, levels + n_classes);
		for (size_t k = 0; k < n_classes; k++) {
			classes->common[k * n_steps + s] = levels[k];
		}
	}
}

static void scale_references(struct fsl_blame *out, size_t class_idx, size_t step, double ratio)
{
	const struct fsl_peers *peers = &out->peers;
	for (size_t k = peers->begin[class_idx]; k < peers->begin[class_idx + 1]; k++) {
		out->reference_ms[peers->members[k] * out->n_steps + step] *= ratio;
	}
}

/* True if steps were shorter while the class worked more: its visible work was less before, when it
 * waited beneath its operators. @rise_ms: of its own time. @work: 2 * steps. */
static bool waits_otherwise(const struct fsl_blame *blame, const struct fsl_episode *episode,
			    double rise_ms, double *work)
{
	size_t n_least = 0;
	double step_ms =
		fsl_episode_rise(episode, blame->step_dur_ms, blame->n_steps, &n_least, work);
	return step_ms <= -FSL_CLASS_STEP_SHARE_MIN * rise_ms;
}

/*
 * A class that grew while the others did not slowed down as a whole, and its members cannot tell:
 * over the episode their reference is what the class was before. A rank that is a class of its own
 * has its own past for a reference, which follows what the job shares. @work: 2 * steps.
 */
static void judge_class(const struct classes *classes, size_t k, double least_ms, double *work)
{
	struct fsl_blame *blame = classes->blame;
	size_t n_steps = blame->n_steps;
	const double *growth = classes->growth + k * n_steps;
	const double *common = classes->common + k * n_steps;
	for (size_t s = 0; s < n_steps; s++) {
		work[s] = growth[s] / common[s];
	}
	if (blame->peers.begin[k + 1] - blame->peers.begin[k] == 1) {
		for (size_t s = 0; s < n_steps; s++) {
			scale_references(blame, k, s, isnan(common[s]) ? 1.0 : common[s]);
		}
		return;
	}
	double *scratch = work + n_steps;
	double usual = fsl_median(work, n_steps, scratch);
	double noise = fsl_mad_sigma(work, n_steps, usual, scratch);
	double least_ratio = least_ms / classes->best_ms[k];
	struct fsl_episode episode = fsl_episode_find(
		work, n_steps, 1.0 + fmax(FSL_NOTED_LOSS_SHARE * least_ratio, noise));
	double inside = fsl_median(work + episode.begin, episode.end - episode.begin, scratch);
	for (size_t s = episode.begin; s < episode.end; s++) {
		work[s] = NAN;
	}
	double outside = fsl_median(work, n_steps, scratch);
	double rise = inside - outside;
	if (episode.n_high < FSL_BEST_STEPS_MIN || !(rise >= least_ratio) ||
	    waits_otherwise(blame, &episode, rise * classes->best_ms[k], work)) {
		return;
	}
	FSL_ASSERT(episode.begin < episode.end && episode.end <= n_steps);
	blame->shifts[k] = episode;
	for (size_t s = episode.begin; s < episode.end; s++) {
		scale_references(blame, k, s, outside / inside);
	}
}

/* @work: steps + 3 * ranks. */
static enum fsl_status judge_classes(struct fsl_blame *out, double least_ms, double *work,
				     struct fsl_arena *scratch, struct fsl_error *err)
{
	size_t n = out->peers.n_classes, n_cells = n * out->n_steps; /* no more than own_ms has */
	struct classes classes = {.blame = out};
	FSL_TRY(FSL_ARENA_NEW(classes.growth, scratch, n_cells, "growth", err));
	FSL_TRY(FSL_ARENA_NEW(classes.common, scratch, n_cells, "common", err));
	FSL_TRY(FSL_ARENA_NEW(classes.best_ms, scratch, n, "best_ms", err));
	for (size_t k = 0; k < n; k++) {
		set_growth(classes.growth + k * out->n_steps, out, k, &classes.best_ms[k], work);
	}
	set_common(&classes, work);
	for (size_t k = 0; k < n; k++) {
		judge_class(&classes, k, least_ms, work);
	}
	return FSL_OK;
}

/* Levels that the ranks are compared with. */
struct scale {
	struct level *levels; /* ranks */
	double *usual_of;     /* ranks */
	double *spreads;      /* [class * steps + step] */
};

/* Ranks, then steps of all classes, then classes on threads. False: out of memory. */
static bool compare_ranks(struct fsl_blame *out, const struct scale *scale)
{
	const struct fsl_peers *peers = &out->peers;
	size_t n_steps = out->n_steps;
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		double *work = fsl_calloc(2 * n_steps + 2 * out->n_ranks + 1, sizeof(*work));
		is_short = work == NULL;
#pragma omp for schedule(dynamic, 1)
		for (size_t k = 0; k < peers->begin[peers->n_classes]; k++) {
			uint32_t r = peers->members[k];
			if (!is_short) {
				out->healthy_ratio[r] = find_ratio(out, r, work);
				scale->usual_of[r] =
					fsl_median(out->own_ms + r * n_steps, n_steps, work);
			}
		}
#pragma omp for schedule(static)
		for (size_t i = 0; i < peers->n_classes * n_steps; i++) {
			scale->spreads[i] = is_short ? 0.0
						     : spread_in_step(out, i / n_steps, i % n_steps,
								      scale->usual_of, work);
		}
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t c = 0; c < peers->n_classes; c++) {
			if (!is_short) {
				find_clouds(out, c, scale->levels + peers->begin[c],
					    scale->usual_of);
				/* Robust: a single rank with a pause or a lost record does not make
				 * work uneven. */
				out->spread[c] =
					fsl_median(scale->spreads + c * n_steps, n_steps, work);
			}
		}
		fsl_free(work);
	}
	return !is_short;
}

static enum fsl_status find_standing(struct fsl_blame *out, const struct fsl_config *config,
				     double *work, struct fsl_arena *scratch, struct fsl_error *err)
{
	size_t n_rows = out->peers.n_classes * out->n_steps; /* no more than own_ms has */
	struct scale scale = {.levels = NULL};
	FSL_TRY(FSL_ARENA_NEW(scale.levels, scratch, out->n_ranks, "levels", err));
	FSL_TRY(FSL_ARENA_NEW(scale.usual_of, scratch, out->n_ranks, "usual_of", err));
	FSL_TRY(FSL_ARENA_NEW(scale.spreads, scratch, n_rows, "spreads", err));
	if (!compare_ranks(out, &scale)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n_ranks);
	}
	FSL_TRY(find_outliers(out->is_outlier, out->is_far, out, scale.usual_of, scratch, err));
	double least_ms = fsl_least_loss_ms(config, out->step_ms);
	memset(out->shifts, 0, out->peers.n_classes * sizeof(*out->shifts));
	return out->peers.n_classes > 1 ? judge_classes(out, least_ms, work, scratch, err) : FSL_OK;
}

enum fsl_status fsl_standing_find(struct fsl_blame *out, const struct fsl_config *config,
				  double *work, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	enum fsl_status status = find_standing(out, config, work, &scratch, err);
	fsl_arena_fini(&scratch);
	return status;
}

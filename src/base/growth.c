/* Fits levels and slopes to the medians of a few dozen stretches of a series. */
#include "base/growth.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/mem.h"

enum { BINS_MAX = 64, VALUES_MIN = 24, VALUES_A_BIN = 2, SLOPE_PARTS = 4 };
/* Least error of a bin that is believed, so that values without noise have a criterion. */
static const double ERROR_MIN = 0.001;
/* A slope has to be better by so much: strong evidence (Kass and Raftery, 1995). */
static const double BETTER_MIN = 6.0;

struct bins {
	size_t n, n_values;
	double y[BINS_MAX]; /* as a share of the median value */
	double unit;
	double scratch[BINS_MAX];
};

static enum fsl_status fill(struct bins *bins, const double *values, size_t n, bool *is_good,
			    struct fsl_error *err)
{
	double *scratch = NULL;
	bins->n_values = n;
	bins->n = n / VALUES_A_BIN < BINS_MAX ? n / VALUES_A_BIN : BINS_MAX;
	FSL_TRY(FSL_NEW(scratch, n / bins->n + 2, "scratch", err));
	*is_good = true;
	for (size_t i = 0; i < bins->n && *is_good; i++) {
		size_t begin = i * n / bins->n, end = (i + 1) * n / bins->n;
		bins->y[i] = fsl_median(values + begin, end - begin, scratch);
		*is_good = bins->y[i] > 0.0 && isfinite(bins->y[i]);
	}
	bins->unit = fsl_median(bins->y, bins->n, bins->scratch);
	for (size_t i = 0; i < bins->n; i++) {
		bins->y[i] /= bins->unit;
	}
	fsl_free(scratch);
	return FSL_OK;
}

static double criterion(const struct bins *bins, double error, double n_params)
{
	double n = (double)bins->n;
	return 2.0 * n * log(error / n + ERROR_MIN) + n_params * log(n);
}

static double level_error(struct bins *bins, size_t begin, size_t end)
{
	double error = 0.0;
	double level = end > begin ? fsl_median(bins->y + begin, end - begin, bins->scratch) : 0.0;
	for (size_t i = begin; i < end; i++) {
		error += fabs(bins->y[i] - level);
	}
	return error;
}

/* The best of the levels that were found, of one step anywhere, and of none. */
static double best_levels(struct bins *bins, const struct fsl_shifts *shifts)
{
	double best = criterion(bins, level_error(bins, 0, bins->n), 1.0), error = 0.0;
	size_t begin = 0;
	for (size_t i = 0; i <= shifts->n; i++) {
		size_t end = i < shifts->n ? (shifts->items[i].at * bins->n + bins->n_values / 2) /
						     bins->n_values
					   : bins->n;
		error += level_error(bins, begin, end);
		begin = end;
	}
	best = fmin(best, criterion(bins, error, 1.0 + 2.0 * (double)shifts->n));
	for (size_t at = 1; at < bins->n; at++) {
		error = level_error(bins, 0, at) + level_error(bins, at, bins->n);
		best = fmin(best, criterion(bins, error, 3.0));
	}
	return best;
}

/* A level up to bin @begin, a slope to bin @end, and a level from there on. */
struct slope {
	size_t begin, end;
	double from, rise;
	double criterion;
};

/* Least squares over the bins of the slope: with its begin on the level before, if there is one. */
static void fit(struct slope *slope, struct bins *bins)
{
	double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0, error = 0.0;
	double n = (double)(slope->end - slope->begin);
	for (size_t i = slope->begin; i < slope->end; i++) {
		double x = (double)(i - slope->begin) + 0.5;
		sx += x;
		sy += bins->y[i];
		sxx += x * x;
		sxy += x * bins->y[i];
	}
	double gradient = (n * sxy - sx * sy) / (n * sxx - sx * sx);
	slope->from = (sy - gradient * sx) / n;
	if (slope->begin > 0) {
		slope->from = fsl_median(bins->y, slope->begin, bins->scratch);
		gradient = (sxy - slope->from * sx) / sxx;
	}
	slope->rise = gradient * n;
	for (size_t i = 0; i < bins->n; i++) {
		double x = (double)i + 0.5 - (double)slope->begin;
		double y = slope->from + gradient * fmin(fmax(x, 0.0), n);
		error += fabs(bins->y[i] - y);
	}
	slope->criterion =
		criterion(bins, error, 2.0 + (slope->begin > 0) + (slope->end < bins->n));
}

/* True if no slope can change by @change_min: least squares rise by at most 1.5 times the spread.
 */
static bool is_level(const struct bins *bins, double change_min)
{
	double least = bins->y[0], most = bins->y[0];
	for (size_t i = 1; i < bins->n; i++) {
		least = bins->y[i] < least ? bins->y[i] : least;
		most = bins->y[i] > most ? bins->y[i] : most;
	}
	return most - least < change_min / (2.0 + change_min) * least;
}

static struct slope best_slope(struct bins *bins)
{
	struct slope best = {.criterion = INFINITY};
	size_t n_least = bins->n / SLOPE_PARTS;
	for (size_t begin = 0; begin + n_least <= bins->n; begin++) {
		for (size_t end = begin + n_least; end <= bins->n; end++) {
			struct slope slope = {.begin = begin, .end = end};
			fit(&slope, bins);
			best = slope.criterion < best.criterion ? slope : best;
		}
	}
	return best;
}

enum fsl_status fsl_growth_find(struct fsl_growth *out, const double *values, size_t n,
				const struct fsl_shifts *shifts, double change_min,
				struct fsl_error *err)
{
	struct bins bins;
	bool is_good = false;
	*out = (struct fsl_growth){.is_found = false};
	if (n < VALUES_MIN) {
		return FSL_OK;
	}
	FSL_TRY(fill(&bins, values, n, &is_good, err));
	if (!is_good || is_level(&bins, change_min)) {
		return FSL_OK;
	}
	struct slope slope = best_slope(&bins);
	double to = slope.from + slope.rise;
	if (slope.from > 0.0 && to > 0.0 &&
	    fmax(slope.from / to, to / slope.from) >= 1.0 + change_min &&
	    slope.criterion < best_levels(&bins, shifts) - BETTER_MIN) {
		*out = (struct fsl_growth){.is_found = true,
					   .begin = slope.begin * n / bins.n,
					   .end = slope.end * n / bins.n,
					   .from = slope.from * bins.unit,
					   .to = to * bins.unit};
	}
	return FSL_OK;
}

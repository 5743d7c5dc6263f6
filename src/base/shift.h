/*
 * Lasting changes of the level of a series. Candidates come from an exact segmentation (PELT:
 * Killick, Fearnhead and Eckley, JASA 2012) after spikes are capped; each is verified by its size
 * and by a rank test that allows for correlated neighbours, because a segmentation alone reports
 * every drift. No domain knowledge; docs/users/algorithms.md has the formulas and what they were
 * measured on. The online form, which judges while values arrive, is the detector BOCPD.
 */
#ifndef FSL_BASE_SHIFT_H
#define FSL_BASE_SHIFT_H

#include <stdbool.h>
#include <stddef.h>

#include <failslow/error.h>

enum {
	FSL_SHIFT_VALUES_MAX = 1 << 22,  /* longer series are refused: 32 MiB for each column */
	FSL_SHIFT_SEGMENT_MIN_LEAST = 3, /* the rank test has no evidence from fewer values */
};
/* Values beyond this are taken as missing; squares of anything below it are finite. */
#define FSL_SHIFT_MAGNITUDE_MAX 1e150

/* What counts as a change. Start from one of the profiles below. */
struct fsl_shift_options {
	/* Noise is a share of the level (times, prices): works on logarithms. Values that are not
	 * positive are then missing. */
	bool is_relative;
	/* Values on either side of a change that must belong to it; no more than segment_share_max
	 * of the series (0: whatever its length), so that a short one can be judged. */
	size_t segment_min;
	double segment_share_max;
	/* A candidate must save penalty * log(n) * s^2 of squared error; s is sigma, or this share
	 * of the standard deviation of the whole series where that is more. */
	double penalty, penalty_spread;
	double sigma_min; /* noise is never taken for less; a share of the level when relative */
	/* Size: all of them must be reached; 0 switches one off. */
	double change_min;      /* share of the level before: 0.05 */
	double sigmas_min;      /* times the noise of one value */
	double sigmas_min_mean; /* times sigma / sqrt(values of the shorter side) */
	double spread_min;      /* times the standard deviation of the whole series */
	double p_max;           /* two-sided Mann-Whitney, at most this */
	bool is_correlated;     /* the test allows for neighbours that are alike: no slow wave */
	bool must_beat_line;    /* a step must fit its two sides better than a line: no drift */
	size_t side_max;    /* values next to a change, on either side, that it is verified on */
	size_t changes_max; /* the least are left out when there are more */
};

/* Any series: `failslow series`. */
extern const struct fsl_shift_options fsl_shift_series;
/* Times of steps, where a few percent of the level count however large other changes are. */
extern const struct fsl_shift_options fsl_shift_steps;

/* The level was @before until the value in front of @at, and is @after from it on. */
struct fsl_shift {
	size_t at;            /* position in the series as given, missing values counted */
	double before, after; /* medians of the whole segments, in the unit of the values */
	double p_value;       /* two-sided, n deflated for the correlation of neighbours */
};

/* Owned; start as {0}. */
struct fsl_shifts {
	struct fsl_shift *items; /* sorted by at */
	size_t n;
	size_t n_used;    /* values that took part */
	size_t n_missing; /* NaN, infinite, beyond the magnitude, not positive when relative */
	size_t n_spikes;  /* values that were capped */
	double sigma;     /* noise of one value; share of the level when relative; NaN: too few */
};

/* With fewer values than this, no change at all could pass. */
size_t fsl_shift_values_min(const struct fsl_shift_options *options);
/* The least p that any change can have, however many values there are. */
double fsl_shift_p_least(const struct fsl_shift_options *options);

/*
 * Never fails for its values: too few of them, or all equal, is no change.
 * FSL_ERR_LIMIT above FSL_SHIFT_VALUES_MAX, FSL_ERR_MEMORY. Time is n log n, at most 8192^2 / 2
 * simple operations for the segmentation; positions of long series are found on a grid of 8192 and
 * then moved. @out is written on success only; release with fsl_shifts_fini.
 */
enum fsl_status fsl_shifts_find(struct fsl_shifts *out, const double *values, size_t n,
				const struct fsl_shift_options *options, struct fsl_error *err);
void fsl_shifts_fini(struct fsl_shifts *shifts);

/*
 * Noise of one value around a level that may shift: median absolute difference of values that lie
 * 1, 3 or 9 apart (no further than an eighth of the series), times 1.4826 / sqrt(2), the greatest
 * of them. Neighbours alone would miss noise that comes in waves. No NaN; @buffers: 2 n. NaN with
 * fewer than 2 values.
 */
double fsl_shift_sigma(const double *values, size_t n, double *buffers);

/*
 * Benjamini and Hochberg (1995): the greatest of @p_values that is still accepted when a share of
 * @q false ones is allowed among the accepted, 0 when none is. Reorders @p_values.
 */
double fsl_p_limit(double *p_values, size_t n, double q);

#endif

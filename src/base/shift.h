/*
 * Lasting changes of the level of a series. Spikes are capped, then an exact segmentation gives
 * candidates (PELT: Killick, Fearnhead and Eckley, JASA 2012). A segmentation alone reports every
 * drift, so each candidate is verified by its size and by a rank test that allows for correlated
 * neighbours. No domain knowledge. docs/users/algorithms.md has the formulas and their
 * measurements. The detector BOCPD is the online form, which judges while values arrive.
 */
#ifndef FSL_BASE_SHIFT_H
#define FSL_BASE_SHIFT_H

#include <stdbool.h>
#include <stddef.h>

#include <failslow/error.h>

enum {
	FSL_SHIFT_VALUES_MAX = 1 << 22,  /* a longer series is refused: each column takes 32 MiB */
	FSL_SHIFT_SEGMENT_MIN_LEAST = 3, /* the rank test finds no evidence in fewer values */
};
/* Greater magnitudes count as missing, so that all squares are finite. */
#define FSL_SHIFT_MAGNITUDE_MAX 1e150

/* Limits from which a difference counts as a change. Start from one of the profiles below. */
struct fsl_shift_options {
	/* Noise is a share of the level (times, prices): works on logarithms. Values that are not
	 * positive then count as missing. */
	bool is_relative;
	/* Least number of values on either side of a change. It is at most segment_share_max of the
	 * series (0: no such bound), so that a short series can be judged. */
	size_t segment_min;
	double segment_share_max;
	/* A candidate must save penalty * log(n) * s^2 of squared error; s is sigma, or this share
	 * (penalty_spread) of the standard deviation of the whole series if that is more. */
	double penalty, penalty_spread;
	double sigma_min; /* least noise; a share of the level if relative */
	/* Size of a change: all of these must be reached; 0 switches one off. */
	double change_min; /* share of the level before: 0.05 */
	double sigmas_min; /* times the noise of one value */
	/* times sigma / sqrt(values of the shorter side), if neighbours correlate by 0.6 or more;
	 * down to half of it if they do not */
	double sigmas_min_mean;
	double spread_min;   /* times the standard deviation of the whole series */
	double p_max;        /* greatest p of the two-sided Mann-Whitney test */
	bool is_correlated;  /* the test allows for neighbours that are alike, so that a slow
				wave is no change */
	bool must_beat_line; /* a step must fit its two sides better than a line does, so that
				a drift is no change */
	size_t side_max;     /* a change is verified on so many values on either side */
	size_t changes_max;  /* if there are more changes, the least are left out */
};

/* Any series: `failslow series`. */
extern const struct fsl_shift_options fsl_shift_series;
/* Step times, in which a few percent of the level count however large other changes are. */
extern const struct fsl_shift_options fsl_shift_steps;

/* The level was @before up to the value at @at - 1, and is @after from the value at @at on. */
struct fsl_shift {
	size_t at;            /* position in the series as given, missing values counted */
	double before, after; /* medians of the whole segments, in the unit of the values */
	double p_value;       /* two-sided; n is reduced for the correlation of neighbours */
};

/* Owned; start as {0}. */
struct fsl_shifts {
	struct fsl_shift *items; /* sorted by at */
	size_t n;
	size_t n_used;    /* values that took part */
	size_t n_missing; /* NaN, infinite, beyond the magnitude, or not positive if relative */
	size_t n_spikes;  /* values that were capped */
	double sigma;     /* noise of one value; share of the level if relative; NaN: too few */
};

/* A series of fewer values can have no change that passes. */
size_t fsl_shift_values_min(const struct fsl_shift_options *options);
/* The least p that any change can have, for any number of values. */
double fsl_shift_p_least(const struct fsl_shift_options *options);

/*
 * Finds the changes of @values. Too few values, or equal values, are no error: there is no change.
 * FSL_ERR_LIMIT above FSL_SHIFT_VALUES_MAX, FSL_ERR_MEMORY. Time is n log n, and at most 8192^2 / 2
 * simple operations for the segmentation: positions in a long series are found on a grid of 8192
 * and then moved. @out is written on success only; release it with fsl_shifts_fini.
 */
enum fsl_status fsl_shifts_find(struct fsl_shifts *out, const double *values, size_t n,
				const struct fsl_shift_options *options, struct fsl_error *err);
void fsl_shifts_fini(struct fsl_shifts *shifts);

/*
 * Noise of one value around a level that may shift: the greatest of the median absolute differences
 * of values that lie 1, 3 and 9 apart (at most an eighth of the series), times 1.4826 / sqrt(2).
 * Neighbours alone would miss noise that comes in waves. No NaN; @buffers: 2 n. NaN with fewer than
 * 2 values.
 */
double fsl_shift_sigma(const double *values, size_t n, double *buffers);

/* Benjamini and Hochberg (1995): the greatest of @p_values that is accepted if a share of @q of the
 * accepted ones may be false; 0 if none is accepted. Reorders @p_values. */
double fsl_p_limit(double *p_values, size_t n, double q);

#endif

/*
 * Statistics and clustering as plain functions on arrays, for detectors and for the engine. Inputs
 * are never changed. "NaN-aware" means that NaN entries are left out; a result is NaN if no value
 * is left. @scratch buffers are owned by the caller and hold at least @n doubles.
 */
#ifndef FAILSLOW_STATS_H
#define FAILSLOW_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Aggregations that numpy offers under the same names; "ptp" is max - min. */
enum fsl_agg {
	FSL_AGG_MIN,
	FSL_AGG_MAX,
	FSL_AGG_MEAN,
	FSL_AGG_MEDIAN,
	FSL_AGG_SUM,
	FSL_AGG_STD, /* population, ddof 0 */
	FSL_AGG_VAR, /* population, ddof 0 */
	FSL_AGG_PTP,
	FSL_AGG_PERCENTILE, /* linear interpolation */
	FSL_AGGS_N
};

/* "mean" -> FSL_AGG_MEAN, also the aliases amin, amax and average. -1: unknown name. quantile (q in
 * 0..1) is not known. */
int fsl_agg_from_name(const char *name);
/* Name of @agg as in numpy; static storage. */
const char *fsl_agg_name(enum fsl_agg agg);

/*
 * One aggregate of @values (no NaN among them). @q in percent, for PERCENTILE only. NaN if n == 0.
 */
double fsl_agg_apply(enum fsl_agg agg, double q, const double *values, size_t n, double *scratch);

/* Mean by pairwise summation in the order of numpy.add.reduce for short arrays; NaN if n == 0. */
double fsl_mean(const double *values, size_t n);
/* Sum in the same order. */
double fsl_sum(const double *values, size_t n);
/* Population standard deviation (ddof 0), two passes. */
double fsl_std(const double *values, size_t n, double mean);
/* numpy.percentile, method linear; @q in percent. Reorders a copy in @scratch. */
double fsl_percentile(const double *values, size_t n, double q, double *scratch);
/* Median, NaN-aware. */
double fsl_median(const double *values, size_t n, double *scratch);
/* The lower of the two middle values if their number is even, so that the result is always one of
 * the values. NaN-aware. */
double fsl_low_median(const double *values, size_t n, double *scratch);
/* Factor from the median absolute deviation (MAD) of a normal distribution to its standard
 * deviation: 1 / quantile(3/4). */
#define FSL_MAD_TO_SIGMA 1.482602218505602
/* Robust standard deviation, NaN-aware: median of |value - @centre| times FSL_MAD_TO_SIGMA. */
double fsl_mad_sigma(const double *values, size_t n, double centre, double *scratch);
/* Robust noise around a level that may shift: median absolute difference of neighbours, times
 * 1.4826 / sqrt(2). NaN-aware; NaN with fewer than 2 values. */
double fsl_diff_sigma(const double *values, size_t n, double *scratch);
/* Sorts in ascending order, NaN to the end. */
void fsl_sort(double *values, size_t n);
/*
 * Sorts FSL_LANES short series at once, without branches. Column i of the @n rows is series i; it
 * is ascending afterwards. No NaN. Takes n log(n)^2 / 4 comparisons (merge exchange; Knuth, The Art
 * of Computer Programming 5.2.2, algorithm M).
 */
enum { FSL_LANES = 64 };
void fsl_sort_lanes(double (*rows)[FSL_LANES], size_t n);

/* Two-sided sign test: twice the probability of at least max(n_up, n_down) heads in n_up + n_down
 * fair tosses, at most 1. */
double fsl_sign_test_p(size_t n_up, size_t n_down);
/*
 * p of the one-sided Mann-Whitney test that @after tends to be larger than @before, by the normal
 * approximation with tie and continuity correction. NaN-aware; 1.0 if a side has fewer than 3
 * values.
 */
double fsl_mann_whitney_p(const double *before, size_t n_before, const double *after,
			  size_t n_after);
/* The same test as a number of standard deviations, for both sides: positive if @after tends to be
 * larger, 0.0 without evidence. */
double fsl_mann_whitney_z(const double *before, size_t n_before, const double *after,
			  size_t n_after);

/* One value and its index in the caller's data. */
struct fsl_indexed {
	double value;
	uint32_t idx;
};
/* Sorts by value, then by idx. No NaN. */
void fsl_indexed_sort(struct fsl_indexed *values, size_t n);

enum { FSL_OUTLIERS_N_MIN = 4 }; /* Rosner's test finds nothing among fewer values */
/*
 * Number of outliers at the low end of @sorted (ascending). Outliers at the high end are taken into
 * account, but not counted.
 *
 * Rosner's test for several outliers (generalised ESD, Technometrics 25, 1983, p. 165; for one
 * outlier it is Grubbs' test) takes out the value that lies farthest from the mean, on either side,
 * again and again, up to half of the values. The mean and spread of the rest give a Student t for
 * each value that was taken out. The outliers are all values up to the last one whose t is beyond
 * the quantile of level @alpha for that number of values.
 *
 * @alpha (0..1): chance of each single test to find an outlier in normal noise. The chance of all
 * tests together is up to twice as much. @least_sigma: least spread, in the unit of the values; >
 * 0. *p (may be NULL): twice the least @alpha at which the same test finds these outliers; 1 if
 * there are none.
 */
size_t fsl_outliers_low(const struct fsl_indexed *sorted, size_t n, double alpha,
			double least_sigma, double *p);

/*
 * DBSCAN of @n points of @dim doubles, row major, euclidean, neighbours within eps (<=), the point
 * itself counted. Clusters are numbered in order of their first core point; -1 is noise. The labels
 * are those of scikit-learn 1.2. Direct loops below about a thousand points, blocked dgemm above.
 * Returns false if memory is short.
 */
bool fsl_dbscan(const double *points, size_t n, size_t dim, double eps, size_t min_samples,
		int32_t *labels);

/* The most frequent label; of equally frequent labels the one that occurs first. @with_noise: -1
 * may win, too. n > 0. */
int32_t fsl_labels_mode(const int32_t *labels, size_t n, bool with_noise);

/* Keeps runs of at least @window ones and clears all other ones (sysTrace's alarm filter). @in and
 * @out may be the same. */
void fsl_filter_runs(const uint8_t *in, size_t n, size_t window, uint8_t *out);

/*
 * Series with holes. fsl_pack copies the values that are not NaN to @packed and their positions to
 * @positions (may be NULL), both of n entries, and returns their number. fsl_unpack_labels puts
 * labels of the packed series back; a hole between two ones becomes a one, so that the run stays
 * whole.
 */
size_t fsl_pack(const double *values, size_t n, double *packed, size_t *positions);
void fsl_unpack_labels(const uint8_t *packed, const size_t *positions, size_t n_packed,
		       uint8_t *labels, size_t n);

#endif

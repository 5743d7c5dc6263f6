/* Statistics of <failslow/stats.h>: sums in numpy's order, quantiles, robust scale, rank tests. */
#include <failslow/stats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "base/mem.h"
#include "base/sort.h"

/* Lengths from which numpy.add.reduce uses eight running sums, and halves the input. */
enum { PAIRWISE_UNROLL = 8, PAIRWISE_BLOCK = 128 };

static const char *const agg_names[FSL_AGGS_N] = {
	[FSL_AGG_MIN] = "min",       [FSL_AGG_MAX] = "max", [FSL_AGG_MEAN] = "mean",
	[FSL_AGG_MEDIAN] = "median", [FSL_AGG_SUM] = "sum", [FSL_AGG_STD] = "std",
	[FSL_AGG_VAR] = "var",       [FSL_AGG_PTP] = "ptp", [FSL_AGG_PERCENTILE] = "percentile",
};

int fsl_agg_from_name(const char *name)
{
	static const struct {
		const char *name;
		enum fsl_agg agg;
	} aliases[] = {
		{"amin", FSL_AGG_MIN},
		{"amax", FSL_AGG_MAX},
		{"average", FSL_AGG_MEAN},
	};
	for (int agg = 0; agg < FSL_AGGS_N; agg++) {
		if (strcmp(name, agg_names[agg]) == 0) {
			return agg;
		}
	}
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (strcmp(name, aliases[i].name) == 0) {
			return (int)aliases[i].agg;
		}
	}
	return -1;
}

const char *fsl_agg_name(enum fsl_agg agg)
{
	return agg_names[agg];
}

/* The values that are summed, as they are or as squared distances from a mean. */
struct summand {
	bool is_squared;
	double mean;
};

static double summand_at(const struct summand *what, double value)
{
	if (!what->is_squared) {
		return value;
	}
	double distance = value - what->mean;
	return distance * distance;
}

static double sum_block(const struct summand *what, const double *values, size_t n)
{
	double sum = 0.0;
	size_t i = 0;
	if (n >= PAIRWISE_UNROLL) {
		double part[PAIRWISE_UNROLL];
		for (size_t k = 0; k < PAIRWISE_UNROLL; k++) {
			part[k] = summand_at(what, values[k]);
		}
		for (i = PAIRWISE_UNROLL; i + PAIRWISE_UNROLL <= n; i += PAIRWISE_UNROLL) {
			for (size_t k = 0; k < PAIRWISE_UNROLL; k++) {
				part[k] += summand_at(what, values[i + k]);
			}
		}
		sum = ((part[0] + part[1]) + (part[2] + part[3])) +
		      ((part[4] + part[5]) + (part[6] + part[7]));
	}
	for (; i < n; i++) {
		sum += summand_at(what, values[i]);
	}
	return sum;
}

/* Halves until blocks are short, so that the depth is at most the number of bits of @n. */
static double sum_pairwise(const struct summand *what, const double *values, size_t n)
{
	if (n <= PAIRWISE_BLOCK) {
		return sum_block(what, values, n);
	}
	size_t half = n / 2;
	half -= half % PAIRWISE_UNROLL;
	return sum_pairwise(what, values, half) + sum_pairwise(what, values + half, n - half);
}

double fsl_sum(const double *values, size_t n)
{
	return sum_pairwise(&(struct summand){.is_squared = false}, values, n);
}

double fsl_mean(const double *values, size_t n)
{
	return n == 0 ? (double)NAN : fsl_sum(values, n) / (double)n;
}

static double variance(const double *values, size_t n, double mean)
{
	if (n == 0) {
		return (double)NAN;
	}
	struct summand what = {.is_squared = true, .mean = mean};
	return sum_pairwise(&what, values, n) / (double)n;
}

double fsl_std(const double *values, size_t n, double mean)
{
	return sqrt(variance(values, n, mean));
}

static double least(const double *values, size_t n)
{
	double result = values[0];
	for (size_t i = 1; i < n; i++) {
		result = values[i] < result ? values[i] : result;
	}
	return result;
}

static double greatest(const double *values, size_t n)
{
	double result = values[0];
	for (size_t i = 1; i < n; i++) {
		result = values[i] > result ? values[i] : result;
	}
	return result;
}

double fsl_percentile(const double *values, size_t n, double q, double *scratch)
{
	if (n == 0 || !(q >= 0.0 && q <= 100.0)) {
		return (double)NAN;
	}
	memcpy(scratch, values, n * sizeof(*scratch));
	double position = (double)(n - 1) * (q / 100.0);
	size_t below = (size_t)position;
	double fraction = position - (double)below;
	double high, low = fsl_select(scratch, n, below, &high);
	if (fraction <= 0.0) {
		return low;
	}
	/* numpy interpolates from the nearer end, so that q and 100 - q mirror each other. */
	return fraction >= 0.5 ? high - (high - low) * (1.0 - fraction)
			       : low + (high - low) * fraction;
}

/* Median of the @n values in @scratch, which it reorders. No NaN. */
static double median_in_place(double *scratch, size_t n)
{
	if (n == 0) {
		return (double)NAN;
	}
	double high, low = fsl_select(scratch, n, (n - 1) / 2, &high);
	return n % 2 == 1 ? low : 0.5 * (low + high);
}

size_t fsl_pack(const double *values, size_t n, double *packed, size_t *positions)
{
	size_t n_packed = 0;
	for (size_t i = 0; i < n; i++) {
		if (!isnan(values[i])) {
			packed[n_packed] = values[i];
			if (positions != NULL) {
				positions[n_packed] = i;
			}
			n_packed++;
		}
	}
	return n_packed;
}

double fsl_median(const double *values, size_t n, double *scratch)
{
	return median_in_place(scratch, fsl_pack(values, n, scratch, NULL));
}

double fsl_low_median(const double *values, size_t n, double *scratch)
{
	size_t n_packed = fsl_pack(values, n, scratch, NULL);
	double above;
	return n_packed > 0 ? fsl_select(scratch, n_packed, (n_packed - 1) / 2, &above)
			    : (double)NAN;
}

double fsl_mad_sigma(const double *values, size_t n, double centre, double *scratch)
{
	size_t n_packed = fsl_pack(values, n, scratch, NULL);
	for (size_t i = 0; i < n_packed; i++) {
		scratch[i] = fabs(scratch[i] - centre);
	}
	return FSL_MAD_TO_SIGMA * median_in_place(scratch, n_packed);
}

double fsl_diff_sigma(const double *values, size_t n, double *scratch)
{
	size_t n_packed = fsl_pack(values, n, scratch, NULL);
	if (n_packed < 2) {
		return (double)NAN;
	}
	for (size_t i = 0; i + 1 < n_packed; i++) {
		scratch[i] = fabs(scratch[i + 1] - scratch[i]);
	}
	return FSL_MAD_TO_SIGMA * median_in_place(scratch, n_packed - 1) / M_SQRT2;
}

double fsl_agg_apply(enum fsl_agg agg, double q, const double *values, size_t n, double *scratch)
{
	if (n == 0) {
		return (double)NAN;
	}
	switch (agg) {
	case FSL_AGG_MIN:
		return least(values, n);
	case FSL_AGG_MAX:
		return greatest(values, n);
	case FSL_AGG_MEAN:
		return fsl_mean(values, n);
	case FSL_AGG_MEDIAN:
		return fsl_median(values, n, scratch);
	case FSL_AGG_SUM:
		return fsl_sum(values, n);
	case FSL_AGG_STD:
		return fsl_std(values, n, fsl_mean(values, n));
	case FSL_AGG_VAR:
		return variance(values, n, fsl_mean(values, n));
	case FSL_AGG_PTP:
		return greatest(values, n) - least(values, n);
	case FSL_AGG_PERCENTILE:
		return fsl_percentile(values, n, q, scratch);
	case FSL_AGGS_N:
		break;
	}
	return (double)NAN;
}

double fsl_sign_test_p(size_t n_up, size_t n_down)
{
	size_t n = n_up + n_down;
	size_t k = n_up > n_down ? n_up : n_down;
	if (n == 0) {
		return 1.0;
	}
	double p = 2.0 * gsl_cdf_binomial_Q((unsigned int)(k - 1), 0.5, (unsigned int)n);
	return p < 1.0 ? p : 1.0;
}

/* One value of the joint sample of the Mann-Whitney test. */
struct tagged {
	double value;
	bool is_after;
};

static int compare_tagged(const void *left, const void *right)
{
	const struct tagged *a = left, *b = right;
	return FSL_ORDER(a->value, b->value);
}

static size_t tag_values(struct tagged *joint, const double *values, size_t n, bool is_after)
{
	size_t n_tagged = 0;
	for (size_t i = 0; i < n; i++) {
		if (!isnan(values[i])) {
			joint[n_tagged++] = (struct tagged){values[i], is_after};
		}
	}
	return n_tagged;
}

/* Sum of the mid-ranks of "after" in the sorted @joint. *ties is sum(t^3 - t) over the ties. */
static double rank_sum_after(const struct tagged *joint, size_t n, double *ties)
{
	double sum = 0.0;
	*ties = 0.0;
	for (size_t begin = 0; begin < n;) {
		size_t end = begin;
		size_t n_after = 0;
		while (end < n && !(joint[end].value > joint[begin].value)) {
			n_after += joint[end++].is_after ? 1 : 0;
		}
		double t = (double)(end - begin);
		sum += (double)n_after * 0.5 * (double)(begin + 1 + end);
		*ties += t * t * t - t;
		begin = end;
	}
	return sum;
}

/* Rank sum of "after" minus its expectation by chance, and its deviation: 0 without evidence. */
static double rank_distance(const double *before, size_t n_before, const double *after,
			    size_t n_after, double *sigma)
{
	struct tagged *joint = fsl_calloc(n_before + n_after + 1, sizeof(*joint));
	*sigma = 0.0;
	if (joint == NULL) {
		return 0.0;
	}
	size_t n_b = tag_values(joint, before, n_before, false);
	size_t n_a = tag_values(joint + n_b, after, n_after, true);
	double distance = 0.0;
	if (n_b >= 3 && n_a >= 3) {
		double b = (double)n_b;
		double a = (double)n_a;
		double n = a + b;
		double ties = 0.0;
		qsort(joint, n_b + n_a, sizeof(*joint), compare_tagged);
		double u = rank_sum_after(joint, n_b + n_a, &ties) - 0.5 * a * (a + 1.0);
		*sigma = sqrt(a * b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0))));
		distance = u - 0.5 * a * b;
	}
	fsl_free(joint);
	return distance;
}

double fsl_mann_whitney_p(const double *before, size_t n_before, const double *after,
			  size_t n_after)
{
	double sigma = 0.0;
	double distance = rank_distance(before, n_before, after, n_after, &sigma);
	return sigma > 0.0 ? gsl_cdf_ugaussian_Q((distance - 0.5) / sigma) : 1.0;
}

double fsl_mann_whitney_z(const double *before, size_t n_before, const double *after,
			  size_t n_after)
{
	double sigma = 0.0;
	double distance = rank_distance(before, n_before, after, n_after, &sigma);
	/* Continuity correction: towards the middle by half a rank, on both sides. */
	double corrected = copysign(fmax(fabs(distance) - 0.5, 0.0), distance);
	return sigma > 0.0 ? corrected / sigma : 0.0;
}

int32_t fsl_labels_mode(const int32_t *labels, size_t n, bool with_noise)
{
	int32_t greatest_label = -1;
	for (size_t i = 0; i < n; i++) {
		greatest_label = labels[i] > greatest_label ? labels[i] : greatest_label;
	}
	int32_t mode = -1;
	size_t mode_count = 0;
	size_t mode_first = n;
	for (int32_t label = with_noise ? -1 : 0; label <= greatest_label; label++) {
		size_t count = 0;
		size_t first = n;
		for (size_t i = 0; i < n; i++) {
			if (labels[i] == label) {
				first = count == 0 ? i : first;
				count++;
			}
		}
		if (count > mode_count || (count == mode_count && first < mode_first)) {
			mode = label;
			mode_count = count;
			mode_first = first;
		}
	}
	return mode;
}

void fsl_filter_runs(const uint8_t *in, size_t n, size_t window, uint8_t *out)
{
	for (size_t begin = 0; begin < n;) {
		size_t end = begin;
		while (end < n && in[end] != 0) {
			end++;
		}
		memset(out + begin, end - begin >= window ? 1 : 0, end - begin);
		if (end < n) {
			out[end] = 0;
		}
		begin = end + 1;
	}
}

void fsl_unpack_labels(const uint8_t *packed, const size_t *positions, size_t n_packed,
		       uint8_t *labels, size_t n)
{
	memset(labels, 0, n);
	for (size_t i = 0; i < n_packed; i++) {
		if (packed[i] == 0) {
			continue;
		}
		size_t end = i + 1 < n_packed && packed[i + 1] != 0 ? positions[i + 1]
								    : positions[i] + 1;
		memset(labels + positions[i], 1, end - positions[i]);
	}
}

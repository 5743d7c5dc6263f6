/* Sorts values: merges runs without branches, because the order of values is hard to predict. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/sort.h"

enum {
	RUN = 16,          /* runs of this length are sorted one by one */
	MERGED_MAX = 4096, /* longer arrays go to qsort, which takes memory */
};

static int compare_values(const void *left, const void *right)
{
	return FSL_ORDER(*(const double *)left, *(const double *)right);
}

static void insert_each(double *values, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double value = values[i];
		size_t to = i;
		for (; to > 0 && values[to - 1] > value; to--) {
			values[to] = values[to - 1];
		}
		values[to] = value;
	}
}

/* Merges two sorted runs; of equal values those of @a come first. */
static void merge(double *to, const double *a, size_t n_a, const double *b, size_t n_b)
{
	const double *end_a = a + n_a, *end_b = b + n_b;
	while (a < end_a && b < end_b) {
		bool is_second = *b < *a;
		*to++ = is_second ? *b : *a;
		a += !is_second;
		b += is_second;
	}
	memcpy(to, a, (size_t)(end_a - a) * sizeof(*a));
	memcpy(to + (end_a - a), b, (size_t)(end_b - b) * sizeof(*b));
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* n is at most MERGED_MAX. */
static void merge_runs(double *values, size_t n)
{
	double scratch[MERGED_MAX], *from = values, *to = scratch;
	for (size_t begin = 0; begin < n; begin += RUN) {
		insert_each(values + begin, least(RUN, n - begin));
	}
	for (size_t run = RUN; run < n; run *= 2) {
		for (size_t begin = 0; begin < n; begin += 2 * run) {
			size_t middle = least(begin + run, n), end = least(begin + 2 * run, n);
			merge(to + begin, from + begin, middle - begin, from + middle,
			      end - middle);
		}
		double *sorted = to;
		to = from;
		from = sorted;
	}
	if (from != values) {
		memcpy(values, from, n * sizeof(*values));
	}
}

/* Moves NaN behind the numbers, which keep their order; returns how many numbers there are. */
static size_t part_numbers(double *values, size_t n)
{
	size_t n_numbers = 0;
	for (size_t i = 0; i < n; i++) {
		if (!isnan(values[i])) {
			double value = values[i];
			values[i] = values[n_numbers];
			values[n_numbers++] = value;
		}
	}
	return n_numbers;
}

void fsl_sort(double *values, size_t n)
{
	size_t n_numbers = part_numbers(values, n);
	if (n_numbers <= RUN) {
		insert_each(values, n_numbers);
	} else if (n_numbers <= MERGED_MAX) {
		merge_runs(values, n_numbers);
	} else {
		qsort(values, n_numbers, sizeof(*values), compare_values);
	}
}

/* Many series side by side, so that the compiler uses vector instructions. */

/* Moves the lesser values to @low and the greater to @high. */
static void exchange(double *restrict low, double *restrict high)
{
	for (size_t lane = 0; lane < FSL_LANES; lane++) {
		double a = low[lane], b = high[lane];
		low[lane] = b < a ? b : a; /* two comparisons, so that neither becomes a branch */
		high[lane] = a < b ? b : a;
	}
}

void fsl_sort_lanes(double (*rows)[FSL_LANES], size_t n)
{
	for (size_t run = 1; run < n; run *= 2) { /* merges pairs of sorted runs of this length */
		for (size_t apart = run; apart > 0; apart /= 2) {
			for (size_t begin = apart % run; begin + apart < n; begin += 2 * apart) {
				for (size_t i = begin; i < begin + apart && i + apart < n; i++) {
					if (i / (2 * run) == (i + apart) / (2 * run)) {
						exchange(rows[i], rows[i + apart]);
					}
				}
			}
		}
	}
}

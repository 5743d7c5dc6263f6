/* Orders of plain numbers, for qsort and bsearch, and their order statistics. */
#ifndef FSL_BASE_SORT_H
#define FSL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Order of two numbers: -1, 0 or 1. The arguments are evaluated twice. */
#define FSL_ORDER(a, b) (((a) > (b)) - ((a) < (b)))
/* Returns the order of two numbers from the calling comparison unless they are equal. */
#define FSL_ORDER_BY(a, b)                                                                         \
	do {                                                                                       \
		if ((a) != (b)) {                                                                  \
			return (a) < (b) ? -1 : 1;                                                 \
		}                                                                                  \
	} while (0)

/*
 * Moves the variable @first up to the first index below @n for which @is_before, an expression in
 * the index @i, is false; to @n if there is none. @is_before holds up to some index and for none
 * behind it.
 */
#define FSL_BISECT(first, n, i, is_before)                                                         \
	do {                                                                                       \
		for (size_t fsl_end = (n); (first) < fsl_end;) {                                   \
			size_t i = (first) + (fsl_end - (first)) / 2;                              \
			if (is_before) {                                                           \
				(first) = i + 1;                                                   \
			} else {                                                                   \
				fsl_end = i;                                                       \
			}                                                                          \
		}                                                                                  \
	} while (0)

static inline int fsl_compare_i32(const void *left, const void *right)
{
	return FSL_ORDER(*(const int32_t *)left, *(const int32_t *)right);
}

static inline int fsl_compare_i64(const void *left, const void *right)
{
	return FSL_ORDER(*(const int64_t *)left, *(const int64_t *)right);
}

static inline int fsl_compare_u32(const void *left, const void *right)
{
	return FSL_ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
}

/*
 * Sets @at, a variable, to the first index below @n for which @is_before is false, or to @n. The
 * condition asks about index @at: true for the first elements of a sorted array, false for the
 * rest.
 */
#define FSL_LOWER_BOUND(at, n, is_before)                                                          \
	do {                                                                                       \
		size_t fsl_low = 0, fsl_high = (n);                                                \
		while (fsl_low < fsl_high) {                                                       \
			(at) = fsl_low + (fsl_high - fsl_low) / 2;                                 \
			if (is_before) {                                                           \
				fsl_low = (at) + 1;                                                \
			} else {                                                                   \
				fsl_high = (at);                                                   \
			}                                                                          \
		}                                                                                  \
		(at) = fsl_low;                                                                    \
	} while (0)

/* As qsort(), for arrays that are few sorted ones behind each other, as records of files are: one
 * comparison an item for each halving of their number. Equal items keep their order if there are
 * few. */
void fsl_sort_runs(void *items, size_t n, size_t size,
		   int (*compare)(const void *left, const void *right));

/* The @k-th smallest (from 0) of @n values, k < n. Reorders the values: none before @k is greater,
 * none behind @k smaller. */
int64_t fsl_select_i64(int64_t *values, size_t n, size_t k);

/* The @k-th smallest (from 0) of @n values, k < n; none is NaN. *next: the next value in order,
 * infinite if @k is the last. @scratch holds the values and is overwritten. */
double fsl_select(double *scratch, size_t n, size_t k, double *next);

#endif

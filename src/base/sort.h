/* Orders of plain numbers, for qsort and bsearch, and order statistics of them. */
#ifndef FSL_BASE_SORT_H
#define FSL_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* -1, 0, 1: order of two numbers. The arguments are evaluated twice. */
#define FSL_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

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

/* The @k-th smallest (from 0) of @n values, k < n; reorders them so that no value before @k is
 * greater and none behind it smaller. */
int64_t fsl_select_i64(int64_t *values, size_t n, size_t k);

/* The @k-th smallest (from 0) of @n values, k < n, none of them NaN. *next: the one after it in
 * order, infinite behind the last. @scratch holds the values and is lost. */
double fsl_select(double *scratch, size_t n, size_t k, double *next);

#endif

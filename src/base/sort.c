/* Order statistics of integers: quickselect (Hoare 1961), the median of three as pivot. */
#include "base/sort.h"

#include <stdlib.h>

/* So few values are sorted; and whatever is left after this many rounds for each halving of @n, so
 * that no input takes long. */
enum { SHORT = 16, ROUNDS_PER_HALVING = 4 };

static int64_t median_of_three(int64_t a, int64_t b, int64_t c)
{
	int64_t least = a < b ? a : b, most = a < b ? b : a;
	if (c < least) {
		return least;
	}
	return c > most ? most : c;
}

static void swap(int64_t *values, size_t i, size_t k)
{
	int64_t value = values[i];
	values[i] = values[k];
	values[k] = value;
}

/* For a few values faster than qsort, which asks a function at each comparison. */
static void insert_each(int64_t *values, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int64_t value = values[i];
		size_t at = i;
		for (; at > 0 && values[at - 1] > value; at--) {
			values[at] = values[at - 1];
		}
		values[at] = value;
	}
}

int64_t fsl_select_i64(int64_t *values, size_t n, size_t k)
{
	size_t begin = 0, end = n, n_rounds = 0;
	for (size_t left = n; left > 1; left /= 2) {
		n_rounds += ROUNDS_PER_HALVING;
	}
	for (; end - begin > SHORT && n_rounds > 0; n_rounds--) {
		int64_t pivot = median_of_three(values[begin], values[begin + (end - begin) / 2],
						values[end - 1]);
		/* Less than the pivot in [begin, low), greater in [high, end). */
		size_t low = begin, high = end;
		for (size_t i = begin; i < high;) {
			if (values[i] < pivot) {
				swap(values, low++, i++);
			} else if (values[i] > pivot) {
				swap(values, i, --high);
			} else {
				i++;
			}
		}
		if (k >= low && k < high) {
			return pivot;
		}
		begin = k < low ? begin : high;
		end = k < low ? low : end;
	}
	if (end - begin <= SHORT) {
		insert_each(values + begin, end - begin);
	} else {
		qsort(values + begin, end - begin, sizeof(*values), fsl_compare_i64);
	}
	return values[k];
}

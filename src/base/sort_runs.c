/* Merges the runs of an array that is nearly in order: half as many runs in each round. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

enum { RUNS_MAX = 256 /* more are no longer cheaper than qsort(), which needs no list of them */ };

struct runs {
	size_t n, size; /* items, and bytes of each */
	int (*compare)(const void *left, const void *right);
	size_t n_runs, begins[RUNS_MAX + 1]; /* the last one is n */
};

/* False if there are too many. */
static bool find_runs(struct runs *runs, const char *items)
{
	runs->n_runs = 1;
	runs->begins[0] = 0;
	for (size_t i = 1; i < runs->n; i++) {
		const char *at = items + i * runs->size;
		if (runs->compare(at - runs->size, at) <= 0) {
			continue;
		}
		if (runs->n_runs == RUNS_MAX) {
			return false;
		}
		runs->begins[runs->n_runs++] = i;
	}
	runs->begins[runs->n_runs] = runs->n;
	return true;
}

/* Merges [from, middle) and [middle, end) to @to, stretch by stretch. Equal items keep their order.
 */
static void merge(const struct runs *runs, char *to, const char *from, const char *middle,
		  const char *end)
{
	const char *left = from, *right = middle;
	while (left < middle && right < end) {
		const char *stretch = left;
		while (left < middle && runs->compare(left, right) <= 0) {
			left += runs->size;
		}
		memcpy(to, stretch, (size_t)(left - stretch));
		to += left - stretch;
		stretch = right;
		while (left < middle && right < end && runs->compare(left, right) > 0) {
			right += runs->size;
		}
		memcpy(to, stretch, (size_t)(right - stretch));
		to += right - stretch;
	}
	memcpy(to, left, (size_t)(middle - left));
	to += middle - left;
	memcpy(to, right, (size_t)(end - right));
}

/* Merges each two neighbours. */
static void merge_all(struct runs *runs, char *to, const char *from)
{
	size_t n_merged = 0;
	for (size_t i = 0; i < runs->n_runs; i += 2) {
		size_t middle = runs->begins[i + 1];
		size_t end = i + 2 <= runs->n_runs ? runs->begins[i + 2] : middle;
		size_t begin = runs->begins[i];
		merge(runs, to + begin * runs->size, from + begin * runs->size,
		      from + middle * runs->size, from + end * runs->size);
		runs->begins[n_merged++] = begin;
	}
	runs->n_runs = n_merged;
	runs->begins[n_merged] = runs->n;
}

void fsl_sort_runs(void *items, size_t n, size_t size,
		   int (*compare)(const void *left, const void *right))
{
	struct runs runs = {.n = n, .size = size, .compare = compare};
	char *own = items, *scratch = NULL;
	if (n < 2) {
		return;
	}
	bool is_few = find_runs(&runs, own);
	if (is_few && runs.n_runs == 1) {
		return;
	}
	scratch = is_few ? fsl_calloc(n, size) : NULL;
	if (scratch == NULL) {
		qsort(items, n, size, compare);
		return;
	}
	char *from = own, *to = scratch;
	while (runs.n_runs > 1) {
		merge_all(&runs, to, from);
		char *swapped = from;
		from = to;
		to = swapped;
	}
	if (from != own) {
		memcpy(own, from, n * size);
	}
	fsl_free(scratch);
}

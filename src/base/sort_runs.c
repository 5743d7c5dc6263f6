/* Merges the runs of an array that is nearly in order, in its place: half as many in each round. */
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

/* Two neighbouring runs, [begin, middle) and [middle, end). */
struct pair {
	char *begin, *middle, *end;
};

/* Leaves out what is in its place already: the head of the left run and the tail of the right one.
 * Runs of a file often overlap only a little. */
static void narrow(const struct runs *runs, struct pair *pair)
{
	size_t size = runs->size, head = 0, tail = 0;
	size_t n_left = (size_t)(pair->middle - pair->begin) / size;
	size_t n_right = (size_t)(pair->end - pair->middle) / size;
	FSL_BISECT(head, n_left, i, runs->compare(pair->begin + i * size, pair->middle) <= 0);
	FSL_BISECT(tail, n_right, i,
		   runs->compare(pair->middle - size, pair->middle + i * size) > 0);
	pair->begin += head * size;
	pair->end = pair->middle + tail * size;
}

/* Merges from the front; the left run is in @scratch. Equal items keep their order. */
static void merge_forward(const struct runs *runs, const struct pair *pair, char *scratch)
{
	size_t n_left = (size_t)(pair->middle - pair->begin);
	const char *left = scratch, *left_end = scratch + n_left, *right = pair->middle;
	char *to = pair->begin;
	memcpy(scratch, pair->begin, n_left);
	while (left < left_end && right < pair->end) {
		const char *stretch = right;
		while (right < pair->end && runs->compare(left, right) > 0) {
			right += runs->size;
		}
		memmove(to, stretch, (size_t)(right - stretch));
		to += right - stretch;
		stretch = left;
		while (left < left_end && (right == pair->end || runs->compare(left, right) <= 0)) {
			left += runs->size;
		}
		memcpy(to, stretch, (size_t)(left - stretch));
		to += left - stretch;
	}
}

/* Merges from the back; the right run is in @scratch. */
static void merge_backward(const struct runs *runs, const struct pair *pair, char *scratch)
{
	size_t n_right = (size_t)(pair->end - pair->middle), size = runs->size;
	const char *right = scratch + n_right, *left = pair->middle;
	char *to = pair->end;
	memcpy(scratch, pair->middle, n_right);
	while (right > scratch && left > pair->begin) {
		const char *stretch = left;
		while (left > pair->begin && runs->compare(left - size, right - size) > 0) {
			left -= size;
		}
		to -= stretch - left;
		memmove(to, left, (size_t)(stretch - left));
		stretch = right;
		while (right > scratch &&
		       (left == pair->begin || runs->compare(left - size, right - size) <= 0)) {
			right -= size;
		}
		to -= stretch - right;
		memcpy(to, right, (size_t)(stretch - right));
	}
}

/* Merges each two neighbours. */
static void merge_all(struct runs *runs, char *items, char *scratch)
{
	size_t n_merged = 0, size = runs->size;
	for (size_t i = 0; i < runs->n_runs; i += 2) {
		size_t begin = runs->begins[i], middle = runs->begins[i + 1];
		size_t end = i + 2 <= runs->n_runs ? runs->begins[i + 2] : middle;
		struct pair pair = {items + begin * size, items + middle * size,
				    items + end * size};
		runs->begins[n_merged++] = begin;
		if (middle == end) {
			continue;
		}
		narrow(runs, &pair);
		if (pair.middle - pair.begin <= pair.end - pair.middle) {
			merge_forward(runs, &pair, scratch);
		} else {
			merge_backward(runs, &pair, scratch);
		}
	}
	runs->n_runs = n_merged;
	runs->begins[n_merged] = runs->n;
}

void fsl_sort_runs(void *items, size_t n, size_t size,
		   int (*compare)(const void *left, const void *right))
{
	struct runs runs = {.n = n, .size = size, .compare = compare};
	if (n < 2) {
		return;
	}
	bool is_few = find_runs(&runs, items);
	if (is_few && runs.n_runs == 1) {
		return;
	}
	/* The shorter of two runs. */
	char *scratch = is_few ? fsl_calloc(n / 2 + 1, size) : NULL;
	if (scratch == NULL) {
		qsort(items, n, size, compare);
		return;
	}
	while (runs.n_runs > 1) {
		merge_all(&runs, items, scratch);
	}
	fsl_free(scratch);
}

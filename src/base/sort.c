/* Order statistics: quickselect (Hoare 1961), without branches on the comparison of two values,
 * which no predictor can guess. */
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHORT = 12,    /* arrays up to this length are not parted */
	SAMPLE = 8,    /* keys that the pivot is chosen from */
	LONG_MIN = 96, /* arrays below this length choose among fewer keys */
	SAMPLE_SHORT = 3,
	/* If less than this part of the keys is below the pivot, many may be equal to it. */
	EQUAL_PART = 8,
	/* Rounds for each halving, after which the rest is sorted: no input takes long. */
	ROUNDS_PER_HALVING = 4,
};

/* A key of 64 bits in an array of any type; the compiler makes one instruction of it. */
static int64_t get(const char *keys, size_t i)
{
	int64_t key;
	memcpy(&key, keys + i * sizeof(key), sizeof(key));
	return key;
}

static void put(char *keys, size_t i, int64_t key)
{
	memcpy(keys + i * sizeof(key), &key, sizeof(key));
}

static int compare_keys(const void *left, const void *right)
{
	int64_t a = get(left, 0), b = get(right, 0);
	return FSL_ORDER(a, b);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a < b ? b : a;
}

/* Moves the greatest of @n > 0 keys to their end. */
static void raise_greatest(char *keys, size_t n)
{
	int64_t key = get(keys, 0);
	for (size_t i = 1; i < n; i++) {
		int64_t other = get(keys, i);
		put(keys, i - 1, least(key, other));
		key = most(key, other);
	}
	put(keys, n - 1, key);
}

/* Moves the least of @n > 0 keys to their front. */
static void sink_least(char *keys, size_t n)
{
	int64_t key = get(keys, n - 1);
	for (size_t i = n - 1; i > 0; i--) {
		int64_t other = get(keys, i - 1);
		put(keys, i, most(key, other));
		key = least(key, other);
	}
	put(keys, 0, key);
}

/* Puts the @k-th least of @n keys at its place, and none greater before it, from the nearer end. */
static int64_t select_short(char *keys, size_t n, size_t k)
{
	if (k < n / 2) {
		for (size_t i = 0; i <= k; i++) {
			sink_least(keys + i * sizeof(int64_t), n - i);
		}
	} else {
		for (size_t i = n; i > k; i--) {
			raise_greatest(keys, i);
		}
	}
	return get(keys, k);
}

/* A key near the key at @k, judged by some of the keys, spread evenly. */
static int64_t pivot_of(const char *keys, size_t n, size_t k)
{
	char some[SAMPLE * sizeof(int64_t)];
	size_t n_some = n < LONG_MIN ? SAMPLE_SHORT : SAMPLE, stride = n / n_some;
	for (size_t i = 0; i < n_some; i++) {
		put(some, i, get(keys, i * stride + stride / 2));
	}
	return select_short(some, n_some, k * n_some / n);
}

/* Exchanges the key at @i, which is not below @bound, with the first such key, or the other way
 * round: no branch. Returns the number of keys below @bound so far. */
static inline size_t part_key(char *keys, size_t i, size_t n_below, int64_t bound)
{
	int64_t key = get(keys, i);
	put(keys, i, get(keys, n_below));
	put(keys, n_below, key);
	return n_below + (key < bound);
}

/* Moves keys below @bound to the front of @n; returns their number. */
static size_t part_below(char *keys, size_t n, int64_t bound)
{
	size_t n_below = 0, i = 0;
	for (; i + 4 <= n; i += 4) {
		n_below = part_key(keys, i, n_below, bound);
		n_below = part_key(keys, i + 1, n_below, bound);
		n_below = part_key(keys, i + 2, n_below, bound);
		n_below = part_key(keys, i + 3, n_below, bound);
	}
	for (; i < n; i++) {
		n_below = part_key(keys, i, n_below, bound);
	}
	return n_below;
}

static size_t rounds_for(size_t n)
{
	size_t n_rounds = 0;
	for (; n > 1; n /= 2) {
		n_rounds += ROUNDS_PER_HALVING;
	}
	return n_rounds;
}

static void drop_front(char **keys, size_t *n, size_t *k, size_t n_dropped)
{
	*keys += n_dropped * sizeof(int64_t);
	*n -= n_dropped;
	*k -= n_dropped;
}

/* fsl_select_i64() of keys in an array of any type. */
static int64_t select_key(char *keys, size_t n, size_t k)
{
	size_t n_rounds = n > SHORT ? rounds_for(n) : 0;
	for (; n > SHORT && n_rounds > 0; n_rounds--) {
		int64_t pivot = pivot_of(keys, n, k);
		size_t n_before = n, n_part = part_below(keys, n, pivot);
		if (k < n_part) {
			n = n_part;
			continue;
		}
		drop_front(&keys, &n, &k, n_part);
		if (n_part >= n_before / EQUAL_PART) {
			continue; /* the pivot is among the rest, perhaps with many equal keys */
		}
		n_part = pivot < INT64_MAX ? part_below(keys, n, pivot + 1) : n;
		if (k < n_part) {
			return pivot;
		}
		drop_front(&keys, &n, &k, n_part);
	}
	if (n <= SHORT) {
		return select_short(keys, n, k);
	}
	qsort(keys, n, sizeof(int64_t), compare_keys);
	return get(keys, k);
}

int64_t fsl_select_i64(int64_t *values, size_t n, size_t k)
{
	return select_key((char *)values, n, k);
}

/* Maps doubles to integers of the same order; bits of doubles below zero are reversed. */
static int64_t key_of(double value)
{
	int64_t bits;
	value += 0.0; /* -0.0 becomes 0.0, its equal */
	memcpy(&bits, &value, sizeof(bits));
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

static double value_of(int64_t key)
{
	double value;
	int64_t bits = key < 0 ? key ^ INT64_MAX : key;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

double fsl_select(double *scratch, size_t n, size_t k, double *next)
{
	char *keys = (char *)scratch;
	for (size_t i = 0; i < n; i++) {
		put(keys, i, key_of(scratch[i]));
	}
	int64_t kth = select_key(keys, n, k), next_key = key_of(INFINITY);
	for (size_t i = k + 1; i < n; i++) {
		next_key = least(next_key, get(keys, i));
	}
	*next = value_of(next_key);
	return value_of(kth);
}

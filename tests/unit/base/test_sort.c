/* Claims about order statistics: the same results as sorting. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <failslow/stats.h>

#include "base/sort.h"

enum { N_MAX = 700, SORTED_MAX = 9000 };

/* Uniform in [0, below) (splitmix64). */
static int64_t next_random(uint64_t *seed, int64_t below)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (int64_t)((z ^ (z >> 31)) % (uint64_t)below);
}

static void assert_selected(const int64_t *values, size_t n, size_t k)
{
	int64_t sorted[N_MAX], work[N_MAX];
	memcpy(sorted, values, n * sizeof(*sorted));
	memcpy(work, values, n * sizeof(*work));
	qsort(sorted, n, sizeof(*sorted), fsl_compare_i64);
	assert_int_equal(fsl_select_i64(work, n, k), sorted[k]);
	assert_int_equal(work[k], sorted[k]);
	for (size_t i = 0; i < n; i++) {
		assert_true(i < k ? work[i] <= work[k] : work[i] >= work[k]);
	}
}

static int compare_doubles(const void *left, const void *right)
{
	return FSL_ORDER(*(const double *)left, *(const double *)right);
}

static void assert_double_selected(const int64_t *values, size_t n, size_t k)
{
	double sorted[N_MAX + 1], work[N_MAX], next;
	for (size_t i = 0; i < n; i++) {
		sorted[i] = work[i] = (double)values[i];
	}
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	sorted[n] = INFINITY;
	double found = fsl_select(work, n, k, &next);
	assert_true(FSL_ORDER(found, sorted[k]) == 0);
	assert_true(FSL_ORDER(next, sorted[k + 1]) == 0);
}

static void every_place_holds_what_sorting_puts_there(void **state)
{
	(void)state;
	static const int64_t ranges[] = {1, 2, 10, INT64_C(1) << 62};
	int64_t values[N_MAX];
	uint64_t seed = 1;
	for (size_t n = 1; n <= N_MAX; n = n * 3 / 2 + 1) {
		for (size_t r = 0; r < sizeof(ranges) / sizeof(ranges[0]); r++) {
			for (size_t i = 0; i < n; i++) {
				values[i] = next_random(&seed, ranges[r]) - ranges[r] / 2;
			}
			for (size_t k = 0; k < n; k += n / 7 + 1) {
				assert_selected(values, n, k);
				assert_double_selected(values, n, k);
			}
			assert_selected(values, n, n - 1);
			assert_double_selected(values, n, n - 1);
		}
	}
}

static void sorted_and_saw_toothed_values_are_no_trouble(void **state)
{
	(void)state;
	int64_t up[N_MAX], down[N_MAX], teeth[N_MAX];
	for (size_t i = 0; i < N_MAX; i++) {
		up[i] = (int64_t)i;
		down[i] = -(int64_t)i;
		teeth[i] = (int64_t)(i % 2 == 0 ? i : N_MAX - i);
	}
	for (size_t k = 0; k < N_MAX; k += 50) {
		assert_selected(up, N_MAX, k);
		assert_selected(down, N_MAX, k);
		assert_selected(teeth, N_MAX, k);
		assert_double_selected(up, N_MAX, k);
		assert_double_selected(down, N_MAX, k);
		assert_double_selected(teeth, N_MAX, k);
	}
}

static void the_least_and_greatest_numbers_there_are_have_their_places(void **state)
{
	(void)state;
	static const int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -1,
					   0,         INT64_MAX - 1, INT64_MAX};
	int64_t values[N_MAX];
	uint64_t seed = 2;
	for (size_t n = 1; n <= 200; n++) {
		for (size_t i = 0; i < n; i++) {
			values[i] = extremes[next_random(&seed, 6)];
		}
		for (size_t k = 0; k < n; k += n / 5 + 1) {
			assert_selected(values, n, k);
		}
	}
}

static void infinite_and_tiny_values_are_in_order_and_zero_has_no_sign(void **state)
{
	(void)state;
	static const double ascending[] = {-INFINITY, -1e300, -2.5,   -1e-300, -5e-324,  -0.0,
					   0.0,       5e-324, 1e-300, 2.5,     INFINITY, INFINITY};
	enum { N = sizeof(ascending) / sizeof(ascending[0]) };
	for (size_t n_times = 1; n_times <= 20; n_times += 19) {
		for (size_t k = 0; k < N * n_times; k++) {
			double work[N * 20], next, found;
			for (size_t i = 0; i < N * n_times; i++) {
				work[i] = ascending[i * 5 % N];
			}
			found = fsl_select(work, N * n_times, k, &next);
			double behind =
				k + 1 < N * n_times ? ascending[(k + 1) / n_times] : INFINITY;
			assert_true(FSL_ORDER(found, ascending[k / n_times]) == 0);
			assert_true(FSL_ORDER(next, behind) == 0);
			assert_true(found != 0.0 || !signbit(found));
		}
	}
}

/* The signs of equal zeros tell which one came first. */
static int compare_by_value_and_place(const void *left, const void *right)
{
	const double *a = left, *b = right;
	int order = FSL_ORDER(a[0], b[0]);
	return order != 0 ? order : FSL_ORDER(a[1], b[1]);
}

static void assert_sorted(size_t n, int64_t range, uint64_t *seed)
{
	static double values[SORTED_MAX], expected[SORTED_MAX][2];
	size_t n_numbers = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t value = next_random(seed, range) - range / 2;
		values[i] = next_random(seed, 2) == 0 && value == 0 ? -0.0 : (double)value;
		values[i] = next_random(seed, 20) == 0 ? NAN : values[i];
		if (!isnan(values[i])) {
			expected[n_numbers][0] = values[i];
			expected[n_numbers][1] = (double)n_numbers;
			n_numbers++;
		}
	}
	qsort(expected, n_numbers, sizeof(expected[0]), compare_by_value_and_place);
	fsl_sort(values, n);
	for (size_t i = 0; i < n; i++) {
		if (i >= n_numbers) {
			assert_true(isnan(values[i]));
		} else {
			assert_true(FSL_ORDER(values[i], expected[i][0]) == 0);
			bool is_same = (signbit(values[i]) != 0) == (signbit(expected[i][0]) != 0);
			assert_true(is_same || n > 4096); /* qsort need not keep their order */
		}
	}
}

static void values_are_in_order_and_what_is_no_number_comes_last(void **state)
{
	(void)state;
	static const size_t lengths[] = {1000, 4095, 4096, 4097, 5000, SORTED_MAX};
	static const int64_t ranges[] = {1, 2, 10, 1000000};
	uint64_t seed = 3;
	for (size_t k = 0; k < 4; k++) {
		for (size_t n = 0; n < 150; n++) {
			assert_sorted(n, ranges[k], &seed);
		}
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			assert_sorted(lengths[i], ranges[k], &seed);
		}
	}
}

static void values_that_are_in_order_or_reversed_are_sorted(void **state)
{
	(void)state;
	static double values[SORTED_MAX];
	for (int is_reversed = 0; is_reversed <= 1; is_reversed++) {
		for (size_t i = 0; i < SORTED_MAX; i++) {
			values[i] = (double)(is_reversed ? SORTED_MAX - 1 - i : i);
		}
		fsl_sort(values, SORTED_MAX);
		for (size_t i = 0; i < SORTED_MAX; i++) {
			assert_int_equal((size_t)values[i], i);
		}
		fsl_sort(values, 3000);
		assert_int_equal((size_t)values[2999], 2999);
	}
}

/* A record with its place before it was sorted. */
struct record {
	int32_t key;
	uint32_t place;
	char filling[5];
};

static int compare_records(const void *left, const void *right)
{
	const struct record *a = left, *b = right;
	return FSL_ORDER(a->key, b->key);
}

/* @n records of keys below @below in @n_runs runs; records of one key stay in their order. */
static void assert_runs_sorted(size_t n, size_t n_runs, int64_t below, uint64_t *seed)
{
	struct record records[N_MAX];
	int32_t key = 0;
	for (size_t i = 0; i < n; i++) {
		bool is_new = i == 0 || (size_t)next_random(seed, (int64_t)n) < n_runs;
		key = is_new ? (int32_t)next_random(seed, below)
			     : key + (int32_t)next_random(seed, below / 16 + 2);
		records[i] = (struct record){key, (uint32_t)i, "abcd"};
	}
	fsl_sort_runs(records, n, sizeof(records[0]), compare_records);
	uint32_t n_places = 0;
	for (size_t i = 0; i < n; i++) {
		n_places += records[i].place;
		assert_string_equal(records[i].filling, "abcd");
		assert_true(i == 0 || records[i - 1].key < records[i].key ||
			    (records[i - 1].key == records[i].key &&
			     records[i - 1].place < records[i].place));
	}
	assert_int_equal(n_places, n == 0 ? 0 : n * (n - 1) / 2);
}

static void runs_are_merged_whatever_their_number(void **state)
{
	uint64_t seed = 7;
	(void)state;
	for (size_t n = 0; n < N_MAX; n = n * 5 / 4 + 1) {
		for (size_t n_runs = 0; n_runs < 300; n_runs = n_runs * 2 + 1) {
			assert_runs_sorted(n, n_runs, 10, &seed);
			assert_runs_sorted(n, n_runs, 1000000, &seed);
		}
	}
}

/* As many runs as records, more than are merged. */
static void an_array_that_falls_is_sorted(void **state)
{
	struct record records[N_MAX];
	(void)state;
	for (size_t n = 2; n < N_MAX; n += 97) {
		for (size_t i = 0; i < n; i++) {
			records[i] = (struct record){-(int32_t)i, (uint32_t)i, ""};
		}
		fsl_sort_runs(records, n, sizeof(records[0]), compare_records);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(records[i].place, n - 1 - i);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_place_holds_what_sorting_puts_there),
		cmocka_unit_test(sorted_and_saw_toothed_values_are_no_trouble),
		cmocka_unit_test(the_least_and_greatest_numbers_there_are_have_their_places),
		cmocka_unit_test(infinite_and_tiny_values_are_in_order_and_zero_has_no_sign),
		cmocka_unit_test(values_are_in_order_and_what_is_no_number_comes_last),
		cmocka_unit_test(runs_are_merged_whatever_their_number),
		cmocka_unit_test(an_array_that_falls_is_sorted),
		cmocka_unit_test(values_that_are_in_order_or_reversed_are_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

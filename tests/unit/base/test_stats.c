/* stats: aggregates, robust scale, rank tests and label helpers of <failslow/stats.h>. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <failslow/stats.h>

#include "base/mem.h"

#define NONE ((double)NAN)

static void assert_near(double actual, double expected)
{
	if (!(fabs(actual - expected) <= 1e-12 * (1.0 + fabs(expected)))) {
		fail_msg("expected %.17g, got %.17g", expected, actual);
	}
}

static void percentile_interpolates_like_numpy(void **state)
{
	(void)state;
	static const double values[] = {40.0, 10.0, 30.0, 20.0};
	double scratch[4];
	assert_near(fsl_percentile(values, 4, 0.0, scratch), 10.0);
	assert_near(fsl_percentile(values, 4, 50.0, scratch), 25.0);
	assert_near(fsl_percentile(values, 4, 90.0, scratch), 37.0);
	assert_near(fsl_percentile(values, 4, 100.0, scratch), 40.0);
	assert_near(fsl_percentile(values, 1, 99.0, scratch), 40.0);
	assert_near(values[0], 40.0);
}

static void percentile_of_nothing_or_outside_0_to_100_is_nan(void **state)
{
	(void)state;
	static const double values[] = {1.0, 2.0};
	double scratch[2];
	assert_true(isnan(fsl_percentile(values, 0, 50.0, scratch)));
	assert_true(isnan(fsl_percentile(values, 2, -1.0, scratch)));
	assert_true(isnan(fsl_percentile(values, 2, 100.5, scratch)));
	assert_true(isnan(fsl_percentile(values, 2, NONE, scratch)));
}

static void percentile_of_many_values_matches_the_sorted_order(void **state)
{
	(void)state;
	enum { N = 1001 };
	static double values[N];
	static double scratch[N];
	for (size_t i = 0; i < N; i++) {
		values[i] = (double)((i * 7919) % N); /* a permutation of 0..1000 */
	}
	for (int q = 0; q <= 100; q++) {
		assert_near(fsl_percentile(values, N, q, scratch), 10.0 * q);
	}
}

/* As of distances between operators: nearly all are the same. */
static void percentile_of_many_equal_values_matches_the_sorted_order(void **state)
{
	(void)state;
	enum { N = 2002 };
	static double values[N], sorted[N], scratch[N];
	for (size_t n_rare = 0; n_rare <= N; n_rare += 69) {
		for (size_t i = 0; i < N; i++) {
			size_t place = (i * 7919) % N;
			values[i] = place >= n_rare ? 5.0 : place % 2 == 0 ? 2.0 : 9.0;
		}
		memcpy(sorted, values, sizeof(sorted));
		fsl_sort(sorted, N);
		for (int q = 0; q <= 1000; q++) {
			double position = (N - 1) * (q / 1000.0);
			size_t below = (size_t)position, above = below + 1 < N ? below + 1 : below;
			double fraction = position - (double)below;
			assert_near(fsl_percentile(values, N, q / 10.0, scratch),
				    sorted[below] + fraction * (sorted[above] - sorted[below]));
		}
	}
}

/* Every eighth value is the small one, which a sample at such a distance takes for all. */
static void percentile_behind_the_last_of_equal_values_sees_the_next(void **state)
{
	(void)state;
	enum { N = 1024, N_SMALL = 600 };
	static double values[N], scratch[N];
	size_t n_others = N_SMALL - N / 8;
	for (size_t i = 0; i < N; i++) {
		bool is_small = i % 8 == 0 || n_others > 0;
		n_others -= i % 8 != 0 && n_others > 0;
		values[i] = is_small ? 5.0 : 9.0;
	}
	assert_near(fsl_percentile(values, N, 100.0 * (N_SMALL - 0.75) / (N - 1), scratch), 6.0);
}

static void sum_is_exact_where_plain_addition_is_not(void **state)
{
	(void)state;
	enum { N = 1 << 20 };
	double *values = fsl_calloc(N, sizeof(*values));
	assert_non_null(values);
	for (size_t i = 0; i < N; i++) {
		values[i] = 0.1;
	}
	assert_true(fabs(fsl_sum(values, N) - 0.1 * N) < 1e-9);
	fsl_free(values);
}

static void mean_and_std_are_those_of_the_population(void **state)
{
	(void)state;
	static const double values[] = {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
	assert_near(fsl_mean(values, 8), 5.0);
	assert_near(fsl_std(values, 8, 5.0), 2.0);
	assert_near(fsl_sum(values, 0), 0.0);
	assert_true(isnan(fsl_mean(values, 0)));
	assert_true(isnan(fsl_std(values, 0, 0.0)));
}

static void every_aggregate_has_its_numpy_name(void **state)
{
	(void)state;
	static const double values[] = {3.0, 1.0, 2.0, 6.0};
	static const struct {
		const char *name;
		double expected;
	} cases[] = {{"min", 1.0},    {"amin", 1.0}, {"max", 6.0},
		     {"amax", 6.0},   {"mean", 3.0}, {"average", 3.0},
		     {"median", 2.5}, {"sum", 12.0}, {"std", 1.8708286933869707},
		     {"var", 3.5},    {"ptp", 5.0},  {"percentile", 5.1}};
	double scratch[4];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int agg = fsl_agg_from_name(cases[i].name);
		assert_true(agg >= 0);
		assert_near(fsl_agg_apply((enum fsl_agg)agg, 90.0, values, 4, scratch),
			    cases[i].expected);
		assert_true(isnan(fsl_agg_apply((enum fsl_agg)agg, 90.0, values, 0, scratch)));
	}
	assert_int_equal(fsl_agg_from_name("quantile"), -1);
	assert_int_equal(fsl_agg_from_name(""), -1);
	for (int agg = 0; agg < FSL_AGGS_N; agg++) {
		assert_int_equal(fsl_agg_from_name(fsl_agg_name((enum fsl_agg)agg)), agg);
	}
}

static void median_leaves_nan_out(void **state)
{
	(void)state;
	static const double values[] = {NAN, 5.0, 1.0, NAN, 3.0};
	double scratch[5];
	assert_near(fsl_median(values, 5, scratch), 3.0);
	assert_near(fsl_median(values, 3, scratch), 3.0);
	assert_true(isnan(fsl_median(values, 1, scratch)));
	assert_true(isnan(fsl_median(values, 0, scratch)));
}

static void low_median_is_one_of_the_values(void **state)
{
	(void)state;
	static const double values[] = {9.0, 1.0, NAN, 9.0, 1.0, 5.0};
	double scratch[6];
	assert_true(fsl_low_median(values, 4, scratch) == 9.0);
	assert_true(fsl_low_median(values, 5, scratch) == 1.0);
	assert_true(fsl_low_median(values, 6, scratch) == 5.0);
	assert_true(isnan(fsl_low_median(values + 2, 1, scratch)));
	assert_true(isnan(fsl_low_median(values, 0, scratch)));
}

static void mad_sigma_ignores_a_minority_of_outliers(void **state)
{
	(void)state;
	static const double values[] = {1.0, 2.0, 3.0, 4.0, 1e9, NAN};
	double scratch[6];
	/* Deviations from 3: 2 1 0 1 1e9, median 1. */
	assert_near(fsl_mad_sigma(values, 6, 3.0, scratch), 1.482602218505602);
	assert_true(isnan(fsl_mad_sigma(values, 0, 3.0, scratch)));
}

static void diff_sigma_does_not_see_a_shift_of_the_level(void **state)
{
	(void)state;
	static const double flat[] = {0.0, 2.0, 0.0, 2.0, 0.0, 2.0, 0.0, 2.0};
	static const double shifted[] = {0.0, 2.0, 0.0, NAN, 2.0, 1000.0, 1002.0, 1000.0, 1002.0};
	double scratch[9];
	double expected = 2.0 * 1.482602218505602 / sqrt(2.0);
	assert_near(fsl_diff_sigma(flat, 8, scratch), expected);
	assert_near(fsl_diff_sigma(shifted, 9, scratch), expected);
	assert_true(isnan(fsl_diff_sigma(flat, 1, scratch)));
}

static void sort_puts_nan_last(void **state)
{
	(void)state;
	double values[] = {NAN, 3.0, -1.0, NAN, 2.0, -HUGE_VAL};
	fsl_sort(values, 6);
	assert_true(values[0] < -1e300);
	assert_near(values[1], -1.0);
	assert_near(values[3], 3.0);
	assert_true(isnan(values[4]) && isnan(values[5]));
	fsl_sort(NULL, 0);
}

static void lanes_are_sorted_as_series_of_their_own(void **state)
{
	(void)state;
	enum { SERIES_MAX = 70 };
	static double rows[SERIES_MAX][FSL_LANES];
	double expected[FSL_LANES][SERIES_MAX];
	uint32_t seed = 1;
	for (size_t n = 0; n <= SERIES_MAX; n++) {
		for (size_t i = 0; i < n; i++) {
			for (size_t lane = 0; lane < FSL_LANES; lane++) {
				seed = seed * 1664525 + 1013904223;
				/* Many equal ones in the first lanes. */
				expected[lane][i] = (double)((seed >> 8) % (2 + 50 * lane)) - 7.0;
				rows[i][lane] = expected[lane][i];
			}
		}
		fsl_sort_lanes(rows, n);
		for (size_t lane = 0; lane < FSL_LANES; lane++) {
			fsl_sort(expected[lane], n);
			for (size_t i = 0; i < n; i++) {
				assert_near(rows[i][lane], expected[lane][i]);
			}
		}
	}
}

static void sign_test_counts_both_tails(void **state)
{
	(void)state;
	/* 2 * (1 + 10 + 45) / 1024 */
	assert_near(fsl_sign_test_p(8, 2), 0.109375);
	assert_near(fsl_sign_test_p(2, 8), 0.109375);
	assert_near(fsl_sign_test_p(10, 0), 2.0 / 1024.0);
	assert_near(fsl_sign_test_p(5, 5), 1.0);
	assert_near(fsl_sign_test_p(0, 0), 1.0);
	assert_true(fsl_sign_test_p(100000, 0) < 1e-300);
}

static void mann_whitney_is_small_only_when_after_is_larger(void **state)
{
	(void)state;
	static const double low[] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0};
	static const double high[] = {11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0};
	/* U = 64, mean 32, sigma sqrt(64 * 17 / 12), continuity 0.5: z = 3.308. */
	assert_true(fabs(fsl_mann_whitney_p(low, 8, high, 8) - 4.695e-4) < 1e-6);
	assert_true(fsl_mann_whitney_p(high, 8, low, 8) > 0.999);
	assert_true(fsl_mann_whitney_p(low, 8, low, 8) > 0.4);
}

static void mann_whitney_of_ties_or_too_few_values_is_no_evidence(void **state)
{
	(void)state;
	static const double same[] = {5.0, 5.0, 5.0, 5.0};
	static const double holes[] = {1.0, NAN, 2.0, NAN};
	static const double high[] = {11.0, 12.0, 13.0};
	assert_near(fsl_mann_whitney_p(same, 4, same, 4), 1.0);
	assert_near(fsl_mann_whitney_p(holes, 4, high, 3), 1.0);
	assert_near(fsl_mann_whitney_p(NULL, 0, high, 3), 1.0);
	fsl_mem_fail_at(1);
	assert_near(fsl_mann_whitney_p(high, 3, high, 3), 1.0);
	fsl_mem_fail_at(0);
}

static void mode_breaks_ties_by_first_occurrence(void **state)
{
	(void)state;
	static const int32_t tie[] = {1, 0, 0, 1, -1};
	static const int32_t noisy[] = {-1, -1, -1, 0, 0};
	static const int32_t noise[] = {-1, -1};
	assert_int_equal(fsl_labels_mode(tie, 5, true), 1);
	assert_int_equal(fsl_labels_mode(noisy, 5, true), -1);
	assert_int_equal(fsl_labels_mode(noisy, 5, false), 0);
	assert_int_equal(fsl_labels_mode(noise, 2, false), -1);
}

static void filter_keeps_runs_of_at_least_the_window(void **state)
{
	(void)state;
	static const uint8_t in[] = {1, 1, 0, 1, 1, 1, 0, 1};
	static const uint8_t of_three[] = {0, 0, 0, 1, 1, 1, 0, 0};
	uint8_t out[8];
	fsl_filter_runs(in, 8, 3, out);
	assert_memory_equal(out, of_three, 8);
	fsl_filter_runs(in, 8, 0, out);
	assert_memory_equal(out, in, 8);
	fsl_filter_runs(in, 8, 9, out);
	assert_int_equal(memchr(out, 1, 8) == NULL, 1);
	memcpy(out, in, 8);
	fsl_filter_runs(out, 8, 3, out);
	assert_memory_equal(out, of_three, 8);
}

static void packing_and_unpacking_bridges_holes_inside_a_run(void **state)
{
	(void)state;
	static const double values[] = {NAN, 1.0, NAN, 2.0, 3.0, NAN, NAN, 4.0};
	static const uint8_t labels[] = {1, 1, 0, 1}; /* of 1, 2, 3, 4 */
	static const uint8_t expected[] = {0, 1, 1, 1, 0, 0, 0, 1};
	double packed[8];
	size_t positions[8];
	uint8_t out[8];
	assert_int_equal(fsl_pack(values, 8, packed, positions), 4);
	assert_near(packed[3], 4.0);
	assert_int_equal(positions[2], 4);
	fsl_unpack_labels(labels, positions, 4, out, 8);
	assert_memory_equal(out, expected, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentile_interpolates_like_numpy),
		cmocka_unit_test(percentile_of_nothing_or_outside_0_to_100_is_nan),
		cmocka_unit_test(percentile_of_many_values_matches_the_sorted_order),
		cmocka_unit_test(percentile_of_many_equal_values_matches_the_sorted_order),
		cmocka_unit_test(percentile_behind_the_last_of_equal_values_sees_the_next),
		cmocka_unit_test(sum_is_exact_where_plain_addition_is_not),
		cmocka_unit_test(mean_and_std_are_those_of_the_population),
		cmocka_unit_test(every_aggregate_has_its_numpy_name),
		cmocka_unit_test(median_leaves_nan_out),
		cmocka_unit_test(low_median_is_one_of_the_values),
		cmocka_unit_test(mad_sigma_ignores_a_minority_of_outliers),
		cmocka_unit_test(diff_sigma_does_not_see_a_shift_of_the_level),
		cmocka_unit_test(sort_puts_nan_last),
		cmocka_unit_test(lanes_are_sorted_as_series_of_their_own),
		cmocka_unit_test(sign_test_counts_both_tails),
		cmocka_unit_test(mann_whitney_is_small_only_when_after_is_larger),
		cmocka_unit_test(mann_whitney_of_ties_or_too_few_values_is_no_evidence),
		cmocka_unit_test(mode_breaks_ties_by_first_occurrence),
		cmocka_unit_test(filter_keeps_runs_of_at_least_the_window),
		cmocka_unit_test(packing_and_unpacking_bridges_holes_inside_a_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

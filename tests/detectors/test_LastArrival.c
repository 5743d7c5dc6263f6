/* LastArrival: the member that is clearly the last in an instance. */
#include "detectors/bench.h"

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_windows)
{
	bench_init(bench, "LastArrival", params);
	bench_shape(bench, FSL_METRIC_LATENESS, FSL_WINDOW_INSTANCE, n_members, n_windows);
	bench_fill(bench, 0.0, 0.0);
}

static void fires_on_the_last_of_each_instance(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 3);
	bench_set(&bench, 0, (const double[]){0.0, 1.0, 0.0}, 3);
	bench_set(&bench, 1, (const double[]){3.0, 0.0, 7.0}, 3);
	bench_set(&bench, 2, (const double[]){5.0, 9.0, 2.0}, 3);
	assert_int_equal(bench_scan(&bench), 3);
	assert_int_equal(bench_finding(&bench, 0)->rank, 1);
	assert_int_equal(bench_finding(&bench, 0)->window_begin, 2);
	assert_int_equal(bench_finding(&bench, 0)->window_end, 3);
	assert_int_equal(bench_finding(&bench, 1)->rank, 2);
	assert_int_equal(bench_finding(&bench, 1)->window_begin, 0);
	assert_int_equal(bench_finding(&bench, 2)->rank, 2);
	assert_int_equal(bench_finding(&bench, 2)->window_begin, 1);
	bench_expect_relabelled(&bench);
	bench_fini(&bench);
}

static void effect_is_what_it_comes_behind_the_one_before(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 1);
	*bench_at(&bench, 3, 0) = 5.0;
	*bench_at(&bench, 0, 0) = 3.5;
	bench_expect_one(&bench, 3, 0, 1);
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 1.5) < 1e-12);
	assert_true(isnan(bench_finding(&bench, 0)->slow_ratio));
	assert_int_equal(bench_finding(&bench, 0)->peer, -1);
	bench_fini(&bench);
}

static void confidence_is_the_chance_of_the_others(void **state)
{
	(void)state;
	for (size_t n = 2; n <= 64; n *= 2) {
		struct bench bench;
		start(&bench, NULL, n, 1);
		*bench_at(&bench, n - 1, 0) = 5.0;
		bench_expect_one(&bench, (int32_t)n - 1, 0, 1);
		double chance = 1.0 - bench_finding(&bench, 0)->confidence;
		assert_true(fabs(chance - 1.0 / (double)n) < 1e-12);
		bench_fini(&bench);
	}
}

static void two_that_come_together_are_a_tie(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 3, 2);
	bench_set(&bench, 1, (const double[]){7.0, 7.0}, 2);
	bench_set(&bench, 2, (const double[]){7.000999, 7.001}, 2);
	bench_expect_one(&bench, 2, 1, 2); /* a difference of whole ns: 1000 are no tie */
	bench_fini(&bench);
	start(&bench, "{\"tie_ns\": 1001}", 3, 2);
	bench_set(&bench, 1, (const double[]){7.0, 7.0}, 2);
	bench_set(&bench, 2, (const double[]){7.000999, 7.001001}, 2);
	bench_expect_one(&bench, 2, 1, 2);
	bench_fini(&bench);
}

static void equal_lateness_is_a_tie_however_small_ties_are(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"tie_ns\": 1}", 5, 3);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 1, 0, 3, 2.0);
	bench_add(&bench, 4, 0, 3, 2.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void members_with_a_hole_did_not_come(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 3, 3);
	bench_set(&bench, 0, (const double[]){(double)NAN, 1.0, (double)NAN}, 3);
	bench_set(&bench, 1, (const double[]){4.0, (double)NAN, 4.0}, 3);
	bench_set(&bench, 2, (const double[]){(double)NAN, 0.0, 6.0}, 3);
	assert_int_equal(bench_scan(&bench), 2);
	assert_int_equal(bench_finding(&bench, 0)->rank, 0);
	assert_int_equal(bench_finding(&bench, 0)->window_begin, 1);
	assert_int_equal(bench_finding(&bench, 1)->rank, 2);
	assert_true(fabs(bench_finding(&bench, 1)->confidence - 0.5) < 1e-12);
	bench_fini(&bench);
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 3);
	bench_add(&bench, 0, 0, 3, 5.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
	start(&bench, NULL, 0, 3);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
	start(&bench, NULL, 4, 0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void other_metrics_are_not_understood(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 10);
	bench.windows.metric = FSL_METRIC_EXEC;
	bench_expect_skipped(&bench);
	bench_fini(&bench);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 10);
	bench_add(&bench, 2, 0, 10, 20.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_the_last_of_each_instance),
		cmocka_unit_test(effect_is_what_it_comes_behind_the_one_before),
		cmocka_unit_test(confidence_is_the_chance_of_the_others),
		cmocka_unit_test(two_that_come_together_are_a_tie),
		cmocka_unit_test(equal_lateness_is_a_tie_however_small_ties_are),
		cmocka_unit_test(members_with_a_hole_did_not_come),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(other_metrics_are_not_understood),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

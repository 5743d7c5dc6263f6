/* SlidingWindowKSigmaDetector: a member against its own past. */
#include "detectors/bench.h"

static const char name[] = "SlidingWindowKSigmaDetector";

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_windows)
{
	bench_init(bench, name, params);
	bench_shape(bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, n_members, n_windows);
	bench_fill(bench, 100.0, 1.0);
}

static void fires_on_a_rise_that_lasts(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 3, 60);
	bench_add(&bench, 1, 45, 60, 50.0);
	bench_expect_one(&bench, 1, 45, 60);
	assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.5) < 0.02);
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 50.0) < 2.0);
	assert_true(bench_finding(&bench, 0)->confidence > 0.99);
	bench_fini(&bench);
}

static void stays_silent_on_noise(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 300);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void alarm_filter_drops_four_windows_and_keeps_five(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 60);
	bench_add(&bench, 0, 40, 44, 50.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 0, 44, 45, 50.0);
	bench_expect_one(&bench, 0, 40, 45);
	bench_fini(&bench);
}

static void upper_bound_itself_is_alarmed(void **state)
{
	(void)state;
	/* Constant 100: sigma 0.5, bound (100 + 4 * 0.5) * 1 = 102. */
	static const char params[] =
		"{\"alarm_filter_window_size\": 1, \"n_sigma_method\": {\"bias\": 0, "
		"\"min_std_val\": 0.5}}";
	struct bench bench;
	bench_init(&bench, name, params);
	bench_shape(&bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, 1, 30);
	bench_fill(&bench, 100.0, 0.0);
	*bench_at(&bench, 0, 29) = 102.0;
	bench_expect_one(&bench, 0, 29, 30);
	*bench_at(&bench, 0, 29) = 101.999;
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void lower_bound_sees_a_fall_and_no_rise(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"n_sigma_method\": {\"detect_type\": \"lower_bound\"}}", 2, 60);
	bench_add(&bench, 0, 45, 60, -50.0);
	bench_add(&bench, 1, 45, 60, 50.0);
	bench_expect_one(&bench, 0, 45, 60);
	assert_true(bench_finding(&bench, 0)->slow_ratio < 0.6);
	bench_fini(&bench);
}

static void expert_bounds_override_the_band(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"n_sigma_method\": {\"min_expert_upper_bound\": 200}}", 1, 60);
	bench_add(&bench, 0, 45, 60, 50.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 0, 45, 60, 60.0);
	bench_expect_one(&bench, 0, 45, 60);
	bench_fini(&bench);
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 2, 9);
	bench_add(&bench, 0, 4, 9, 1000.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_shape(&bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, 2, 0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_shape(&bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, 0, 10);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void holes_are_left_out_and_do_not_cut_a_run(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 2, 80);
	bench_add(&bench, 0, 60, 80, 50.0);
	for (size_t w = 1; w < 80; w += 3) {
		*bench_at(&bench, 0, w) = (double)NAN;
		*bench_at(&bench, 1, w) = (double)NAN;
	}
	bench_expect_one(&bench, 0, 60, 79); /* window 79 is a hole */
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 50.0) < 2.0);
	for (size_t w = 0; w < 80; w++) {
		*bench_at(&bench, 0, w) = (double)NAN;
	}
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 3, 60);
	bench_fill(&bench, 7.0, 0.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void members_are_independent(void **state)
{
	(void)state;
	for (size_t n_members = 1; n_members <= 3; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 60);
		bench_add(&bench, n_members - 1, 45, 60, 50.0);
		bench_expect_one(&bench, (int32_t)n_members - 1, 45, 60);
		bench_expect_relabelled(&bench);
		bench_fini(&bench);
	}
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 2, 60);
	bench_add(&bench, 1, 45, 60, 50.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_a_rise_that_lasts),
		cmocka_unit_test(stays_silent_on_noise),
		cmocka_unit_test(alarm_filter_drops_four_windows_and_keeps_five),
		cmocka_unit_test(upper_bound_itself_is_alarmed),
		cmocka_unit_test(lower_bound_sees_a_fall_and_no_rise),
		cmocka_unit_test(expert_bounds_override_the_band),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(holes_are_left_out_and_do_not_cut_a_run),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(members_are_independent),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

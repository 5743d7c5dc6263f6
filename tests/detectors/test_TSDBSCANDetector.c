/* TSDBSCANDetector: a member against its whole series. */
#include "detectors/bench.h"

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_windows)
{
	bench_init(bench, "TSDBSCANDetector", params);
	bench_shape(bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, n_members, n_windows);
	bench_fill(bench, 100.0, 1.0);
}

static void fires_on_a_rise_that_lasts(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"smooth_win\": 1}", 2, 60);
	/* A healthy member spreads over the whole of 0..1; a wider neighbourhood keeps it whole. */
	bench_fill(&bench, 100.0, 0.0);
	bench_add(&bench, 1, 45, 60, 50.0);
	bench_expect_one(&bench, 1, 45, 60);
	assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.5) < 1e-9);
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 50.0) < 1e-9);
	bench_fini(&bench);
}

static void rolling_mean_delays_the_alarm(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 60);
	bench_fill(&bench, 100.0, 0.0);
	bench_add(&bench, 0, 40, 60, 50.0);
	/* The first window with a share of the rise is already outside the cluster at 100. */
	bench_expect_one(&bench, 0, 40, 60);
	bench_add(&bench, 0, 50, 60, -50.0);
	/* The mean of 4 windows comes back 3 windows late. */
	bench_expect_one(&bench, 0, 40, 53);
	bench_fini(&bench);
}

static void stays_silent_on_noise_in_a_wide_neighbourhood(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"eps\": 0.2}", 4, 200);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void detect_type_chooses_the_side(void **state)
{
	(void)state;
	static const char *const params[] = {
		"{\"smooth_win\": 1, \"detect_type\": \"upper_bound\"}",
		"{\"smooth_win\": 1, \"detect_type\": \"lower_bound\"}",
	};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, params[i], 2, 60);
		bench_fill(&bench, 100.0, 0.0);
		bench_add(&bench, 0, 40, 60, 50.0);
		bench_add(&bench, 1, 40, 60, -50.0);
		bench_expect_one(&bench, (int32_t)i, 40, 60);
		bench_fini(&bench);
	}
}

static void alarm_filter_drops_four_windows_and_keeps_five(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"smooth_win\": 1}", 1, 60);
	bench_fill(&bench, 100.0, 0.0);
	bench_add(&bench, 0, 40, 44, 50.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 0, 44, 45, 50.0);
	bench_expect_one(&bench, 0, 40, 45);
	bench_fini(&bench);
}

static void too_little_data_and_constant_data_are_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 2, 60);
	bench_fill(&bench, 7.0, 0.0);
	assert_int_equal(bench_scan(&bench), 0);
	for (size_t n_windows = 0; n_windows < 5; n_windows++) {
		bench_shape(&bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, 3, n_windows);
		bench_fill(&bench, 100.0, 50.0);
		assert_int_equal(bench_scan(&bench), 0);
	}
	bench_fini(&bench);
}

static void holes_are_left_out_and_do_not_cut_a_run(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"smooth_win\": 1}", 2, 60);
	bench_fill(&bench, 100.0, 0.0);
	bench_add(&bench, 0, 40, 60, 50.0);
	for (size_t w = 1; w < 60; w += 4) {
		*bench_at(&bench, 0, w) = (double)NAN;
	}
	for (size_t w = 0; w < 60; w++) {
		*bench_at(&bench, 1, w) = (double)NAN;
	}
	bench_expect_one(&bench, 0, 40, 60);
	bench_fini(&bench);
}

static void members_are_independent(void **state)
{
	(void)state;
	for (size_t n_members = 1; n_members <= 3; n_members++) {
		struct bench bench;
		start(&bench, "{\"smooth_win\": 1}", n_members, 60);
		bench_fill(&bench, 100.0, 0.0);
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
		cmocka_unit_test(rolling_mean_delays_the_alarm),
		cmocka_unit_test(stays_silent_on_noise_in_a_wide_neighbourhood),
		cmocka_unit_test(detect_type_chooses_the_side),
		cmocka_unit_test(alarm_filter_drops_four_windows_and_keeps_five),
		cmocka_unit_test(too_little_data_and_constant_data_are_silent),
		cmocka_unit_test(holes_are_left_out_and_do_not_cut_a_run),
		cmocka_unit_test(members_are_independent),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

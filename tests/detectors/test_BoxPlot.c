/* BoxPlot: step times against all steps of the job. */
#include "detectors/bench.h"

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_steps)
{
	bench_init(bench, "BoxPlot", params);
	bench_shape(bench, FSL_METRIC_STEP_TIME, FSL_WINDOW_STEP, n_members, n_steps);
	bench_fill(bench, 1000.0, 5.0);
}

static void fires_on_long_steps_in_a_row_as_one_finding(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 60);
	bench_add(&bench, 0, 30, 35, 500.0);
	bench_add(&bench, 0, 50, 51, 500.0);
	assert_int_equal(bench_scan(&bench), 2);
	assert_int_equal(bench_finding(&bench, 0)->window_begin, 30);
	assert_int_equal(bench_finding(&bench, 0)->window_end, 35);
	assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.5) < 0.01);
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 500.0) < 10.0);
	assert_int_equal(bench_finding(&bench, 1)->window_begin, 50);
	bench_fini(&bench);
}

static void stays_silent_on_noise_and_on_short_steps(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 500);
	bench_add(&bench, 0, 100, 110, -500.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void fence_itself_is_usual(void **state)
{
	(void)state;
	/* Quartiles of 1..9 are 3 and 7: the fence is 7 + 1.5 * 4 = 13. */
	static const double at_fence[] = {1, 2, 3, 4, 5, 6, 7, 8, 13};
	static const double beyond[] = {1, 2, 3, 4, 5, 6, 7, 8, 13.001};
	struct bench bench;
	start(&bench, NULL, 1, 9);
	bench_set(&bench, 0, at_fence, 9);
	assert_int_equal(bench_scan(&bench), 0);
	bench_set(&bench, 0, beyond, 9);
	bench_expect_one(&bench, 0, 8, 9);
	bench_fini(&bench);
}

static void ratio_guards_a_narrow_box(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 20);
	bench_fill(&bench, 1000.0, 0.0);
	*bench_at(&bench, 0, 7) = 1099.0;
	assert_int_equal(bench_scan(&bench), 0);
	*bench_at(&bench, 0, 7) = 1100.0;
	bench_expect_one(&bench, 0, 7, 8);
	bench_fini(&bench);
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	for (size_t n_steps = 0; n_steps < 8; n_steps++) {
		struct bench bench;
		start(&bench, NULL, 1, n_steps);
		bench_add(&bench, 0, n_steps / 2, (n_steps + 1) / 2, 9000.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void holes_are_left_out(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 2, 30);
	bench_add(&bench, 0, 10, 13, 500.0);
	*bench_at(&bench, 0, 11) = (double)NAN;
	for (size_t w = 0; w < 30; w++) {
		*bench_at(&bench, 1, w) = (double)NAN;
	}
	assert_int_equal(bench_scan(&bench), 2);
	assert_int_equal(bench_finding(&bench, 0)->window_end, 11);
	assert_int_equal(bench_finding(&bench, 1)->window_begin, 12);
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 30);
	bench_fill(&bench, 1000.0, 0.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fill(&bench, 0.0, 0.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void members_are_independent(void **state)
{
	(void)state;
	for (size_t n_members = 1; n_members <= 3; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 60);
		bench_add(&bench, n_members - 1, 30, 32, 500.0);
		bench_expect_one(&bench, (int32_t)n_members - 1, 30, 32);
		bench_expect_relabelled(&bench);
		bench_fini(&bench);
	}
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 60);
	bench_add(&bench, 0, 30, 32, 500.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_long_steps_in_a_row_as_one_finding),
		cmocka_unit_test(stays_silent_on_noise_and_on_short_steps),
		cmocka_unit_test(fence_itself_is_usual),
		cmocka_unit_test(ratio_guards_a_narrow_box),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(holes_are_left_out),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(members_are_independent),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

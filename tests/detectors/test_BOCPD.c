/* BOCPD: rises of a series' level. */
#include "detectors/bench.h"

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_windows)
{
	bench_init(bench, "BOCPD", params);
	bench_shape(bench, FSL_METRIC_STEP_TIME, FSL_WINDOW_STEP, n_members, n_windows);
	bench_fill(bench, 1000.0, 20.0);
}

static void shift_at_step_200_of_240_is_at_200(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct bench bench;
		start(&bench, NULL, 1, 240);
		bench.seed = seed * 1000;
		bench_fill(&bench, 1000.0, 20.0);
		bench_add(&bench, 0, 200, 240, 200.0);
		bench_expect_one(&bench, 0, 200, 240);
		assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.2) < 0.02);
		assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 200.0) < 15.0);
		assert_true(bench_finding(&bench, 0)->confidence > 0.9);
		bench_fini(&bench);
	}
}

static void change_far_behind_pruned_runs_keeps_its_position(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 3000);
	bench_add(&bench, 0, 2900, 3000, 200.0);
	bench_expect_one(&bench, 0, 2900, 3000);
	bench_fini(&bench);
}

static void result_does_not_depend_on_the_unit(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 240);
	bench_add(&bench, 0, 150, 240, 100.0);
	bench_expect_one(&bench, 0, 150, 240);
	for (size_t w = 0; w < 240; w++) {
		*bench_at(&bench, 0, w) *= 1e6;
	}
	bench_expect_one(&bench, 0, 150, 240);
	bench_fini(&bench);
}

static void episode_ends_where_the_level_is_back(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 240);
	bench_add(&bench, 0, 100, 140, 200.0);
	bench_expect_one(&bench, 0, 100, 140);
	bench_fini(&bench);
}

static void rise_in_two_stairs_is_one_episode(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 240);
	bench_add(&bench, 0, 100, 240, 200.0);
	bench_add(&bench, 0, 160, 240, 200.0);
	bench_expect_one(&bench, 0, 100, 240);
	bench_fini(&bench);
}

static void fall_is_no_finding_and_becomes_the_usual_level(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 240);
	bench_add(&bench, 0, 80, 240, -300.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 0, 160, 240, 300.0);
	bench_expect_one(&bench, 0, 160, 240);
	bench_fini(&bench);
}

static void stays_silent_on_noise_for_many_seeds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct bench bench;
		start(&bench, NULL, 1, 300);
		bench.seed = seed * 1000;
		bench_fill(&bench, 1000.0, 200.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void single_spike_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 240);
	bench_add(&bench, 0, 120, 121, 5000.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void ratio_min_is_the_least_rise(void **state)
{
	(void)state;
	static const struct {
		double delta;
		size_t n_findings;
	} cases[] = {{49.0, 0}, {51.0, 1}};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, NULL, 1, 240);
		bench_fill(&bench, 1000.0, 0.0);
		bench_add(&bench, 0, 150, 240, cases[i].delta);
		assert_int_equal(bench_scan(&bench), cases[i].n_findings);
		bench_fini(&bench);
	}
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	for (size_t n_windows = 0; n_windows < 10; n_windows++) {
		struct bench bench;
		start(&bench, NULL, 1, n_windows);
		bench_add(&bench, 0, n_windows / 2, n_windows, 500.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void holes_are_left_out(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 2, 240);
	bench_add(&bench, 0, 150, 240, 200.0);
	for (size_t w = 1; w < 240; w += 3) {
		*bench_at(&bench, 0, w) = (double)NAN;
	}
	for (size_t w = 0; w < 240; w++) {
		*bench_at(&bench, 1, w) = (double)NAN;
	}
	bench_expect_one(&bench, 0, 150, 240);
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	static const double levels[] = {0.0, 1000.0};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, NULL, 1, 240);
		bench_fill(&bench, levels[i], 0.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void members_are_independent(void **state)
{
	(void)state;
	for (size_t n_members = 1; n_members <= 3; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 240);
		bench_add(&bench, n_members - 1, 150, 240, 200.0);
		bench_expect_one(&bench, (int32_t)n_members - 1, 150, 240);
		bench_expect_relabelled(&bench);
		bench_fini(&bench);
	}
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1, 240);
	bench_add(&bench, 0, 150, 240, 200.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shift_at_step_200_of_240_is_at_200),
		cmocka_unit_test(change_far_behind_pruned_runs_keeps_its_position),
		cmocka_unit_test(result_does_not_depend_on_the_unit),
		cmocka_unit_test(episode_ends_where_the_level_is_back),
		cmocka_unit_test(rise_in_two_stairs_is_one_episode),
		cmocka_unit_test(fall_is_no_finding_and_becomes_the_usual_level),
		cmocka_unit_test(stays_silent_on_noise_for_many_seeds),
		cmocka_unit_test(single_spike_is_silent),
		cmocka_unit_test(ratio_min_is_the_least_rise),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(holes_are_left_out),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(members_are_independent),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

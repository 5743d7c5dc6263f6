/* SlidingWindowDBSCAN: members against each other, block by block. */
#include "detectors/bench.h"

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_windows)
{
	bench_init(bench, "SlidingWindowDBSCAN", params);
	bench_shape(bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, n_members, n_windows);
	bench_fill(bench, 10.0, 0.05);
}

static void fires_on_the_odd_member_up_or_down(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		struct bench bench;
		start(&bench, NULL, 8, 44);
		bench_add(&bench, 3, 0, 44, 4.0 * sign);
		bench_expect_one(&bench, 3, 0, 44);
		assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 4.0 * sign) < 0.1);
		bench_fini(&bench);
	}
}

static void only_the_block_of_the_fault_is_alarmed(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 66);
	bench_add(&bench, 3, 50, 66, 4.0);
	bench_expect_one(&bench, 3, 44, 66);
	bench_fini(&bench);
}

static void block_at_the_head_overwrites_its_neighbour(void **state)
{
	(void)state;
	struct bench bench;
	/* Blocks of 22 from the end: [11, 33), then [0, 22) over it. */
	start(&bench, NULL, 8, 33);
	bench_add(&bench, 3, 28, 33, 8.0);
	bench_expect_one(&bench, 3, 22, 33);
	bench_fini(&bench);
}

static void stays_silent_on_noise(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 220);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void reach_is_eps_times_root_of_windows_over_members(void **state)
{
	(void)state;
	/* Seen when RMS > eps * sqrt(w / N) = 0.4 * sqrt(16 / 4) = 0.8. */
	static const struct {
		double delta;
		size_t n_findings;
	} cases[] = {{0.79, 0}, {0.81, 1}};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, "{\"window_size\": 16}", 4, 16);
		bench_fill(&bench, 10.0, 0.0);
		bench_add(&bench, 2, 0, 16, cases[i].delta);
		assert_int_equal(bench_scan(&bench), cases[i].n_findings);
		bench_fini(&bench);
	}
}

static void small_spread_is_usual(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 22);
	bench_fill(&bench, 1000.0, 0.0);
	/* 50 / 2000 is below 0.03, 70 / 2000 is above. */
	bench_add(&bench, 5, 0, 22, 50.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 5, 0, 22, 20.0);
	bench_expect_one(&bench, 5, 0, 22);
	bench_fini(&bench);
}

static void scaling_makes_eps_relative_to_the_greatest_value(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"scaling\": true, \"eps\": 3.0}", 8, 22);
	/* 4 ms is divided by 0.1: 40, and the fault is 20 instead of 2. */
	bench_fill(&bench, 0.2, 0.0);
	bench_add(&bench, 1, 0, 22, 0.2);
	bench_expect_one(&bench, 1, 0, 22);
	bench_fini(&bench);
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 21);
	bench_add(&bench, 3, 0, 21, 100.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_shape(&bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, 8, 0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void fewer_than_members_min_is_silent(void **state)
{
	(void)state;
	for (size_t n_members = 1; n_members <= 3; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 44);
		bench_add(&bench, 0, 0, 44, 100.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
	struct bench bench;
	start(&bench, "{\"members_min\": 3}", 3, 44);
	bench_add(&bench, 0, 0, 44, 100.0);
	bench_expect_one(&bench, 0, 0, 44);
	bench_fini(&bench);
}

static void more_than_members_max_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"members_max\": 8}", 8, 44);
	bench_add(&bench, 0, 0, 44, 100.0);
	bench_expect_one(&bench, 0, 0, 44);
	bench_shape(&bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, 9, 44);
	bench_fill(&bench, 100.0, 1.0);
	bench_add(&bench, 0, 0, 44, 100.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void hole_silences_its_block_only(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 44);
	bench_add(&bench, 3, 0, 44, 4.0);
	*bench_at(&bench, 6, 30) = (double)NAN;
	bench_expect_one(&bench, 3, 0, 22);
	bench_fini(&bench);
}

static void pause_of_the_whole_job_is_left_out(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 54);
	bench_add(&bench, 3, 22, 54, 4.0);
	for (size_t m = 0; m < 8; m++) {
		for (size_t w = 30; w < 40; w++) {
			*bench_at(&bench, m, w) = (double)NAN;
		}
	}
	/* 44 windows are left: the blocks are 0..21 and 22..53 without the pause. */
	bench_expect_one(&bench, 3, 22, 54);
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 4.0) < 0.1);
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"scaling\": true, \"smooth\": true}", 8, 44);
	bench_fill(&bench, 10.0, 0.0);
	for (size_t m = 0; m < 8; m++) {
		bench_add(&bench, m, 0, 44, -10.0);
	}
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void relabelling_members_relabels_findings(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 44);
	bench_add(&bench, 3, 0, 44, 4.0);
	bench_add(&bench, 6, 22, 44, -4.0);
	bench_expect_relabelled(&bench);
	bench_fini(&bench);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 44);
	bench_add(&bench, 3, 0, 44, 4.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_the_odd_member_up_or_down),
		cmocka_unit_test(only_the_block_of_the_fault_is_alarmed),
		cmocka_unit_test(block_at_the_head_overwrites_its_neighbour),
		cmocka_unit_test(stays_silent_on_noise),
		cmocka_unit_test(reach_is_eps_times_root_of_windows_over_members),
		cmocka_unit_test(small_spread_is_usual),
		cmocka_unit_test(scaling_makes_eps_relative_to_the_greatest_value),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(fewer_than_members_min_is_silent),
		cmocka_unit_test(more_than_members_max_is_silent),
		cmocka_unit_test(hole_silences_its_block_only),
		cmocka_unit_test(pause_of_the_whole_job_is_left_out),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(relabelling_members_relabels_findings),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

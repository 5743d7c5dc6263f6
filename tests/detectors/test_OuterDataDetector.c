/* OuterDataDetector: members against each other, window by window. */
#include "detectors/bench.h"

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_windows)
{
	bench_init(bench, "OuterDataDetector", params);
	bench_shape(bench, FSL_METRIC_EXEC, FSL_WINDOW_TIME, n_members, n_windows);
	bench_fill(bench, 200.0, 5.0);
}

static void fires_on_the_odd_member_up_or_down(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		struct bench bench;
		start(&bench, NULL, 8, 40);
		bench_add(&bench, 3, 0, 40, 150.0 * sign);
		bench_expect_one(&bench, 3, 0, 40);
		assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 150.0 * sign) < 5.0);
		bench_fini(&bench);
	}
}

static void episode_is_seen_with_its_windows(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 40);
	bench_add(&bench, 3, 10, 20, 200.0);
	bench_expect_one(&bench, 3, 10, 20);
	bench_fini(&bench);
}

static void stays_silent_on_noise(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 200);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void base_threshold_must_be_exceeded(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"base_threshold\": 400}", 8, 20);
	bench_fill(&bench, 200.0, 0.0);
	bench_add(&bench, 2, 0, 20, 200.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 2, 0, 20, 0.001);
	bench_expect_one(&bench, 2, 0, 20);
	bench_fini(&bench);
}

static void equal_parts_are_not_told_apart(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 20);
	bench_add(&bench, 0, 0, 20, 200.0);
	bench_add(&bench, 1, 0, 20, 200.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void two_equal_gaps_leave_the_middle_out(void **state)
{
	(void)state;
	static const double row[] = {200.0, 400.0, 200.0, 300.0, 400.0, 200.0};
	struct bench bench;
	start(&bench, NULL, 6, 20);
	for (size_t m = 0; m < 6; m++) {
		for (size_t w = 0; w < 20; w++) {
			*bench_at(&bench, m, w) = row[m];
		}
	}
	/* Cut between 200 and 300 and between 300 and 400: three are usual, two are odd. */
	assert_int_equal(bench_scan(&bench), 2);
	assert_int_equal(bench_finding(&bench, 0)->rank, 1);
	assert_int_equal(bench_finding(&bench, 1)->rank, 4);
	bench_fini(&bench);
}

static void few_isolated_alarms_are_dropped(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"discrete_point_suppression_ratio\": 0.05}", 8, 40);
	bench_add(&bench, 3, 10, 11, 200.0);
	bench_add(&bench, 3, 20, 21, 200.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 3, 30, 31, 200.0);
	assert_int_equal(bench_scan(&bench), 3);
	bench_fini(&bench);
}

static void main_culprit_takes_the_alarms_of_a_bystander(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 100);
	bench_add(&bench, 3, 0, 90, 200.0);
	bench_add(&bench, 5, 95, 97, 200.0);
	assert_int_equal(bench_scan(&bench), 2);
	assert_int_equal(bench_finding(&bench, 0)->rank, 3);
	assert_int_equal(bench_finding(&bench, 1)->rank, 3);
	assert_int_equal(bench_finding(&bench, 1)->window_begin, 95);
	bench_fini(&bench);
}

static void fewer_than_members_min_is_silent(void **state)
{
	(void)state;
	for (size_t n_members = 0; n_members <= 3; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 20);
		for (size_t w = 0; n_members > 0 && w < 20; w++) {
			*bench_at(&bench, 0, w) += 500.0;
		}
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
	struct bench bench;
	start(&bench, "{\"members_min\": 3}", 3, 20);
	bench_add(&bench, 0, 0, 20, 500.0);
	bench_expect_one(&bench, 0, 0, 20);
	bench_fini(&bench);
}

static void no_window_is_no_data(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void member_with_a_hole_sits_the_window_out(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 20);
	bench_add(&bench, 3, 0, 20, 200.0);
	for (size_t w = 0; w < 20; w++) {
		*bench_at(&bench, 6, w) = (double)NAN;
	}
	*bench_at(&bench, 3, 10) = (double)NAN;
	assert_int_equal(bench_scan(&bench), 2);
	assert_int_equal(bench_finding(&bench, 0)->window_end, 10);
	assert_int_equal(bench_finding(&bench, 1)->window_begin, 11);
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 20);
	bench_fill(&bench, 200.0, 0.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void relabelling_members_relabels_findings(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 40);
	bench_add(&bench, 3, 0, 20, 200.0);
	bench_add(&bench, 6, 20, 40, 200.0);
	bench_expect_relabelled(&bench);
	bench_fini(&bench);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 40);
	bench_add(&bench, 3, 0, 40, 200.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_the_odd_member_up_or_down),
		cmocka_unit_test(episode_is_seen_with_its_windows),
		cmocka_unit_test(stays_silent_on_noise),
		cmocka_unit_test(base_threshold_must_be_exceeded),
		cmocka_unit_test(equal_parts_are_not_told_apart),
		cmocka_unit_test(two_equal_gaps_leave_the_middle_out),
		cmocka_unit_test(few_isolated_alarms_are_dropped),
		cmocka_unit_test(main_culprit_takes_the_alarms_of_a_bystander),
		cmocka_unit_test(fewer_than_members_min_is_silent),
		cmocka_unit_test(no_window_is_no_data),
		cmocka_unit_test(member_with_a_hole_sits_the_window_out),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(relabelling_members_relabels_findings),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

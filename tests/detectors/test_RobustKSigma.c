/* RobustKSigma: members against their peers over a sliding window. */
#include "detectors/bench.h"

static void start(struct bench *bench, const char *params, size_t n_members, size_t n_windows)
{
	bench_init(bench, "RobustKSigma", params);
	bench_shape(bench, FSL_METRIC_OWN, FSL_WINDOW_STEP, n_members, n_windows);
	bench_fill(bench, 100.0, 2.0);
}

static void fires_from_three_members_on(void **state)
{
	(void)state;
	for (size_t n_members = 3; n_members <= 9; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 100);
		bench_add(&bench, 1, 0, 100, 30.0);
		/* Judging begins after half of look_back. */
		bench_expect_one(&bench, 1, 4, 100);
		assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.3) < 0.02);
		assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 30.0) < 2.0);
		bench_expect_relabelled(&bench);
		bench_fini(&bench);
	}
}

static void period_that_ended_is_located(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 200);
	bench_add(&bench, 6, 50, 90, 30.0);
	assert_int_equal(bench_scan(&bench), 1);
	const struct fsl_finding *finding = bench_finding(&bench, 0);
	assert_int_equal(finding->rank, 6);
	assert_true(finding->window_begin >= 49 && finding->window_begin <= 51);
	assert_true(finding->window_end >= 89 && finding->window_end <= 91);
	bench_fini(&bench);
}

static void direction_says_which_side_is_slow(void **state)
{
	(void)state;
	static const struct {
		const char *params;
		size_t n_findings;
		int32_t rank;
	} cases[] = {
		{"{\"direction\": \"slow_high\"}", 1, 1},
		{"{\"direction\": \"slow_low\"}", 1, 5},
		{"{\"direction\": \"both\"}", 2, 1},
	};
	for (size_t i = 0; i < 3; i++) {
		struct bench bench;
		start(&bench, cases[i].params, 8, 100);
		bench_add(&bench, 1, 0, 100, 30.0);
		bench_add(&bench, 5, 0, 100, -30.0);
		assert_int_equal(bench_scan(&bench), cases[i].n_findings);
		assert_int_equal(bench_finding(&bench, 0)->rank, cases[i].rank);
		bench_expect_relabelled(&bench);
		bench_fini(&bench);
	}
}

static void what_all_share_is_no_finding(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"direction\": \"both\"}", 8, 100);
	for (size_t m = 0; m < 8; m++) {
		bench_add(&bench, m, 40, 100, 100.0);
	}
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void what_all_share_does_not_hide_the_slow_member(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 100);
	for (size_t w = 0; w < 100; w++) {
		double shared = 40.0 * bench_noise(&bench);
		for (size_t m = 0; m < 8; m++) {
			*bench_at(&bench, m, w) += shared;
		}
	}
	bench_add(&bench, 5, 40, 100, 20.0);
	assert_int_equal(bench_scan(&bench), 1);
	assert_int_equal(bench_finding(&bench, 0)->rank, 5);
	bench_fini(&bench);
}

static void more_than_half_cannot_be_the_odd_ones(void **state)
{
	(void)state;
	static const char params[] = "{\"direction\": \"both\", \"conf_score_decay\": 0}";
	for (size_t n_odd = 1; n_odd <= 3; n_odd += 2) {
		struct bench bench;
		start(&bench, params, 8, 120);
		for (size_t m = 0; m < n_odd; m++) {
			bench_add(&bench, m, 100, 120, 30.0);
			bench_add(&bench, 7 - m, 100, 120, -30.0);
		}
		/* Two of eight are odd; six of eight mean that something else is going on. */
		assert_int_equal(bench_scan(&bench), n_odd == 1 ? 2 : 0);
		bench_fini(&bench);
	}
}

static void rounding_of_constant_data_is_no_deviation(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"deviation_ratio_min\": 1}", 8, 60);
	bench_fill(&bench, 0.3, 0.0);
	bench_add(&bench, 2, 0, 60, 1e-13);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void stays_silent_on_noise_for_many_seeds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct bench bench;
		start(&bench, "{\"direction\": \"both\"}", 3 + seed % 14, 200);
		bench.seed = seed * 1000;
		bench_fill(&bench, 100.0, 20.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void one_slow_member_among_many_is_found(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 512, 40);
	bench_add(&bench, 300, 0, 40, 30.0);
	bench_expect_one(&bench, 300, 4, 40);
	bench_fini(&bench);
}

static void short_run_is_dropped(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"smooth_size\": 1, \"run_min\": 8}", 8, 100);
	bench_fill(&bench, 100.0, 0.0);
	bench_add(&bench, 2, 50, 57, 30.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_add(&bench, 2, 57, 58, 30.0);
	bench_expect_one(&bench, 2, 50, 58);
	bench_fini(&bench);
}

static void deviation_ratio_is_the_least_effect(void **state)
{
	(void)state;
	static const struct {
		double delta;
		size_t n_findings;
	} cases[] = {{4.9, 0}, {5.1, 1}};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, NULL, 8, 60);
		bench_fill(&bench, 100.0, 0.0);
		bench_add(&bench, 2, 0, 60, cases[i].delta);
		assert_int_equal(bench_scan(&bench), cases[i].n_findings);
		bench_fini(&bench);
	}
}

static void half_of_the_members_cannot_be_told_apart(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 60);
	for (size_t m = 0; m < 4; m++) {
		bench_add(&bench, m, 0, 60, 30.0);
	}
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	for (size_t n_windows = 0; n_windows < 12; n_windows++) {
		struct bench bench;
		start(&bench, NULL, 8, n_windows);
		bench_add(&bench, 2, 0, n_windows, 30.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
	for (size_t n_members = 0; n_members < 3; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 60);
		for (size_t w = 0; n_members > 0 && w < 60; w++) {
			*bench_at(&bench, 0, w) += 30.0;
		}
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void holes_neither_count_nor_end_a_run(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 100);
	bench_add(&bench, 2, 0, 100, 30.0);
	for (size_t w = 1; w < 100; w += 3) {
		*bench_at(&bench, 2, w) = (double)NAN;
	}
	for (size_t w = 0; w < 100; w++) {
		*bench_at(&bench, 7, w) = (double)NAN;
		*bench_at(&bench, w % 7, 40) = (double)NAN;
	}
	assert_int_equal(bench_scan(&bench), 1);
	assert_int_equal(bench_finding(&bench, 0)->rank, 2);
	assert_true(bench_finding(&bench, 0)->window_begin <= 5);
	assert_int_equal(bench_finding(&bench, 0)->window_end, 100);
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	static const double levels[] = {0.0, 100.0};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, "{\"direction\": \"both\"}", 3, 60);
		bench_fill(&bench, levels[i], 0.0);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 60);
	bench_add(&bench, 2, 0, 60, 30.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_from_three_members_on),
		cmocka_unit_test(period_that_ended_is_located),
		cmocka_unit_test(direction_says_which_side_is_slow),
		cmocka_unit_test(what_all_share_is_no_finding),
		cmocka_unit_test(what_all_share_does_not_hide_the_slow_member),
		cmocka_unit_test(more_than_half_cannot_be_the_odd_ones),
		cmocka_unit_test(rounding_of_constant_data_is_no_deviation),
		cmocka_unit_test(stays_silent_on_noise_for_many_seeds),
		cmocka_unit_test(one_slow_member_among_many_is_found),
		cmocka_unit_test(short_run_is_dropped),
		cmocka_unit_test(deviation_ratio_is_the_least_effect),
		cmocka_unit_test(half_of_the_members_cannot_be_told_apart),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(holes_neither_count_nor_end_a_run),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ArrivalLateness: the member that the others wait for, instance by instance. */
#include <omp.h>

#include "detectors/bench.h"

/* Arrival of each member in ms after the earliest possible one; the matrix holds lateness. */
static void start(struct bench *bench, const char *params, size_t n_members, size_t n_instances)
{
	bench_init(bench, "ArrivalLateness", params);
	bench_shape(bench, FSL_METRIC_LATENESS, FSL_WINDOW_INSTANCE, n_members, n_instances);
	bench_fill(bench, 5.0, 1.0);
}

/* Turns arrivals into lateness: everybody ends together, so the earliest has the longest operation
 * and lateness 0. */
static void settle(struct bench *bench)
{
	for (size_t w = 0; w < bench->windows.n_windows; w++) {
		double earliest = HUGE_VAL;
		for (size_t m = 0; m < bench->windows.n_members; m++) {
			double arrival = *bench_at(bench, m, w);
			earliest = arrival < earliest ? arrival : earliest;
		}
		for (size_t m = 0; m < bench->windows.n_members; m++) {
			*bench_at(bench, m, w) -= earliest;
		}
	}
}

static void fires_on_the_member_that_is_last(void **state)
{
	(void)state;
	for (size_t n_members = 2; n_members <= 8; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 200);
		bench_add(&bench, 1, 0, 200, 20.0);
		settle(&bench);
		bench_expect_one(&bench, 1, 0, 200);
		assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 20.0) < 0.5);
		assert_true(bench_finding(&bench, 0)->confidence > 0.999);
		assert_true(isnan(bench_finding(&bench, 0)->slow_ratio));
		bench_expect_relabelled(&bench);
		bench_fini(&bench);
	}
}

static void onset_in_the_middle_is_located(void **state)
{
	(void)state;
	for (size_t n_members = 2; n_members <= 8; n_members += 6) {
		struct bench bench;
		start(&bench, NULL, n_members, 200);
		bench_add(&bench, 0, 150, 200, 20.0);
		settle(&bench);
		assert_int_equal(bench_scan(&bench), 1);
		const struct fsl_finding *finding = bench_finding(&bench, 0);
		assert_int_equal(finding->rank, 0);
		assert_true(finding->window_begin >= 147 && finding->window_begin <= 150);
		assert_int_equal(finding->window_end, 200);
		bench_fini(&bench);
	}
}

static void episode_that_ended_is_located(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 200);
	bench_add(&bench, 2, 60, 110, 20.0);
	settle(&bench);
	assert_int_equal(bench_scan(&bench), 1);
	assert_true(bench_finding(&bench, 0)->window_begin >= 57);
	assert_true(bench_finding(&bench, 0)->window_begin <= 60);
	assert_true(bench_finding(&bench, 0)->window_end >= 110);
	assert_true(bench_finding(&bench, 0)->window_end <= 113);
	bench_fini(&bench);
}

static void two_late_members_are_both_found(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 8, 200);
	bench_add(&bench, 2, 0, 200, 20.0);
	bench_add(&bench, 5, 0, 200, 25.0);
	settle(&bench);
	assert_int_equal(bench_scan(&bench), 2);
	assert_int_equal(bench_finding(&bench, 0)->rank, 2);
	assert_int_equal(bench_finding(&bench, 1)->rank, 5);
	bench_fini(&bench);
}

static void tail_share_of_one_names_only_the_last(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"tail_share\": 1}", 8, 200);
	bench_add(&bench, 2, 0, 200, 20.0);
	bench_add(&bench, 5, 0, 200, 25.0);
	settle(&bench);
	bench_expect_one(&bench, 5, 0, 200);
	bench_fini(&bench);
}

static void late_onset_is_not_diluted_by_what_came_before(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 2, 400);
	bench_add(&bench, 0, 360, 400, 20.0);
	settle(&bench);
	assert_int_equal(bench_scan(&bench), 1);
	assert_true(bench_finding(&bench, 0)->window_begin >= 357);
	assert_true(bench_finding(&bench, 0)->window_begin <= 360);
	bench_fini(&bench);
}

static void choosing_the_interval_is_paid_for(void **state)
{
	(void)state;
	/* Every second instance is late by chance, so long intervals that are mostly late abound.
	 */
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct bench bench;
		start(&bench, "{\"effect_ms_min\": 0, \"margin_sigmas\": 0, \"tail_share\": 0}", 2,
		      300);
		bench.seed = seed * 1000;
		bench_fill(&bench, 50.0, 40.0);
		settle(&bench);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void stays_silent_on_jitter_for_many_seeds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct bench bench;
		size_t n_members = 2 + seed % 7;
		start(&bench, "{\"effect_ms_min\": 0}", n_members, 200);
		bench.seed = seed * 1000;
		bench_fill(&bench, 50.0, 40.0);
		settle(&bench);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void small_effect_is_silent(void **state)
{
	(void)state;
	static const struct {
		double delta;
		size_t n_findings;
	} cases[] = {{0.99, 0}, {1.01, 1}};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, NULL, 2, 100);
		bench_fill(&bench, 5.0, 0.0);
		bench_add(&bench, 0, 0, 100, cases[i].delta);
		settle(&bench);
		assert_int_equal(bench_scan(&bench), cases[i].n_findings);
		bench_fini(&bench);
	}
}

static void few_late_instances_prove_nothing(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 200);
	bench_add(&bench, 2, 100, 112, 20.0);
	settle(&bench);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void late_in_a_minority_of_instances_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 200);
	for (size_t w = 0; w < 200; w += 3) {
		bench_add(&bench, 2, w, w + 1, 20.0);
	}
	settle(&bench);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	for (size_t n_instances = 0; n_instances < 8; n_instances++) {
		struct bench bench;
		start(&bench, NULL, 4, n_instances);
		bench_add(&bench, 2, 0, n_instances, 20.0);
		settle(&bench);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void one_member_is_silent(void **state)
{
	(void)state;
	for (size_t n_members = 0; n_members < 2; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members, 100);
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void holes_are_left_out(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 200);
	bench_add(&bench, 2, 0, 200, 20.0);
	settle(&bench);
	for (size_t w = 1; w < 200; w += 4) {
		*bench_at(&bench, 2, w) = (double)NAN;
		*bench_at(&bench, 0, w + 1) = (double)NAN;
	}
	for (size_t w = 0; w < 200; w++) {
		*bench_at(&bench, 3, w) = (double)NAN;
	}
	bench_expect_one(&bench, 2, 0, 200);
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"effect_ms_min\": 0}", 4, 100);
	bench_fill(&bench, 0.0, 0.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void other_metrics_are_not_understood(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 100);
	bench.windows.metric = FSL_METRIC_EXEC;
	bench_expect_skipped(&bench);
	bench_fini(&bench);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4, 100);
	bench_add(&bench, 2, 0, 100, 20.0);
	settle(&bench);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

/* Instances that all members have are measured many at a time, others one by one. */
static void a_hole_in_each_instance_changes_little(void **state)
{
	(void)state;
	enum { MEMBERS = 9, INSTANCES = 500 };
	double effect_ms[2];
	for (int has_holes = 0; has_holes < 2; has_holes++) {
		struct bench bench;
		start(&bench, NULL, MEMBERS, INSTANCES);
		bench_add(&bench, 4, 100, INSTANCES, 20.0);
		settle(&bench);
		for (size_t w = 0; w < INSTANCES && has_holes; w++) {
			*bench_at(&bench, w % 4, w) = (double)NAN;
		}
		assert_int_equal(bench_scan(&bench), 1);
		assert_int_equal(bench_finding(&bench, 0)->rank, 4);
		assert_int_equal(bench_finding(&bench, 0)->window_begin, 100);
		effect_ms[has_holes] = bench_finding(&bench, 0)->effect_ms;
		bench_fini(&bench);
	}
	assert_true(fabs(effect_ms[0] - effect_ms[1]) < 0.5);
}

static void threads_find_what_one_finds(void **state)
{
	(void)state;
	enum { MEMBERS = 12, INSTANCES = 4000 };
	int n_before = omp_get_max_threads();
	for (int n_threads = 1; n_threads <= 7; n_threads += 3) {
		struct bench bench;
		omp_set_num_threads(n_threads);
		start(&bench, NULL, MEMBERS, INSTANCES);
		bench_add(&bench, 3, 1000, 3000, 20.0);
		bench_add(&bench, 9, 3000, 4000, 30.0);
		settle(&bench);
		assert_int_equal(bench_scan(&bench), 2);
		assert_int_equal(bench_finding(&bench, 0)->rank, 3);
		assert_int_equal(bench_finding(&bench, 0)->window_end, 3000);
		assert_int_equal(bench_finding(&bench, 1)->rank, 9);
		assert_int_equal(bench_finding(&bench, 1)->window_begin, 3000);
		bench_fini(&bench);
	}
	omp_set_num_threads(n_before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_the_member_that_is_last),
		cmocka_unit_test(onset_in_the_middle_is_located),
		cmocka_unit_test(episode_that_ended_is_located),
		cmocka_unit_test(two_late_members_are_both_found),
		cmocka_unit_test(tail_share_of_one_names_only_the_last),
		cmocka_unit_test(late_onset_is_not_diluted_by_what_came_before),
		cmocka_unit_test(choosing_the_interval_is_paid_for),
		cmocka_unit_test(stays_silent_on_jitter_for_many_seeds),
		cmocka_unit_test(small_effect_is_silent),
		cmocka_unit_test(few_late_instances_prove_nothing),
		cmocka_unit_test(late_in_a_minority_of_instances_is_silent),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(one_member_is_silent),
		cmocka_unit_test(holes_are_left_out),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(other_metrics_are_not_understood),
		cmocka_unit_test(memory_errors_are_reported),
		cmocka_unit_test(a_hole_in_each_instance_changes_little),
		cmocka_unit_test(threads_find_what_one_finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

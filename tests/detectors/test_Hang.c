/* Hang: ages of the ranks' last events against a threshold. */
#include "detectors/bench.h"

#define MINUTE_MS 60000.0

static void start(struct bench *bench, const char *params, size_t n_members)
{
	bench_init(bench, "Hang", params);
	bench_shape(bench, FSL_METRIC_EVENT_AGE, FSL_WINDOW_TIME, n_members, 1);
	bench_fill(bench, MINUTE_MS, 0.0);
}

static void fires_on_the_rank_that_is_silent(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4);
	*bench_at(&bench, 2, 0) = 45.0 * MINUTE_MS;
	bench_expect_one(&bench, 2, 0, 1);
	assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.5) < 1e-12);
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 15.0 * MINUTE_MS) < 1e-6);
	bench_fini(&bench);
}

static void stays_silent_while_events_come(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 4);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void threshold_must_be_exceeded(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, "{\"threshold_mins\": 0.5}", 1);
	*bench_at(&bench, 0, 0) = 0.5 * MINUTE_MS;
	assert_int_equal(bench_scan(&bench), 0);
	*bench_at(&bench, 0, 0) = 0.5 * MINUTE_MS + 1e-6;
	bench_expect_one(&bench, 0, 0, 1);
	bench_fini(&bench);
}

static void all_ranks_can_hang(void **state)
{
	(void)state;
	for (size_t n_members = 1; n_members <= 3; n_members++) {
		struct bench bench;
		start(&bench, NULL, n_members);
		bench_fill(&bench, 31.0 * MINUTE_MS, 0.0);
		assert_int_equal(bench_scan(&bench), n_members);
		bench_expect_relabelled(&bench);
		bench_fini(&bench);
	}
}

static void rank_without_events_is_not_judged(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 2);
	*bench_at(&bench, 0, 0) = (double)NAN;
	assert_int_equal(bench_scan(&bench), 0);
	bench_shape(&bench, FSL_METRIC_EVENT_AGE, FSL_WINDOW_TIME, 0, 1);
	assert_int_equal(bench_scan(&bench), 0);
	bench_shape(&bench, FSL_METRIC_EVENT_AGE, FSL_WINDOW_TIME, 2, 0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void clock_in_the_future_is_no_hang(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 1);
	*bench_at(&bench, 0, 0) = -90.0 * MINUTE_MS;
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_the_rank_that_is_silent),
		cmocka_unit_test(stays_silent_while_events_come),
		cmocka_unit_test(threshold_must_be_exceeded),
		cmocka_unit_test(all_ranks_can_hang),
		cmocka_unit_test(rank_without_events_is_not_judged),
		cmocka_unit_test(clock_in_the_future_is_no_hang),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

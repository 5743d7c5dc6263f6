/* StepKSigma: step times against the steps just before. */
#include "detectors/bench.h"

static void start(struct bench *bench, const char *params, size_t n_steps)
{
	bench_init(bench, "StepKSigma", params);
	bench_shape(bench, FSL_METRIC_STEP_TIME, FSL_WINDOW_STEP, 1, n_steps);
	bench->windows.ranks[0] = -1;
	bench_fill(bench, 1000.0, 5.0);
}

static void fires_on_each_step_of_a_pair_but_the_last(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 60);
	bench_add(&bench, 0, 30, 32, 500.0);
	/* Step 31 is no finding: the step behind it is normal again. */
	bench_expect_one(&bench, -1, 30, 31);
	assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.5) < 0.02);
	assert_true(fabs(bench_finding(&bench, 0)->effect_ms - 500.0) < 15.0);
	bench_fini(&bench);
}

static void every_alarmed_step_is_a_finding_of_its_own(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 60);
	bench_add(&bench, 0, 30, 60, 500.0);
	assert_true(bench_scan(&bench) >= 2);
	assert_int_equal(bench_finding(&bench, 0)->window_begin, 30);
	assert_int_equal(bench_finding(&bench, 1)->window_begin, 31);
	assert_int_equal(bench_finding(&bench, 1)->window_end, 32);
	bench_fini(&bench);
}

static void single_long_step_is_not_confirmed(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 60);
	bench_add(&bench, 0, 30, 31, 5000.0);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void stays_silent_on_noise(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 500);
	assert_int_equal(bench_scan(&bench), 0);
	bench_fini(&bench);
}

static void degree_must_be_exceeded(void **state)
{
	(void)state;
	static const struct {
		double delta;
		size_t n_findings;
	} cases[] = {{200.0, 0}, {200.5, 1}};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, NULL, 12);
		bench_fill(&bench, 1000.0, 0.0);
		/* The last step is above the band of step 10 whatever the case. */
		*bench_at(&bench, 0, 10) = 1000.0 + cases[i].delta;
		*bench_at(&bench, 0, 11) = 1300.0;
		assert_int_equal(bench_scan(&bench), cases[i].n_findings);
		bench_fini(&bench);
	}
}

static void too_little_data_is_silent(void **state)
{
	(void)state;
	for (size_t n_steps = 0; n_steps <= 11; n_steps++) {
		struct bench bench;
		start(&bench, NULL, n_steps);
		if (n_steps > 0) {
			*bench_at(&bench, 0, n_steps - 1) = 9000.0;
		}
		assert_int_equal(bench_scan(&bench), 0);
		bench_fini(&bench);
	}
}

static void holes_are_left_out(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 60);
	bench_add(&bench, 0, 30, 33, 500.0);
	*bench_at(&bench, 0, 31) = (double)NAN;
	*bench_at(&bench, 0, 5) = (double)NAN;
	bench_expect_one(&bench, -1, 30, 31);
	bench_fini(&bench);
}

static void constant_data_is_silent(void **state)
{
	(void)state;
	static const double levels[] = {0.0, 1000.0};
	for (size_t i = 0; i < 2; i++) {
		struct bench bench;
		start(&bench, NULL, 60);
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
		start(&bench, NULL, 60);
		bench_shape(&bench, FSL_METRIC_STEP_TIME, FSL_WINDOW_STEP, n_members, 60);
		bench_fill(&bench, 1000.0, 5.0);
		bench_add(&bench, n_members - 1, 30, 32, 500.0);
		bench_expect_one(&bench, (int32_t)n_members - 1, 30, 31);
		bench_expect_relabelled(&bench);
		bench_fini(&bench);
	}
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	struct bench bench;
	start(&bench, NULL, 60);
	bench_add(&bench, 0, 30, 32, 500.0);
	bench_expect_memory_errors(&bench);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_on_each_step_of_a_pair_but_the_last),
		cmocka_unit_test(every_alarmed_step_is_a_finding_of_its_own),
		cmocka_unit_test(single_long_step_is_not_confirmed),
		cmocka_unit_test(stays_silent_on_noise),
		cmocka_unit_test(degree_must_be_exceeded),
		cmocka_unit_test(too_little_data_is_silent),
		cmocka_unit_test(holes_are_left_out),
		cmocka_unit_test(constant_data_is_silent),
		cmocka_unit_test(members_are_independent),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

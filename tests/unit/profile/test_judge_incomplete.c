/* Groups of which members were not captured, and what those that were wait for. */
#include "small_capture.h"

static void add_step(struct small_capture *small)
{
	for (size_t r = 0; r < small->profile.n_ranks; r++) {
		small_step(small, r, 50, 20.0, 80.0, 30.0);
	}
}

static void two_of_eight_that_both_idle_wait_for_somebody_outside(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small);
	small_group(&small, "586", "", false, 0, 2, 8);
	small_comm(&small, 0, 50, "hcom_allReduce__586_0_1", "586", 0.0, 79.0)->idle_ns =
		small_ns(73.2);
	small_comm(&small, 1, 50, "hcom_allReduce__586_0_1", "586", 5.608, 73.4)->idle_ns =
		small_ns(73.1);
	small_comm(&small, 0, 50, "hcom_allReduce__586_1_1", "586", 79.1, 2.0)->idle_ns =
		small_ns(0.9);
	small_comm(&small, 1, 50, "hcom_allReduce__586_1_1", "586", 79.1, 2.0)->idle_ns =
		small_ns(1.0);
	small_judge(&small, fsl_profile_judge_incomplete);
	assert_int_equal(small.findings.n_items, 2);
	const struct fsl_profile_finding *outside =
		small_finding(&small.findings, "cause_outside", -1);
	assert_non_null(outside);
	assert_near(small_fact(outside, "waiting"), 73.1, 1e-6);
	assert_near(small_fact(outside, "starts_later"), 5.608, 1e-6);
	assert_near(small_fact(outside, "last_rank"), 1.0, 1e-6);
	assert_near(outside->gain_ms, 74.0, 1e-6);
	assert_non_null(strstr(outside->what, "all 2 captured ranks idle for 73.1 ms"));
	const struct fsl_profile_finding *incomplete =
		small_finding(&small.findings, "group_incomplete", -1);
	assert_non_null(incomplete);
	assert_non_null(strstr(incomplete->what, "2 of 8 ranks"));
	small_end(&small);
}

static void when_one_of_them_does_not_idle_nothing_is_said_of_others(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small);
	small_group(&small, "586", "dp", false, 0, 2, 8);
	small_comm(&small, 0, 50, "hcom_allReduce__586_0_1", "586", 0.0, 79.0);
	small_comm(&small, 1, 50, "hcom_allReduce__586_0_1", "586", 70.0, 9.0)->idle_ns = 0;
	small_judge(&small, fsl_profile_judge_incomplete);
	assert_int_equal(small.findings.n_items, 1);
	assert_non_null(small_finding(&small.findings, "group_incomplete", -1));
	small_end(&small);
}

static void one_captured_rank_is_told_likewise(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 1);
	add_step(&small);
	small_group(&small, "586", "dp", false, 0, 1, 4);
	small_comm(&small, 0, 50, "hcom_allReduce__586_0_1", "586", 0.0, 50.0);
	small_judge(&small, fsl_profile_judge_incomplete);
	const struct fsl_profile_finding *outside =
		small_finding(&small.findings, "cause_outside", -1);
	assert_non_null(outside);
	assert_non_null(strstr(outside->what, "the captured rank idles for 50.0 ms"));
	small_end(&small);
}

static void whole_groups_are_not_told_however_long_they_idle(void **state)
{
	(void)state;
	struct small_capture small;
	small_begin(&small, 2);
	add_step(&small);
	small_group(&small, "586", "dp", false, 0, 2, 2);
	small_group(&small, "128", "pp", true, 0, 1, 2); /* pairs are not all captured: usual */
	for (size_t r = 0; r < 2; r++) {
		small_comm(&small, r, 50, "hcom_allReduce__586_0_1", "586", 0.0, 50.0);
	}
	small_judge(&small, fsl_profile_judge_incomplete);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void many_incomplete_groups_are_counted(void **state)
{
	(void)state;
	static const char *const hashes[] = {"100", "101", "102", "103",
					     "104", "105", "106", "107"};
	struct small_capture small;
	small_begin(&small, 2);
	for (size_t g = 0; g < 8; g++) {
		small_group(&small, hashes[g], "dp", false, 0, 1, 2);
	}
	small_judge(&small, fsl_profile_judge_incomplete);
	assert_int_equal(small.findings.n_items, 8);
	assert_int_equal(small.findings.n_missing, 0);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_of_eight_that_both_idle_wait_for_somebody_outside),
		cmocka_unit_test(when_one_of_them_does_not_idle_nothing_is_said_of_others),
		cmocka_unit_test(one_captured_rank_is_told_likewise),
		cmocka_unit_test(whole_groups_are_not_told_however_long_they_idle),
		cmocka_unit_test(many_incomplete_groups_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

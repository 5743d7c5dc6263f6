/* Stages that compute longer than others, and the time in sends and receives. */
#include "unit/ascend/small_capture.h"

static void begin(struct small_capture *small, size_t n_ranks, size_t n_stages,
		  const double *computing_ms)
{
	small_begin(small, n_ranks);
	small_stages(small, n_stages);
	for (size_t r = 0; r < n_ranks; r++) {
		small_step(small, r, 13, computing_ms[r], 800.0 - computing_ms[r], 10.0);
	}
}

static void a_longer_stage_is_told_with_its_ratio_and_no_gain_that_nothing_replays(void **state)
{
	(void)state;
	static const double computing_ms[] = {231.3, 230.9, 400.4, 401.1};
	struct small_capture small;
	begin(&small, 4, 2, computing_ms);
	small_judge(&small, fsl_profile_judge_stage_imbalance);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "stage_imbalance", -1);
	assert_non_null(finding);
	assert_near(small_fact(finding, "times_the_others"), 400.75 / 231.1, 1e-9);
	assert_true(isnan(finding->gain_ms));
	assert_null(strstr(finding->what, "save"));
	assert_int_equal((int)small_fact(finding, "stage"), 1);
	assert_non_null(strstr(finding->what, "1.73 times"));
	small_end(&small);
}

static void one_rank_per_stage_may_be_a_slow_device_as_well(void **state)
{
	(void)state;
	static const double computing_ms[] = {230.0, 300.0};
	struct small_capture small;
	begin(&small, 2, 2, computing_ms);
	small_judge(&small, fsl_profile_judge_stage_imbalance);
	assert_int_equal(small.findings.n_items, 1);
	assert_non_null(strstr(small.findings.items[0].what, "a slow device would look the same"));
	small_end(&small);
}

static void one_slow_rank_is_no_longer_stage(void **state)
{
	(void)state;
	static const double computing_ms[] = {230.0, 230.0, 231.0, 330.0};
	struct small_capture small;
	begin(&small, 4, 2, computing_ms);
	small_judge(&small, fsl_profile_judge_stage_imbalance);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
}

static void equal_stages_and_a_job_without_stages_are_not_told(void **state)
{
	(void)state;
	static const double computing_ms[] = {231.0, 230.0, 232.0, 233.0};
	for (size_t n_stages = 1; n_stages <= 2; n_stages++) {
		struct small_capture small;
		begin(&small, 4, n_stages, computing_ms);
		small_judge(&small, fsl_profile_judge_stage_imbalance);
		assert_int_equal(small.findings.n_items, 0);
		small_end(&small);
	}
}

static void time_in_batched_sends_and_receives_counts_as_bubble(void **state)
{
	(void)state;
	static const double computing_ms[] = {231.0, 230.0, 232.0, 233.0};
	struct small_capture small;
	begin(&small, 4, 2, computing_ms);
	small_comm(&small, 0, 13, "hcom_batchSendRecv__128_3_1", "128", 0.0, 150.0);
	small_comm(&small, 0, 13, "hcom_batchSendRecv__128_4_1", "128", 200.0, 164.0);
	small_comm(&small, 2, 13, "hcom_receive__128_4_1", "128", 200.0, 70.0);
	small_judge(&small, fsl_profile_judge_stage_imbalance);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "pipeline_bubble", -1);
	assert_non_null(finding);
	assert_near(small_fact(finding, "p2p_longest"), 314.0, 1e-9);
	assert_non_null(strstr(finding->what, "rank 0 314.0 ms, rank 2 70.0 ms"));
	assert_non_null(strstr(finding->what, "Bubble says 0.0 ms"));
	small_end(&small);
}

static void of_many_ranks_stages_are_told(void **state)
{
	(void)state;
	double computing_ms[16];
	struct small_capture small;
	for (size_t r = 0; r < 16; r++) {
		computing_ms[r] = 230.0;
	}
	begin(&small, 16, 2, computing_ms);
	for (size_t r = 0; r < 16; r++) {
		small_comm(&small, r, 13, "hcom_receive__128_4_1", "128", 0.0, 100.0 + (double)r);
	}
	small_judge(&small, fsl_profile_judge_stage_imbalance);
	assert_non_null(strstr(small_finding(&small.findings, "pipeline_bubble", -1)->what,
			       "stage 0 100.0 to 107.0 ms, stage 1 108.0 to 115.0 ms"));
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_longer_stage_is_told_with_its_ratio_and_no_gain_that_nothing_replays),
		cmocka_unit_test(one_rank_per_stage_may_be_a_slow_device_as_well),
		cmocka_unit_test(one_slow_rank_is_no_longer_stage),
		cmocka_unit_test(equal_stages_and_a_job_without_stages_are_not_told),
		cmocka_unit_test(time_in_batched_sends_and_receives_counts_as_bubble),
		cmocka_unit_test(of_many_ranks_stages_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

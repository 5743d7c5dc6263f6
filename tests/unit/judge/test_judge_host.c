/* Host calls in a step are reported as numbers, whether or not the device waits for them. */
#include "unit/ascend/small_capture.h"

static void add_call(struct small_capture *small, size_t r, const char *level, const char *name,
		     int64_t count, double total_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->api_statistics, rank->api_statistics_capacity,
				  rank->n_api_statistics + 1, NULL),
			 FSL_OK);
	rank->api_statistics[rank->n_api_statistics++] =
		(struct fsl_profile_statistic){.name_id = small_name(rank, name),
					       .kind_id = small_name(rank, level),
					       .count = count,
					       .total_ns = small_ns(total_ms)};
}

static void add_operator(struct small_capture *small, size_t r, const char *name, int64_t count,
			 double self_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(
		FSL_GROW(rank->operators, rank->operators_capacity, rank->n_operators + 1, NULL),
		FSL_OK);
	rank->operators[rank->n_operators++] = (struct fsl_profile_operator){
		.name_id = small_name(rank, name),
		.count = count,
		.host_self_ns = small_ns(self_ms),
	};
}

static const struct fsl_profile_finding *judge(struct small_capture *small)
{
	small_judge(small, fsl_profile_judge_host);
	return small_finding(&small->findings, "host_work", -1);
}

/* Two ranks with two steps each. */
static void begin(struct small_capture *small)
{
	small_begin(small, 2);
	for (size_t r = 0; r < 2; r++) {
		small_step(small, r, 1, 60.0, 30.0, 10.0);
		small_step(small, r, 2, 60.0, 30.0, 10.0);
	}
}

static void calls_are_means_per_step_and_rank_longest_first(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	for (size_t r = 0; r < 2; r++) {
		add_call(&small, r, "acl", "aclnnMatmul", 40, 4.0);
		add_call(&small, r, "acl", "aclrtSynchronizeStream", 2, 20.0 + 20.0 * (double)r);
		add_call(&small, r, "node", "launch", 100, 2.0);
		add_call(&small, r, "runtime", "StreamSynchronize", 2, 50.0);
	}
	const struct fsl_profile_finding *finding = judge(&small);
	assert_non_null(finding);
	assert_near(small_fact(finding, "first_call"), 15.0, 1e-9);
	assert_near(small_fact(finding, "second_call"), 2.0, 1e-9);
	assert_int_equal(finding->n_lines, 2);
	assert_string_equal(finding->lines[0].kind, "hostCall");
	assert_string_equal(finding->lines[0].name, "aclrtSynchronizeStream");
	assert_near(finding->lines[0].ms, 15.0, 1e-9);
	assert_near(finding->lines[0].count, 1.0, 1e-9);
	assert_near(finding->lines[1].share, 2.0 / 17.0, 1e-9);
	assert_near(small_fact(finding, "launches"), 50.0, 1e-9);
	assert_near(small_fact(finding, "launch"), 0.02, 1e-9);
	assert_string_equal(finding->what,
			    "calls of the host in a step: aclrtSynchronizeStream 15.0 ms (1 "
			    "call), aclnnMatmul 2.00 ms (20 calls); 50 launches of 20.0 us each");
	assert_true(isnan(finding->gain_ms));
	assert_null(strstr(finding->advice, "lags"));
	small_end(&small);
}

static void operators_of_the_framework_are_told_by_what_they_take_themselves(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	add_operator(&small, 0, "aten::copy_", 4, 6.0);
	add_operator(&small, 0, "aten::mm", 2, 1.0);
	const struct fsl_profile_finding *finding = judge(&small);
	assert_non_null(finding);
	assert_string_equal(finding->what,
			    "operators of the framework, by themselves: aten::copy_ 3.00 ms (2 "
			    "calls), aten::mm 0.50 ms (1 call)");
	small_end(&small);
}

static void lags_from_host_to_device_are_medians_of_the_ranks_that_tell(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	small.profile.ranks[1].trace = (struct fsl_profile_trace){
		.n_launches = 10,
		.lag_median_ns = small_ns(0.5),
		.lag_p95_ns = small_ns(4.0),
		.torch_lag = {.n = 8, .median_ns = small_ns(2.0)},
	};
	const struct fsl_profile_finding *finding = judge(&small);
	assert_non_null(finding);
	assert_near(small_fact(finding, "launch_lag"), 0.5, 1e-9);
	assert_near(small_fact(finding, "launch_lag_p95"), 4.0, 1e-9);
	assert_non_null(strstr(finding->advice, "short lags"));
	assert_near(small_fact(finding, "operator_lag"), 2.0, 1e-9);
	assert_string_equal(finding->what,
			    "from a launch to its task pass 0.50 ms, 19 of 20 times at most 4.00 "
			    "ms, from the framework's operator 2.00 ms (medians)");
	small_end(&small);
}

static void nothing_is_said_where_nothing_was_captured(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small);
	assert_null(judge(&small));
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_means_per_step_and_rank_longest_first),
		cmocka_unit_test(operators_of_the_framework_are_told_by_what_they_take_themselves),
		cmocka_unit_test(lags_from_host_to_device_are_medians_of_the_ranks_that_tell),
		cmocka_unit_test(nothing_is_said_where_nothing_was_captured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

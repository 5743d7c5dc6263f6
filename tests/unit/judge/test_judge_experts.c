/* Load of experts from the shapes of grouped matrix products. */
#include "unit/ascend/small_capture.h"

static void add_product(struct small_capture *small, size_t r, const char *shapes, int64_t count,
			double ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->kernels, rank->kernels_capacity, rank->n_kernels + 1, NULL),
			 FSL_OK);
	rank->kernels[rank->n_kernels++] = (struct fsl_profile_kernels){
		.step = 1,
		.type_id = small_name(rank, "GroupedMatmul"),
		.shape_id = small_name(rank, shapes),
		.core_id = small_name(rank, "MIX_AIC"),
		.count = count,
		.total_ns = small_ns(ms),
	};
}

static void begin(struct small_capture *small, const char *group)
{
	small_begin(small, 4);
	small_group(small, "777", group, false, 0, 4, 4);
	for (size_t r = 0; r < 4; r++) {
		add_product(small, r,
			    r == 1 ? "4096,1024;8,1024,2048;8|DT_BF16;DT_BF16;INT64"
				   : "1024,1024;8,1024,2048;8|DT_BF16;DT_BF16;INT64",
			    10, r == 1 ? 40.0 : 10.0);
	}
}

static void the_busiest_rank_of_a_group_is_told_with_peak_to_mean(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, "exp");
	small_judge(&small, fsl_profile_judge_experts);
	assert_int_equal(small.findings.n_items, 1);
	const struct fsl_profile_finding *finding =
		small_finding(&small.findings, "expert_imbalance", 1);
	assert_non_null(finding);
	assert_near(small_fact(finding, "rows"), 40960.0, 0.0);
	assert_near(small_fact(finding, "peak_to_mean"), 4096.0 * 4.0 / (4096.0 + 3072.0), 1e-9);
	assert_near(finding->gain_ms, 40.0 - 70.0 / 4.0, 1e-9);
	small_end(&small);
}

static void other_groups_equal_loads_and_odd_shapes_are_not_told(void **state)
{
	(void)state;
	struct small_capture small;
	begin(&small, "dp");
	small_judge(&small, fsl_profile_judge_experts);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
	small_begin(&small, 2);
	small_group(&small, "777", "exp", false, 0, 2, 2);
	for (size_t r = 0; r < 2; r++) {
		add_product(&small, r, "1024,1024;8,1024,2048;8|x", 10, 1.0);
	}
	small_judge(&small, fsl_profile_judge_experts);
	assert_int_equal(small.findings.n_items, 0);
	small_end(&small);
	static const char *const odd[] = {"", "|", ";;", "5", "\"\"\"", ";;;;|;"};
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		small_begin(&small, 2);
		small_group(&small, "777", "exp", false, 0, 2, 2);
		add_product(&small, 0, odd[i], 10, 1.0);
		add_product(&small, 1, odd[i], 10, 1.0);
		small_judge(&small, fsl_profile_judge_experts);
		assert_int_equal(small.findings.n_items, 0);
		small_end(&small);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_busiest_rank_of_a_group_is_told_with_peak_to_mean),
		cmocka_unit_test(other_groups_equal_loads_and_odd_shapes_are_not_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Kernels that communicate are known by the names of their types, and meet in a group. */
#include "capture/comm_kernels.h"
#include "unit/ascend/small_capture.h"

static enum fsl_comm_kernel kind_of(const char *type)
{
	return fsl_comm_kernel_of(NULL, type, strlen(type));
}

static void fused_kernels_are_known_in_every_version(void **state)
{
	(void)state;
	static const char *const types[] = {
		"MoeDistributeDispatch",
		"MoeDistributeDispatchV2",
		"MoeDistributeCombineV3",
		"MoeDistributeCombineAddRmsNorm",
		"AllGatherMatmul",
		"AllGatherMatmulV2",
		"MatmulReduceScatterV2",
		"MatmulAllReduce",
		"MatmulAllReduceAddRmsNorm",
		"GroupedMatMulAllReduce",
		"AlltoAllvGroupedMatMul",
		"BatchMatMulReduceScatterAlltoAll",
		"aclnnAllGatherMatmul_AllGatherMatmul_AllGatherMatmul",
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		assert_int_equal(kind_of(types[i]), FSL_COMM_KERNEL_FUSED);
	}
}

static void collectives_on_ai_cpus_are_told_from_sends(void **state)
{
	(void)state;
	assert_int_equal(kind_of("allreduceAicpuKernel"), FSL_COMM_KERNEL_COLLECTIVE);
	assert_int_equal(kind_of("AlltoAllvAicpuKernel"), FSL_COMM_KERNEL_COLLECTIVE);
	assert_int_equal(kind_of("reducescatterAicpuKernel"), FSL_COMM_KERNEL_COLLECTIVE);
	assert_int_equal(kind_of("sendAicpuKernel"), FSL_COMM_KERNEL_P2P);
	assert_int_equal(kind_of("batchsendrecvAicpuKernel"), FSL_COMM_KERNEL_P2P);
}

static void other_kernels_are_none(void **state)
{
	(void)state;
	static const char *const types[] = {"MatMulV2",        "GroupedMatmul", "ReduceSum",
					    "AicpuKernel",     "allreduce",     "ScatterUpdate",
					    "TopKAicpuKernel", "MoeGatingTopK", ""};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		assert_int_equal(kind_of(types[i]), FSL_COMM_KERNEL_NONE);
	}
}

static void the_group_is_the_told_one_else_the_stage_else_all(void **state)
{
	(void)state;
	char text[FSL_CALL_GROUP_BYTES];
	struct fsl_profile_parallel_group groups[] = {
		{.name = "tp", .n_ranks = 2, .hash = "77"},
		{.name = "ep", .n_ranks = 4, .hash = "55"},
		{.name = "exp_dp", .n_ranks = 2, .hash = "66"}};
	struct small_capture small;
	small_begin(&small, 4);
	struct fsl_profile_rank *rank = &small.profile.ranks[3];
	fsl_profile_call_group(text, &small.cluster, rank, "MatmulAllReduce");
	assert_string_equal(text, "kernels of all ranks");
	small_stages(&small, 2);
	fsl_profile_call_group(text, &small.cluster, rank, "MatmulAllReduce");
	assert_string_equal(text, "kernels of stage 1");
	rank->info.groups = groups;
	rank->info.n_groups = 3;
	fsl_profile_call_group(text, &small.cluster, rank, "MatmulAllReduce");
	assert_string_equal(text, "kernels of group 77");
	fsl_profile_call_group(text, &small.cluster, rank, "MoeDistributeCombineV2");
	assert_string_equal(text, "kernels of group 55");
	fsl_profile_call_group(text, &small.cluster, rank, "allreduceAicpuKernel");
	assert_string_equal(text, "kernels of stage 1");
	rank->info.groups = NULL;
	rank->info.n_groups = 0;
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fused_kernels_are_known_in_every_version),
		cmocka_unit_test(collectives_on_ai_cpus_are_told_from_sends),
		cmocka_unit_test(other_kernels_are_none),
		cmocka_unit_test(the_group_is_the_told_one_else_the_stage_else_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sysTrace's rule on whole runs: the communicators that it sees, and how its lists are merged. */
#include "topology_bench.h"

static void init_systrace(struct bench *bench)
{
	bench_init(bench);
	bench->config.algorithm = FSL_ALGORITHM_SYSTRACE;
}

static void a_barrier_of_all_ranks_is_left_out(void **state)
{
	(void)state;
	struct bench bench;
	init_systrace(&bench);
	bench_comm(&bench, "w", "HcclAllreduce", 1, RANKS(0, 4, 1));
	bench_comm(&bench, "d0", "HcclAllreduce", 9, RANKS(0, 2, 2));
	bench_comm(&bench, "d1", "HcclAllReduce", 9, RANKS(1, 2, 2));
	bench_comm(&bench, "p0", "HcclSend", 9, RANKS(0, 2, 1));
	bench_comm(&bench, "p2", "HcclSend", 9, RANKS(2, 2, 1));
	bench_build(&bench);
	assert_domain(&bench, FSL_GROUP_DP, "[0,2][1,3]");
	assert_domain(&bench, FSL_GROUP_PP, "[0,1][2,3]");
	assert_domain(&bench, FSL_GROUP_TP, "[0][1][2][3]");
	assert_domain(&bench, FSL_GROUP_EP, "[0][1][2][3]");
	bench_fini(&bench);
}

static void a_pure_data_parallel_job_is_one_dp_list(void **state)
{
	(void)state;
	struct bench bench;
	init_systrace(&bench);
	bench_comm(&bench, "w", "HcclAllreduce", 1, RANKS(0, 4, 1));
	bench_comm(&bench, "d", "HcclAllreduce", 80, RANKS(0, 4, 1));
	bench_build(&bench);
	assert_domain(&bench, FSL_GROUP_DP, "[0,1,2,3]");
	bench_fini(&bench);
}

static void more_operators_win_among_equal_ranks(void **state)
{
	(void)state;
	struct bench bench;
	init_systrace(&bench);
	bench_comm(&bench, "a", "HcclAllreduce", 500, RANKS(0, 2, 1));
	bench_comm(&bench, "b", "HcclAllGather", 5, RANKS(0, 2, 1));
	bench_comm(&bench, "b", "HcclReduceScatter", 5, RANKS(0, 2, 1));
	bench_comm(&bench, "c", "HcclAllGather", 5, RANKS(2, 2, 1));
	bench_comm(&bench, "c", "HcclReduceScatter", 5, RANKS(2, 2, 1));
	bench_build(&bench);
	assert_domain(&bench, FSL_GROUP_TP, "[0,1][2,3]");
	assert_domain(&bench, FSL_GROUP_DP, "[0,2][1,3]");
	bench_fini(&bench);
}

static void the_distributed_optimizer_lands_in_tp(void **state)
{
	(void)state;
	struct bench bench;
	init_systrace(&bench);
	for (int32_t stage = 0; stage < 2; stage++) {
		char name[16];
		snprintf(name, sizeof(name), "dp%d", stage);
		bench_comm(&bench, name, "HcclAllGather", 20, RANKS(4 * stage, 4, 1));
		bench_comm(&bench, name, "HcclReduceScatter", 20, RANKS(4 * stage, 4, 1));
	}
	for (int32_t replica = 0; replica < 4; replica++) {
		char name[16];
		snprintf(name, sizeof(name), "pp%d", replica);
		bench_comm(&bench, name, "HcclSend", 640, RANKS(replica, 2, 4));
	}
	bench_build(&bench);
	assert_domain(&bench, FSL_GROUP_TP, "[0,1,2,3][4,5,6,7]");
	assert_kind(&bench, "dp0", FSL_GROUP_DP);
	bench_fini(&bench);
}

static void a_contained_list_is_merged_with_the_first_that_fits(void **state)
{
	(void)state;
	struct bench bench;
	init_systrace(&bench);
	bench_comm(&bench, "a", "HcclSend", 5, RANKS(0, 2, 1));
	bench_comm(&bench, "b", "HcclSend", 5, RANKS(0, 4, 1));
	bench_comm(&bench, "c", "HcclSend", 5, RANKS(1, 2, 1));
	bench_comm(&bench, "d", "HcclSend", 5, RANKS(3, 2, 1));
	bench_build(&bench);
	assert_domain(&bench, FSL_GROUP_PP, "[0,1,2,3][3,4]");
	bench_fini(&bench);
}

static void ranks_without_operators_are_in_no_list(void **state)
{
	(void)state;
	struct bench bench;
	init_systrace(&bench);
	bench_comm(&bench, "t", "HcclAllGather", 5, RANKS(0, 4, 1));
	bench_comm(&bench, "t", "HcclReduceScatter", 5, RANKS(0, 4, 1));
	fsl_run_add_rank(&bench.run, 2, NULL)->n_ops = 0;
	bench_build(&bench);
	assert_domain(&bench, FSL_GROUP_TP, "[0,1,3]");
	assert_domain(&bench, FSL_GROUP_PP, "[0][1][3]");
	assert_int_equal(bench.topology.n_expected_ranks, 4);
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_barrier_of_all_ranks_is_left_out),
		cmocka_unit_test(a_pure_data_parallel_job_is_one_dp_list),
		cmocka_unit_test(more_operators_win_among_equal_ranks),
		cmocka_unit_test(the_distributed_optimizer_lands_in_tp),
		cmocka_unit_test(a_contained_list_is_merged_with_the_first_that_fits),
		cmocka_unit_test(ranks_without_operators_are_in_no_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

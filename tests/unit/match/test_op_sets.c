/* Claims about the operators that ranks use: the topology counts them on the way. */
#include "topology_bench.h"

#include "match/topology_parts.h"

enum { RANKS_N = 4 };

/* Compares one pass over all operators with the topology's counts. */
static void expect_counted(struct bench *bench)
{
	uint64_t op_sets[RANKS_N];
	bench_build(bench);
	assert_int_equal(bench->run.n_ranks, RANKS_N);
	assert_int_equal(fsl_op_sets_count(op_sets, &bench->run, NULL), FSL_OK);
	assert_non_null(bench->topology.op_sets);
	assert_memory_equal(bench->topology.op_sets, op_sets, sizeof(op_sets));
}

static void the_topology_counts_the_same_as_one_pass_over_all_operators(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t0", "AllGather", 60, RANKS(0, 4, 1));
	bench_comm(&bench, "t0", "Reduce", 38, RANKS(0, 2, 1));
	bench_comm(&bench, "d0", "Reduce", 1, RANKS(1, 3, 1)); /* rank 2: alone below 1 in 100 */
	bench_comm(&bench, NULL, "Reduce", 1, RANKS(2, 1, 1)); /* rank 2: 2 in 100 */
	bench_comm(&bench, NULL, "AllGather", 80, RANKS(2, 2, 1));
	bench_calls(&bench, 3, "d1", "Barrier", 1);
	expect_counted(&bench);
	const uint64_t *op_sets = bench.topology.op_sets;
	assert_int_equal(op_sets[0], op_sets[1]);
	assert_int_equal(op_sets[0], op_sets[2]);
	assert_int_not_equal(op_sets[0], op_sets[3]); /* 1 Reduce in 143 operators */
	bench_fini(&bench);
}

static void one_operator_in_a_hundred_makes_a_rank_different_and_one_in_more_does_not(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t0", "AllGather", 99, RANKS(0, 4, 1));
	bench_comm(&bench, "t0", "Reduce", 1, RANKS(0, 2, 1));
	bench_calls(&bench, 1, "t0", "AllGather", 1);
	expect_counted(&bench);
	assert_int_not_equal(bench.topology.op_sets[0], bench.topology.op_sets[2]);
	assert_int_equal(bench.topology.op_sets[1], bench.topology.op_sets[2]);
	bench_fini(&bench);
}

static void operators_without_a_name_are_in_no_set(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t0", "AllGather", 5, RANKS(0, 4, 1));
	bench_comm(&bench, "t0", "Reduce", 5, RANKS(1, 1, 1));
	struct fsl_rank *rank = &bench.run.ranks[1];
	for (size_t i = 5; i < rank->n_ops; i++) {
		rank->ops[i].op_id = FSL_STR_NONE;
	}
	expect_counted(&bench);
	assert_int_equal(bench.topology.op_sets[0], bench.topology.op_sets[1]);
	bench_fini(&bench);
}

static void ranks_without_operators_have_the_empty_set(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t0", "AllGather", 5, RANKS(0, 3, 1));
	bench_calls(&bench, 3, "t0", "AllGather", 0);
	expect_counted(&bench);
	assert_int_equal(bench.topology.op_sets[3], 0);
	assert_int_not_equal(bench.topology.op_sets[0], 0);
	bench_fini(&bench);
}

static void operators_that_are_not_told_apart_leave_the_sets_unknown(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t0", "AllGather", 5, RANKS(0, 4, 1));
	for (int i = 1; i < FSL_COMM_OPS_MAX; i++) {
		char op[16];
		(void)snprintf(op, sizeof(op), "AllReduce%d", i);
		bench_calls(&bench, 2, "t0", op, 1);
	}
	expect_counted(&bench);
	bench_calls(&bench, 2, "t0", "AllReduceOneMore", 7);
	bench_build(&bench);
	assert_null(bench.topology.op_sets);
	assert_int_equal(bench_group(&bench, "t0")->n_calls, 4 * 5 + FSL_COMM_OPS_MAX - 1 + 7);
	bench_fini(&bench);
}

static void a_set_is_the_same_in_any_order_and_another_with_one_operator_more(void **state)
{
	(void)state;
	uint64_t ab = fsl_op_set_with(fsl_op_set_with(0, 1), 2);
	uint64_t ba = fsl_op_set_with(fsl_op_set_with(0, 2), 1);
	assert_int_equal(ab, ba);
	assert_int_not_equal(ab, fsl_op_set_with(ab, 3));
	assert_int_not_equal(fsl_op_set_with(0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_topology_counts_the_same_as_one_pass_over_all_operators),
		cmocka_unit_test(
			one_operator_in_a_hundred_makes_a_rank_different_and_one_in_more_does_not),
		cmocka_unit_test(operators_without_a_name_are_in_no_set),
		cmocka_unit_test(ranks_without_operators_have_the_empty_set),
		cmocka_unit_test(operators_that_are_not_told_apart_leave_the_sets_unknown),
		cmocka_unit_test(a_set_is_the_same_in_any_order_and_another_with_one_operator_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

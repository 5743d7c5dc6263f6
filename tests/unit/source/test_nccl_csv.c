/* NCCL operators as CSV: microseconds to nanoseconds, kernel names, missing columns. */
#include "tree.h"

#define NAME "hccl_activity-10.0.0.1-.3.csv"

static struct tree tree;

static int setup(void **state)
{
	(void)state;
	tree_begin(&tree);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_end(&tree);
	return 0;
}

static const struct fsl_file *read_text(const char *text)
{
	tree_write(&tree, NAME, text);
	(void)tree_read(&tree);
	return tree_file(&tree, NAME);
}

static void microseconds_become_nanoseconds_exactly(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(
		"kernel,t1,t2,t3,t4,step\n"
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL,1743675836123456.789,1743675836123457,"
		"1743675836123458.001,1743675836123459.25,12\n");
	assert_string_equal(file->format, "nccl_csv");
	assert_int_equal(file->state, FSL_FILE_READ);
	const struct fsl_op *op = &tree_rank(&tree, 3)->ops[0];
	assert_int_equal(op->host_begin_ns, INT64_C(1743675836123456789));
	assert_int_equal(op->host_end_ns, INT64_C(1743675836123457000));
	assert_int_equal(op->dev_begin_ns, INT64_C(1743675836123458001));
	assert_int_equal(op->dev_end_ns, INT64_C(1743675836123459250));
	assert_int_equal(op->step, 12);
	assert_int_equal(op->group_id, FSL_STR_NONE);
	assert_string_equal(tree_name(&tree, op->op_id), "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
}

static void kernel_names_end_at_their_arguments(void **state)
{
	(void)state;
	(void)read_text(
		"kernel,t1,t2,t3,t4\n"
		"\"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>, int)\",1,2,3,4\n"
		"ncclDevKernel_AllGather_RING_LL(Args<1ul>, int),5,6,7,8\n");
	const struct fsl_rank *rank = tree_rank(&tree, 3);
	assert_int_equal(rank->n_ops, 2);
	assert_string_equal(tree_name(&tree, rank->ops[0].op_id), "ncclDevKernel_SendRecv");
	assert_string_equal(tree_name(&tree, rank->ops[1].op_id),
			    "ncclDevKernel_AllGather_RING_LL");
	assert_int_equal(rank->ops[1].dev_end_ns, 8000);
}

static void t2_may_be_missing(void **state)
{
	(void)state;
	(void)read_text("t4,t3,t1,kernel\n400,300,100,A\n");
	const struct fsl_op *op = &tree_rank(&tree, 3)->ops[0];
	assert_int_equal(op->host_begin_ns, 100000);
	assert_int_equal(op->host_end_ns, FSL_NS_ABSENT);
	assert_int_equal(op->dev_end_ns, 400000);
}

static void a_last_row_needs_no_newline(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("kernel,t1,t2,t3,t4\nA,1,2,3,4");
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 1);
}

static void bad_rows_are_counted_by_reason(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("kernel,t1,t2,t3,t4,step\n"
						"A,1,2,3,4,1\n"
						"A,1,2,9,4,1\n"
						"A,x,2,3,4,1\n"
						"A,,,,,1\n"
						"A,1,2,3,4,-7\n"
						"(),1,2,3,4,1\n"
						"A,1,2,3\n"
						"A,1,2");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_BACKWARDS], 1);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 4);
	assert_int_equal(file->n_dropped[FSL_DROP_NO_NAME], 1);
	assert_int_equal(file->n_dropped[FSL_DROP_CUT], 1);
	assert_contains(file->message, "line=4");
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(microseconds_become_nanoseconds_exactly),
		TEST(kernel_names_end_at_their_arguments),
		TEST(t2_may_be_missing),
		TEST(a_last_row_needs_no_newline),
		TEST(bad_rows_are_counted_by_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Measured steps as CSV: units, order, repeated steps, damage. */
#include "tree.h"

#define NAME   "training-step-time-10.0.0.1-3.csv"
#define HEADER "step_id,step_start_time,step_end_time,step_exec_time\n"

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

static void steps_are_read_in_ns(void **state)
{
	(void)state;
	const struct fsl_file *file =
		read_text(HEADER "1,1750000000000000001,1750000000500000002,500000001\n");
	assert_string_equal(file->format, "step_time_csv");
	assert_int_equal(file->state, FSL_FILE_READ);
	const struct fsl_rank *rank = tree_rank(&tree, 3);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].step, 1);
	assert_int_equal(rank->steps[0].begin_ns, INT64_C(1750000000000000001));
	assert_int_equal(rank->steps[0].dur_ns, 500000001);
	assert_int_equal(rank->last_event_ns, INT64_C(1750000000500000002));
	assert_string_equal(rank->server_ip, "10.0.0.1");
}

static void columns_are_found_by_name_and_quotes_removed(void **state)
{
	(void)state;
	(void)read_text("\xEF\xBB\xBF\"step_exec_time\", step_start_time ,host,step_id\r\n"
			"\"50\", 100 ,\"a,\"\"b\"\"\",7\r\n");
	const struct fsl_rank *rank = tree_rank(&tree, 3);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].dur_ns, 50);
	assert_int_equal(rank->steps[0].step, 7);
}

static void steps_are_sorted_and_a_later_run_of_a_step_wins(void **state)
{
	(void)state;
	(void)read_text(HEADER "3,300,310,10\n1,100,110,10\n2,200,210,10\n3,400,430,30\n"
			       "1,100,110,10\n");
	const struct fsl_rank *rank = tree_rank(&tree, 3);
	assert_int_equal(rank->n_steps, 3);
	assert_int_equal(rank->steps[0].step, 1);
	assert_int_equal(rank->steps[2].begin_ns, 400);
	assert_int_equal(rank->steps[2].dur_ns, 30);
}

static void broken_rows_are_left_out_and_the_first_is_placed(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(HEADER "1,100,110,10\nx,1,2,3\n2,1\n3,5,4,1\n"
						       "4,-1,2,3\n5,500,510,10\n6,600,6");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 3);
	assert_int_equal(file->n_dropped[FSL_DROP_BACKWARDS], 1);
	assert_int_equal(file->n_dropped[FSL_DROP_CUT], 1);
	assert_contains(file->message, "row=3");
	assert_int_equal(tree_rank(&tree, 3)->n_steps, 2);
}

static void a_missing_column_is_named(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("step_id,start\n1,2\n");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_contains(file->message, "the header lacks a column: not a step-time CSV");
	assert_contains(file->message, "column=\"step_start_time\"");
}

static void a_header_alone_is_empty(void **state)
{
	(void)state;
	assert_int_equal(read_text(HEADER)->state, FSL_FILE_EMPTY);
}

static void a_field_over_the_limit_ends_reading(void **state)
{
	(void)state;
	char path[512];
	tree_path(&tree, NAME, path, sizeof(path));
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	(void)fputs(HEADER "1,100,110,10\n", file);
	for (size_t i = 0; i < FSL_LINE_BYTES_MAX + 1024; i++) {
		(void)fputc('1', file);
	}
	assert_int_equal(fclose(file), 0);
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_file(&tree, NAME)->state, FSL_FILE_PARTIAL);
	assert_contains(tree_file(&tree, NAME)->message, "row=3");
	assert_int_equal(tree_rank(&tree, 3)->n_steps, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(steps_are_read_in_ns),
		TEST(columns_are_found_by_name_and_quotes_removed),
		TEST(steps_are_sorted_and_a_later_run_of_a_step_wins),
		TEST(broken_rows_are_left_out_and_the_first_is_placed),
		TEST(a_missing_column_is_named),
		TEST(a_header_alone_is_empty),
		TEST(a_field_over_the_limit_ends_reading),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

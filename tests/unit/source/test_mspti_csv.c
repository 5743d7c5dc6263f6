/* The CSV form of communication markers: columns, names, and every way in which a row is bad. */
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

/* Four rows of one operator. */
#define OP(id, name, t)                                                                            \
	"16," id ",1," name ",0," t "100,7,7,7,7\n32," id ",1,,0," t "200,7,7,7,7\n16," id         \
	",1,,1," t "300,3,2,3,2\n32," id ",1,,1," t "400,3,2,3,2\n"

static void four_rows_make_one_operator(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(
		MARKER_HEADER OP("5", "comm:HcclAllGather!tp0!bfp16!4096", "1750000000000"));
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_string_equal(file->format, "mspti_csv");
	assert_int_equal(file->n_records, 4);
	const struct fsl_rank *rank = tree_rank(&tree, 3);
	assert_int_equal(rank->n_ops, 1);
	const struct fsl_op *op = &rank->ops[0];
	assert_int_equal(op->id, 5);
	assert_int_equal(op->host_begin_ns, INT64_C(1750000000000100));
	assert_int_equal(op->host_end_ns, INT64_C(1750000000000200));
	assert_int_equal(op->dev_begin_ns, INT64_C(1750000000000300));
	assert_int_equal(op->dev_end_ns, INT64_C(1750000000000400));
	assert_int_equal(op->n_elements, 4096);
	assert_int_equal(op->step, -1);
	assert_string_equal(tree_name(&tree, op->op_id), "HcclAllGather");
	assert_string_equal(tree_name(&tree, op->group_id), "tp0");
	assert_string_equal(tree_name(&tree, op->dtype_id), "bfp16");
	assert_string_equal(rank->server_ip, "10.0.0.1");
	assert_int_equal(rank->last_event_ns, INT64_C(1750000000000400));
	assert_true(rank->has_markers_file);
}

static void columns_are_found_by_name(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("Domain,Timestamp,SourceKind,Name,Kind,Id,Flag\r\n"
						"d,100,0,comm:A!g!f!1,1,9,2\r\n"
						"d,200,0,,1,9,4\r\n"
						"d,300,1,,1,9,16\r\n"
						"d,400,1,,1,9,32\r\n");
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 1);
	assert_int_equal(tree_rank(&tree, 3)->ops[0].dev_end_ns, 400);
}

static void later_marker_files_are_the_same_format(void **state)
{
	(void)state;
	tree_write(&tree, "mspti-marker-node-a-1-12.csv",
		   MARKER_HEADER OP("1", "comm:A!g!f!1", "1"));
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 12)->n_ops, 1);
	assert_string_equal(tree_rank(&tree, 12)->server_ip, "node-a-1");
}

static void comma_names_are_read_quoted_and_unquoted(void **state)
{
	(void)state;
	(void)read_text(MARKER_HEADER OP("1", "\"comm:A,g,f,1\"", "1")
				OP("2", "comm:B,h,f,2", "2"));
	const struct fsl_rank *rank = tree_rank(&tree, 3);
	assert_int_equal(rank->n_ops, 2);
	assert_string_equal(tree_name(&tree, rank->ops[0].group_id), "g");
	assert_string_equal(tree_name(&tree, rank->ops[1].op_id), "B");
	assert_string_equal(tree_name(&tree, rank->ops[1].group_id), "h");
	assert_int_equal(rank->ops[1].n_elements, 2);
}

static void other_markers_are_counted_and_no_error(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(MARKER_HEADER OP("1", "comm:A!g!f!1", "1") OP(
		"2", "step:12", "2") "1,7,1,mark,0,500,7,7,7,7\n");
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_string_equal(file->message, "");
	assert_int_equal(file->n_dropped[FSL_DROP_BAD_NAME], 2);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 1);
}

static void a_header_in_the_middle_is_no_record(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(MARKER_HEADER OP("1", "comm:A!g!f!1", "1")
							MARKER_HEADER OP("1", "comm:A!g!f!1", "2"));
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_int_equal(file->n_records, 8);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 2);
	assert_true(tree_rank(&tree, 3)->is_restarted);
}

static void zero_bytes_are_an_empty_file_of_a_known_rank(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("");
	assert_int_equal(file->state, FSL_FILE_EMPTY);
	assert_int_equal(file->rank, 3);
	assert_contains(file->message, "empty");
	assert_true(tree_rank(&tree, 3)->has_markers_file);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 0);
}

static void a_header_alone_is_an_empty_file_of_a_known_rank(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(MARKER_HEADER);
	assert_int_equal(file->state, FSL_FILE_EMPTY);
	assert_contains(file->message, "no record");
	assert_true(tree_rank(&tree, 3)->has_markers_file);
}

static void a_missing_column_is_named(void **state)
{
	(void)state;
	const struct fsl_file *file =
		read_text("Flag,Id,Kind,Name,Source,Timestamp\n16,1,1,,0,5\n");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_contains(file->message, "the header lacks a column: not an MSPTI marker CSV");
	assert_contains(file->message, "column=\"SourceKind\"");
	assert_contains(file->message, "line=1");
	assert_true(tree_rank(&tree, 3)->has_markers_file);
}

static void a_row_cut_by_the_end_is_counted_and_placed(void **state)
{
	(void)state;
	const struct fsl_file *file =
		read_text(MARKER_HEADER OP("1", "comm:A!g!f!1", "1") "16,2,1,comm:A!g!f!1,0,17500");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_CUT], 1);
	assert_contains(file->message, "line=6");
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 1);
}

static void a_time_that_the_end_may_have_cut_is_not_used(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("Flag,Id,Kind,Name,SourceKind,Timestamp\n"
						"16,1,1,comm:A!g!f!1,0,1750000000\n"
						"32,1,1,,0,1750000900\n"
						"16,2,1,comm:A!g!f!1,0,17500");
	assert_int_equal(file->n_dropped[FSL_DROP_CUT], 1);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 1);
	assert_int_equal(tree_rank(&tree, 3)->open_op_id, FSL_STR_NONE);
}

static void broken_rows_are_left_out_and_the_first_is_placed(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(MARKER_HEADER OP(
		"1", "comm:A!g!f!1",
		"1") "16,x,1,,0,500,7,7,7,7\n"
		     "16,3,1\n"
		     "16,4,1,,0,-5,7,7,7,7\n"
		     "16,5,1,,2,500,7,7,7,7\n"
		     "16,6,1,,0,9223372036854775807,7,7,7,7\n" OP("2", "comm:A!g!f!1", "2"));
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 5);
	assert_contains(file->message, "line=6");
	assert_contains(file->message, "Id is no number");
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 2);
	assert_int_equal(tree_rank(&tree, 3)->last_event_ns, 2400);
}

static void json_inside_a_csv_is_left_out(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(MARKER_HEADER OP(
		"1", "comm:A!g!f!1",
		"1") "[{\"Domain\":\"\",\"Flag\":16,\"Id\":1,\"Kind\":1,\"Name\":\"comm:A,g,f,1\","
		     "\"SourceKind\":0,\"Timestamp\":5}]\n" OP("2", "comm:A!g!f!1", "2"));
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 1);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 2);
}

static void nul_bytes_break_one_row_only(void **state)
{
	(void)state;
	static const char text[] = MARKER_HEADER OP("1", "comm:A!g!f!1",
						    "1") "\0\0\0\0\0\0\n"
							 "16,9,1,comm:A\0!g!f!1,0,900,7,7,7,7\n" OP(
								 "2", "comm:A!g!f!1", "2");
	tree_write_bytes(&tree, NAME, text, sizeof(text) - 1);
	assert_int_equal(tree_read(&tree), FSL_OK);
	const struct fsl_file *file = tree_file(&tree, NAME);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 2);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 2);
}

/* Writes a good operator, a row with a name of @n_bytes, and another good operator. */
static const struct fsl_file *read_long_row(size_t n_bytes)
{
	char path[512];
	tree_path(&tree, NAME, path, sizeof(path));
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	(void)fputs(MARKER_HEADER OP("1", "comm:A!g!f!1", "1") "16,9,1,", file);
	for (size_t i = 0; i < n_bytes; i++) {
		(void)fputc('x', file);
	}
	(void)fputs(",0,900,7,7,7,7\n" OP("2", "comm:A!g!f!1", "2"), file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 2);
	return tree_file(&tree, NAME);
}

static void a_line_of_one_megabyte_breaks_one_row_only(void **state)
{
	(void)state;
	const struct fsl_file *file = read_long_row(1024 * 1024);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 1);
	assert_contains(file->message, "too long");
}

static void a_line_over_the_limit_is_counted_as_too_long(void **state)
{
	(void)state;
	const struct fsl_file *file = read_long_row(FSL_LINE_BYTES_MAX + 1);
	assert_int_equal(file->n_dropped[FSL_DROP_TOO_LONG], 1);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
}

static void a_file_without_one_good_row_is_unusable(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(MARKER_HEADER "a,b,c,d,e,f,g,h,i,j\n");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_contains(file->message, "line=2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(four_rows_make_one_operator),
		TEST(columns_are_found_by_name),
		TEST(later_marker_files_are_the_same_format),
		TEST(comma_names_are_read_quoted_and_unquoted),
		TEST(other_markers_are_counted_and_no_error),
		TEST(a_header_in_the_middle_is_no_record),
		TEST(zero_bytes_are_an_empty_file_of_a_known_rank),
		TEST(a_header_alone_is_an_empty_file_of_a_known_rank),
		TEST(a_missing_column_is_named),
		TEST(a_row_cut_by_the_end_is_counted_and_placed),
		TEST(a_time_that_the_end_may_have_cut_is_not_used),
		TEST(broken_rows_are_left_out_and_the_first_is_placed),
		TEST(json_inside_a_csv_is_left_out),
		TEST(nul_bytes_break_one_row_only),
		TEST(a_line_of_one_megabyte_breaks_one_row_only),
		TEST(a_line_over_the_limit_is_counted_as_too_long),
		TEST(a_file_without_one_good_row_is_unusable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

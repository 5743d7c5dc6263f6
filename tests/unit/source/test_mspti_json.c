/* The JSON form of communication markers: flushes one after the other, exact numbers, bad input. */
#include "tree.h"

#define NAME "hccl_activity-10.0.0.1-.3.json"

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

#define ROW(flag, id, source, time, name)                                                          \
	"{\"Domain\":\"\",\"Flag\":" flag ",\"Id\":" id ",\"Kind\":1,\"Name\":\"" name             \
	"\",\"SourceKind\":" source ",\"Timestamp\":" time                                         \
	",\"msptiObjectId\":{\"Ds\":{\"DeviceId\":7,\"StreamId\":7},\"Pt\":{\"ProcessId\":7,"      \
	"\"ThreadId\":7}}}"
#define OP(id, name, t)                                                                            \
	ROW("16", id, "0", t "100", name)                                                          \
	"," ROW("32", id, "0", t "200", "") "," ROW("16", id, "1", t "300",                        \
						    "") "," ROW("32", id, "1", t "400", "")

static const struct fsl_file *read_text(const char *text)
{
	tree_write(&tree, NAME, text);
	(void)tree_read(&tree);
	return tree_file(&tree, NAME);
}

static void flushes_may_follow_each_other_in_any_way(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(
		"[" OP("1", "comm:A,g,f,1", "1") "]\n[" OP("2", "comm:A,g,f,1", "2") "][" OP(
			"3", "comm:A,g,f,1", "3") "]\r\n  [\n" OP("4", "comm:A,g,f,1", "4") "\n]");
	assert_string_equal(file->format, "mspti_json");
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_int_equal(file->n_records, 16);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 4);
}

static void nineteen_digits_stay_exact(void **state)
{
	(void)state;
	(void)read_text("[" ROW("16", "1", "0", "1750000000000000001", "comm:A,g,f,1") "," ROW(
		"32", "1", "0", "1750000000000000003", "") "]");
	const struct fsl_op *op = &tree_rank(&tree, 3)->ops[0];
	assert_int_equal(op->host_begin_ns, INT64_C(1750000000000000001));
	assert_int_equal(op->host_end_ns, INT64_C(1750000000000000003));
}

static void group_names_may_hold_commas(void **state)
{
	(void)state;
	(void)read_text("[" OP("1", "comm:A,g,0,f,1", "1") "]");
	assert_string_equal(tree_name(&tree, tree_rank(&tree, 3)->ops[0].group_id), "g,0");
}

static void a_cut_object_keeps_what_came_before(void **state)
{
	(void)state;
	const struct fsl_file *file =
		read_text("[" OP("1", "comm:A,g,f,1", "1") ",{\"Flag\":16,\"Id\":2,\"Na");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_CUT], 1);
	assert_contains(file->message, "offset=");
	assert_contains(file->message, "line=1");
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 1);
}

static void reading_goes_on_at_the_flush_behind_a_fault(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(
		"[" OP("1", "comm:A,g,f,1", "1") ",{\"Flag\":16,"
						 "\"Id\":2[" OP("1", "comm:B,g,f,1", "2") "]\n");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 1);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 2);
	assert_true(tree_rank(&tree, 3)->is_restarted);
}

static void csv_inside_json_ends_nothing_but_itself(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text(
		"[" OP("1", "comm:A,g,f,1", "1") "]\n" MARKER_HEADER
						 "16,2,1,comm:A!g!f!1,0,500,7,7,7,7\n[" OP(
							 "3", "comm:A,g,f,1", "3") "]");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 2);
}

static void objects_without_a_time_are_left_out(void **state)
{
	(void)state;
	const struct fsl_file *file =
		read_text("[{\"Flag\":16,\"Id\":1,\"SourceKind\":0,\"Timestamp\":\"soon\"},"
			  "{\"Flag\":16,\"Id\":1,\"SourceKind\":0,\"Timestamp\":{\"a\":[1,2]}},"
			  "{},7," OP("1", "comm:A,g,f,1", "1") "]");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 4);
	assert_contains(file->message, "Timestamp");
	assert_int_equal(tree_rank(&tree, 3)->n_ops, 1);
}

static void an_empty_array_is_an_empty_file(void **state)
{
	(void)state;
	assert_int_equal(read_text("[]\n[]")->state, FSL_FILE_EMPTY);
	assert_true(tree_rank(&tree, 3)->has_markers_file);
}

static void no_json_at_all_is_unusable(void **state)
{
	(void)state;
	const struct fsl_file *file = read_text("segmentation fault\n");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_contains(file->message, "offset=0");
}

static void deep_nesting_is_bounded(void **state)
{
	(void)state;
	enum { DEPTH = 100000 };
	char *text = calloc(1, DEPTH + 512);
	assert_non_null(text);
	(void)strcpy(text, "[{\"SourceKind\":0,\"Timestamp\":1,\"x\":");
	memset(text + strlen(text), '[', DEPTH);
	const struct fsl_file *file = read_text(text);
	free(text);
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_contains(file->message, "deep");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(flushes_may_follow_each_other_in_any_way),
		TEST(nineteen_digits_stay_exact),
		TEST(group_names_may_hold_commas),
		TEST(a_cut_object_keeps_what_came_before),
		TEST(reading_goes_on_at_the_flush_behind_a_fault),
		TEST(csv_inside_json_ends_nothing_but_itself),
		TEST(objects_without_a_time_are_left_out),
		TEST(an_empty_array_is_an_empty_file),
		TEST(no_json_at_all_is_unusable),
		TEST(deep_nesting_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

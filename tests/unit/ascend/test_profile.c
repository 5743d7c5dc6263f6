/* The files of a rank's folder that are read, and reports on those that cannot be. */
#include "capture_tree.h"

#include "source/ascend/files.h"

#define OUTPUT "x_ascend_pt/ASCEND_PROFILER_OUTPUT/"
#define OP_HEADER                                                                                  \
	"OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
#define OP_FILE(type) OP_HEADER type ",AI_CORE,1,10,10,10,10,100\n"

static const struct fsl_profile_rank *read_one(struct tree *tree)
{
	tree_read(tree, "");
	assert_int_equal(tree->profile.n_ranks, 1);
	return &tree->profile.ranks[0];
}

static const struct fsl_file *file_named(const struct fsl_profile_rank *rank, const char *name)
{
	for (size_t i = 0; i < rank->n_files; i++) {
		if (strcmp(strrchr(rank->files[i].path, '/') + 1, name) == 0) {
			return &rank->files[i];
		}
	}
	fail_msg("no file %s", name);
	return NULL;
}

/* Types of operators in the order in which they were read, each with a blank behind. */
static void expect_types(const struct fsl_profile_rank *rank, const char *types)
{
	char text[256] = "";
	for (size_t i = 0; i < rank->n_op_statistics; i++) {
		size_t n = strlen(text);
		(void)snprintf(text + n, sizeof(text) - n, "%s ",
			       fsl_strpool_text(rank->names, rank->op_statistics[i].name_id));
	}
	assert_string_equal(text, types);
}

static void test_a_reader_gets_its_file_packed_or_plain_but_once(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	/* The content tells the kind of packing. */
	tree_write(tree, OUTPUT "op_statistic.csv.zst", OP_FILE("Packed"));
	expect_types(read_one(tree), "Packed ");
	tree_write(tree, OUTPUT "op_statistic.csv", OP_FILE("Plain"));
	const struct fsl_profile_rank *rank = read_one(tree);
	expect_types(rank, "Plain ");
	assert_int_equal(file_named(rank, "op_statistic.csv.zst")->state, FSL_FILE_DUPLICATE);
}

static void test_slices_of_the_newest_export_are_read_in_order(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, OUTPUT "op_statistic_slice_10_20260101000001.csv", OP_FILE("C"));
	tree_write(tree, OUTPUT "op_statistic_slice_2_20260101000001.csv", OP_FILE("B"));
	tree_write(tree, OUTPUT "op_statistic_slice_0_20260101000001.csv", OP_FILE("A"));
	tree_write(tree, OUTPUT "op_statistic_slice_0_20250101000001.csv", OP_FILE("Old"));
	const struct fsl_profile_rank *rank = read_one(tree);
	expect_types(rank, "A B C ");
	assert_int_equal(file_named(rank, "op_statistic_slice_0_20250101000001.csv")->state,
			 FSL_FILE_DUPLICATE);
}

static void test_slices_that_were_written_one_after_the_other_are_one_export(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, OUTPUT "op_statistic_slice_0_20260101000000.csv", OP_FILE("Old0"));
	tree_write(tree, OUTPUT "op_statistic_slice_1_20260101000007.csv", OP_FILE("Old1"));
	tree_write(tree, OUTPUT "op_statistic_slice_2_20260101000009.csv", OP_FILE("Old2"));
	tree_write(tree, OUTPUT "op_statistic_slice_0_20260101000005.csv", OP_FILE("A"));
	tree_write(tree, OUTPUT "op_statistic_slice_1_20260101000010.csv", OP_FILE("B"));
	const struct fsl_profile_rank *rank = read_one(tree);
	expect_types(rank, "A B ");
	assert_int_equal(file_named(rank, "op_statistic_slice_2_20260101000009.csv")->state,
			 FSL_FILE_DUPLICATE);
	/* A whole file that is newer than all slices. */
	tree_write(tree, OUTPUT "op_statistic_20260101000011.csv", OP_FILE("Whole"));
	expect_types(read_one(tree), "Whole ");
}

static void test_the_first_slice_may_have_no_number(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, OUTPUT "op_statistic_20250101000000.csv", OP_FILE("Old"));
	tree_write(tree, OUTPUT "op_statistic_20260101000000.csv", OP_FILE("A"));
	tree_write(tree, OUTPUT "op_statistic_slice_1_20260101000003.csv", OP_FILE("B"));
	tree_write(tree, OUTPUT "op_statistic_slice_2_20260101000004.csv", OP_FILE("C"));
	expect_types(read_one(tree), "A B C ");
	tree_write(tree, OUTPUT "op_statistic_slice_0_20260101000002.csv", OP_FILE("Zero"));
	expect_types(read_one(tree), "Zero B C ");
}

static void test_old_exports_have_numbers_and_a_file_for_each_iteration(void **state)
{
	struct tree *tree = *state;
	static const char summary[] = "PROF_7/device_3/summary/";
	tree_write(tree, "PROF_7/device_3/info.json.3", "{\"rank_id\": 3}");
	tree_write(tree, "PROF_7/device_3/summary/op_statistic_3_1_10.csv", OP_FILE("C"));
	tree_write(tree, "PROF_7/device_3/summary/op_statistic_3_1_2.csv", OP_FILE("B"));
	tree_write(tree, "PROF_7/device_3/summary/op_statistic_3_4294967295_1.csv", OP_FILE("A"));
	tree_write(tree, "PROF_7/device_3/timeline/msprof_3_1_1.json", "[]");
	const struct fsl_profile_rank *rank = read_one(tree);
	expect_types(rank, "A B C ");
	assert_non_null(strstr(file_named(rank, "op_statistic_3_1_2.csv")->path, summary));
	assert_string_equal(file_named(rank, "msprof_3_1_1.json")->format, "trace_view.json");
	assert_int_equal(rank->rank, 3);
	tree_write(tree, "PROF_7/device_3/summary/op_statistic_3.csv", OP_FILE("Whole"));
	expect_types(read_one(tree), "Whole ");
}

static void test_tables_in_summary_without_device_are_found(void **state)
{
	struct tree *tree = *state;
	tree_write(tree, "PROF_8/device_12/info.json.12", "{\"rank_id\": 5}");
	tree_write(tree, "PROF_8/summary/op_statistic_12_1.csv", OP_FILE("A"));
	tree_write(tree, "PROF_8/timeline/msprof_12_1.json.gz", "[]");
	const struct fsl_profile_rank *rank = read_one(tree);
	expect_types(rank, "A ");
	assert_non_null(file_named(rank, "msprof_12_1.json.gz"));
	assert_int_equal(rank->rank, 5);
}

static void test_names_that_only_look_alike_are_left_alone(void **state)
{
	struct tree *tree = *state;
	static const char *const names[] = {OUTPUT "op_statistic.csv.bak",
					    OUTPUT "op_statistic_old.csv",
					    OUTPUT "op_statistic_slice_.csv",
					    OUTPUT "op_statistic_2026.csv",
					    OUTPUT "op_statistic_slice_99999999999999999999.csv",
					    OUTPUT "op_statistic\n.csv",
					    OUTPUT "my_op_statistic.csv",
					    OUTPUT "op_statistic_20260101000001",
					    OUTPUT "op_statistics.csv"};
	tree_rank(tree, "x_ascend_pt", 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		tree_write(tree, names[i], OP_FILE("Wrong"));
	}
	expect_types(read_one(tree), "");
}

static void test_a_file_that_cannot_be_opened_costs_only_itself(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_folder(tree, OUTPUT "op_statistic.csv");
	tree_write(tree, OUTPUT "communication.json", "[");
	const struct fsl_profile_rank *rank = read_one(tree);
	const struct fsl_file *file = file_named(rank, "op_statistic.csv");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_true(strlen(file->message) > 0);
	assert_int_equal(file_named(rank, "communication.json")->state, FSL_FILE_UNUSABLE);
	assert_int_equal(rank->n_steps, 1);
	assert_true(rank->has_text);
	assert_int_equal(tree->profile.n_remarks, 0);
}

#define SUMMARY_HEAD                                                                               \
	"Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"                 \
	"Task Start Time(us),Task Duration(us),Task Wait Time(us)\n"
#define SUMMARY_ROW(start) "0,1,1,2,mm,MatMul,dynamic,AI_CORE," start "\t,12.5,0\n"

static void test_kernels_and_trace_of_msprof_have_names_of_their_own(void **state)
{
	struct tree *tree = *state;
	tree_write(tree, "PROF_1/mindstudio_profiler_output/op_summary_slice_0_20260101000001.csv",
		   SUMMARY_HEAD SUMMARY_ROW("1000.125"));
	tree_write(tree, "PROF_1/mindstudio_profiler_output/op_summary_slice_1_20260101000001.csv",
		   SUMMARY_HEAD SUMMARY_ROW("1020.125"));
	tree_write(tree, "PROF_1/mindstudio_profiler_output/op_statistic_20260101000001.csv",
		   OP_FILE("MatMul"));
	tree_write(tree, "PROF_1/mindstudio_profiler_output/msprof_20260101000001.json", "[]");
	tree_write(tree, "PROF_1/mindstudio_profiler_output/msprof_tx_20260101000001.json", "[]");
	tree_write(tree, "PROF_1/analyze/communication.json", "{}");
	const struct fsl_profile_rank *rank = read_one(tree);
	expect_types(rank, "MatMul ");
	assert_int_equal(rank->n_kernels, 1);
	assert_int_equal(rank->kernels[0].count, 2);
	assert_int_equal(rank->n_rebuilt, 1);
	assert_int_equal(rank->rebuilt[0].computing_ns, 25000);
	assert_int_equal(rank->rebuilt[0].free_ns, 7500);
	assert_non_null(strstr(file_named(rank, "communication.json")->path, "/analyze/"));
	assert_string_equal(file_named(rank, "msprof_20260101000001.json")->format,
			    "trace_view.json");
	assert_int_equal(rank->n_files, 5);
	/* If kernels of a framework are there, they are read. */
	tree_write(tree, "PROF_1/mindstudio_profiler_output/kernel_details.csv", "");
	rank = read_one(tree);
	assert_int_equal(rank->n_kernels, 0);
}

static void test_a_last_slice_that_cannot_be_opened_costs_only_itself(void **state)
{
	struct tree *tree = *state;
	tree_write(tree, "PROF_1/mindstudio_profiler_output/op_summary_slice_0_20260101000001.csv",
		   SUMMARY_HEAD SUMMARY_ROW("1000.125"));
	tree_folder(tree,
		    "PROF_1/mindstudio_profiler_output/op_summary_slice_1_20260101000001.csv");
	tree_folder(tree,
		    "PROF_1/mindstudio_profiler_output/op_summary_slice_2_20260101000001.csv");
	const struct fsl_profile_rank *rank = read_one(tree);
	assert_int_equal(rank->n_kernels, 1);
	assert_int_equal(rank->n_rebuilt, 1);
	assert_int_equal(rank->rebuilt[0].computing_ns, 12500);
	assert_int_equal(file_named(rank, "op_summary_slice_2_20260101000001.csv")->state,
			 FSL_FILE_UNUSABLE);
}

static void test_ranks_without_any_file_are_told(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_folder(tree, "rank1_ascend_pt/ASCEND_PROFILER_OUTPUT");
	tree_read(tree, "");
	assert_int_equal(tree->profile.n_ranks, 2);
	assert_int_equal(tree_remarks(tree, "1 of 2 ranks have no file that could be read, rank 1"),
			 1);
}

static void test_only_the_wanted_ranks_are_read(void **state)
{
	struct tree *tree = *state;
	static const int32_t both[] = {1, 77}, none[] = {77};
	tree_rank(tree, "x_ascend_pt", 0);
	tree_rank(tree, "y_ascend_pt", 1);
	struct fsl_profile_options options = {.path = tree->root, .ranks = both, .n_ranks = 2};
	assert_int_equal(fsl_profile_read(&tree->profile, &options, &tree->err), FSL_OK);
	assert_int_equal(tree->profile.n_ranks, 1);
	assert_int_equal(tree->profile.ranks[0].rank, 1);
	assert_int_equal(tree_remarks(tree, "1 of the wanted ranks are not there, rank 77"), 1);
	fsl_profile_fini(&tree->profile);
	options.ranks = none;
	options.n_ranks = 1;
	assert_int_equal(fsl_profile_read(&tree->profile, &options, &tree->err), FSL_ERR_INPUT);
	assert_int_equal(tree->profile.n_ranks, 0);
}

static void test_a_failure_leaves_nothing_behind(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "x_ascend_pt/profiler_metadata.json",
		   "{\"parallel_group_info\": {\"g\": {\"global_ranks\": [0, 1]}}}");
	tree_write(tree, OUTPUT "op_statistic.csv", OP_FILE("MatMul"));
	tree_write(tree, OUTPUT "op_statistic.csv.gz", OP_FILE("MatMul"));
	const struct fsl_profile_options options = {.path = tree->root, .n_threads = 1};
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK && nth < 2000; nth++) {
		fsl_mem_fail_at(nth);
		status = fsl_profile_read(&tree->profile, &options, &tree->err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_int_equal(tree->profile.n_ranks, status == FSL_OK ? 1 : 0);
	}
	assert_int_equal(status, FSL_OK);
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(test_a_reader_gets_its_file_packed_or_plain_but_once),
		TREE_TEST(test_slices_of_the_newest_export_are_read_in_order),
		TREE_TEST(test_slices_that_were_written_one_after_the_other_are_one_export),
		TREE_TEST(test_the_first_slice_may_have_no_number),
		TREE_TEST(test_old_exports_have_numbers_and_a_file_for_each_iteration),
		TREE_TEST(test_tables_in_summary_without_device_are_found),
		TREE_TEST(test_names_that_only_look_alike_are_left_alone),
		TREE_TEST(test_a_file_that_cannot_be_opened_costs_only_itself),
		TREE_TEST(test_kernels_and_trace_of_msprof_have_names_of_their_own),
		TREE_TEST(test_a_last_slice_that_cannot_be_opened_costs_only_itself),
		TREE_TEST(test_ranks_without_any_file_are_told),
		TREE_TEST(test_only_the_wanted_ranks_are_read),
		TREE_TEST(test_a_failure_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

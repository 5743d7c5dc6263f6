/* The rank of each folder in a tree. */
#include "capture_tree.h"

static void test_rank_folders_are_found_below_nodes(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "job/node1/host_1_20260101000000000_ascend_pt", 1);
	tree_rank(tree, "job/node0/host_9_20260101000000000_ascend_pt", 0);
	tree_rank(tree, "a/b/c/d/e/f/g/h/i/deepest_ascend_pt", 2);
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 3);
	tree_expect(tree, 0, 0, "job/node0/host_9_20260101000000000_ascend_pt",
		    FSL_PROFILE_RANK_INFO_NAME);
	tree_expect(tree, 1, 1, "job/node1/host_1_20260101000000000_ascend_pt",
		    FSL_PROFILE_RANK_INFO_NAME);
	tree_expect(tree, 2, 2, "a/b/c/d/e/f/g/h/i/deepest_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_true(tree->profile.folders[0].stamp == INT64_C(20260101000000000));
	assert_int_equal(tree->profile.folders[0].writer, FSL_PROFILE_PYTORCH);
	assert_int_equal(tree->profile.n_remarks, 0);
}

static void test_what_lies_deeper_than_ten_folders_is_not_looked_for(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "1/2/3/4/5/6/7/8/9/10/too_deep_ascend_pt", 1);
	tree_rank(tree, "near_ascend_pt", 0);
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 1);
}

static void test_a_rank_folder_itself_and_its_output_are_paths_too(void **state)
{
	struct tree *tree = *state;
	static const char *const paths[] = {"x_ascend_pt", "x_ascend_pt/",
					    "x_ascend_pt/ASCEND_PROFILER_OUTPUT",
					    "x_ascend_pt/ASCEND_PROFILER_OUTPUT//"};
	tree_rank(tree, "x_ascend_pt", 5);
	tree_rank(tree, "y_ascend_pt", 6);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(tree_try(tree, paths[i]), FSL_OK);
		assert_int_equal(tree->profile.n_folders, 1);
		assert_int_equal(tree->profile.folders[0].rank, 5);
		assert_non_null(
			strstr(tree->profile.folders[0].output_path, "/ASCEND_PROFILER_OUTPUT"));
	}
	/* "." and links have the name that they stand for. */
	char path[512];
	tree_path(tree, "x_ascend_pt/ASCEND_PROFILER_OUTPUT", path, sizeof(path));
	char *here = getcwd(NULL, 0);
	assert_int_equal(chdir(path), 0);
	fsl_profile_fini(&tree->profile);
	assert_int_equal(fsl_profile_discover(&tree->profile, ".", &tree->err), FSL_OK);
	assert_int_equal(tree->profile.folders[0].rank, 5);
	assert_int_equal(chdir(here), 0);
	free(here);
}

static void test_files_without_any_rank_folder_are_one_rank(void **state)
{
	struct tree *tree = *state;
	tree_write(tree, "kernel_details.csv.gz", "");
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 1);
	tree_expect(tree, 0, 0, "", FSL_PROFILE_RANK_NONE);
	assert_string_equal(tree->profile.folders[0].output_path, tree->profile.folders[0].path);
	assert_int_equal(tree->profile.folders[0].writer, FSL_PROFILE_UNKNOWN);
}

static void test_files_beside_rank_folders_are_no_rank(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "trace_view.json", "[]");
	tree_write(tree, "old/kernel_details.csv", "");
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 1);
	tree_expect(tree, 0, 0, "x_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_int_equal(tree_remarks(tree, "lie beside folders of ranks"), 2);
}

static void test_folders_of_a_rank_are_not_searched_for_others(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "x_ascend_pt/PROF_1/mindstudio_profiler_output/op_statistic_1.csv", "");
	tree_write(tree, "x_ascend_pt/PROF_2/mindstudio_profiler_output/op_statistic_1.csv", "");
	tree_write(tree, "x_ascend_pt/copy/ASCEND_PROFILER_OUTPUT/step_trace_time.csv", "");
	tree_write(tree, "cluster_analysis_output/communication.json", "{}");
	tree_write(tree, ".hidden/ASCEND_PROFILER_OUTPUT/communication.json", "{}");
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 1);
	assert_int_equal(tree->profile.n_remarks, 0);
}

static void test_the_most_trusted_source_gives_the_rank(void **state)
{
	struct tree *tree = *state;
	static const char *const csv = "ASCEND_PROFILER_OUTPUT/step_trace_time.csv";
	char name[256];
	static const char *const folders[] = {"a_ascend_pt", "b_ascend_pt", "c_ascend_pt",
					      "d_rank-4_ascend_pt", "rank5/e_ascend_pt"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		(void)snprintf(name, sizeof(name), "%s/%s", folders[i], csv);
		tree_write(tree, name, STEP_FILE);
	}
	tree_write(tree, "a_ascend_pt/profiler_info.json", "{\"rank_id\": \"1\"}");
	tree_write(tree, "b_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_2.db", "");
	tree_write(tree, "c_ascend_pt/profiler_metadata.json",
		   "{\"distributed_args\": {\"rank\": 3}}");
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 5);
	tree_expect(tree, 0, 1, "a_ascend_pt", FSL_PROFILE_RANK_INFO_CONTENT);
	tree_expect(tree, 1, 2, "b_ascend_pt", FSL_PROFILE_RANK_DB_NAME);
	tree_expect(tree, 2, 3, "c_ascend_pt", FSL_PROFILE_RANK_METADATA);
	tree_expect(tree, 3, 4, "d_rank-4_ascend_pt", FSL_PROFILE_RANK_FOLDER_NAME);
	tree_expect(tree, 4, 5, "rank5/e_ascend_pt", FSL_PROFILE_RANK_FOLDER_NAME);
	assert_int_equal(tree->profile.n_remarks, 0);
}

static void test_sources_that_disagree_are_told(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "rank7_ascend_pt", 3);
	tree_write(tree, "rank7_ascend_pt/profiler_metadata.json",
		   "{\"distributed_args\": {\"rank\": 4}}");
	tree_discover(tree);
	tree_expect(tree, 0, 3, "rank7_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_int_equal(tree_remarks(tree, "\"rank7_ascend_pt\" is rank 3 by the name of "
					    "profiler_info and rank 4 by profiler_metadata.json: 3 "
					    "is used"),
			 1);
	assert_int_equal(tree_remarks(tree, "rank 7 by the folder's name"), 1);
}

static void test_of_several_info_files_the_lowest_number_counts(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 10);
	tree_write(tree, "x_ascend_pt/profiler_info_2.json", "{\"rank_id\": 2}");
	tree_discover(tree);
	tree_expect(tree, 0, 2, "x_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_int_equal(tree_remarks(tree, "2 files profiler_info_<N>.json"), 1);
}

static void test_numbers_that_can_be_no_rank_are_not_used(void **state)
{
	struct tree *tree = *state;
	tree_write(tree, "a_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json", "{}");
	tree_write(tree, "a_ascend_pt/profiler_info_99999999999999999999.json", "{\"rank_id\": 1}");
	tree_write(tree, "b_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json", "{}");
	tree_write(tree, "b_ascend_pt/profiler_info_-1.json", "{\"rank_id\": -1}");
	tree_write(tree, "c_rank_2x_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json", "{}");
	tree_write(tree, "d_crank5_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json", "{}");
	tree_write(tree, "d_crank5_ascend_pt/profiler_info.json", "{\"rank_id\": 1.5}");
	tree_discover(tree);
	tree_expect(tree, 0, 0, "b_ascend_pt", FSL_PROFILE_RANK_NONE);
	tree_expect(tree, 1, 1, "a_ascend_pt", FSL_PROFILE_RANK_INFO_CONTENT);
	tree_expect(tree, 2, 2, "c_rank_2x_ascend_pt", FSL_PROFILE_RANK_NONE);
	tree_expect(tree, 3, 3, "d_crank5_ascend_pt", FSL_PROFILE_RANK_NONE);
	assert_int_equal(tree_remarks(tree, "tells a rank above 65535, ignored"), 1);
	assert_int_equal(tree_remarks(tree, "3 of 4 folders tell no rank"), 1);
}

static void test_info_that_is_no_object_tells_nothing(void **state)
{
	struct tree *tree = *state;
	static const char *const texts[] = {"[1, 2]", "{\"rank_id\": 1", "", "7", "\xff\xfe{}"};
	char name[128];
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		(void)snprintf(name, sizeof(name), "%zu_ascend_pt/profiler_info.json", i);
		tree_write(tree, name, texts[i]);
		(void)snprintf(name, sizeof(name), "%zu_ascend_pt/ASCEND_PROFILER_OUTPUT", i);
		tree_folder(tree, name);
	}
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 5);
	tree_expect(tree, 4, 4, "4_ascend_pt", FSL_PROFILE_RANK_NONE);
	assert_int_equal(tree_remarks(tree, "is not used: "), 5);
}

static void test_of_a_rank_that_is_there_twice_the_newest_is_used(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "a/h_1_20260103000000000_ascend_pt", 0);
	tree_rank(tree, "b/h_1_20260105000000000_ascend_pt", 0);
	tree_rank(tree, "c/h_1_20260104000000000_ascend_pt", 0);
	tree_rank(tree, "d/h_1_20260104000000000_ascend_pt", 1);
	tree_rank(tree, "e/h_1_20260104000000000_ascend_pt", 1);
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 2);
	tree_expect(tree, 0, 0, "b/h_1_20260105000000000_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	tree_expect(tree, 1, 1, "d/h_1_20260104000000000_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_int_equal(tree_remarks(tree, "\"a/h_1_20260103000000000_ascend_pt\" is left out, "
					    "\"b/h_1_20260105000000000_ascend_pt\" is newer"),
			 1);
	assert_int_equal(tree_remarks(tree, "\"c/h_1_20260104000000000_ascend_pt\" is left out"),
			 1);
	assert_int_equal(tree_remarks(tree, "\"e/h_1_20260104000000000_ascend_pt\" is left out, "
					    "\"d/h_1_20260104000000000_ascend_pt\" is used"),
			 1);
}

static void test_of_captures_side_by_side_one_is_used_as_a_whole(void **state)
{
	struct tree *tree = *state;
	/* Two of three ranks; all of them; and a rank of its own. */
	tree_rank(tree, "a/r0_ascend_pt", 0);
	tree_rank(tree, "a/r4_ascend_pt", 4);
	tree_rank(tree, "b/r0_ascend_pt", 0);
	tree_rank(tree, "b/r1_ascend_pt", 1);
	tree_rank(tree, "b/r2_ascend_pt", 2);
	tree_rank(tree, "c/r7_ascend_pt", 7);
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 4);
	tree_expect(tree, 0, 0, "b/r0_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	tree_expect(tree, 2, 2, "b/r2_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	tree_expect(tree, 3, 7, "c/r7_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_int_equal(tree_remarks(tree, "\"a/r4_ascend_pt\" is left out: beside it lies rank "
					    "0 of another capture"),
			 1);
}

static void test_of_two_levels_the_one_with_more_files_is_used(void **state)
{
	struct tree *tree = *state;
	static const char *const levels[] = {"level0", "level1", "level2"};
	char name[128];
	for (size_t i = 0; i < 3; i++) {
		for (int rank = 0; rank < 2; rank++) {
			(void)snprintf(name, sizeof(name), "%s/r%d_ascend_pt", levels[i], rank);
			tree_rank(tree, name, rank);
			if (i == 1) {
				(void)snprintf(name, sizeof(name),
					       "%s/r%d_ascend_pt/ASCEND_PROFILER_OUTPUT/"
					       "communication_matrix.json",
					       levels[i], rank);
				tree_write(tree, name, "{}");
			}
		}
	}
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 2);
	tree_expect(tree, 0, 0, "level1/r0_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	tree_expect(tree, 1, 1, "level1/r1_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_int_equal(tree_remarks(tree, "holds more files"), 4);
}

/* Two devices of a run in three passes, and the same without the pass that is known best. */
static void test_passes_over_one_run_are_no_ranks(void **state)
{
	struct tree *tree = *state;
	static const char *const passes[] = {"PROF_Memory", "PROF_L2Cache", "PROF_PipeUtilization"};
	for (size_t n = 3; n >= 2; n--) {
		scratch_remove(tree->root);
		char name[160];
		for (size_t p = 0; p < n; p++) {
			for (int i = 0; i < 2; i++) {
				(void)snprintf(name, sizeof(name),
					       "PROF_GROUP_20260823_165254/%s/PROF_00000%d_"
					       "2026082316552322%zu_X/mindstudio_profiler_output/"
					       "op_summary_20260823165532.csv",
					       passes[p], i, p);
				tree_write(tree, name, "x");
			}
		}
		tree_discover(tree);
		assert_int_equal(tree->profile.n_folders, 2);
		for (size_t i = 0; i < 2; i++) {
			assert_non_null(strstr(tree->profile.folders[i].path,
					       n == 3 ? passes[2] : passes[0]));
		}
		assert_int_equal(tree_remarks(tree, "is a pass of the profiler over the run of"),
				 2 * (n - 1));
		/* From within a pass, whose name does not stand in the paths. */
		char path[512], *here = getcwd(NULL, 0);
		(void)snprintf(name, sizeof(name), "PROF_GROUP_20260823_165254/%s", passes[n - 1]);
		tree_path(tree, name, path, sizeof(path));
		assert_int_equal(chdir(path), 0);
		fsl_profile_fini(&tree->profile);
		assert_int_equal(fsl_profile_discover(&tree->profile, ".", &tree->err), FSL_OK);
		assert_int_equal(tree->profile.n_folders, 2);
		assert_int_equal(chdir(here), 0);
		free(here);
	}
}

/* A file by itself is all that is read; the folder around it tells the rank. */
static void test_one_file_is_a_capture(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "a/r3_ascend_pt", 3);
	tree_write(tree, "a/r3_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json", "{");
	tree_write(tree, "b/op_summary_1.csv", "x");
	tree_write(tree, "b/step_trace_raw_0_detail_time.csv", "x");
	tree_write(tree, "b/notes.csv", "x");
	tree_read(tree, "a/r3_ascend_pt/ASCEND_PROFILER_OUTPUT/step_trace_time.csv");
	assert_int_equal(tree->profile.n_ranks, 1);
	assert_int_equal(tree->profile.ranks[0].rank, 3);
	assert_int_equal(tree->profile.ranks[0].n_steps, 1);
	for (size_t f = 0; f < tree->profile.ranks[0].n_files; f++) {
		assert_null(strstr(tree->profile.ranks[0].files[f].path, "communication.json"));
	}
	assert_int_equal(tree_try(tree, "b/op_summary_1.csv"), FSL_OK);
	assert_string_equal(tree->profile.folders[0].file, "op_summary_1.csv");
	assert_int_equal(tree_try(tree, "b/step_trace_raw_0_detail_time.csv"), FSL_ERR_INPUT);
	assert_int_equal(tree_try(tree, "b/notes.csv"), FSL_ERR_INPUT);
}

static void test_rounds_of_captures_are_not_mixed_in_silence(void **state)
{
	struct tree *tree = *state;
	/* Old writers have no milliseconds. */
	tree_rank(tree, "h_1_20260103000000_ascend_pt", 0);
	tree_rank(tree, "h_2_20260103000000_ascend_pt", 1);
	tree_rank(tree, "h_1_20260104000000000_ascend_pt", 0);
	tree_discover(tree);
	tree_expect(tree, 0, 0, "h_1_20260104000000000_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_int_equal(tree_remarks(tree,
				      "may be of several captures: 1 are no newer than one that "
				      "was left out of another rank, "
				      "\"h_2_20260103000000_ascend_pt\" of rank 1"),
			 1);
	tree_rank(tree, "h_2_20260104000000001_ascend_pt", 1);
	tree_discover(tree);
	assert_int_equal(tree_remarks(tree, "may be of several captures"), 0);
	assert_int_equal(tree_remarks(tree, "is left out"), 2);
	/* A copy of it all is no other round. */
	scratch_remove(tree->root);
	tree_rank(tree, "h_1_20260104000000000_ascend_pt", 0);
	tree_rank(tree, "h_2_20260104000000001_ascend_pt", 1);
	tree_rank(tree, "old/h_1_20260104000000000_ascend_pt", 0);
	tree_rank(tree, "old/h_2_20260104000000001_ascend_pt", 1);
	tree_discover(tree);
	assert_int_equal(tree_remarks(tree, "is left out"), 2);
	assert_int_equal(tree_remarks(tree, "may be of several captures"), 0);
}

static void test_of_two_frameworks_the_one_with_more_ranks_is_kept(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "a_ascend_ms", 0);
	tree_rank(tree, "b_ascend_ms", 1);
	tree_rank(tree, "c_ascend_pt", 0);
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 2);
	assert_int_equal(tree->profile.folders[0].writer, FSL_PROFILE_MINDSPORE);
	assert_int_equal(tree_remarks(tree, "captures of PyTorch (1) and MindSpore (2) are no one "
					    "job: those of PyTorch are left out"),
			 1);
	tree_rank(tree, "d_ascend_pt", 1);
	tree_discover(tree);
	assert_int_equal(tree->profile.folders[0].writer, FSL_PROFILE_PYTORCH);
}

/* Writes the files that msprof leaves of one device. */
static void write_prof(const struct tree *tree, const char *folder, int device, const char *uid,
		       int rank)
{
	char name[256], text[128];
	(void)snprintf(name, sizeof(name), "%s/device_%d/info.json.%d", folder, device, device);
	(void)snprintf(text, sizeof(text), "{\"rank_id\": %d, \"hostUid\": \"%s\"}", rank, uid);
	tree_write(tree, name, text);
	(void)snprintf(name, sizeof(name), "%s/device_%d/info.json.%d.done", folder, device,
		       device);
	tree_write(tree, name, "");
	(void)snprintf(name, sizeof(name),
		       "%s/mindstudio_profiler_output/op_statistic_20260101000000.csv", folder);
	tree_write(tree, name, "");
}

static void test_folders_of_msprof_take_the_rank_of_their_info(void **state)
{
	struct tree *tree = *state;
	write_prof(tree, "PROF_000001_20260101000000000_AAA", 3, "h1", 9);
	write_prof(tree, "PROF_000002_20260101000000000_BBB", 1, "h1", 8);
	tree_discover(tree);
	tree_expect(tree, 0, 8, "PROF_000002_20260101000000000_BBB", FSL_PROFILE_RANK_INFO_CONTENT);
	tree_expect(tree, 1, 9, "PROF_000001_20260101000000000_AAA", FSL_PROFILE_RANK_INFO_CONTENT);
	assert_int_equal(tree->profile.folders[0].writer, FSL_PROFILE_MSPROF);
	assert_int_equal(tree->profile.n_remarks, 0);
	assert_int_equal(
		tree_try(tree, "PROF_000001_20260101000000000_AAA/mindstudio_profiler_output"),
		FSL_OK);
	tree_expect(tree, 0, 9, "PROF_000001_20260101000000000_AAA", FSL_PROFILE_RANK_INFO_CONTENT);
}

static void test_folders_of_msprof_without_rank_stand_by_host_and_device(void **state)
{
	struct tree *tree = *state;
	write_prof(tree, "PROF_000001_20260101000000000_AAA", 10, "h2", -1);
	write_prof(tree, "PROF_000002_20260101000000000_BBB", 2, "h2", -1);
	write_prof(tree, "PROF_000003_20260101000000000_CCC", 7, "h1", -1);
	tree_discover(tree);
	tree_expect(tree, 0, 0, "PROF_000003_20260101000000000_CCC", FSL_PROFILE_RANK_NONE);
	tree_expect(tree, 1, 1, "PROF_000002_20260101000000000_BBB", FSL_PROFILE_RANK_NONE);
	tree_expect(tree, 2, 2, "PROF_000001_20260101000000000_AAA", FSL_PROFILE_RANK_NONE);
}

static void test_a_framework_is_preferred_to_msprof_of_the_same_rank(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "h_1_20260101000000000_ascend_pt", 0);
	write_prof(tree, "PROF_000001_20260102000000000_AAA", 0, "h1", 0);
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 1);
	assert_int_equal(tree->profile.folders[0].writer, FSL_PROFILE_PYTORCH);
	assert_int_equal(tree_remarks(tree, "rank 0 is there more than once"), 1);
}

static void test_captures_that_were_not_parsed_are_told(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "good_ascend_pt", 0);
	tree_write(tree, "raw_ascend_pt/profiler_info_1.json", "{}");
	tree_folder(tree, "raw_ascend_pt/PROF_1/device_0");
	tree_folder(tree, "PROF_2/device_0");
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 1);
	assert_int_equal(tree_remarks(tree, "\"raw_ascend_pt\" was recorded but not parsed, left "
					    "out: run analyse()"),
			 1);
	assert_int_equal(tree_remarks(tree, "\"PROF_2\" was recorded but not parsed, left out: run "
					    "msprof --export=on"),
			 1);
}

static void test_nothing_found_says_why(void **state)
{
	struct tree *tree = *state;
	assert_int_equal(tree_try(tree, ""), FSL_ERR_INPUT);
	assert_non_null(strstr(fsl_error_root(&tree->err), "looked for *_ascend_pt"));
	tree_folder(tree, "raw_ascend_ms/PROF_1");
	assert_int_equal(tree_try(tree, ""), FSL_ERR_INPUT);
	assert_non_null(strstr(fsl_error_root(&tree->err), "was recorded but not parsed"));
	tree_write(tree, "cluster_analysis_output/cluster_step_trace_time.csv", "");
	assert_int_equal(tree_try(tree, "cluster_analysis_output"), FSL_ERR_INPUT);
	assert_non_null(strstr(fsl_error_root(&tree->err), "give the captures they were made of"));
	tree_write(tree, "old/step_trace_raw_0_detail_time.csv", "");
	assert_int_equal(tree_try(tree, "old"), FSL_ERR_INPUT);
	assert_non_null(strstr(fsl_error_root(&tree->err), "MindSpore before 2.3"));
	tree_write(tree, "monitor/msmonitor_7_20260101000000000_-1.db", "");
	assert_int_equal(tree_try(tree, "monitor"), FSL_ERR_INPUT);
	assert_non_null(strstr(fsl_error_root(&tree->err), "msMonitor are not read"));
	assert_int_equal(tree_try(tree, "nowhere"), FSL_ERR_INPUT);
	assert_non_null(strstr(fsl_error_root(&tree->err), "No such file"));
	tree_write(tree, "file", "");
	assert_int_equal(tree_try(tree, "file"), FSL_ERR_INPUT);
	assert_non_null(strstr(fsl_error_root(&tree->err), "Not a directory"));
}

static void test_a_parse_may_be_unfinished_only_where_others_tell_their_end(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "a_ascend_pt", 0);
	tree_rank(tree, "b_ascend_pt", 1);
	tree_discover(tree);
	assert_int_equal(tree->profile.n_remarks, 0);
	tree_write(tree, "a_ascend_pt/ASCEND_PROFILER_OUTPUT/analyse.done", "");
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 2);
	assert_int_equal(tree_remarks(tree, "rank 1 may not be parsed to its end"), 1);
	assert_int_equal(tree->profile.n_remarks, 1);
}

static void link_to(const struct tree *tree, const char *target, const char *name)
{
	char path[512];
	tree_path(tree, name, path, sizeof(path));
	assert_int_equal(symlink(target, path), 0);
}

static void test_links_in_circles_end_and_count_once(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "job/x_ascend_pt", 0);
	link_to(tree, "..", "job/up");
	link_to(tree, ".", "job/same");
	link_to(tree, "job", "latest");
	link_to(tree, "nowhere", "job/broken");
	link_to(tree, "itself", "job/itself");
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 1);
	tree_expect(tree, 0, 0, "job/x_ascend_pt", FSL_PROFILE_RANK_INFO_NAME);
	assert_int_equal(tree->profile.n_remarks, 0);
}

static void test_folders_that_cannot_be_read_are_told(void **state)
{
	struct tree *tree = *state;
	char path[512];
	if (geteuid() == 0) {
		skip(); /* root reads everything */
	}
	tree_rank(tree, "x_ascend_pt", 0);
	tree_folder(tree, "closed");
	tree_path(tree, "closed", path, sizeof(path));
	assert_int_equal(chmod(path, 0), 0);
	tree_discover(tree);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(tree->profile.n_folders, 1);
	assert_int_equal(tree_remarks(tree, "cannot list the folder"), 1);
}

static void test_control_characters_of_names_do_not_reach_remarks(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x\ny\033[2J\xff_ascend_pt", 0);
	tree_rank(tree, "z_ascend_pt", 0);
	tree_discover(tree);
	assert_int_equal(tree_remarks(tree, "\"x?y?[2J?_ascend_pt\" is used"), 1);
}

static void test_many_remarks_of_a_kind_are_counted(void **state)
{
	struct tree *tree = *state;
	char name[64];
	for (int i = 0; i < 30; i++) {
		(void)snprintf(name, sizeof(name), "%d_ascend_pt", i);
		tree_rank(tree, name, 0);
	}
	tree_discover(tree);
	assert_int_equal(tree_remarks(tree, "rank 0 is there more than once"), 8);
	assert_int_equal(tree_remarks(tree, "21 more folders of ranks that are there more than "
					    "once"),
			 1);
}

static void test_order_of_writing_does_not_matter(void **state)
{
	struct tree *tree = *state;
	char name[64], *printed[2] = {NULL, NULL};
	for (int way = 0; way < 2; way++) {
		scratch_remove(tree->root);
		for (int i = 0; i < 24; i++) {
			int k = way == 0 ? i : 23 - i;
			(void)snprintf(name, sizeof(name), "node%d/h_%d_ascend_pt", k % 3, k);
			if (k % 4 == 0) {
				char csv[128];
				(void)snprintf(csv, sizeof(csv),
					       "%s/ASCEND_PROFILER_OUTPUT/communication.json",
					       name);
				tree_write(tree, csv, "{}");
			} else {
				tree_rank(tree, name, k / 2);
			}
		}
		tree_discover(tree);
		printed[way] = tree_print(tree);
	}
	assert_string_equal(printed[0], printed[1]);
	assert_true(strlen(printed[0]) > 100);
	free(printed[0]);
	free(printed[1]);
}

static void test_many_files_in_a_folder_are_no_trouble(void **state)
{
	struct tree *tree = *state;
	char name[64];
	tree_rank(tree, "x_ascend_pt", 0);
	tree_folder(tree, "many");
	for (int i = 0; i < 5000; i++) {
		(void)snprintf(name, sizeof(name), "many/%d.log", i);
		tree_write(tree, name, "");
	}
	tree_discover(tree);
	assert_int_equal(tree->profile.n_folders, 1);
	assert_int_equal(tree->profile.n_remarks, 0);
}

static void test_short_memory_is_a_failure_and_leaks_nothing(void **state)
{
	struct tree *tree = *state;
	char path[512];
	tree_rank(tree, "x_ascend_pt", 0);
	tree_rank(tree, "y_ascend_pt", 0);
	tree_write(tree, "z_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json", "{}");
	tree_path(tree, "", path, sizeof(path));
	enum fsl_status status = FSL_ERR_MEMORY;
	int n_failures = 0;
	for (uint64_t nth = 1; status != FSL_OK && nth < 1000; nth++) {
		fsl_profile_fini(&tree->profile);
		fsl_mem_fail_at(nth);
		status = fsl_profile_discover(&tree->profile, path, &tree->err);
		fsl_mem_fail_at(0);
		n_failures += status == FSL_ERR_MEMORY ? 1 : 0;
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_int_equal(status, FSL_OK);
	assert_true(n_failures > 20);
}

/* A set of the reference data: its ranks, in order, and how many remarks it draws. */
static void expect_shared(struct tree *tree, const char *name, const int32_t *ranks, size_t n,
			  size_t n_remarks)
{
	char path[1024];
	const char *asked = getenv("FSL_SHARED_DIR");
	(void)snprintf(path, sizeof(path), "%s/data/ascend/%s",
		       asked != NULL && asked[0] != '\0' ? asked : FSL_SHARED_DIR, name);
	if (access(path, R_OK) != 0) {
		skip();
	}
	fsl_profile_fini(&tree->profile);
	assert_int_equal(fsl_profile_discover(&tree->profile, path, &tree->err), FSL_OK);
	assert_int_equal(tree->profile.n_folders, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(tree->profile.folders[i].rank, ranks[i]);
	}
	assert_int_equal(tree->profile.n_remarks, n_remarks);
}

static void test_ranks_of_the_reference_sets_are_found(void **state)
{
	struct tree *tree = *state;
	static const int32_t ranks[] = {0, 1, 2, 3};
	expect_shared(tree, "insight-4rank-level2", ranks, 4, 0);
	expect_shared(tree, "insight-2rank-text/level1", ranks, 2, 0);
	expect_shared(tree, "insight-2rank-db", ranks, 2, 0);
	expect_shared(tree, "insight-ut", ranks, 2, 1);        /* a database beside the ranks */
	expect_shared(tree, "msprof-analyze-ut", ranks, 2, 1); /* no numbers */
	expect_shared(tree, "insight-2rank-db/level1/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT",
		      ranks + 1, 1, 0);
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(test_rank_folders_are_found_below_nodes),
		TREE_TEST(test_what_lies_deeper_than_ten_folders_is_not_looked_for),
		TREE_TEST(test_a_rank_folder_itself_and_its_output_are_paths_too),
		TREE_TEST(test_files_without_any_rank_folder_are_one_rank),
		TREE_TEST(test_files_beside_rank_folders_are_no_rank),
		TREE_TEST(test_folders_of_a_rank_are_not_searched_for_others),
		TREE_TEST(test_the_most_trusted_source_gives_the_rank),
		TREE_TEST(test_sources_that_disagree_are_told),
		TREE_TEST(test_of_several_info_files_the_lowest_number_counts),
		TREE_TEST(test_numbers_that_can_be_no_rank_are_not_used),
		TREE_TEST(test_info_that_is_no_object_tells_nothing),
		TREE_TEST(test_of_a_rank_that_is_there_twice_the_newest_is_used),
		TREE_TEST(test_of_captures_side_by_side_one_is_used_as_a_whole),
		TREE_TEST(test_of_two_levels_the_one_with_more_files_is_used),
		TREE_TEST(test_passes_over_one_run_are_no_ranks),
		TREE_TEST(test_one_file_is_a_capture),
		TREE_TEST(test_rounds_of_captures_are_not_mixed_in_silence),
		TREE_TEST(test_of_two_frameworks_the_one_with_more_ranks_is_kept),
		TREE_TEST(test_folders_of_msprof_take_the_rank_of_their_info),
		TREE_TEST(test_folders_of_msprof_without_rank_stand_by_host_and_device),
		TREE_TEST(test_a_framework_is_preferred_to_msprof_of_the_same_rank),
		TREE_TEST(test_captures_that_were_not_parsed_are_told),
		TREE_TEST(test_nothing_found_says_why),
		TREE_TEST(test_a_parse_may_be_unfinished_only_where_others_tell_their_end),
		TREE_TEST(test_links_in_circles_end_and_count_once),
		TREE_TEST(test_folders_that_cannot_be_read_are_told),
		TREE_TEST(test_control_characters_of_names_do_not_reach_remarks),
		TREE_TEST(test_many_remarks_of_a_kind_are_counted),
		TREE_TEST(test_order_of_writing_does_not_matter),
		TREE_TEST(test_many_files_in_a_folder_are_no_trouble),
		TREE_TEST(test_short_memory_is_a_failure_and_leaks_nothing),
		TREE_TEST(test_ranks_of_the_reference_sets_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

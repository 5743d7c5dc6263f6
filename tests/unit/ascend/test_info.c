/* Facts about a rank from profiler_info, profiler_metadata and info.json. */
#include "capture_tree.h"

static const struct fsl_profile_rank *read_one(struct tree *tree)
{
	tree_read(tree, "");
	assert_int_equal(tree->profile.n_ranks, 1);
	return &tree->profile.ranks[0];
}

/* The file of this format; fails without one. */
static const struct fsl_file *file_of(const struct fsl_profile_rank *rank, const char *format)
{
	for (size_t i = 0; i < rank->n_files; i++) {
		if (strcmp(rank->files[i].format, format) == 0) {
			return &rank->files[i];
		}
	}
	fail_msg("no file %s", format);
	return NULL;
}

static void test_info_gives_level_versions_and_schedule(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 1);
	tree_write(tree, "x_ascend_pt/profiler_info_1.json",
		   "{\"config\": {\"common_config\": {\"schedule\": {\"active\": 3}}, "
		   "\"experimental_config\": {\"_profiler_level\": \"ProfilerLevel.Level2\"}}, "
		   "\"torch_npu_version\": \"2.7.1\", \"cann_version\": \"8.3.RC1\", "
		   "\"rank_id\": \"1\"}");
	const struct fsl_profile_rank *rank = read_one(tree);
	assert_string_equal(rank->info.level, "Level2");
	assert_string_equal(rank->info.torch_version, "2.7.1");
	assert_string_equal(rank->info.cann_version, "8.3.RC1");
	assert_true(rank->info.has_schedule);
	assert_int_equal(rank->info.n_active_steps, 3);
	assert_int_equal(file_of(rank, "profiler_info.json")->state, FSL_FILE_READ);
	assert_true(file_of(rank, "profiler_info.json")->n_bytes > 100);
}

static void test_metadata_gives_variables_of_the_job(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "x_ascend_pt/profiler_metadata.json",
		   "{\"ENV_VARIABLES\": {\"TASK_QUEUE_ENABLE\": \"2\", \"LD_PRELOAD\": \"\", "
		   "\"ASCEND_LAUNCH_BLOCKING\": 1, \"HCCL_ALGO\": \"ring\"}}");
	const struct fsl_profile_info *info = &read_one(tree)->info;
	assert_int_equal(info->n_settings, 2);
	assert_string_equal(fsl_profile_setting_of(info, "TASK_QUEUE_ENABLE"), "2");
	assert_string_equal(fsl_profile_setting_of(info, "LD_PRELOAD"), "");
	assert_null(fsl_profile_setting_of(info, "CPU_AFFINITY_CONF"));
}

static void test_older_info_has_other_names(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "x_ascend_pt/profiler_info_0.json",
		   "{\"config\": {\"common_config\": {\"schedule\": {\"_active\": 2}}}}");
	const struct fsl_profile_rank *rank = read_one(tree);
	assert_true(rank->info.has_schedule);
	assert_int_equal(rank->info.n_active_steps, 2);
	assert_string_equal(rank->info.level, "");
}

static void test_info_without_anything_is_not_told(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "x_ascend_pt/profiler_info_0.json",
		   "{\"config\": [], \"torch_npu_version\": 5, \"rank_id\": null}");
	const struct fsl_profile_rank *rank = read_one(tree);
	assert_string_equal(rank->info.level, "");
	assert_string_equal(rank->info.torch_version, "");
	assert_string_equal(rank->info.host_uid, "");
	assert_false(rank->info.has_schedule);
	assert_int_equal(rank->info.n_active_steps, -1);
	assert_int_equal(rank->info.world_size, 0);
}

static void test_metadata_gives_the_layout_and_the_groups(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 1);
	tree_write(tree, "x_ascend_pt/profiler_metadata.json",
		   "{\"distributed_args\": {\"tensor_model_parallel_size\": 1, "
		   "\"pipeline_model_parallel_size\": \"2\", \"data_parallel_size\": -2, "
		   "\"context_parallel_size\": 1e300, \"rank\": 1, \"world_size\": 4, "
		   "\"sequence_parallel\": false}, "
		   "\"parallel_group_info\": {\"group_name_5\": {\"group_name\": \"dp_cp\", "
		   "\"group_rank\": 1, \"global_ranks\": [4, 0, 1]}}}");
	const struct fsl_profile_rank *rank = read_one(tree);
	assert_int_equal(rank->info.tensor_size, 1);
	assert_int_equal(rank->info.pipeline_size, 2);
	assert_int_equal(rank->info.data_size, 0);
	assert_int_equal(rank->info.context_size, 0);
	assert_int_equal(rank->info.expert_size, 0);
	assert_int_equal(rank->info.world_size, 4);
	assert_int_equal(rank->info.sequence_parallel, -1);
	assert_int_equal(rank->info.n_groups, 1);
	const struct fsl_profile_parallel_group *group = &rank->info.groups[0];
	assert_string_equal(group->id, "group_name_5");
	assert_string_equal(group->name, "dp_cp");
	assert_string_equal(group->hash, "5862276114690318097");
	assert_int_equal(group->n_ranks, 3);
	assert_int_equal(group->ranks[0], 4);
	assert_int_equal(group->ranks[2], 1);
}

static void test_groups_without_members_are_counted_and_the_rest_is_kept(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "x_ascend_pt/profiler_metadata.json",
		   "{\"parallel_group_info\": {\"a\": {\"group_name\": \"dp\"}, "
		   "\"b\": {\"global_ranks\": []}, \"c\": {\"global_ranks\": [0, -1]}, "
		   "\"d\": {\"global_ranks\": [99999999999]}, \"e\": 7, "
		   "\"f\": {\"global_ranks\": [0, \"x\"]}, "
		   "\"g\": {\"global_ranks\": [0, \"1\"]}}}");
	const struct fsl_profile_rank *rank = read_one(tree);
	const struct fsl_file *file = file_of(rank, "profiler_metadata.json");
	assert_int_equal(rank->info.n_groups, 1);
	assert_string_equal(rank->info.groups[0].id, "g");
	assert_string_equal(rank->info.groups[0].name, "");
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 6);
	assert_non_null(strstr(file->message, "6 entries of parallel_group_info"));
}

static void test_odd_documents_are_told_and_cost_only_themselves(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "x_ascend_pt/profiler_info_0.json", "[]");
	tree_write(tree, "x_ascend_pt/profiler_metadata.json", "{\"parallel_group_info\": {");
	const struct fsl_profile_rank *rank = read_one(tree);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(file_of(rank, "profiler_info.json")->state, FSL_FILE_UNUSABLE);
	assert_string_equal(file_of(rank, "profiler_info.json")->message,
			    "a JSON document, but no object: level, versions and schedule are not "
			    "known");
	assert_int_equal(file_of(rank, "profiler_metadata.json")->state, FSL_FILE_UNUSABLE);
	assert_string_equal(file_of(rank, "profiler_metadata.json")->message,
			    "no JSON document, or cut short: names of groups and the parallel "
			    "layout are not known");
}

/* Bytes of sound documents changed at random: read or told, and nothing else. */
static void test_mutated_documents_are_read_or_told(void **state)
{
	struct tree *tree = *state;
	static const char *const names[] = {"x_ascend_pt/profiler_info_0.json",
					    "x_ascend_pt/profiler_metadata.json",
					    "x_ascend_pt/PROF_1/device_0/info.json.0"};
	static const char *const texts[] = {
		"{\"config\": {\"common_config\": {\"schedule\": {\"active\": 3}}}, \"rank_id\": 0}",
		"{\"distributed_args\": {\"rank\": 0}, \"parallel_group_info\": {\"g\": {\"global_ranks\": [0]}}}",
		"{\"rank_id\": -1, \"hostUid\": \"12\", \"hostname\": \"node\"}"};
	uint32_t random = 1;
	tree_rank(tree, "x_ascend_pt", 0);
	for (int round = 0; round < 400; round++) {
		char text[256];
		size_t which = (size_t)round % 3, n = strlen(texts[which]);
		(void)snprintf(text, sizeof(text), "%s", texts[which]);
		for (int change = 0; change < 3; change++) {
			random = random * 1664525U + 1013904223U;
			const char *bytes = "{}[]\",:09-.eE\\ntf\x01\xff";
			text[(random >> 8) % n] = bytes[(random >> 24) % strlen(bytes)];
		}
		tree_write(tree, names[which], text);
		tree_read(tree, "");
		assert_int_equal(tree->profile.n_ranks, 1);
		assert_int_equal(tree->profile.ranks[0].n_steps, 1);
	}
}

static void test_what_is_no_file_is_told_without_waiting(void **state)
{
	struct tree *tree = *state;
	char path[512];
	tree_rank(tree, "x_ascend_pt", 0);
	tree_path(tree, "x_ascend_pt/profiler_metadata.json", path, sizeof(path));
	assert_int_equal(mkfifo(path, 0644), 0);
	const struct fsl_profile_rank *rank = read_one(tree);
	assert_int_equal(file_of(rank, "profiler_metadata.json")->state, FSL_FILE_UNUSABLE);
	assert_int_equal(rank->n_steps, 1);
}

static void test_documents_of_absurd_size_are_not_read(void **state)
{
	struct tree *tree = *state;
	char path[512];
	tree_rank(tree, "x_ascend_pt", 0);
	tree_path(tree, "x_ascend_pt/profiler_info_0.json", path, sizeof(path));
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	const struct fsl_profile_rank *rank = read_one(tree);
	assert_non_null(strstr(file_of(rank, "profiler_info.json")->message, "larger than"));
}

static void test_the_host_is_told_by_the_folder_of_msprof(void **state)
{
	struct tree *tree = *state;
	tree_rank(tree, "x_ascend_pt", 0);
	tree_write(tree, "x_ascend_pt/PROF_1/device_0/info.json.0", "{\"rank_id\": -1}");
	tree_write(tree, "x_ascend_pt/PROF_1/host/info.json", "{\"hostname\": \"node7\"}");
	assert_string_equal(read_one(tree)->info.host_uid, "node7");
	tree_write(tree, "x_ascend_pt/PROF_1/device_0/info.json.0", "{\"hostUid\": \"1234\"}");
	assert_string_equal(read_one(tree)->info.host_uid, "1234");
}

static void test_the_reference_set_tells_its_groups(void **state)
{
	struct tree *tree = *state;
	char path[1024];
	const char *asked = getenv("FSL_SHARED_DIR");
	(void)snprintf(path, sizeof(path), "%s/data/ascend/insight-4rank-level2",
		       asked != NULL && asked[0] != '\0' ? asked : FSL_SHARED_DIR);
	if (access(path, R_OK) != 0) {
		skip();
	}
	const struct fsl_profile_options options = {.path = path, .n_threads = 2};
	assert_int_equal(fsl_profile_read(&tree->profile, &options, &tree->err), FSL_OK);
	assert_int_equal(tree->profile.n_ranks, 4);
	for (size_t r = 0; r < 4; r++) {
		const struct fsl_profile_info *info = &tree->profile.ranks[r].info;
		assert_string_equal(info->level, "Level2");
		assert_string_equal(info->torch_version, "2.7.1");
		assert_int_equal(info->world_size, 4);
		assert_int_equal(info->pipeline_size, 2);
		assert_int_equal(info->n_active_steps, 1);
		assert_true(info->n_groups >= 6);
		assert_string_equal(info->groups[0].name, "default_group");
		assert_int_equal(info->groups[0].n_ranks, 4);
	}
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(test_info_gives_level_versions_and_schedule),
		TREE_TEST(test_metadata_gives_variables_of_the_job),
		TREE_TEST(test_older_info_has_other_names),
		TREE_TEST(test_info_without_anything_is_not_told),
		TREE_TEST(test_metadata_gives_the_layout_and_the_groups),
		TREE_TEST(test_groups_without_members_are_counted_and_the_rest_is_kept),
		TREE_TEST(test_odd_documents_are_told_and_cost_only_themselves),
		TREE_TEST(test_mutated_documents_are_read_or_told),
		TREE_TEST(test_what_is_no_file_is_told_without_waiting),
		TREE_TEST(test_documents_of_absurd_size_are_not_read),
		TREE_TEST(test_the_host_is_told_by_the_folder_of_msprof),
		TREE_TEST(test_the_reference_set_tells_its_groups),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Groups, stages, places and steps of sets. */
#include "unit/ascend/made_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int32_t pair_01[] = {0, 1}, pair_02[] = {0, 2}, pair_13[] = {1, 3}, pair_23[] = {2, 3};

static void build(struct fsl_profile_cluster *cluster, const struct fsl_profile *set)
{
	*cluster = (struct fsl_profile_cluster){0};
	assert_int_equal(fsl_profile_cluster_build(cluster, set, NULL), FSL_OK);
}

static void end(struct fsl_profile_cluster *cluster, struct fsl_profile *set)
{
	fsl_profile_cluster_fini(cluster);
	fsl_profile_fini(set);
}

static void assert_ranks(const int32_t *ranks, size_t n, const int32_t *wanted, size_t n_wanted)
{
	assert_int_equal(n, n_wanted);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(ranks[i], wanted[i]);
	}
}

static void ranks_of_one_hash_are_one_group(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 2);
	made_comm(&set, 0, "hcom_allReduce__1", "17", false);
	made_comm(&set, 0, "hcom_send__2", "18", true);
	made_comm(&set, 1, "hcom_allReduce__1", "17", false);
	build(&cluster, &set);
	assert_int_equal(cluster.n_groups, 2);
	assert_string_equal(cluster.groups[0].hash, "17");
	assert_string_equal(cluster.groups[0].name, "");
	assert_ranks(cluster.groups[0].ranks, cluster.groups[0].n_ranks, pair_01, 2);
	assert_int_equal(cluster.groups[0].size, 2);
	assert_true(cluster.groups[1].is_p2p);
	assert_int_equal(cluster.groups[1].n_seen, 1);
	assert_int_equal(fsl_profile_group_find(&cluster, "17", false), 0);
	assert_int_equal(fsl_profile_group_find(&cluster, "17", true), SIZE_MAX);
	assert_int_equal(fsl_profile_group_find(&cluster, "99", true), SIZE_MAX);
	end(&cluster, &set);
}

static void group_used_for_both_is_listed_twice_collective_first(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 1);
	made_comm(&set, 0, "hcom_send__1", "17", true);
	made_comm(&set, 0, "hcom_allReduce__2", "17", false);
	build(&cluster, &set);
	assert_int_equal(cluster.n_groups, 2);
	assert_false(cluster.groups[0].is_p2p);
	assert_int_equal(fsl_profile_group_find(&cluster, "17", true), 1);
	end(&cluster, &set);
}

static void metadata_tells_members_that_are_not_in_the_set(void **state)
{
	(void)state;
	const int32_t told[] = {4, 0, 2, 6};
	const int32_t sorted[] = {0, 2, 4, 6};
	char hash[24];
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 3);
	fsl_profile_group_hash("group_name_5", hash);
	made_comm(&set, 0, "hcom_allReduce__1", hash, false);
	made_comm(&set, 2, "hcom_allReduce__1", hash, false);
	made_told(&set, 2, "group_name_5", "dp_cp", told, 4);
	build(&cluster, &set);
	const struct fsl_profile_group *group = &cluster.groups[0];
	assert_string_equal(group->id, "group_name_5");
	assert_string_equal(group->name, "dp_cp");
	assert_ranks(group->ranks, group->n_ranks, sorted, 4);
	assert_ranks(group->seen, group->n_seen, pair_02, 2);
	assert_int_equal(group->size, 4);
	/* Links count in the group's own order. */
	assert_int_equal(fsl_profile_group_rank(group, 0), 4);
	assert_int_equal(fsl_profile_group_rank(group, 3), 6);
	assert_int_equal(fsl_profile_group_rank(group, 4), -1);
	end(&cluster, &set);
}

static void plain_group_id_is_known_as_well_as_its_hash(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 1);
	made_comm(&set, 0, "hcom_allReduce__1", "group_name_5", false);
	made_told(&set, 0, "group_name_5", "dp", pair_01, 2);
	build(&cluster, &set);
	assert_string_equal(cluster.groups[0].name, "dp");
	assert_int_equal(cluster.groups[0].size, 2);
	end(&cluster, &set);
}

static void numbers_of_links_prove_members_that_are_missing(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 2);
	made_link(&set, 0, "allreduce-total", "17", 0, 0);
	made_link(&set, 0, "allreduce-total", "17", 0, 7);
	made_link(&set, 1, "allreduce-total", "17", 1, 1);
	made_link(&set, 1, "allreduce-total", "17", 2000000000, -5);
	build(&cluster, &set);
	const struct fsl_profile_group *group = &cluster.groups[0];
	assert_int_equal(group->n_seen, 2);
	assert_int_equal(group->size, 8);
	assert_int_equal(fsl_profile_group_rank(group, 1), 1);
	assert_int_equal(fsl_profile_group_rank(group, 7), -1);
	end(&cluster, &set);
}

/* TP1 PP2 DP2: pipelines 0-2 and 1-3, stages (0,1) and (2,3). */
static void make_four_ranks(struct fsl_profile *set)
{
	const int32_t world[] = {0, 1, 2, 3};
	char dp[2][24], pp[2][24], all[24];
	made_set_init(set, 4);
	fsl_profile_group_hash("dp0", dp[0]);
	fsl_profile_group_hash("dp1", dp[1]);
	fsl_profile_group_hash("pp0", pp[0]);
	fsl_profile_group_hash("pp1", pp[1]);
	fsl_profile_group_hash("world", all);
	for (size_t r = 0; r < 4; r++) {
		made_comm(set, r, "hcom_batchSendRecv__1", pp[r % 2], true);
		made_comm(set, r, "hcom_allReduce__2", dp[r / 2], false);
		made_comm(set, r, "hcom_allReduce__3", all, false);
		made_told(set, r, r < 2 ? "dp0" : "dp1", "dp_cp", r < 2 ? pair_01 : pair_23, 2);
		made_told(set, r, r % 2 == 0 ? "pp0" : "pp1", "pp", r % 2 == 0 ? pair_02 : pair_13,
			  2);
		made_told(set, r, "world", "default_group", world, 4);
	}
}

/* Two captured ranks: nothing tells the size, signals do, a link does, or the world has no more. */
static void the_size_of_a_group_is_unknown_unless_something_proves_it(void **state)
{
	(void)state;
	static const struct {
		int32_t waited_for, linked;
		int64_t world;
		bool is_known;
		size_t size;
	} cases[] = {
		{-1, -1, 0, false, 2}, {7, -1, 0, true, 8},  {4, -1, 0, true, 5},
		{-1, 3, 0, true, 4},   {-1, -1, 2, true, 2}, {-1, -1, 16, false, 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_profile set;
		struct fsl_profile_cluster cluster;
		made_set_init(&set, 2);
		set.ranks[1].info.world_size = cases[i].world;
		for (size_t r = 0; r < 2; r++) {
			struct fsl_profile_rank *rank = &set.ranks[r];
			made_comm(&set, r, "hcom_allReduce__1", "17", false);
			if (cases[i].linked >= 0) {
				made_link(&set, r, "allreduce-top1", "17", 0, cases[i].linked);
			}
			if (cases[i].waited_for >= 0) {
				assert_int_equal(
					FSL_GROW(rank->waits, rank->waits_capacity, 1, NULL),
					FSL_OK);
				rank->waits[rank->n_waits++] = (struct fsl_profile_signal_wait){
					made_name(rank, "17"), cases[i].waited_for, 1000};
			}
		}
		build(&cluster, &set);
		assert_int_equal(cluster.groups[0].is_size_known, cases[i].is_known);
		assert_int_equal(cluster.groups[0].size, cases[i].size);
		end(&cluster, &set);
	}
}

static void stages_are_what_no_pipeline_joins(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	make_four_ranks(&set);
	build(&cluster, &set);
	assert_int_equal(cluster.n_stages, 2);
	assert_ranks(cluster.stages[0].ranks, cluster.stages[0].n_ranks, pair_01, 2);
	assert_ranks(cluster.stages[1].ranks, cluster.stages[1].n_ranks, pair_23, 2);
	assert_int_equal(fsl_profile_stage_of(&cluster, 2), 1);
	assert_int_equal(fsl_profile_stage_of(&cluster, 9), SIZE_MAX);
	end(&cluster, &set);
}

static void stages_come_from_sizes_when_no_pipeline_was_used(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 4);
	set.ranks[3].info.pipeline_size = 2;
	set.ranks[3].info.world_size = 4;
	build(&cluster, &set);
	assert_int_equal(cluster.n_stages, 2);
	assert_ranks(cluster.stages[0].ranks, cluster.stages[0].n_ranks, pair_01, 2);
	assert_ranks(cluster.stages[1].ranks, cluster.stages[1].n_ranks, pair_23, 2);
	end(&cluster, &set);
}

static void no_pipeline_no_stages(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 2);
	made_comm(&set, 0, "hcom_allReduce__1", "17", false);
	made_comm(&set, 1, "hcom_allReduce__1", "17", false);
	set.ranks[0].info.world_size = 2;
	build(&cluster, &set);
	assert_int_equal(cluster.n_stages, 0);
	assert_int_equal(cluster.places[1].dp, 1);
	end(&cluster, &set);
}

static void assert_place(const struct fsl_profile_cluster *cluster, size_t r, int32_t tp,
			 int32_t cp, int32_t dp, int32_t pp)
{
	assert_int_equal(cluster->places[r].tp, tp);
	assert_int_equal(cluster->places[r].cp, cp);
	assert_int_equal(cluster->places[r].dp, dp);
	assert_int_equal(cluster->places[r].pp, pp);
}

static void places_run_tensor_context_data_pipeline(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 16);
	set.ranks[0].info.tensor_size = set.ranks[0].info.context_size = 2;
	set.ranks[0].info.data_size = set.ranks[0].info.pipeline_size = 2;
	set.ranks[0].info.world_size = 16;
	build(&cluster, &set);
	assert_true(cluster.has_places);
	assert_place(&cluster, 0, 0, 0, 0, 0);
	assert_place(&cluster, 1, 1, 0, 0, 0);
	assert_place(&cluster, 2, 0, 1, 0, 0);
	assert_place(&cluster, 4, 0, 0, 1, 0);
	assert_place(&cluster, 8, 0, 0, 0, 1);
	assert_place(&cluster, 15, 1, 1, 1, 1);
	end(&cluster, &set);
}

static void data_size_that_counts_context_in_is_understood(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 8);
	set.ranks[0].info.tensor_size = set.ranks[0].info.context_size = 2;
	set.ranks[0].info.data_size = 4;
	set.ranks[0].info.world_size = 8;
	build(&cluster, &set);
	assert_true(cluster.has_places);
	assert_place(&cluster, 7, 1, 1, 1, 0);
	end(&cluster, &set);
}

static void sizes_that_contradict_give_no_places(void **state)
{
	(void)state;
	const int64_t worlds[] = {7, INT64_MAX, 1};
	for (size_t i = 0; i < 3; i++) {
		struct fsl_profile set;
		struct fsl_profile_cluster cluster;
		made_set_init(&set, 1);
		set.ranks[0].info.tensor_size = i == 1 ? INT64_MAX : 2;
		set.ranks[0].info.pipeline_size = 2;
		set.ranks[0].info.data_size = 2;
		set.ranks[0].info.world_size = worlds[i];
		build(&cluster, &set);
		assert_false(cluster.has_places);
		assert_place(&cluster, 0, -1, -1, -1, -1);
		assert_int_equal(cluster.n_stages, 0);
		end(&cluster, &set);
	}
}

static void rank_behind_the_world_has_no_place(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 3);
	set.ranks[0].info.world_size = 2;
	build(&cluster, &set);
	assert_true(cluster.has_places);
	assert_place(&cluster, 2, -1, -1, -1, -1);
	end(&cluster, &set);
}

static void steps_are_listed_once_and_the_unnumbered_only_alone(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 2);
	made_comm(&set, 0, "a", "17", false)->step = 5;
	made_comm(&set, 0, "a", "17", false)->step = FSL_STEP_ABSENT;
	made_comm(&set, 1, "a", "17", false)->step = 4;
	made_comm(&set, 1, "a", "17", false)->step = 5;
	build(&cluster, &set);
	assert_int_equal(cluster.n_steps, 2);
	assert_int_equal(cluster.steps[0], 4);
	assert_int_equal(cluster.steps[1], 5);
	end(&cluster, &set);
	made_set_init(&set, 1);
	made_comm(&set, 0, "a", "17", false)->step = FSL_STEP_ABSENT;
	build(&cluster, &set);
	assert_int_equal(cluster.n_steps, 1);
	assert_int_equal(cluster.steps[0], FSL_STEP_ABSENT);
	end(&cluster, &set);
}

static void nothing_known_is_an_empty_cluster(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	made_set_init(&set, 1);
	build(&cluster, &set);
	assert_int_equal(cluster.n_groups + cluster.n_stages + cluster.n_steps, 0);
	assert_false(cluster.has_places);
	end(&cluster, &set);
}

static void every_failed_allocation_is_told_and_leaves_nothing(void **state)
{
	(void)state;
	struct fsl_profile set;
	make_four_ranks(&set);
	made_link(&set, 0, "allreduce-total", "17", 0, 0);
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 0;
	while (status != FSL_OK) {
		struct fsl_profile_cluster cluster = {0};
		struct fsl_error err = {0};
		fsl_mem_fail_at(++nth);
		status = fsl_profile_cluster_build(&cluster, &set, &err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true(status == FSL_OK || cluster.groups == NULL);
		fsl_profile_cluster_fini(&cluster);
	}
	assert_true(nth > 10);
	fsl_profile_fini(&set);
}

/* Reads a capture of the reference data, or skips the test. */
static void read_shared(struct fsl_profile *set, struct fsl_profile_cluster *cluster,
			const char *name)
{
	char path[512];
	const char *folder = getenv("FSL_SHARED_DIR");
	(void)snprintf(path, sizeof(path), "%s/data/ascend/%s",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR, name);
	if (access(path, R_OK) != 0) {
		skip();
	}
	const struct fsl_profile_options options = {.path = path};
	assert_int_equal(fsl_profile_read(set, &options, NULL), FSL_OK);
	build(cluster, set);
}

static void real_job_of_four_has_two_stages(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	read_shared(&set, &cluster, "insight-4rank-level2");
	assert_int_equal(cluster.n_stages, 2);
	assert_ranks(cluster.stages[0].ranks, cluster.stages[0].n_ranks, pair_01, 2);
	assert_ranks(cluster.stages[1].ranks, cluster.stages[1].n_ranks, pair_23, 2);
	assert_int_equal(cluster.n_groups, 12);
	for (size_t g = 0; g < cluster.n_groups; g++) {
		assert_int_equal(cluster.groups[g].n_seen, cluster.groups[g].size);
		assert_true(*cluster.groups[g].name != '\0');
	}
	assert_place(&cluster, 3, 0, 0, 1, 1);
	assert_int_equal(cluster.n_steps, 1);
	assert_int_equal(cluster.steps[0], 13);
	end(&cluster, &set);
}

static void real_pair_is_two_of_eight(void **state)
{
	(void)state;
	struct fsl_profile set;
	struct fsl_profile_cluster cluster;
	read_shared(&set, &cluster, "insight-2rank-text/level1");
	assert_int_equal(cluster.n_groups, 1);
	assert_int_equal(cluster.groups[0].n_seen, 2);
	assert_int_equal(cluster.groups[0].size, 8);
	assert_int_equal(fsl_profile_group_rank(&cluster.groups[0], 1), 1);
	assert_int_equal(cluster.n_stages, 0);
	assert_false(cluster.has_places);
	end(&cluster, &set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_one_hash_are_one_group),
		cmocka_unit_test(group_used_for_both_is_listed_twice_collective_first),
		cmocka_unit_test(metadata_tells_members_that_are_not_in_the_set),
		cmocka_unit_test(plain_group_id_is_known_as_well_as_its_hash),
		cmocka_unit_test(numbers_of_links_prove_members_that_are_missing),
		cmocka_unit_test(the_size_of_a_group_is_unknown_unless_something_proves_it),
		cmocka_unit_test(stages_are_what_no_pipeline_joins),
		cmocka_unit_test(stages_come_from_sizes_when_no_pipeline_was_used),
		cmocka_unit_test(no_pipeline_no_stages),
		cmocka_unit_test(places_run_tensor_context_data_pipeline),
		cmocka_unit_test(data_size_that_counts_context_in_is_understood),
		cmocka_unit_test(sizes_that_contradict_give_no_places),
		cmocka_unit_test(rank_behind_the_world_has_no_place),
		cmocka_unit_test(steps_are_listed_once_and_the_unnumbered_only_alone),
		cmocka_unit_test(nothing_known_is_an_empty_cluster),
		cmocka_unit_test(every_failed_allocation_is_told_and_leaves_nothing),
		cmocka_unit_test(real_job_of_four_has_two_stages),
		cmocka_unit_test(real_pair_is_two_of_eight),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* hccl_domain and rank tables: the facts that they override, and refused ones. */
#include <stdlib.h>
#include <unistd.h>

#include "topology_bench.h"

/* Adds [first, first + stride, ...] to hccl_domain. */
static void configure(struct bench *bench, enum fsl_group_kind kind, const int32_t ranks[3])
{
	struct fsl_domain *domain = &bench->config.hccl_domain[kind];
	struct fsl_rank_list *lists =
		fsl_arena_alloc(&bench->config.arena, (domain->n_lists + 1) * sizeof(*lists));
	assert_non_null(lists);
	if (domain->n_lists > 0) {
		memcpy(lists, domain->lists, domain->n_lists * sizeof(*lists));
	}
	struct fsl_rank_list *list = &lists[domain->n_lists];
	list->n_ranks = (size_t)ranks[1];
	list->ranks = fsl_arena_alloc(&bench->config.arena, list->n_ranks * sizeof(int32_t));
	assert_non_null(list->ranks);
	for (int32_t i = 0; i < ranks[1]; i++) {
		list->ranks[i] = ranks[0] + i * ranks[2];
	}
	domain->lists = lists;
	domain->n_lists++;
}

static void configured_kinds_win_over_inferred_ones(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "a", "HcclAllGather", 100, RANKS(0, 2, 1));
	bench_comm(&bench, "b", "HcclAllGather", 100, RANKS(2, 2, 1));
	configure(&bench, FSL_GROUP_DP, RANKS(0, 2, 1));
	configure(&bench, FSL_GROUP_DP, RANKS(2, 2, 1));
	configure(&bench, FSL_GROUP_TP, RANKS(0, 2, 2));
	bench_build(&bench);
	assert_kind(&bench, "a", FSL_GROUP_DP);
	assert_int_equal(bench_group(&bench, "a")->known_by, FSL_KNOWN_CONFIGURED);
	assert_domain(&bench, FSL_GROUP_DP, "[0,1][2,3]");
	assert_domain(&bench, FSL_GROUP_TP, "[0,2]");
	assert_domain(&bench, FSL_GROUP_PP, "[0][1][2][3]");
	const struct fsl_group *unseen = bench_group(&bench, "");
	assert_int_equal(unseen->kind, FSL_GROUP_TP);
	assert_int_equal(unseen->n_ranks, 2);
	bench_fini(&bench);
}

static void configured_groups_match_without_their_missing_ranks(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t", "HcclAllGather", 100, RANKS(0, 3, 1));
	configure(&bench, FSL_GROUP_TP, RANKS(0, 4, 1));
	bench_build(&bench);
	assert_int_equal(bench_group(&bench, "t")->known_by, FSL_KNOWN_CONFIGURED);
	assert_int_equal(bench_group(&bench, "t")->n_ranks, 3);
	assert_int_equal(bench.topology.n_expected_ranks, 4);
	assert_int_equal(bench.topology.n_groups, 1);
	bench_fini(&bench);
}

static void a_barrier_does_not_take_the_kind_of_a_group_with_its_ranks(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "w", "HcclAllreduce", 1, RANKS(0, 4, 1));
	bench_comm(&bench, "t", "HcclAllGather", 100, RANKS(0, 4, 1));
	configure(&bench, FSL_GROUP_TP, RANKS(0, 4, 1));
	bench_build(&bench);
	assert_kind(&bench, "w", FSL_GROUP_WORLD);
	assert_kind(&bench, "t", FSL_GROUP_TP);
	assert_int_equal(bench_group(&bench, "w")->known_by, FSL_KNOWN_INFERRED);
	bench_fini(&bench);
}

/* Builds, expects FSL_ERR_CONFIG, and @text in the message. */
static void assert_refused(struct bench *bench, const char *text)
{
	struct fsl_error err = {0};
	assert_int_equal(fsl_topology_build(&bench->topology, &bench->run, &bench->config, &err),
			 FSL_ERR_CONFIG);
	if (strstr(fsl_error_root(&err), text) == NULL) {
		fail_msg("\"%s\" does not say \"%s\"", fsl_error_root(&err), text);
	}
}

static void a_rank_named_twice_is_refused(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	configure(&bench, FSL_GROUP_TP, RANKS(0, 2, 1));
	configure(&bench, FSL_GROUP_TP, RANKS(1, 2, 1));
	assert_refused(&bench, "key=\"hccl_domain.tp\", rank=1");
	bench_fini(&bench);
}

static void groups_that_share_two_ranks_are_refused(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	configure(&bench, FSL_GROUP_TP, RANKS(0, 4, 1));
	configure(&bench, FSL_GROUP_DP, RANKS(2, 2, 1));
	assert_refused(&bench, "key=\"hccl_domain.tp[0]\", other=\"dp[0]\", ranks=\"2,3\"");
	bench_fini(&bench);
}

static void ranks_out_of_range_are_refused(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	configure(&bench, FSL_GROUP_PP, RANKS(-1, 2, 1));
	assert_refused(&bench, "rank=-1");
	bench_fini(&bench);
}

static void empty_groups_are_refused(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	configure(&bench, FSL_GROUP_EP, RANKS(0, 0, 1));
	assert_refused(&bench, "hccl_domain.ep[0]");
	bench_fini(&bench);
}

/* A table in a file of its own; the path lives until the end of the test. */
static const char *write_table(const char *text)
{
	static char path[64];
	snprintf(path, sizeof(path), "/tmp/failslow_rank_table_XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
	return path;
}

static void build_with_table(struct bench *bench, const char *text)
{
	bench->config.rank_table_json = write_table(text);
	bench_build(bench);
	assert_int_equal(unlink(bench->config.rank_table_json), 0);
}

static void a_rank_table_of_version_1_0_gives_ranks_and_servers(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t", "HcclAllGather", 100, RANKS(0, 2, 1));
	bench.run.ranks[1].server_ip = "10.0.0.7";
	build_with_table(&bench,
			 "{\"version\":\"1.0\",\"server_count\":\"2\",\"server_list\":["
			 "{\"server_id\":\"10.0.0.1\",\"device\":["
			 "{\"device_id\":\"0\",\"device_ip\":\"1.1.1.1\",\"rank_id\":\"0\"},"
			 "{\"device_id\":\"1\",\"device_ip\":\"1.1.1.2\",\"rank_id\":\"1\"}]},"
			 "{\"server_id\":\"10.0.0.2\",\"device\":["
			 "{\"device_id\":\"0\",\"device_ip\":\"1.1.2.1\",\"rank_id\":\"2\"},"
			 "{\"device_id\":\"1\",\"device_ip\":\"1.1.2.2\",\"rank_id\":\"3\"}]}],"
			 "\"status\":\"completed\"}");
	assert_int_equal(bench.topology.n_expected_ranks, 4);
	assert_string_equal(fsl_topology_host(&bench.topology, 0), "10.0.0.1");
	assert_string_equal(fsl_topology_host(&bench.topology, 1), "10.0.0.7");
	assert_string_equal(fsl_topology_host(&bench.topology, 3), "10.0.0.2");
	assert_null(fsl_topology_host(&bench.topology, 4));
	bench_fini(&bench);
}

static void a_rank_table_of_version_1_2_gives_ranks_and_servers(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	build_with_table(
		&bench,
		"{\"status\":\"completed\",\"version\":\"1.2\",\"server_count\":\"1\","
		"\"server_list\":[{\"server_id\":\"node_0\",\"host_ip\":\"172.16.0.100\",\"device\":["
		"{\"device_id\":\"0\",\"super_device_id\":\"0\",\"device_ip\":\"192.168.1.6\","
		"\"rank_id\":\"0\"},"
		"{\"device_id\":\"1\",\"super_device_id\":\"1\",\"device_ip\":\"192.168.1.7\","
		"\"rank_id\":1}]}],"
		"\"super_pod_list\":[{\"super_pod_id\":\"0\",\"server_list\":"
		"[{\"server_id\":\"node_0\"}]}]}");
	assert_int_equal(bench.topology.n_expected_ranks, 2);
	assert_string_equal(fsl_topology_host(&bench.topology, 1), "node_0");
	bench_fini(&bench);
}

static void a_seen_rank_that_the_table_lacks_is_expected_too(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_calls(&bench, 5, "t", "HcclAllGather", 10);
	build_with_table(&bench, "{\"server_list\":[{\"server_id\":\"a\",\"device\":"
				 "[{\"rank_id\":\"0\"}]}]}");
	assert_int_equal(bench.topology.n_expected_ranks, 2);
	assert_int_equal(bench.topology.expected_ranks[1], 5);
	bench_fini(&bench);
}

static void hccl_domain_wins_over_the_rank_table(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t", "HcclAllGather", 10, RANKS(0, 2, 1));
	configure(&bench, FSL_GROUP_TP, RANKS(0, 2, 1));
	build_with_table(&bench, "{\"server_list\":[{\"server_id\":\"a\",\"device\":"
				 "[{\"rank_id\":\"0\"},{\"rank_id\":\"7\"}]}]}");
	assert_int_equal(bench.topology.n_expected_ranks, 2);
	assert_string_equal(fsl_topology_host(&bench.topology, 0), "a");
	bench_fini(&bench);
}

static void a_broken_rank_table_is_not_used(void **state)
{
	(void)state;
	static const char *const broken[] = {
		"",
		"not json",
		"[]",
		"{\"server_list\":{}}",
		"{\"server_list\":[]}",
		"{\"server_list\":[{\"device\":[]}]}",
		"{\"server_list\":[{\"server_id\":\"a\",\"device\":[{\"rank_id\":\"x\"}]}]}",
		"{\"server_list\":[{\"server_id\":\"a\",\"device\":[{\"rank_id\":-1}]}]}",
		"{\"server_list\":[{\"server_id\":\"a\",\"device\":[{\"rank_id\":9e9}]}]}",
		"{\"server_list\":[{\"server_id\":\"a\",\"device\":[{}]}]}",
		"{\"server_list\":[{\"server_id\":\"a\",\"device\":[{\"rank_id\":9},{\"rank_id\":\"9\"}]}]}",
	};
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct bench bench;
		bench_init(&bench);
		bench_calls(&bench, 2, "t", "HcclAllGather", 10);
		build_with_table(&bench, broken[i]);
		assert_int_equal(bench.topology.n_expected_ranks, 3);
		assert_null(fsl_topology_host(&bench.topology, 2));
		bench_fini(&bench);
	}
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct bench bench;
	bench_init(&bench);
	bench_comm(&bench, "t", "HcclAllGather", 20, RANKS(0, 4, 1));
	bench_comm(&bench, "u", "HcclAllGather", 20, RANKS(4, 4, 1));
	bench_comm(&bench, "p", "HcclSend", 20, RANKS(0, 2, 4));
	for (int algorithm = 0; algorithm < 3; algorithm++) {
		bench.config.algorithm =
			algorithm == 0 ? FSL_ALGORITHM_FAILSLOW : FSL_ALGORITHM_SYSTRACE;
		if (algorithm == 2) {
			configure(&bench, FSL_GROUP_TP, RANKS(0, 4, 1));
			configure(&bench, FSL_GROUP_PP, RANKS(1, 2, 4));
		}
		enum fsl_status status = FSL_ERR_MEMORY;
		for (uint64_t nth = 1; status != FSL_OK; nth++) {
			struct fsl_error err = {0};
			fsl_mem_fail_at(nth);
			status = fsl_topology_build(&bench.topology, &bench.run, &bench.config,
						    &err);
			fsl_mem_fail_at(0);
			assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
			assert_true(status == FSL_OK || err.n_causes > 0);
		}
		fsl_topology_fini(&bench.topology);
	}
	bench_fini(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configured_kinds_win_over_inferred_ones),
		cmocka_unit_test(configured_groups_match_without_their_missing_ranks),
		cmocka_unit_test(a_barrier_does_not_take_the_kind_of_a_group_with_its_ranks),
		cmocka_unit_test(a_rank_named_twice_is_refused),
		cmocka_unit_test(groups_that_share_two_ranks_are_refused),
		cmocka_unit_test(ranks_out_of_range_are_refused),
		cmocka_unit_test(empty_groups_are_refused),
		cmocka_unit_test(a_rank_table_of_version_1_0_gives_ranks_and_servers),
		cmocka_unit_test(a_rank_table_of_version_1_2_gives_ranks_and_servers),
		cmocka_unit_test(a_seen_rank_that_the_table_lacks_is_expected_too),
		cmocka_unit_test(hccl_domain_wins_over_the_rank_table),
		cmocka_unit_test(a_broken_rank_table_is_not_used),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

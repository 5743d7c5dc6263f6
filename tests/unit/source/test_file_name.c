/* Facts in the names of input files: kind, rank, host, whatever the host looks like. */
#include "source/file_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

struct expected {
	const char *name;
	enum fsl_name_kind kind;
	enum fsl_name_rank rank_state;
	int32_t rank;
	const char *host;
};

static void assert_told(const struct expected *expected)
{
	struct fsl_file_name told = fsl_file_name_parse(expected->name);
	char host[256] = "";
	assert_true(told.n_host < sizeof(host));
	memcpy(host, told.host, told.n_host);
	if (told.kind != expected->kind || told.rank_state != expected->rank_state ||
	    told.rank != expected->rank || strcmp(host, expected->host) != 0) {
		fail_msg("%s: kind=%d, rank_state=%d, rank=%d, host=%s", expected->name, told.kind,
			 told.rank_state, told.rank, host);
	}
}

static void names_of_all_collectors_tell_rank_and_host(void **state)
{
	(void)state;
	static const struct expected names[] = {
		{"hccl_activity-10.1.0.1-.3.csv", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 3,
		 "10.1.0.1"},
		{"hccl_activity-10.1.0.1-.1023.json", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 1023,
		 "10.1.0.1"},
		{"hccl_activity-10.1.0.1-.3.csv.gz", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 3,
		 "10.1.0.1"},
		{"hccl_activity-10.1.0.1-.3.json.zst", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 3,
		 "10.1.0.1"},
		{"hccl_activity.3.csv", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 3, ""},
		{"mspti-marker-10.1.0.1-7.csv", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 7, "10.1.0.1"},
		{"training-step-time-10.1.0.1-7.csv", FSL_NAME_STEPS, FSL_NAME_HAS_RANK, 7,
		 "10.1.0.1"},
		{"host0--00004.timeline", FSL_NAME_TIMELINE, FSL_NAME_HAS_RANK, 4, "host0"},
		{"host0--00004--4711.timeline", FSL_NAME_TIMELINE, FSL_NAME_HAS_RANK, 4, "host0"},
		{"host0--00004--4711.timeline.gz", FSL_NAME_TIMELINE, FSL_NAME_HAS_RANK, 4,
		 "host0"},
		{"host0--00004--4711.timeline.json", FSL_NAME_TIMELINE, FSL_NAME_HAS_RANK, 4,
		 "host0"},
		{"host0--00004.json", FSL_NAME_UNKNOWN, FSL_NAME_HAS_RANK, 4, "host0"},
		{"train_rank12.log", FSL_NAME_LOG, FSL_NAME_HAS_RANK, 12, ""},
		{"worker_7.log", FSL_NAME_LOG, FSL_NAME_HAS_RANK, 7, ""},
		{"log_rank3.txt", FSL_NAME_LOG, FSL_NAME_HAS_RANK, 3, ""},
		{"train-rank_12.log.gz", FSL_NAME_LOG, FSL_NAME_HAS_RANK, 12, ""},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_told(&names[i]);
	}
}

static void hosts_may_hold_dashes_dots_and_colons(void **state)
{
	(void)state;
	static const struct expected names[] = {
		{"hccl_activity-node-a-07-.3.csv", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 3,
		 "node-a-07"},
		{"hccl_activity-fe80::1%eth-0-.3.csv", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 3,
		 "fe80::1%eth-0"},
		{"hccl_activity-n1.cluster.local-.3.csv", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 3,
		 "n1.cluster.local"},
		{"mspti-marker-node-a-07-12.csv", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 12,
		 "node-a-07"},
		{"mspti-marker-fe80::1-12.csv", FSL_NAME_MARKERS, FSL_NAME_HAS_RANK, 12, "fe80::1"},
		{"node-a--7--00012--99.timeline", FSL_NAME_TIMELINE, FSL_NAME_HAS_RANK, 12,
		 "node-a--7"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_told(&names[i]);
	}
}

static void ranks_that_are_none_are_refused(void **state)
{
	(void)state;
	static const struct expected names[] = {
		{"hccl_activity-10.1.0.1-.-1.csv", FSL_NAME_MARKERS, FSL_NAME_BAD_RANK, 0,
		 "10.1.0.1"},
		{"mspti-marker-10.1.0.1--1.csv", FSL_NAME_MARKERS, FSL_NAME_BAD_RANK, 0,
		 "10.1.0.1"},
		{"mspti-marker-10.1.0.1-1048576.csv", FSL_NAME_MARKERS, FSL_NAME_BAD_RANK, 0,
		 "10.1.0.1"},
		{"hccl_activity-a-.99999999999999999999.csv", FSL_NAME_MARKERS, FSL_NAME_BAD_RANK,
		 0, "a"},
		{"hccl_activity-10.1.0.1.csv", FSL_NAME_MARKERS, FSL_NAME_NO_RANK, 0, "10.1.0.1"},
		{"host0---0001.timeline", FSL_NAME_TIMELINE, FSL_NAME_BAD_RANK, 0, "host0"},
		{"host0---0001--99.timeline", FSL_NAME_TIMELINE, FSL_NAME_BAD_RANK, 0, "host0"},
		{"host0.timeline", FSL_NAME_TIMELINE, FSL_NAME_NO_RANK, 0, "host0"},
		{"training.log", FSL_NAME_LOG, FSL_NAME_NO_RANK, 0, ""},
		{"slurm-1234.out", FSL_NAME_LOG, FSL_NAME_NO_RANK, 0, ""},
		{"notes.txt", FSL_NAME_UNKNOWN, FSL_NAME_NO_RANK, 0, ""},
		{"", FSL_NAME_UNKNOWN, FSL_NAME_NO_RANK, 0, ""},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_told(&names[i]);
	}
}

static void files_of_an_analysis_are_no_input(void **state)
{
	(void)state;
	static const char *const names[] = {
		"hccl_activity-10.1.0.1-.3_device.csv",
		"hccl_activity-10.1.0.1-.3_op_launch.csv",
		"step_time.csv",
		"fail_slow_perception_result_failSlow_1750000000.json",
		"slow_node_result_1750000000.json",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(fsl_file_name_parse(names[i]).kind, FSL_NAME_RESULT);
	}
	assert_int_equal(fsl_file_name_parse("my_step_time.csv").kind, FSL_NAME_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_all_collectors_tell_rank_and_host),
		cmocka_unit_test(hosts_may_hold_dashes_dots_and_colons),
		cmocka_unit_test(ranks_that_are_none_are_refused),
		cmocka_unit_test(files_of_an_analysis_are_no_input),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

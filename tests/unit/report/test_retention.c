/* Old verdict files go, and nothing else. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/retention.h"
#include "support/program.h"

enum { NOW_S = 1800000000, DAY_S = 86400 };

static char folder[] = "/tmp/fsl_retention_XXXXXX";

static const char *below(const char *name)
{
	static char path[256];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int setup(void **state)
{
	(void)state;
	memcpy(strrchr(folder, '_'), "_XXXXXX", 7);
	return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(folder);
	return 0;
}

/* Makes a file that was written so many days ago. */
static void make(const char *name, double days)
{
	const struct timespec then = {.tv_sec = NOW_S - (time_t)(days * DAY_S)};
	const struct timespec times[] = {then, then};
	int fd = open(below(name), O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(utimensat(AT_FDCWD, below(name), times, 0), 0);
}

static bool is_there(const char *name)
{
	struct stat facts;
	return lstat(below(name), &facts) == 0;
}

static size_t sweep(enum fsl_result_kind kind, double days, int64_t files)
{
	const struct fsl_retention rule = {days, files};
	return fsl_retention_sweep(folder, kind, &rule, NOW_S);
}

static void files_beyond_the_days_go(void **state)
{
	(void)state;
	make("slow_node_result_100.json", 31);
	make("slow_node_result_101.json", 29);
	make("slow_node_result_9.json", 7.5);
	assert_int_equal(sweep(FSL_RESULT_PERCEPTION, 1, 0), 0);
	assert_int_equal(sweep(FSL_RESULT_LOCALISATION, 30, 1000), 1);
	assert_false(is_there("slow_node_result_100.json"));
	assert_int_equal(sweep(FSL_RESULT_LOCALISATION, 7.25, 0), 2);
}

static void the_newest_files_stay(void **state)
{
	(void)state;
	make("fail_slow_perception_result_normal_500.json", 3);
	make("fail_slow_perception_result_hang_400.json", 2);
	make("fail_slow_perception_result_error_300.json", 1);
	make("slow_node_result_100.json", 9);
	assert_int_equal(sweep(FSL_RESULT_PERCEPTION, 0, 2), 1);
	assert_false(is_there("fail_slow_perception_result_normal_500.json"));
	assert_int_equal(sweep(FSL_RESULT_PERCEPTION, 0, 1), 1);
	assert_true(is_there("fail_slow_perception_result_error_300.json"));
	assert_true(is_there("slow_node_result_100.json"));
}

static void files_of_one_second_go_by_their_names(void **state)
{
	(void)state;
	make("slow_node_result_99.json", 1);
	make("slow_node_result_100.json", 1);
	make("slow_node_result_7.json", 1);
	assert_int_equal(sweep(FSL_RESULT_LOCALISATION, 0, 1), 2);
	assert_true(is_there("slow_node_result_100.json"));
}

static void the_last_fail_slow_file_stays(void **state)
{
	(void)state;
	make("fail_slow_perception_result_failSlow_200.json", 90);
	make("fail_slow_perception_result_failSlow_100.json", 80);
	make("fail_slow_perception_result_normal_300.json", 0);
	assert_int_equal(sweep(FSL_RESULT_PERCEPTION, 30, 1), 1);
	assert_true(is_there("fail_slow_perception_result_failSlow_200.json"));
	assert_true(is_there("fail_slow_perception_result_normal_300.json"));
}

static void zero_keeps_all(void **state)
{
	(void)state;
	make("slow_node_result_1.json", 4000);
	make("slow_node_result_2.json", 3000);
	assert_int_equal(sweep(FSL_RESULT_LOCALISATION, 0, 0), 0);
	assert_int_equal(sweep(FSL_RESULT_LOCALISATION, 5000, 0), 0);
}

static void files_of_others_stay(void **state)
{
	static const char *const names[] = {
		"slow_node_result_.json",
		"slow_node_result_12.json.bak",
		"slow_node_result_1x.json",
		"slow_node_result.json",
		"my_slow_node_result_1.json",
		"fail_slow_perception_result_12.json",
		"fail_slow_perception_result_other_12.json",
		"failslow_job.json",
		"failslow_state.db",
		"slow_node_result_-1.json",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		make(names[i], 900);
	}
	make("target", 900);
	assert_int_equal(symlink("target", below("slow_node_result_1.json")), 0);
	assert_int_equal(mkdir(below("slow_node_result_2.json"), 0755), 0);
	assert_int_equal(sweep(FSL_RESULT_LOCALISATION, 1, 1), 0);
	assert_int_equal(sweep(FSL_RESULT_PERCEPTION, 1, 1), 0);
	assert_true(is_there("slow_node_result_1.json") && is_there("target"));
}

static void a_folder_that_is_not_there_is_nothing(void **state)
{
	(void)state;
	const struct fsl_retention rule = {1, 1};
	assert_int_equal(fsl_retention_sweep("/dev/null/no", FSL_RESULT_LOCALISATION, &rule, NOW_S),
			 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(files_beyond_the_days_go),
		CASE(the_newest_files_stay),
		CASE(files_of_one_second_go_by_their_names),
		CASE(the_last_fail_slow_file_stays),
		CASE(zero_keeps_all),
		CASE(files_of_others_stay),
		CASE(a_folder_that_is_not_there_is_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

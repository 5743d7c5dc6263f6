/* Recorded jobs whose hosts were slowed: the process that had the CPU, or the quota, is named for
 * the right rank and steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "support/program.h"

enum { PATH_BYTES = 1024 };
#define TRAINSIM "ftrace/trainsim2_hog_tracefs_tracecmd_perf/"

static const char *path_of(const char *name)
{
	static char path[PATH_BYTES];
	const char *shared = getenv("FSL_SHARED_DIR");
	shared = shared != NULL && shared[0] != '\0' ? shared : FSL_SHARED_DIR;
	(void)snprintf(path, sizeof(path), "%s/data/%s", shared, name);
	return path;
}

/* The document of `failslow [COMMAND] DATA --format json`; freed by the caller. */
static cJSON *run(const char *command, const char *data)
{
	struct program_run result = {0};
	char program[] = FSL_PROGRAM, format[] = "--format", json[] = "json";
	char name[64], path[PATH_BYTES];
	(void)snprintf(name, sizeof(name), "%s", command);
	(void)snprintf(path, sizeof(path), "%s", path_of(data));
	char *argv[] = {program, name, path, format, json, NULL};
	assert_true(program_run(&result, NULL, argv));
	assert_int_equal(result.exit_code, 0);
	cJSON *document = cJSON_Parse(result.out);
	assert_non_null(document);
	program_run_fini(&result);
	return document;
}

static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
	return text != NULL ? text : "";
}

static double number_of(const cJSON *object, const char *key)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static const cJSON *first_process(const cJSON *document)
{
	const cJSON *culprits = cJSON_GetObjectItemCaseSensitive(document, "culprits");
	assert_int_equal(cJSON_GetArraySize(culprits), 1);
	return cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(culprits, 0), "process");
}

static void test_a_hog_is_the_process_of_the_culprit(void **state)
{
	(void)state;
	cJSON *document = run("detect", "recorded/hog_dp4_r2");
	const cJSON *process = first_process(document);
	assert_string_equal(text_of(process, "cause"), "cpu");
	assert_string_equal(text_of(process, "name"), "hog");
	assert_true(number_of(process, "cpu") == 1.0);
	assert_true(number_of(process, "waitedMsPerStep") > 200.0);
	cJSON_Delete(document);
}

static void test_a_quota_has_no_process(void **state)
{
	(void)state;
	cJSON *document = run("detect", "recorded/quota_tp2dp4_r6");
	const cJSON *process = first_process(document);
	assert_string_equal(text_of(process, "cause"), "quota");
	assert_string_equal(text_of(process, "name"), "");
	cJSON_Delete(document);
}

/* Rank @at of the only trace. */
static const cJSON *rank_of(const cJSON *document, int rank)
{
	const cJSON *traces = cJSON_GetObjectItemCaseSensitive(document, "traces"), *item = NULL;
	const cJSON *ranks =
		cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(traces, 0), "ranks");
	cJSON_ArrayForEach(item, ranks)
	{
		if (number_of(item, "rank") == (double)rank) {
			return item;
		}
	}
	return NULL;
}

static void test_ranks_and_steps_are_those_of_the_fault(void **state)
{
	(void)state;
	cJSON *document = run("hostbound", "recorded/quota_tp2dp4_r6");
	const cJSON *rank = rank_of(document, 6);
	assert_true(number_of(rank, "firstStep") == 60.0);
	assert_true(number_of(rank, "lastStep") == 119.0);
	for (int r = 0; r < 8; r++) {
		const cJSON *is_named =
			cJSON_GetObjectItemCaseSensitive(rank_of(document, r), "isNamed");
		assert_int_equal(cJSON_IsTrue(is_named), r == 6);
	}
	cJSON_Delete(document);
}

static bool has_holder(const cJSON *rank, const char *name, int cpu)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(rank, "holders"))
	{
		if (strcmp(text_of(item, "name"), name) == 0 &&
		    number_of(item, "cpu") == (double)cpu) {
			return number_of(item, "seenMsPerStep") > 1.0;
		}
	}
	return false;
}

static void test_neighbours_are_named_on_their_cpus(void **state)
{
	(void)state;
	cJSON *document = run("hostbound", TRAINSIM "trace.txt.gz");
	assert_true(has_holder(rank_of(document, 0), "python3", 0));
	assert_true(has_holder(rank_of(document, 1), "python3", 1));
	assert_true(has_holder(rank_of(document, 1), "log-collector", 1));
	cJSON_Delete(document);
}

/* The thread of the only trace; NULL: none. */
static const cJSON *thread_of(const cJSON *document, int tid)
{
	const cJSON *traces = cJSON_GetObjectItemCaseSensitive(document, "traces"), *item = NULL;
	const cJSON *threads =
		cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(traces, 0), "threads");
	cJSON_ArrayForEach(item, threads)
	{
		if (number_of(item, "tid") == (double)tid) {
			return item;
		}
	}
	return NULL;
}

/* A line of `perf sched latency -p`: "  python3:26383  |  416.886 ms |  90 | avg: ...". */
static bool read_latency(const char *line, int *tid, double *ran_ms)
{
	const char *bar = strchr(line, '|'), *colon = bar;
	while (colon != NULL && colon > line && *colon != ':') {
		colon--;
	}
	return colon != NULL && sscanf(colon, ":%d", tid) == 1 &&
	       sscanf(bar, "| %lf ms |", ran_ms) == 1;
}

/* Of the same recording perf tells CPU times in ms with three decimals. */
static void test_cpu_times_are_those_of_perf(void **state)
{
	(void)state;
	double sum_ms = 0.0;
	char line[512];
	size_t n_tasks = 0;
	cJSON *document = run("hostbound", TRAINSIM "perf_script.txt.gz");
	FILE *table = fopen(path_of(TRAINSIM "perf_sched_latency_p.txt"), "r");
	assert_non_null(table);
	while (fgets(line, sizeof(line), table) != NULL) {
		int tid = 0;
		double ran_ms = 0.0;
		if (!read_latency(line, &tid, &ran_ms)) {
			continue;
		}
		const cJSON *thread = thread_of(document, tid);
		assert_non_null(thread);
		double own_ms = number_of(thread, "cpuTimeMs"); /* not a number: none is told */
		assert_true(fabs((isnan(own_ms) ? 0.0 : own_ms) - ran_ms) <= 0.00051);
		sum_ms += isnan(own_ms) ? 0.0 : own_ms;
		n_tasks++;
	}
	(void)fclose(table);
	assert_int_equal(n_tasks, 30);
	/* The idle tasks and perf's own are not in the table. */
	assert_true(fabs(sum_ms - 1359.867) <= 0.001);
	/* Behind idle time of CPU 1 switches are missing: lines of runtime tell when it came. */
	const cJSON *rank = thread_of(document, 26400);
	double known_ms = number_of(rank, "runMs") + number_of(rank, "unknownMs");
	assert_true(fabs(known_ms - number_of(rank, "cpuTimeMs")) <= 2.0);
	cJSON_Delete(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hog_is_the_process_of_the_culprit),
		cmocka_unit_test(test_a_quota_has_no_process),
		cmocka_unit_test(test_ranks_and_steps_are_those_of_the_fault),
		cmocka_unit_test(test_neighbours_are_named_on_their_cpus),
		cmocka_unit_test(test_cpu_times_are_those_of_perf),
	};
	if (access(path_of("recorded/hog_dp4_r2/ftrace/ranks.json"), R_OK) != 0) {
		(void)fprintf(stderr, "no recorded jobs: skipped\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

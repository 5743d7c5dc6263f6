/* The verdict of the built program with default settings, on every reference case and on the real
 * run: exactly the culprit ranks, their causes, the ranks without data, and perception. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/mem.h"
#include "support/program.h"

enum { PATH_MAX_LENGTH = 1024, SKIP = 77 };

/* Expected result of each case; culprits and LACK ranks come from its truth.json. */
static const struct expectation {
	const char *name;
	const char *verdict;
	const char *cause;        /* of every culprit; NULL: there is none */
	const char *anomaly_type; /* perception */
	int onset_step;           /* perception's lasting change; -1: none */
	bool is_lack;             /* truth's culprits lack data and are not slow */
} expectations[] = {
	{"ckpt_tp8_r3", "slow_rank", "storage", "normal", -1, false},
	{"clean_comm_tp2dp2pp2", "normal", NULL, "normal", -1, false},
	{"clean_tp8", "normal", NULL, "normal", -1, false},
	{"commlink_tp2dp2pp2_r2r6", "slow_link", "network", "failSlow", 45, false},
	{"compute_tp2dp4_r2_onset52", "slow_rank", "compute", "failSlow", 52, false},
	{"compute_tp4dp2_r6_onset30", "slow_rank", "compute", "failSlow", 30, false},
	{"compute_tp8_r3", "slow_rank", "compute", "normal", -1, false},
	{"dataloader_tp4dp2_r4", "slow_rank", "dataloader", "normal", -1, false},
	{"empty_rank6_tp8", "normal", NULL, "normal", -1, true},
	{"hang_tp8_at60", "hang", NULL, "hang", -1, false},
	{"json_compute_tp8_r3", "slow_rank", "compute", "normal", -1, false},
	{"missing_rank5_tp8", "normal", NULL, "normal", -1, true},
	{"oplaunch_tp8_r3", "slow_rank", "host", "normal", -1, false},
	{"outer_tp8_r3", "slow_rank", "compute", "normal", -1, false},
	{"spike_tp8", "normal", NULL, "normal", -1, false},
	{"stepslow_tp8_from40", "job_slowdown", NULL, "failSlow", 40, false},
	{"tsdbscan_tp8_r3_onset60", "slow_rank", "compute", "failSlow", 60, false},
};

static const char *shared_dir(void)
{
	const char *dir = getenv("FSL_SHARED_DIR");
	return dir != NULL ? dir : FSL_SHARED_DIR;
}

static const cJSON *at(const cJSON *json, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
	if (item == NULL) {
		fail_msg("key missing: key=\"%s\"", key);
	}
	return item;
}

static cJSON *read_json(const char *path)
{
	char *text = NULL;
	size_t length = 0;
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	cJSON *json = cJSON_ParseWithLength(text, length);
	fsl_free(text);
	assert_non_null(json);
	return json;
}

/* Runs the program in @dir; the caller frees the document with cJSON_Delete. */
static cJSON *judge(const char *dir, const char *config, const char *now)
{
	char scratch[PATH_MAX_LENGTH];
	struct program_run run;
	assert_true(scratch_create(FSL_BUILD_DIR, "verdict-cases", scratch, sizeof(scratch)));
	char *argv[] = {(char[]){FSL_PROGRAM},
			"detect",
			"--config",
			(char *)config,
			"--output",
			scratch,
			"--now",
			(char *)now,
			"--format",
			"json",
			NULL};
	char *argv_tree[] = {
		(char[]){FSL_PROGRAM}, "detect",   ".",    "--output", scratch, "--now",
		(char *)now,           "--format", "json", NULL};
	assert_true(program_run(&run, dir, config != NULL ? argv : argv_tree));
	if (run.exit_code != 0) {
		fail_msg("program failed: dir=\"%s\", exit=%d, stderr=\"%s\"", dir, run.exit_code,
			 run.err);
	}
	cJSON *json = cJSON_Parse(run.out);
	program_run_fini(&run);
	scratch_remove(scratch);
	assert_non_null(json);
	return json;
}

/* Ranks of the array's entries that have @method (NULL: no such key), as a bit set. */
static uint64_t ranks_of(const cJSON *entries, const char *key, const char *method, bool is_text)
{
	uint64_t ranks = 0;
	const cJSON *entry = NULL;
	cJSON_ArrayForEach(entry, entries)
	{
		if (method != NULL && strcmp(at(entry, "methodType")->valuestring, method) != 0) {
			continue;
		}
		const cJSON *rank = key != NULL ? at(entry, key) : entry;
		long number = is_text ? strtol(rank->valuestring, NULL, 10) : rank->valueint;
		uint64_t bit = UINT64_C(1) << number;
		if ((ranks & bit) != 0) {
			fail_msg("rank named twice: rank=%ld", number);
		}
		ranks |= bit;
	}
	return ranks;
}

static void check_perception(const struct expectation *want, const cJSON *perception)
{
	assert_string_equal(at(perception, "anomaly_type")->valuestring, want->anomaly_type);
	const cJSON *episodes = at(perception, "episodes");
	assert_int_equal(cJSON_GetArraySize(episodes), want->onset_step >= 0 ? 1 : 0);
	if (want->onset_step >= 0) {
		assert_int_equal(at(cJSON_GetArrayItem(episodes, 0), "onsetStep")->valueint,
				 want->onset_step);
	}
}

static void check_localisation(const struct expectation *want, const cJSON *localisation,
			       const cJSON *truth)
{
	uint64_t true_ranks = ranks_of(at(truth, "culprit_ranks"), NULL, NULL, false);
	uint64_t named = ranks_of(at(localisation, "culprits"), "rank", NULL, false);
	uint64_t lack = ranks_of(at(localisation, "abnormalDetail"), "objectId", "LACK", true);
	assert_string_equal(at(localisation, "verdict")->valuestring, want->verdict);
	assert_int_equal(named, want->is_lack ? 0 : true_ranks);
	assert_int_equal(lack, want->is_lack ? true_ranks : 0);
	const cJSON *culprit = NULL;
	cJSON_ArrayForEach(culprit, at(localisation, "culprits"))
	{
		assert_string_equal(at(culprit, "cause")->valuestring, want->cause);
	}
	bool is_abnormal = want->is_lack || want->cause != NULL;
	assert_int_equal(at(localisation, "resultCode")->valueint, is_abnormal ? 201 : 200);
}

static void every_case_gets_the_verdict_of_its_truth(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		const struct expectation *want = &expectations[i];
		char dir[PATH_MAX_LENGTH], path[PATH_MAX_LENGTH + 16], now[32];
		(void)snprintf(dir, sizeof(dir), "%s/data/cases/%s", shared_dir(), want->name);
		(void)snprintf(path, sizeof(path), "%s/truth.json", dir);
		print_message("case %s\n", want->name);
		cJSON *truth = read_json(path);
		/* 19 digits do not fit a double; the microsecond is enough for "now". */
		(void)snprintf(now, sizeof(now), "%.0f", at(truth, "now_ns")->valuedouble);
		cJSON *json = judge(dir, "model_config.json", now);
		check_perception(want, at(json, "perception"));
		check_localisation(want, at(json, "localisation"), truth);
		cJSON_Delete(json);
		cJSON_Delete(truth);
	}
}

static void the_real_run_blames_rank_0_for_its_own_time_and_lists_its_victims(void **state)
{
	(void)state;
	char dir[PATH_MAX_LENGTH];
	(void)snprintf(dir, sizeof(dir), "%s/data/real/ar", shared_dir());
	cJSON *json = judge(dir, NULL, "1750000931609549989");
	const cJSON *localisation = at(json, "localisation");
	assert_int_equal(ranks_of(at(localisation, "culprits"), "rank", NULL, false), 1);
	const cJSON *culprit = cJSON_GetArrayItem(at(localisation, "culprits"), 0);
	assert_string_equal(at(culprit, "cause")->valuestring, "compute");
	const cJSON *evidence = at(culprit, "evidence");
	assert_true(at(evidence, "ownMs")->valuedouble > 44000.0);
	assert_true(at(evidence, "peersMs")->valuedouble < 20000.0);
	/* Lin et al. (OSDI '25) have S 1.973 and M_W 1.002 for all 44 steps, M_S -0.001. */
	const cJSON *replay = at(localisation, "replay");
	assert_true(fabs(at(localisation, "slowdown")->valuedouble - 1.973) < 0.05);
	assert_true(fabs(at(replay, "slowdownAll")->valuedouble - 1.973) < 0.05);
	assert_true(fabs(at(replay, "worstRanksShare")->valuedouble - 1.0) < 0.02);
	assert_true(fabs(at(replay, "lastStageShare")->valuedouble) < 0.02);
	assert_true(at(replay, "errorP95Share")->valuedouble < 0.03);
	uint64_t victims = ranks_of(at(localisation, "victims"), "rank", NULL, false);
	uint64_t replica = (UINT64_C(1) << 4) | (UINT64_C(1) << 8) | (UINT64_C(1) << 12);
	assert_int_equal(victims & replica, replica);
	cJSON_Delete(json);
}

int main(void)
{
	struct stat info;
	if (stat(shared_dir(), &info) != 0) {
		print_message("skipped: no reference data: folder=\"%s\"\n", shared_dir());
		return SKIP;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_gets_the_verdict_of_its_truth),
		cmocka_unit_test(the_real_run_blames_rank_0_for_its_own_time_and_lists_its_victims),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every data set gets the verdict that its truth.json asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "judge.h"
#include "support/program.h"

enum { PATH_BYTES = 1024, TRUTH_BYTES = 16 * 1024, SETS_MIN = 8 };

static cJSON *read_truth(const char *set, int64_t *now_ns)
{
	char path[PATH_BYTES];
	char text[TRUTH_BYTES] = "";
	(void)snprintf(path, sizeof(path), "%s/truth.json", set);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	size_t n_bytes = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	text[n_bytes] = '\0';
	/* 19 digits do not fit the double of a JSON library. */
	const char *key = "\"now_ns\": ";
	const char *at = strstr(text, key);
	assert_non_null(at);
	*now_ns = strtoll(at + strlen(key), NULL, 10);
	cJSON *truth = cJSON_Parse(text);
	assert_non_null(truth);
	return truth;
}

static const char *text_of(const cJSON *truth, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(truth, key));
	return text != NULL ? text : "";
}

static bool has_ranks(const int *ranks, int n_ranks, const cJSON *list)
{
	bool is_same = cJSON_GetArraySize(list) == n_ranks;
	for (int i = 0; is_same && i < n_ranks; i++) {
		is_same = cJSON_GetArrayItem(list, i)->valueint == ranks[i];
	}
	return is_same;
}

static bool is_right(const struct judgement *judgement, const cJSON *truth)
{
	const cJSON *ranks = cJSON_GetObjectItemCaseSensitive(truth, "culprit_ranks");
	const char *fault = text_of(truth, "fault");
	const char *cause = text_of(truth, "cause");
	if (strcmp(judgement->kind, text_of(truth, "verdict")) != 0 ||
	    strcmp(judgement->perception, text_of(truth, "perception")) != 0) {
		return false;
	}
	if (strcmp(fault, "missing") == 0) {
		return has_ranks(judgement->missing, judgement->n_missing, ranks) &&
		       judgement->n_culprits == 0;
	}
	bool has_causes = true;
	for (int i = 0; i < judgement->n_culprits && cause[0] != '\0'; i++) {
		has_causes &= strcmp(judgement->causes[i], cause) == 0;
	}
	return has_causes && has_ranks(judgement->culprits, judgement->n_culprits, ranks);
}

static void check_set(const char *name)
{
	char set[PATH_BYTES];
	char results[PATH_BYTES];
	int64_t now_ns = 0;
	(void)snprintf(set, sizeof(set), "%s/datasets/faults/%s", FSL_SOURCE_DIR, name);
	assert_true(scratch_create(FSL_BUILD_DIR, "dataset-results", results, sizeof(results)));
	cJSON *truth = read_truth(set, &now_ns);
	struct judgement judgement;
	judge_tree(&judgement, set, results, now_ns, 2);
	if (!is_right(&judgement, truth)) {
		print_message("%s: verdict %s, perception %s, %d culprits\n", name, judgement.kind,
			      judgement.perception, judgement.n_culprits);
		fail();
	}
	cJSON_Delete(truth);
	scratch_remove(results);
}

static void every_set_gets_the_verdict_of_its_truth(void **state)
{
	(void)state;
	DIR *dir = opendir(FSL_SOURCE_DIR "/datasets/faults");
	assert_non_null(dir);
	int n_sets = 0;
	for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
		if (entry->d_name[0] != '.') {
			check_set(entry->d_name);
			n_sets++;
		}
	}
	(void)closedir(dir);
	assert_true(n_sets >= SETS_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_set_gets_the_verdict_of_its_truth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

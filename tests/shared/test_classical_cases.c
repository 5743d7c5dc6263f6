/* Compatibility: the classical localisation, algorithm "systrace", compared with the reference
 * engine's results for the same trees without its bugs. README.md explains every deviation. */
#include "detect/classical.h"
#include "shared/shared.h"

enum { ENTRIES_MAX = 64, ENTRY_BYTES = 160 };

/* "abnormal 6 HcclAllGather SPACE peers=4,5,7," and "normal 4 ...", sorted. */
struct entries {
	char items[ENTRIES_MAX][ENTRY_BYTES];
	size_t n;
	int result_code;
	bool compute, network, storage;
};

/* Cases in which the answer differs from the reference's; entries as in struct entries. */
static const struct deviation {
	const char *name;
	const char *entries[8];
	const char *flag;
} deviations[] = {
	{"missing_rank5_tp8", {"abnormal 5 HcclAllGather LACK peers="}, "compute"},
};

static int compare_texts(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void sort_entries(struct entries *entries)
{
	qsort(entries->items, entries->n, ENTRY_BYTES, compare_texts);
}

static void append_rank(char *text, int rank)
{
	size_t length = strlen(text);
	snprintf(text + length, ENTRY_BYTES - length, "%d,", rank);
}

static void read_details(struct entries *entries, const cJSON *verdict, const char *key,
			 const char *word)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(verdict, key))
	{
		assert_true(entries->n < ENTRIES_MAX);
		char *text = entries->items[entries->n++];
		snprintf(text, ENTRY_BYTES, "%s %s %s %s peers=", word,
			 cJSON_GetObjectItem(item, "objectId")->valuestring,
			 cJSON_GetObjectItem(item, "kpiId")->valuestring,
			 cJSON_GetObjectItem(item, "methodType")->valuestring);
		const cJSON *peer;
		cJSON_ArrayForEach(peer, cJSON_GetObjectItem(item, "relaIds"))
		{
			append_rank(text, peer->valueint);
		}
	}
}

/* Reads the reference's result. */
static struct entries read_expected(const char *name)
{
	struct entries entries = {0};
	char folder[SHARED_PATH_BYTES];
	snprintf(folder, sizeof(folder), "cases/%s", name);
	cJSON *root = shared_json(folder, "expected_ref_fixed.json");
	const cJSON *verdict = cJSON_GetObjectItem(root, "verdict");
	assert_non_null(verdict);
	entries.result_code = cJSON_GetObjectItem(verdict, "resultCode")->valueint;
	entries.compute = cJSON_IsTrue(cJSON_GetObjectItem(verdict, "compute"));
	entries.network = cJSON_IsTrue(cJSON_GetObjectItem(verdict, "network"));
	entries.storage = cJSON_IsTrue(cJSON_GetObjectItem(verdict, "storage"));
	read_details(&entries, verdict, "abnormalDetail", "abnormal");
	read_details(&entries, verdict, "normalDetail", "normal");
	cJSON_Delete(root);
	return entries;
}

/* The right result for a case in which the reference is wrong. */
static struct entries replace_expected(const struct deviation *deviation)
{
	struct entries entries = {.result_code = deviation->entries[0] != NULL ? 201 : 200};
	for (size_t i = 0; i < 8 && deviation->entries[i] != NULL; i++) {
		snprintf(entries.items[entries.n++], ENTRY_BYTES, "%s", deviation->entries[i]);
	}
	entries.compute = strcmp(deviation->flag, "compute") == 0;
	entries.network = strcmp(deviation->flag, "network") == 0;
	entries.storage = strcmp(deviation->flag, "storage") == 0;
	return entries;
}

static void add_details(struct entries *entries, const struct fsl_detail *details, size_t n,
			const char *word)
{
	static const char *const methods[] = {"SPACE", "TIME", "LACK"};
	for (size_t i = 0; i < n; i++) {
		assert_true(entries->n < ENTRIES_MAX);
		char *text = entries->items[entries->n++];
		snprintf(text, ENTRY_BYTES, "%s %d %s %s peers=", word, (int)details[i].rank,
			 details[i].kpi_id, methods[details[i].method]);
		for (size_t k = 0; k < details[i].n_rela_ranks; k++) {
			append_rank(text, details[i].rela_ranks[k]);
		}
	}
}

static struct entries entries_of(const struct fsl_localisation *localisation)
{
	struct entries entries = {
		.result_code = localisation->result_code,
		.compute = localisation->compute,
		.network = localisation->network,
		.storage = localisation->storage,
	};
	add_details(&entries, localisation->abnormal, localisation->n_abnormal, "abnormal");
	add_details(&entries, localisation->normal, localisation->n_normal, "normal");
	return entries;
}

static void localise(const char *name, struct fsl_localisation *out)
{
	struct shared_job job;
	char folder[SHARED_PATH_BYTES], path[SHARED_PATH_BYTES];
	snprintf(folder, sizeof(folder), "cases/%s", name);
	shared_job_load(&job, shared_path(path, folder, "model_config.json"), NULL,
			FSL_ALGORITHM_SYSTRACE);
	fsl_localisation_init(out);
	assert_int_equal(fsl_classical_run(out, &job.run, &job.topology, &job.config, NULL),
			 FSL_OK);
	shared_job_fini(&job);
}

static void print_entries(const char *title, const struct entries *entries)
{
	printf("  %s: %d compute=%d network=%d storage=%d\n", title, entries->result_code,
	       entries->compute, entries->network, entries->storage);
	for (size_t i = 0; i < entries->n; i++) {
		printf("    %s\n", entries->items[i]);
	}
}

static bool is_equal(const struct entries *a, const struct entries *b)
{
	if (a->n != b->n || a->result_code != b->result_code || a->compute != b->compute ||
	    a->network != b->network || a->storage != b->storage) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (strcmp(a->items[i], b->items[i]) != 0) {
			return false;
		}
	}
	return true;
}

static bool check_case(const char *name)
{
	struct entries expected = read_expected(name);
	struct fsl_localisation localisation = {0};
	for (size_t i = 0; i < sizeof(deviations) / sizeof(deviations[0]); i++) {
		if (strcmp(deviations[i].name, name) == 0) {
			expected = replace_expected(&deviations[i]);
		}
	}
	localise(name, &localisation);
	struct entries actual = entries_of(&localisation);
	fsl_localisation_fini(&localisation);
	sort_entries(&expected);
	sort_entries(&actual);
	if (is_equal(&expected, &actual)) {
		return true;
	}
	printf("%s differs\n", name);
	print_entries("expected", &expected);
	print_entries("actual", &actual);
	return false;
}

static void classical_points_say_what_the_mended_reference_says(void **state)
{
	(void)state;
	size_t n_different = 0;
	for (size_t i = 0; i < SHARED_CASES_N; i++) {
		n_different += check_case(shared_cases[i]) ? 0 : 1;
	}
	assert_int_equal(n_different, 0);
}

int main(void)
{
	if (!shared_is_there()) {
		return SHARED_SKIP;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classical_points_say_what_the_mended_reference_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

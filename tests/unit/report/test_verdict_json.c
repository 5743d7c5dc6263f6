/* The localisation document: keys, order, types, and unusual values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "samples.h"

/* Written by the test; also a sample for the schema test. Free with fsl_free. */
static char *text_of(const struct sample *sample, const char *name)
{
	cJSON *json = fsl_localisation_json(&sample->localisation, &sample->topology, &sample->run,
					    &sample->config);
	assert_non_null(json);
	char *text = fsl_json_text(json, 0);
	assert_non_null(text);
	cJSON_Delete(json);
	sample_save(name, "verdict", text);
	return text;
}

static cJSON *json_of(const struct sample *sample, const char *name)
{
	char *text = text_of(sample, name);
	cJSON *json = cJSON_Parse(text);
	assert_non_null(json);
	fsl_free(text);
	return json;
}

static const cJSON *at(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	assert_non_null(item);
	return item;
}

static const char *const systrace_keys[] = {"resultCode", "compute",        "network",
					    "storage",    "abnormalDetail", "normalDetail",
					    "errorMsg",   "timestamp",      NULL};
static const char *const our_keys[] = {
	"schemaVersion", "verdict",         "confidence", "faultTime", "slowdown",
	"stepMs",        "lostMsPerStep",   "lossSource", "reason",    "culprits",
	"victims",       "unconfirmed",     "replay",     "coverage",  "topology",
	"suppressed",    "suppressedSince", "engine",     NULL};

static const cJSON *assert_keys(const cJSON *first, const char *const *keys)
{
	for (size_t i = 0; keys[i] != NULL; i++, first = first->next) {
		assert_non_null(first);
		assert_string_equal(first->string, keys[i]);
	}
	return first;
}

static void keys_stand_in_order_systrace_first(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	cJSON *json = json_of(sample, "slow_rank");
	const cJSON *next = assert_keys(json->child, systrace_keys);
	assert_null(assert_keys(next, our_keys));
	static const char *const culprit_keys[] = {
		"rank",      "serverIp",   "cause",    "lostMsPerStep", "shareOfLoss", "onsetStep",
		"onsetTime", "confidence", "evidence", "reason",        NULL};
	assert_null(assert_keys(at(json, "culprits")->child->child, culprit_keys));
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void systrace_schema_has_only_its_keys(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	sample->config.verdict_schema = FSL_SCHEMA_SYSTRACE;
	char *text = text_of(sample, "slow_rank_systrace");
	assert_string_equal(
		text, "{\"resultCode\": 201, \"compute\": true, \"network\": false, \"storage\": "
		      "false, \"abnormalDetail\": [{\"objectId\": \"3\", \"serverIp\": "
		      "\"10.1.0.1\", \"deviceInfo\": \"rank_3\", \"kpiId\": \"HcclAllGather\", "
		      "\"methodType\": \"SPACE\", \"kpiData\": [], \"relaIds\": [0, 1, 2, 4, 5, 6, "
		      "7], \"omittedDevices\": []}], \"normalDetail\": [], \"errorMsg\": \"\", "
		      "\"timestamp\": 1750000093}");
	fsl_free(text);
	sample_destroy(sample);
}

static void kpi_data_are_python_texts(void **state)
{
	(void)state;
	struct fsl_kpi_point points[] = {{1750000004672.0, 12.5, 0},
					 {1750000009672.0, 1.0 / 3.0, 1}};
	struct sample *sample = sample_create();
	struct fsl_detail detail = {.rank = 3,
				    .server_ip = "10.1.0.1",
				    .kpi_id = "HcclAllGather!min",
				    .method = FSL_METHOD_TIME,
				    .is_abnormal = true,
				    .kpi = points,
				    .n_kpi = 2};
	assert_int_equal(fsl_localisation_add_detail(&sample->localisation, &detail, NULL), FSL_OK);
	detail.is_abnormal = false;
	detail.n_kpi = 1;
	assert_int_equal(fsl_localisation_add_detail(&sample->localisation, &detail, NULL), FSL_OK);
	sample->config.verdict_schema = FSL_SCHEMA_SYSTRACE;
	char *text = text_of(sample, "kpi_systrace");
	assert_non_null(strstr(text, "\"methodType\": \"TIME\", \"kpiData\": "
				     "[{\"1750000004672.0\": \"12.5\", \"abnormal\": 0}, "
				     "{\"1750000009672.0\": \"0.3333333333333333\", \"abnormal\": "
				     "1}], \"relaIds\""));
	assert_non_null(strstr(text, "\"kpiData\": [{\"1750000004672.0\": \"12.5\"}]"));
	fsl_free(text);
	sample_destroy(sample);
}

static void culprit_is_written_exactly(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	char *text = text_of(sample, "slow_rank");
	assert_non_null(strstr(
		text,
		"\"verdict\": \"slow_rank\", \"confidence\": 0.99, \"faultTime\": "
		"\"2025-06-15T15:07:40.000Z\", \"slowdown\": 1.2002, \"stepMs\": "
		"1168.125, \"lostMsPerStep\": 194.877, \"lossSource\": \"waits\", \"reason\": \"\", "
		"\"culprits\": [{\"rank\": 3, \"serverIp\": \"10.1.0.1\", \"cause\": "
		"\"compute\", \"lostMsPerStep\": 194.877, \"shareOfLoss\": 0.9877, "
		"\"onsetStep\": 60, \"onsetTime\": \"2025-06-15T15:07:40.000Z\", "
		"\"confidence\": 0.99, \"evidence\": {\"ownMs\": 560, \"peersMs\": "
		"465.123, \"ownRatio\": 1.204, \"highStepsCount\": 20, "
		"\"persistenceShare\": 1}, \"reason\": \"own work takes 560.0 ms per "
		"step against 465.1 ms of its peers\"}]"));
	fsl_free(text);
	sample_destroy(sample);
}

static void a_replay_is_written_exactly(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_whatif whatif = {FSL_WHATIF_HOST, "10.1.0.1", 190.0, 200.5};
	sample->localisation.is_loss_replayed = true;
	sample->localisation.replay = (struct fsl_replay_summary){.is_on = true,
								  .is_trusted = true,
								  .doubt = "",
								  .n_steps = 60,
								  .error_median = 0.001,
								  .error_p95 = 0.02,
								  .error_mean = -0.0004,
								  .slowdown_all = 1.25,
								  .worst_ranks_share = 0.8,
								  .last_stage_share = NAN,
								  .culprits_share = 0.75,
								  .whatifs = &whatif,
								  .n_whatifs = 1};
	char *text = text_of(sample, "slow_rank");
	assert_non_null(strstr(text, "\"lossSource\": \"replay\""));
	assert_non_null(strstr(
		text, "\"replay\": {\"trusted\": true, \"doubt\": \"\", \"steps\": 60, "
		      "\"errorMedianShare\": 0.001, \"errorP95Share\": 0.02, \"errorMeanShare\": "
		      "-0.0004, \"slowdownAll\": 1.25, \"culpritsShare\": 0.75, "
		      "\"worstRanksShare\": 0.8, \"lastStageShare\": null, \"whatIf\": [{\"kind\": "
		      "\"host\", \"name\": \"10.1.0.1\", \"gainMs\": 190, \"costMs\": 200.5}]}"));
	fsl_free(text);
	sample_destroy(sample);
}

static void link_ends_name_each_other(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_link();
	cJSON *json = json_of(sample, "slow_link");
	const cJSON *culprits = at(json, "culprits");
	assert_int_equal(cJSON_GetArraySize(culprits), 2);
	assert_int_equal(at(culprits->child, "rank")->valueint, 2);
	assert_int_equal(at(culprits->child, "peer")->valueint, 6);
	assert_int_equal(at(culprits->child->next, "rank")->valueint, 6);
	assert_int_equal(at(culprits->child->next, "peer")->valueint, 2);
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void stage_and_end_are_written_when_known(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample_make_anomaly(sample, FSL_VERDICT_STAGE_IMBALANCE);
	struct fsl_culprit culprit = sample_culprit(4, FSL_CAUSE_COMPUTE);
	culprit.stage = 1;
	culprit.until_step = 70;
	sample_add_culprit(sample, &culprit);
	cJSON *json = json_of(sample, "stage");
	const cJSON *entry = at(json, "culprits")->child;
	assert_int_equal(at(entry, "stage")->valueint, 1);
	assert_int_equal(at(entry, "untilStep")->valueint, 70);
	assert_null(cJSON_GetObjectItemCaseSensitive(entry, "peer"));
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void evidence_keys_end_with_their_unit_once(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	struct fsl_culprit culprit = fsl_culprit_of(0);
	(void)fsl_culprit_add_fact(&culprit, "slow_ratio", 1.23456, "ratio");
	(void)fsl_culprit_add_fact(&culprit, "own", 1.23456, "ms");
	(void)fsl_culprit_add_fact(&culprit, "at_checkpoint", 0.123456, "share");
	(void)fsl_culprit_add_fact(&culprit, "p", 1.2345678e-12, "value");
	sample_add_culprit(sample, &culprit);
	char *text = text_of(sample, "evidence");
	assert_non_null(strstr(text, "\"evidence\": {\"slowRatio\": 1.2346, \"ownMs\": 1.235, "
				     "\"atCheckpointShare\": 0.1235, \"pValue\": 1.23457e-12}"));
	fsl_free(text);
	sample_destroy(sample);
}

static void unknown_values_are_null(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	fsl_localisation_fini(&sample->localisation);
	fsl_localisation_init(&sample->localisation);
	struct fsl_culprit culprit = fsl_culprit_of(2);
	(void)fsl_culprit_add_fact(&culprit, "own", INFINITY, "ms");
	sample_add_culprit(sample, &culprit);
	char *text = text_of(sample, "unknown");
	assert_non_null(strstr(text, "\"confidence\": null, \"faultTime\": null, \"slowdown\": "
				     "null, \"stepMs\": null, \"lostMsPerStep\": null"));
	assert_non_null(strstr(text, "\"lostMsPerStep\": null, \"shareOfLoss\": null, "
				     "\"onsetStep\": null, \"onsetTime\": null, \"confidence\": "
				     "null, \"evidence\": {\"ownMs\": null}"));
	assert_non_null(strstr(text, "\"timeBegin\": null, \"timeEnd\": null, \"steps\": 0"));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf\""));
	fsl_free(text);
	sample_destroy(sample);
}

static void absent_texts_and_inputs_are_no_crash(void **state)
{
	(void)state;
	struct fsl_localisation nothing = {0};
	struct fsl_config *config = fsl_calloc(1, sizeof(*config));
	assert_non_null(config);
	struct fsl_detail detail = {.is_abnormal = true};
	struct fsl_culprit culprit = {0};
	struct fsl_suspect suspect = {0};
	assert_int_equal(fsl_localisation_add_detail(&nothing, &detail, NULL), FSL_OK);
	assert_int_equal(FSL_APPEND(&nothing, culprits, &culprit, NULL), FSL_OK);
	assert_int_equal(FSL_APPEND(&nothing, victims, &suspect, NULL), FSL_OK);
	cJSON *json = fsl_localisation_json(&nothing, NULL, NULL, config);
	assert_non_null(json);
	assert_int_equal(at(at(json, "topology"), "groupsTotal")->valueint, 0);
	cJSON_Delete(json);
	fsl_localisation_fini(&nothing);
	fsl_free(config);
}

static void ten_thousand_missing_ranks_are_all_listed(void **state)
{
	(void)state;
	struct sample *sample = sample_missing(10000);
	cJSON *json = json_of(sample, "missing");
	const cJSON *missing = at(at(json, "coverage"), "ranksMissing");
	assert_int_equal(cJSON_GetArraySize(missing), 10000);
	assert_int_equal(missing->child->prev->valueint, 19998);
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void dropped_rows_and_bad_files_are_told(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	struct fsl_coverage *coverage = &sample->localisation.coverage;
	coverage->n_dropped[FSL_DROP_CUT] = 1;
	coverage->n_dropped[FSL_DROP_MALFORMED] = 14;
	coverage->clock_offset_max_ms = 3.21987;
	assert_int_equal(fsl_coverage_add_skipped(coverage, &sample->localisation.arena, NULL,
						  "BoxPlot: 2 steps, needs 8"),
			 FSL_OK);
	struct fsl_file files[] = {
		{.path = "a.csv", .state = FSL_FILE_READ, .message = ""},
		{.path = "b\xff.csv", .state = FSL_FILE_EMPTY, .message = "no \"row\""},
		{.path = "c.csv", .state = FSL_FILE_PARTIAL, .message = "line 7"},
	};
	sample->run.files = files;
	sample->run.n_files = 3;
	char *text = text_of(sample, "problems");
	sample->run.files = NULL;
	sample->run.n_files = 0;
	assert_non_null(strstr(text, "\"rowsDropped\": {\"malformed\": 14, \"cut\": 1}"));
	assert_non_null(strstr(text, "\"clockOffsetMaxMs\": 3.22, \"clockResidualMs\": null, "
				     "\"detectorsSkipped\": [\"BoxPlot: 2 steps, needs 8\"]"));
	assert_non_null(strstr(text, "\"filesWithProblems\": [{\"path\": \"b\xef\xbf\xbd.csv\", "
				     "\"state\": \"empty\", \"message\": \"no \\\"row\\\"\"}, "
				     "{\"path\": \"c.csv\", \"state\": \"partial\", \"message\": "
				     "\"line 7\"}]"));
	fsl_free(text);
	sample_destroy(sample);
}

static void at_most_64_groups_are_listed_by_kind(void **state)
{
	(void)state;
	enum { N_GROUPS = 70, N_TP = 2 };
	static int32_t ranks[] = {0, 1};
	struct fsl_group groups[N_GROUPS];
	for (size_t i = 0; i < N_GROUPS; i++) {
		groups[i] = (struct fsl_group){
			.name_id = FSL_STR_NONE,
			.kind = i < N_TP ? FSL_GROUP_TP : FSL_GROUP_DP,
			.known_by = FSL_KNOWN_CONFIGURED,
			.why = "hccl_domain",
			.ranks = ranks,
			.n_ranks = 2,
		};
	}
	struct sample *sample = sample_create();
	sample->topology.groups = groups;
	sample->topology.n_groups = N_GROUPS;
	cJSON *json = json_of(sample, "groups");
	const cJSON *topology = at(json, "topology");
	const cJSON *kinds = at(topology, "groups");
	assert_int_equal(at(topology, "groupsTotal")->valueint, N_GROUPS);
	assert_int_equal(at(topology, "groupsNotListed")->valueint, N_GROUPS - 64);
	assert_int_equal(cJSON_GetArraySize(kinds), 2);
	assert_int_equal(cJSON_GetArraySize(at(kinds, "tp")), N_TP);
	assert_int_equal(cJSON_GetArraySize(at(kinds, "dp")), 64 - N_TP);
	assert_true(cJSON_IsNull(at(at(kinds, "tp")->child, "name")));
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void only_the_timestamp_depends_on_the_clock(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	char *first = text_of(sample, "slow_rank");
	sample->config.now_ns += INT64_C(86400000000000);
	char *second = text_of(sample, "slow_rank_later");
	char *stamp = strstr(second, "\"timestamp\": 1750086493");
	assert_non_null(stamp);
	memcpy(stamp, "\"timestamp\": 1750000093", strlen("\"timestamp\": 1750000093"));
	assert_string_equal(first, second);
	fsl_free(first);
	fsl_free(second);
	sample_destroy(sample);
}

static void suppression_tells_since_when(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	sample->localisation.is_suppressed = true;
	sample->localisation.suppressed_since_ns = sample_step_ns(70);
	char *text = text_of(sample, "suppressed");
	assert_non_null(strstr(text, "\"suppressed\": true, \"suppressedSince\": "
				     "\"2025-06-15T15:07:50.000Z\", \"engine\": {\"name\": "
				     "\"failslow\", \"version\": \"" FSL_VERSION
				     "\", \"algorithm\": \"failslow\"}}"));
	fsl_free(text);
	sample_destroy(sample);
}

static void *failing_malloc(size_t size)
{
	return fsl_calloc(1, size);
}

static void every_failed_allocation_gives_null_and_leaks_nothing(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	cJSON_InitHooks(&(cJSON_Hooks){failing_malloc, fsl_free});
	cJSON *json = NULL;
	uint64_t nth = 0;
	while (json == NULL) {
		fsl_mem_fail_at(++nth);
		json = fsl_localisation_json(&sample->localisation, &sample->topology, &sample->run,
					     &sample->config);
		fsl_mem_fail_at(0);
		assert_true(nth < 10000);
	}
	assert_true(nth > 200);
	char *text = NULL;
	for (nth = 1; text == NULL; nth++) {
		fsl_mem_fail_at(nth);
		text = fsl_json_text(json, 0);
		fsl_mem_fail_at(0);
		assert_true(nth < 100);
	}
	fsl_free(text);
	cJSON_Delete(json);
	cJSON_InitHooks(NULL);
	sample_destroy(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_stand_in_order_systrace_first),
		cmocka_unit_test(systrace_schema_has_only_its_keys),
		cmocka_unit_test(kpi_data_are_python_texts),
		cmocka_unit_test(culprit_is_written_exactly),
		cmocka_unit_test(a_replay_is_written_exactly),
		cmocka_unit_test(link_ends_name_each_other),
		cmocka_unit_test(stage_and_end_are_written_when_known),
		cmocka_unit_test(evidence_keys_end_with_their_unit_once),
		cmocka_unit_test(unknown_values_are_null),
		cmocka_unit_test(absent_texts_and_inputs_are_no_crash),
		cmocka_unit_test(ten_thousand_missing_ranks_are_all_listed),
		cmocka_unit_test(dropped_rows_and_bad_files_are_told),
		cmocka_unit_test(at_most_64_groups_are_listed_by_kind),
		cmocka_unit_test(only_the_timestamp_depends_on_the_clock),
		cmocka_unit_test(suppression_tells_since_when),
		cmocka_unit_test(every_failed_allocation_gives_null_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

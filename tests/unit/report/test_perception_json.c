/* The perception document: the reference's keys, order and types, then failslow's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "samples.h"

static char *text_of(const struct sample *sample, int indent, const char *name)
{
	cJSON *json = fsl_perception_json(&sample->perception, &sample->config);
	assert_non_null(json);
	char *text = fsl_json_text(json, indent);
	assert_non_null(text);
	cJSON_Delete(json);
	sample_save(name, "perception", text);
	return text;
}

static void use_zone(const char *zone)
{
	assert_int_equal(setenv("TZ", zone, 1), 0);
	tzset();
}

static void fail_slow_is_written_as_the_reference_does(void **state)
{
	(void)state;
	use_zone("CST-8");
	struct sample *sample = sample_slow_rank();
	sample->config.verdict_schema = FSL_SCHEMA_SYSTRACE;
	char *text = text_of(sample, 4, "slow_rank_systrace");
	assert_string_equal(text, "{\n"
				  "    \"is_anomaly\": true,\n"
				  "    \"anomaly_count_times\": 1,\n"
				  "    \"anomaly_info\": [\n"
				  "        {\n"
				  "            \"training_step\": 60,\n"
				  "            \"anomaly_time\": \"2025-06-15 23:07:41\",\n"
				  "            \"anomaly_degree\": 0.2,\n"
				  "            \"anomaly_training_time\": \"1168ms\",\n"
				  "            \"normal_training_time\": \"973.1ms\"\n"
				  "        }\n"
				  "    ],\n"
				  "    \"anomaly_type\": \"failSlow\",\n"
				  "    \"start_time\": 1750000003000,\n"
				  "    \"end_time\": 1750000080000\n"
				  "}");
	fsl_free(text);
	sample_destroy(sample);
	use_zone("UTC");
}

static void hang_has_points_with_zone_and_minutes(void **state)
{
	(void)state;
	use_zone("CST-8");
	struct sample *sample = sample_hang();
	char *text = text_of(sample, 0, "hang");
	assert_ptr_equal(strstr(text,
				"{\"is_anomaly\": true, \"anomaly_count_times\": 1, "
				"\"anomaly_info\": [{\"detect_point\": [\"2025-06-15 22:08:13 "
				"+0800\", \"2025-06-15 23:08:13 +0800\"], \"hang_minutes\": 60}], "
				"\"anomaly_type\": \"hang\", \"start_time\": 1749996493186, "
				"\"end_time\": 1750000093426, \"schemaVersion\": 1, \"verdict\": "
				"\"hang\""),
			 text);
	assert_non_null(strstr(text, "\"hang\": {\"isHanging\": true, \"silentMinutes\": 60, "
				     "\"since\": \"2025-06-15T14:08:13.186Z\", "
				     "\"stoppedFirst\": [3]}"));
	fsl_free(text);
	sample_destroy(sample);
	use_zone("UTC");
}

static void our_keys_follow_in_order(void **state)
{
	(void)state;
	static const char *const keys[] = {"is_anomaly",      "anomaly_count_times",
					   "anomaly_info",    "anomaly_type",
					   "start_time",      "end_time",
					   "schemaVersion",   "verdict",
					   "reason",          "episodes",
					   "explained",       "slowDataloader",
					   "slowCheckpoints", "hang",
					   "coverage",        "engine",
					   "errorMsg"};
	struct sample *sample = sample_job_slowdown();
	cJSON *json = fsl_perception_json(&sample->perception, &sample->config);
	const cJSON *item = json->child;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++, item = item->next) {
		assert_non_null(item);
		assert_string_equal(item->string, keys[i]);
	}
	assert_null(item);
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void episodes_and_explained_steps_are_written_exactly(void **state)
{
	(void)state;
	struct sample *sample = sample_job_slowdown();
	char *text = text_of(sample, 0, "job_slowdown");
	assert_non_null(strstr(
		text,
		"\"episodes\": [{\"onsetStep\": 40, \"onsetTime\": "
		"\"2025-06-15T15:07:20.000Z\", \"untilStep\": null, \"steps\": 40, "
		"\"beforeMs\": 974, \"afterMs\": 1459.5, \"pValue\": 2e-12, \"of\": \"steps\"}], "
		"\"explained\": [{\"step\": 20, \"time\": "
		"\"2025-06-15T15:07:00.000Z\", \"stepMs\": 2974, \"normalMs\": "
		"974.25, \"explainedMs\": 2000, \"why\": \"checkpoint\"}], "
		"\"slowDataloader\": [{\"step\": 40, \"time\": "
		"\"2025-06-15T15:07:20.000Z\", \"durationMs\": 1459, \"normalMs\": "
		"977.1, \"degree\": 0.4935}, "));
	fsl_free(text);
	sample_destroy(sample);
}

static void step_times_keep_fractions_and_unknown_ones_are_null(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	struct fsl_step_anomaly anomaly = {7, sample_step_ns(7), 0.4935, 1458.75, 977.0};
	assert_int_equal(FSL_APPEND(&sample->perception, anomalies, &anomaly, NULL), FSL_OK);
	anomaly = (struct fsl_step_anomaly){8, FSL_NS_ABSENT, NAN, NAN, NAN};
	assert_int_equal(FSL_APPEND(&sample->perception, anomalies, &anomaly, NULL), FSL_OK);
	char *text = text_of(sample, 0, "fractions");
	assert_non_null(strstr(text, "\"anomaly_degree\": 0.493, \"anomaly_training_time\": "
				     "\"1458.75ms\", \"normal_training_time\": \"977.0ms\""));
	assert_non_null(strstr(text, "{\"training_step\": 8, \"anomaly_time\": null, "
				     "\"anomaly_degree\": null, \"anomaly_training_time\": null, "
				     "\"normal_training_time\": null}"));
	fsl_free(text);
	sample_destroy(sample);
}

static void nothing_known_is_null(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	fsl_perception_fini(&sample->perception);
	fsl_perception_init(&sample->perception);
	char *text = text_of(sample, 0, "unknown");
	assert_non_null(strstr(text, "\"anomaly_type\": \"normal\", \"start_time\": null, "
				     "\"end_time\": null, \"schemaVersion\": 1, \"verdict\": "
				     "\"insufficient_evidence\""));
	assert_non_null(strstr(text, "\"hang\": {\"isHanging\": false, \"silentMinutes\": null, "
				     "\"since\": null, \"stoppedFirst\": []}"));
	fsl_free(text);
	sample_destroy(sample);
}

static void normal_is_a_whole_document(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	char *text = text_of(sample, 0, "normal");
	assert_ptr_equal(strstr(text, "{\"is_anomaly\": false, \"anomaly_count_times\": 0, "
				      "\"anomaly_info\": [], \"anomaly_type\": \"normal\", "
				      "\"start_time\": 1750000003000, \"end_time\": "
				      "1750000080000, \"schemaVersion\": 1, \"verdict\": "
				      "\"normal\", \"reason\": \"\", \"episodes\": [], "),
			 text);
	fsl_free(text);
	sample_destroy(sample);
}

static void a_zeroed_verdict_is_no_crash(void **state)
{
	(void)state;
	struct fsl_perception nothing = {0};
	struct sample *sample = sample_create();
	cJSON *json = fsl_perception_json(&nothing, &sample->config);
	assert_non_null(json);
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void *failing_malloc(size_t size)
{
	return fsl_calloc(1, size);
}

static void every_failed_allocation_gives_null_and_leaks_nothing(void **state)
{
	(void)state;
	struct sample *sample = sample_job_slowdown();
	cJSON_InitHooks(&(cJSON_Hooks){failing_malloc, fsl_free});
	cJSON *json = NULL;
	uint64_t nth = 0;
	while (json == NULL) {
		fsl_mem_fail_at(++nth);
		json = fsl_perception_json(&sample->perception, &sample->config);
		fsl_mem_fail_at(0);
		assert_true(nth < 10000);
	}
	assert_true(nth > 100);
	cJSON_Delete(json);
	cJSON_InitHooks(NULL);
	sample_destroy(sample);
}

int main(void)
{
	use_zone("UTC");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_slow_is_written_as_the_reference_does),
		cmocka_unit_test(hang_has_points_with_zone_and_minutes),
		cmocka_unit_test(our_keys_follow_in_order),
		cmocka_unit_test(episodes_and_explained_steps_are_written_exactly),
		cmocka_unit_test(step_times_keep_fractions_and_unknown_ones_are_null),
		cmocka_unit_test(nothing_known_is_null),
		cmocka_unit_test(normal_is_a_whole_document),
		cmocka_unit_test(a_zeroed_verdict_is_no_crash),
		cmocka_unit_test(every_failed_allocation_gives_null_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

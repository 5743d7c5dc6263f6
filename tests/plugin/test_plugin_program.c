/* A detector from a shared object that the configuration names runs in the program like a built-in
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "support/program.h"

enum { TEXT_BYTES = 4096 };

static const char *const dataset = FSL_SOURCE_DIR "/datasets/faults/slow_rank";

/* Runs `failslow detect` with @plugin named in the configuration; false: it could not be started.
 */
static bool run_with(struct program_run *run, const char *folder, const char *plugin)
{
	char text[TEXT_BYTES], config[TEXT_BYTES];
	(void)snprintf(config, sizeof(config), "%s/model_config.json", folder);
	(void)snprintf(text, sizeof(text),
		       "{\"root_path\": \"%s\", \"fail_slow_perception_path\": \"out\","
		       " \"slow_node_detection_path\": \"out\", \"detectors\": {\"SampleLimit\":"
		       " {\"plugin\": \"%s\", \"metric\": \"exec\", \"limit_ms\": 50}}}",
		       dataset, plugin);
	assert_int_equal(fsl_file_write_atomic(config, text, strlen(text), NULL), FSL_OK);
	char *argv[] = {(char[]){FSL_PROGRAM}, "detect",   "--config", config, "--now",
			"1750000066892495774", "--format", "json",     NULL};
	return program_run(run, folder, argv);
}

static bool is_proposed_by(const cJSON *localisation, const char *list, const char *detector)
{
	const cJSON *entry = NULL;
	cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(localisation, list))
	{
		const cJSON *name = cJSON_GetObjectItemCaseSensitive(entry, "detector");
		if (cJSON_IsString(name) && strcmp(name->valuestring, detector) == 0) {
			return true;
		}
	}
	return false;
}

static void a_configured_plugin_proposes_and_the_verdict_stands(void **state)
{
	(void)state;
	char folder[TEXT_BYTES / 2];
	struct program_run run;
	assert_true(scratch_create(FSL_BUILD_DIR, "plugin-run", folder, sizeof(folder)));
	assert_true(run_with(&run, folder, FSL_PLUGIN_DIR "/sample_plugin.so"));
	assert_int_equal(run.exit_code, 0);
	cJSON *json = cJSON_Parse(run.out);
	const cJSON *localisation = cJSON_GetObjectItemCaseSensitive(json, "localisation");
	assert_non_null(localisation);
	/* Exec times above 50 ms belong to the ranks that wait: victims, or nobody's fault. */
	assert_true(is_proposed_by(localisation, "victims", "SampleLimit") ||
		    is_proposed_by(localisation, "unconfirmed", "SampleLimit"));
	const cJSON *culprits = cJSON_GetObjectItemCaseSensitive(localisation, "culprits");
	assert_int_equal(cJSON_GetArraySize(culprits), 1);
	cJSON_Delete(json);
	program_run_fini(&run);
	scratch_remove(folder);
}

static void a_plugin_of_another_abi_is_a_configuration_error(void **state)
{
	(void)state;
	char folder[TEXT_BYTES / 2];
	struct program_run run;
	assert_true(scratch_create(FSL_BUILD_DIR, "plugin-run", folder, sizeof(folder)));
	assert_true(run_with(&run, folder, FSL_PLUGIN_DIR "/plugin_of_other_abi.so"));
	assert_int_equal(run.exit_code, 2);
	assert_non_null(strstr(run.err, "plugin_of_other_abi.so"));
	program_run_fini(&run);
	scratch_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_configured_plugin_proposes_and_the_verdict_stands),
		cmocka_unit_test(a_plugin_of_another_abi_is_a_configuration_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

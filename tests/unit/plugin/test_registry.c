/* registry: built-in detectors keep their promises; parameters are checked against their table. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/registry.h"

struct sample_params {
	int64_t count;
	double share, bound;
	bool is_strict;
	int side;
};

static const char *const sides[] = {"left", "right", NULL};

static const struct fsl_param sample_table[] = {
	{"count", FSL_PARAM_INT, offsetof(struct sample_params, count), 5, 1, 10, .help = "Count."},
	{"method.share", FSL_PARAM_REAL, offsetof(struct sample_params, share), 0.5, 0, 1,
	 .help = "Share."},
	{"method.bound", FSL_PARAM_REAL, offsetof(struct sample_params, bound), NAN, -10, 10,
	 .nullable = true, .help = "Bound."},
	{"is_strict", FSL_PARAM_BOOL, offsetof(struct sample_params, is_strict), 1, 0, 0,
	 .help = "Strict."},
	{"side", FSL_PARAM_CHOICE, offsetof(struct sample_params, side), 1, 0, 0, .choices = sides,
	 .help = "Side."},
	{.key = NULL},
};

static enum fsl_status scan_nothing(const struct fsl_view *view, const void *params,
				    struct fsl_findings *out, struct fsl_error *err)
{
	(void)view;
	(void)params;
	(void)out;
	(void)err;
	return FSL_OK;
}

static const struct fsl_detector sample = {
	.abi = FSL_DETECTOR_ABI,
	.name = "Sample",
	.summary = "a detector for this test",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_GROUP,
	.params = sample_table,
	.params_size = sizeof(struct sample_params),
	.scan = scan_nothing,
};

static void every_built_in_keeps_its_promises(void **state)
{
	(void)state;
	struct fsl_registry *registry = fsl_registry_create();
	assert_non_null(registry);
	assert_true(fsl_registry_size(registry) >= 10);
	for (size_t i = 0; i < fsl_registry_size(registry); i++) {
		const struct fsl_detector *detector = fsl_registry_at(registry, i);
		struct fsl_error err = {0};
		if (fsl_detector_check(detector, &err) != FSL_OK) {
			fail_msg("%s", fsl_error_root(&err));
		}
		/* Names are unique, so the first that is found is this one. */
		assert_ptr_equal(fsl_registry_find(registry, detector->name), detector);
	}
	assert_null(fsl_registry_at(registry, fsl_registry_size(registry)));
	assert_null(fsl_registry_find(registry, "NoSuchDetector"));
	fsl_registry_destroy(registry);
	fsl_registry_destroy(NULL);
}

static void no_memory_is_no_registry(void **state)
{
	(void)state;
	fsl_mem_fail_at(1);
	assert_null(fsl_registry_create());
	fsl_mem_fail_at(0);
}

/* The sample's parameters from JSON text; NULL when they are refused, the reason in @err. */
static const struct sample_params *read_sample(const char *text, struct fsl_arena *arena,
					       struct fsl_error *err)
{
	cJSON *json = text != NULL ? cJSON_Parse(text) : NULL;
	assert_true(text == NULL || json != NULL);
	const void *params = NULL;
	enum fsl_status status =
		fsl_registry_params(&sample, json, "metric_config.json: X", arena, &params, err);
	cJSON_Delete(json);
	assert_true((status == FSL_OK) == (params != NULL));
	assert_true(status == FSL_OK || status == FSL_ERR_CONFIG);
	return params;
}

static void absent_keys_take_their_defaults(void **state)
{
	(void)state;
	static const char *const texts[] = {NULL, "{}", "{\"method\": {}}",
					    "{\"type\": \"Sample\", \"plugin\": \"x.so\"}"};
	for (size_t i = 0; i < 4; i++) {
		struct fsl_arena arena = {0};
		const struct sample_params *params = read_sample(texts[i], &arena, NULL);
		assert_non_null(params);
		assert_int_equal(params->count, 5);
		assert_true(fabs(params->share - 0.5) < 1e-15);
		assert_true(isnan(params->bound));
		assert_true(params->is_strict);
		assert_int_equal(params->side, 1);
		fsl_arena_fini(&arena);
	}
}

static void given_keys_are_read_from_nested_objects_too(void **state)
{
	(void)state;
	struct fsl_arena arena = {0};
	const struct sample_params *params =
		read_sample("{\"count\": 10, \"method\": {\"share\": 1, \"bound\": -2.5}, "
			    "\"is_strict\": false, \"side\": \"left\"}",
			    &arena, NULL);
	assert_non_null(params);
	assert_int_equal(params->count, 10);
	assert_true(fabs(params->share - 1.0) < 1e-15);
	assert_true(fabs(params->bound + 2.5) < 1e-15);
	assert_false(params->is_strict);
	assert_int_equal(params->side, 0);
	params = read_sample("{\"method\": {\"bound\": null}}", &arena, NULL);
	assert_non_null(params);
	assert_true(isnan(params->bound));
	fsl_arena_fini(&arena);
}

static void wrong_type_or_range_names_place_key_value_and_what_is_allowed(void **state)
{
	(void)state;
	static const struct {
		const char *text, *key, *value, *allowed;
	} cases[] = {
		{"{\"count\": 0}", "key=\"count\"", "value=0", "integer from 1 to 10"},
		{"{\"count\": 11}", "key=\"count\"", "value=11", "integer from 1 to 10"},
		{"{\"count\": 2.5}", "key=\"count\"", "value=2.5", "integer from 1 to 10"},
		{"{\"count\": \"5\"}", "key=\"count\"", "value=\"5\"", "integer from 1 to 10"},
		{"{\"count\": null}", "key=\"count\"", "value=null", "integer from 1 to 10"},
		{"{\"method\": {\"share\": 1.1}}", "key=\"method.share\"", "value=1.1",
		 "number from 0 to 1"},
		{"{\"method\": {\"share\": null}}", "key=\"method.share\"", "value=null",
		 "number from 0 to 1"},
		{"{\"method\": {\"bound\": 99}}", "key=\"method.bound\"", "value=99",
		 "number from -10 to 10, or null"},
		{"{\"method\": 3}", "key=\"method\"", "", "allowed=\"object\""},
		{"{\"is_strict\": 1}", "key=\"is_strict\"", "value=1", "true or false"},
		{"{\"side\": \"middle\"}", "key=\"side\"", "value=\"middle\"", "left, right"},
		{"{\"side\": 0}", "key=\"side\"", "value=0", "left, right"},
		{"[1]", "", "", "must be an object"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_arena arena = {0};
		struct fsl_error err = {0};
		assert_null(read_sample(cases[i].text, &arena, &err));
		const char *message = fsl_error_root(&err);
		if (strstr(message, "metric_config.json: X") == NULL ||
		    strstr(message, cases[i].key) == NULL ||
		    strstr(message, cases[i].value) == NULL ||
		    strstr(message, cases[i].allowed) == NULL) {
			fail_msg("message of case %zu: %s", i, message);
		}
		fsl_arena_fini(&arena);
	}
}

static void params_without_memory_are_an_error(void **state)
{
	(void)state;
	struct fsl_arena arena = {0};
	const void *params = NULL;
	fsl_mem_fail_at(1);
	enum fsl_status status = fsl_registry_params(&sample, NULL, "", &arena, &params, NULL);
	fsl_mem_fail_at(0);
	assert_int_equal(status, FSL_ERR_MEMORY);
	assert_null(params);
	fsl_arena_fini(&arena);
}

static void expect_fault(const struct fsl_detector *detector, const char *why)
{
	struct fsl_error err = {0};
	assert_int_equal(fsl_detector_check(detector, &err), FSL_ERR_PLUGIN);
	if (strstr(fsl_error_root(&err), why) == NULL) {
		fail_msg("expected \"%s\" in \"%s\"", why, fsl_error_root(&err));
	}
}

static void incomplete_descriptors_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(fsl_detector_check(&sample, NULL), FSL_OK);
	struct fsl_detector broken = sample;
	broken.abi = 999;
	expect_fault(&broken, "abi=999");
	broken = sample;
	broken.name = NULL;
	expect_fault(&broken, "name is missing");
	broken = sample;
	broken.summary = "";
	expect_fault(&broken, "summary is missing");
	broken = sample;
	broken.needs = 0;
	expect_fault(&broken, "needs names no metric");
	broken = sample;
	broken.scope = (enum fsl_scope)7;
	expect_fault(&broken, "scope is unknown");
	broken = sample;
	broken.params = NULL;
	expect_fault(&broken, "params is missing");
	broken = sample;
	broken.scan = NULL;
	expect_fault(&broken, "scan is missing");
	broken = sample;
	broken.params_size = 4;
	expect_fault(&broken, "outside params_size");
}

static void wrong_parameter_tables_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		struct fsl_param param;
		const char *why;
	} cases[] = {
		{{"", FSL_PARAM_INT, 0, 5, 1, 10, .help = "Help."}, "no key or no help"},
		{{"a", FSL_PARAM_INT, 0, 5, 1, 10, .help = NULL}, "no key or no help"},
		{{"a", (enum fsl_param_type)9, 0, 5, 1, 10, .help = "Help."}, "unknown type"},
		{{"a", FSL_PARAM_INT, 0, 11, 1, 10, .help = "Help."}, "default of a parameter"},
		{{"a", FSL_PARAM_REAL, 0, NAN, 1, 10, .help = "Help."}, "default of a parameter"},
		{{"a", FSL_PARAM_BOOL, 0, 2, 0, 0, .help = "Help."}, "default of a parameter"},
		{{"a", FSL_PARAM_CHOICE, 0, 2, 0, 0, .choices = sides, .help = "Help."},
		 "default of a parameter"},
		{{"a", FSL_PARAM_CHOICE, 0, 0, 0, 0, .help = "Help."}, "has no choices"},
		{{"a", FSL_PARAM_INT, 0, 5, 1, 10, .nullable = true, .help = "Help."},
		 "only a real parameter"},
		{{"a", FSL_PARAM_INT, SIZE_MAX, 5, 1, 10, .help = "Help."}, "outside params_size"},
		{{"a", FSL_PARAM_INT, 0, 5.5, 1, 10, .help = "Help."}, "default of a parameter"},
		{{"a", FSL_PARAM_INT, 0, 5, 1, 1e19, .help = "Help."}, "beyond 2^53"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_param table[] = {cases[i].param, {.key = NULL}};
		struct fsl_detector broken = sample;
		broken.params = table;
		expect_fault(&broken, cases[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_built_in_keeps_its_promises),
		cmocka_unit_test(no_memory_is_no_registry),
		cmocka_unit_test(absent_keys_take_their_defaults),
		cmocka_unit_test(given_keys_are_read_from_nested_objects_too),
		cmocka_unit_test(wrong_type_or_range_names_place_key_value_and_what_is_allowed),
		cmocka_unit_test(params_without_memory_are_an_error),
		cmocka_unit_test(incomplete_descriptors_are_told_apart),
		cmocka_unit_test(wrong_parameter_tables_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

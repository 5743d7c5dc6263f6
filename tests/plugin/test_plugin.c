/* Detectors from shared objects: run like built-in ones, or are refused with a reason. */
#include "detectors/bench.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

static struct fsl_registry *registry;

static int create_registry(void **state)
{
	(void)state;
	registry = fsl_registry_create();
	return registry != NULL ? 0 : -1;
}

static int destroy_registry(void **state)
{
	(void)state;
	fsl_registry_destroy(registry);
	return 0;
}

static void sample_runs_like_a_built_in(void **state)
{
	(void)state;
	struct bench bench = {.registry = registry};
	const struct fsl_detector *detector = NULL;
	struct fsl_error err = {0};
	if (fsl_registry_load_plugin(registry, FSL_PLUGIN_DIR "/sample_plugin.so", &detector,
				     &err) != FSL_OK) {
		fail_msg("%s", fsl_error_root(&err));
	}
	assert_string_equal(detector->name, "SampleLimit");
	assert_ptr_equal(fsl_registry_find(registry, "SampleLimit"), detector);
	bench.config.detector = detector;
	cJSON *json = cJSON_Parse("{\"plugin\": \"sample_plugin.so\", \"limit_ms\": 50}");
	assert_int_equal(fsl_registry_params(detector, json, "test", &bench.arena,
					     &bench.config.params, NULL),
			 FSL_OK);
	cJSON_Delete(json);
	bench_shape(&bench, FSL_METRIC_OWN, FSL_WINDOW_STEP, 3, 20);
	bench_fill(&bench, 40.0, 0.0);
	bench_add(&bench, 1, 5, 9, 20.0);
	bench_expect_one(&bench, 1, 5, 9);
	assert_true(fabs(bench_finding(&bench, 0)->slow_ratio - 1.2) < 1e-12);
	bench_expect_relabelled(&bench);
	bench_expect_memory_errors(&bench);
	fsl_findings_fini(&bench.findings);
	fsl_windows_fini(&bench.windows);
	fsl_arena_fini(&bench.arena);
}

/* Copies the sample to a file of this mode in a folder of that mode. */
static void copy_sample(char folder[64], char path[96], mode_t file_mode, mode_t folder_mode)
{
	char *text = NULL;
	size_t length = 0;
	(void)snprintf(folder, 64, "/tmp/fsl_plugin_XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, 96, "%s/sample.so", folder);
	assert_int_equal(
		fsl_file_read_text(FSL_PLUGIN_DIR "/sample_plugin.so", &text, &length, NULL),
		FSL_OK);
	assert_int_equal(fsl_file_write_atomic(path, text, length, NULL), FSL_OK);
	fsl_free(text);
	assert_int_equal(chmod(path, file_mode), 0);
	assert_int_equal(chmod(folder, folder_mode), 0);
}

static void a_plugin_that_others_can_change_is_refused(void **state)
{
	static const struct {
		mode_t file, folder;
		const char *why; /* NULL: it is loaded */
	} cases[] = {{0666, 0755, "others may write it"},
		     {0644, 0777, "others may write it"},
		     {0644, 01777, "others may write it"},
		     {0644, 0755, NULL}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_registry *other = fsl_registry_create();
		const struct fsl_detector *detector = NULL;
		struct fsl_error err = {0};
		char folder[64], path[96];
		copy_sample(folder, path, cases[i].file, cases[i].folder);
		enum fsl_status status = fsl_registry_load_plugin(other, path, &detector, &err);
		assert_int_equal(status, cases[i].why != NULL ? FSL_ERR_PLUGIN : FSL_OK);
		assert_true(cases[i].why == NULL ||
			    strstr(fsl_error_root(&err), cases[i].why) != NULL);
		fsl_registry_destroy(other);
		(void)unlink(path);
		(void)rmdir(folder);
	}
}

static void wrong_parameter_of_a_plugin_is_refused(void **state)
{
	(void)state;
	const struct fsl_detector *detector = NULL;
	assert_int_equal(fsl_registry_load_plugin(registry, FSL_PLUGIN_DIR "/sample_plugin.so",
						  &detector, NULL),
			 FSL_OK);
	struct fsl_arena arena = {0};
	struct fsl_error err = {0};
	const void *params = NULL;
	cJSON *json = cJSON_Parse("{\"limit_ms\": -1}");
	assert_int_equal(fsl_registry_params(detector, json, "test", &arena, &params, &err),
			 FSL_ERR_CONFIG);
	assert_non_null(strstr(fsl_error_root(&err), "key=\"limit_ms\""));
	cJSON_Delete(json);
	fsl_arena_fini(&arena);
}

static void loading_twice_is_loading_once(void **state)
{
	(void)state;
	const struct fsl_detector *first = NULL;
	const struct fsl_detector *second = NULL;
	size_t n_builtin = fsl_registry_size(registry);
	assert_int_equal(fsl_registry_load_plugin(registry, FSL_PLUGIN_DIR "/sample_plugin.so",
						  &first, NULL),
			 FSL_OK);
	/* Another spelling of the same file. */
	assert_int_equal(fsl_registry_load_plugin(registry,
						  FSL_PLUGIN_DIR "/../plugin/./sample_plugin.so",
						  &second, NULL),
			 FSL_OK);
	assert_ptr_equal(first, second);
	assert_int_equal(fsl_registry_size(registry), n_builtin + 1);
	assert_ptr_equal(fsl_registry_at(registry, n_builtin), first);
}

/* Loading @file fails; some message of the chain holds each of the two texts. */
static void expect_refusal(const char *file, const char *reason)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", FSL_PLUGIN_DIR, file);
	struct fsl_error err = {0};
	const struct fsl_detector *detector = NULL;
	size_t n_before = fsl_registry_size(registry);
	assert_int_equal(fsl_registry_load_plugin(registry, path, &detector, &err), FSL_ERR_PLUGIN);
	assert_null(detector);
	assert_int_equal(fsl_registry_size(registry), n_before);
	bool has_path = false;
	bool has_reason = false;
	for (size_t i = 0; i < err.n_causes; i++) {
		has_path = has_path || strstr(err.causes[i].message, path) != NULL;
		has_reason = has_reason || strstr(err.causes[i].message, reason) != NULL;
	}
	if (!has_path || !has_reason) {
		fail_msg("message: %s", fsl_error_root(&err));
	}
}

static void missing_file_is_named(void **state)
{
	(void)state;
	expect_refusal("no_such_plugin.so", "No such file");
}

static void file_that_is_no_shared_object_is_refused(void **state)
{
	(void)state;
	FILE *stream = fopen(FSL_PLUGIN_DIR "/text.so", "w");
	assert_non_null(stream);
	fputs("no shared object\n", stream);
	fclose(stream);
	expect_refusal("text.so", "cannot load plug-in");
	unlink(FSL_PLUGIN_DIR "/text.so");
}

static void missing_symbol_is_named(void **state)
{
	(void)state;
	expect_refusal("plugin_without_symbol.so", "symbol=\"fsl_plugin\"");
}

static void other_abi_says_build_it_again(void **state)
{
	(void)state;
	expect_refusal("plugin_of_other_abi.so", "build it again");
}

static void name_of_a_built_in_is_refused(void **state)
{
	(void)state;
	expect_refusal("plugin_with_taken_name.so", "name=\"BOCPD\"");
}

static void descriptor_without_scan_is_refused(void **state)
{
	(void)state;
	expect_refusal("plugin_without_scan.so", "scan is missing");
}

static void finding_beyond_the_last_window_is_an_error(void **state)
{
	(void)state;
	struct bench bench = {.registry = registry};
	const struct fsl_detector *detector = NULL;
	assert_int_equal(fsl_registry_load_plugin(registry,
						  FSL_PLUGIN_DIR "/plugin_out_of_range.so",
						  &detector, NULL),
			 FSL_OK);
	bench.config.detector = detector;
	bench_shape(&bench, FSL_METRIC_OWN, FSL_WINDOW_STEP, 1, 5);
	bool skipped = false;
	struct fsl_error err = {0};
	assert_int_equal(
		fsl_engine_scan(&bench.config, &bench.windows, &bench.findings, &skipped, &err),
		FSL_ERR_PLUGIN);
	assert_non_null(strstr(fsl_error_root(&err), "outside its unit"));
	fsl_findings_fini(&bench.findings);
	fsl_windows_fini(&bench.windows);
}

static void loading_without_memory_is_an_error(void **state)
{
	(void)state;
	for (uint64_t nth = 1; nth <= 2; nth++) {
		const struct fsl_detector *detector = NULL;
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_registry_load_plugin(
			registry, FSL_PLUGIN_DIR "/sample_plugin.so", &detector, NULL);
		fsl_mem_fail_at(0);
		assert_int_equal(status, FSL_ERR_MEMORY);
		assert_null(fsl_registry_find(registry, "SampleLimit"));
	}
}

#define PLUGIN_TEST(test) cmocka_unit_test_setup_teardown(test, create_registry, destroy_registry)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLUGIN_TEST(sample_runs_like_a_built_in),
		cmocka_unit_test(a_plugin_that_others_can_change_is_refused),
		PLUGIN_TEST(wrong_parameter_of_a_plugin_is_refused),
		PLUGIN_TEST(loading_twice_is_loading_once),
		PLUGIN_TEST(missing_file_is_named),
		PLUGIN_TEST(file_that_is_no_shared_object_is_refused),
		PLUGIN_TEST(missing_symbol_is_named),
		PLUGIN_TEST(other_abi_says_build_it_again),
		PLUGIN_TEST(name_of_a_built_in_is_refused),
		PLUGIN_TEST(descriptor_without_scan_is_refused),
		PLUGIN_TEST(finding_beyond_the_last_window_is_an_error),
		PLUGIN_TEST(loading_without_memory_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Verdict files: their names, that none is ever replaced, and errors of a bad disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "samples.h"

static char folder[] = FSL_BUILD_DIR "/report-test-XXXXXX";

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info;
	(void)kind;
	(void)walk;
	return remove(path);
}

static int make_folder(void **state)
{
	(void)state;
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* "<folder>/<name>" in @buffer. */
static const char *below(char *buffer, size_t size, const char *name)
{
	(void)snprintf(buffer, size, "%s/%s", folder, name);
	return buffer;
}

static size_t count_files(const char *path)
{
	char **names = NULL;
	size_t n_names = 0;
	assert_int_equal(fsl_dir_list(path, &names, &n_names, NULL), FSL_OK);
	fsl_free(names);
	return n_names;
}

static void assert_content(const char *path, cJSON *json, int indent)
{
	char *text = NULL;
	size_t length = 0;
	char *expected = fsl_json_text(json, indent);
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	assert_string_equal(text, expected);
	fsl_free(text);
	fsl_free(expected);
	cJSON_Delete(json);
}

static enum fsl_status write_localisation(struct sample *sample, const char **path,
					  struct fsl_error *err)
{
	struct fsl_report report = sample_report(sample);
	report.localisation_path = NULL;
	enum fsl_status status = fsl_report_write_localisation(&report, &sample->config, err);
	*path = report.localisation_path;
	return status;
}

static enum fsl_status write_perception(struct sample *sample, const char **path,
					struct fsl_error *err)
{
	struct fsl_report report = sample_report(sample);
	report.perception_path = NULL;
	enum fsl_status status = fsl_report_write_perception(&report, &sample->config, err);
	cJSON_Delete(report.perception_document);
	*path = report.perception_path;
	return status;
}

static void files_are_named_as_the_reference_names_them(void **state)
{
	(void)state;
	char where[256];
	char expected[512];
	struct sample *sample = sample_slow_rank();
	sample->config.slow_node_detection_path = below(where, sizeof(where), "a/b");
	sample->config.fail_slow_perception_path = where;
	const char *path = NULL;
	assert_int_equal(write_localisation(sample, &path, NULL), FSL_OK);
	assert_string_equal(
		path, below(expected, sizeof(expected), "a/b/slow_node_result_1750000093.json"));
	assert_content(path,
		       fsl_localisation_json(&sample->localisation, &sample->topology, &sample->run,
					     &sample->config),
		       0);
	assert_int_equal(write_perception(sample, &path, NULL), FSL_OK);
	assert_string_equal(path,
			    below(expected, sizeof(expected),
				  "a/b/fail_slow_perception_result_failSlow_1750000093.json"));
	assert_content(path, fsl_perception_json(&sample->perception, &sample->config), 4);
	assert_int_equal(count_files(where), 2);
	sample_destroy(sample);
}

static void an_existing_file_is_never_replaced(void **state)
{
	(void)state;
	char expected[512];
	struct sample *sample = sample_slow_rank();
	sample->config.slow_node_detection_path = folder;
	const char *first = NULL;
	const char *second = NULL;
	assert_int_equal(write_localisation(sample, &first, NULL), FSL_OK);
	sample->localisation.reason = "another";
	assert_int_equal(write_localisation(sample, &second, NULL), FSL_OK);
	assert_string_equal(second,
			    below(expected, sizeof(expected), "slow_node_result_1750000094.json"));
	char *text = NULL;
	size_t length = 0;
	assert_int_equal(fsl_file_read_text(first, &text, &length, NULL), FSL_OK);
	assert_null(strstr(text, "another"));
	assert_non_null(strstr(text, "\"timestamp\": 1750000093"));
	fsl_free(text);
	assert_int_equal(count_files(folder), 2);
	sample_destroy(sample);
}

static void a_folder_without_a_free_name_is_an_error(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample->config.slow_node_detection_path = folder;
	for (int64_t second = 1750000093; second < 1750000093 + 3600; second++) {
		char path[512];
		(void)snprintf(path, sizeof(path), "%s/slow_node_result_%lld.json", folder,
			       (long long)second);
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fclose(file), 0);
	}
	struct fsl_error err = {0};
	const char *path = NULL;
	assert_int_equal(write_localisation(sample, &path, &err), FSL_ERR_IO);
	assert_null(path);
	assert_non_null(strstr(fsl_error_root(&err), "no free name"));
	sample_destroy(sample);
}

static void a_folder_below_a_file_is_an_error_that_names_the_key(void **state)
{
	(void)state;
	char file_path[256];
	char where[256];
	FILE *file = fopen(below(file_path, sizeof(file_path), "plain"), "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	struct sample *sample = sample_create();
	sample->config.slow_node_detection_path = below(where, sizeof(where), "plain/results");
	sample->config.fail_slow_perception_path = where;
	struct fsl_error err = {0};
	const char *path = NULL;
	assert_int_equal(write_localisation(sample, &path, &err), FSL_ERR_IO);
	const char *top = err.causes[err.n_causes - 1].message;
	assert_non_null(strstr(top, "slow_node_detection_path"));
	assert_non_null(strstr(top, where));
	fsl_error_clear(&err);
	assert_int_equal(write_perception(sample, &path, &err), FSL_ERR_IO);
	assert_non_null(strstr(err.causes[err.n_causes - 1].message, "fail_slow_perception_path"));
	assert_null(path);
	sample_destroy(sample);
}

static void a_folder_of_an_option_is_not_said_to_be_a_key(void **state)
{
	(void)state;
	char file_path[256];
	FILE *file = fopen(below(file_path, sizeof(file_path), "taken"), "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	struct sample *sample = sample_create();
	sample->config.slow_node_detection_path = file_path;
	sample->config.fail_slow_perception_path = file_path;
	sample->config.is_output_given = true;
	struct fsl_error err = {0};
	const char *path = NULL;
	assert_int_equal(write_localisation(sample, &path, &err), FSL_ERR_IO);
	assert_non_null(strstr(err.causes[err.n_causes - 1].message, "option=\"--output\""));
	fsl_error_clear(&err);
	assert_int_equal(write_perception(sample, &path, &err), FSL_ERR_IO);
	assert_non_null(strstr(err.causes[err.n_causes - 1].message, "option=\"--output\""));
	assert_null(strstr(err.causes[err.n_causes - 1].message, "key="));
	sample_destroy(sample);
}

static void a_full_disk_is_an_error_and_leaves_no_part_of_a_file(void **state)
{
	(void)state;
	struct sample *sample = sample_missing(10000);
	sample->config.slow_node_detection_path = folder;
	struct rlimit before;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	struct rlimit tight = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	struct fsl_error err = {0};
	const char *path = NULL;
	enum fsl_status status = write_localisation(sample, &path, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, handler);
	assert_int_equal(status, FSL_ERR_IO);
	assert_null(path);
	assert_non_null(strstr(err.causes[err.n_causes - 1].message, "free space"));
	assert_int_equal(count_files(folder), 0);
	sample_destroy(sample);
}

static void *failing_malloc(size_t size)
{
	return fsl_calloc(1, size);
}

static void every_failed_allocation_leaves_no_file(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample->config.slow_node_detection_path = folder;
	cJSON_InitHooks(&(cJSON_Hooks){failing_malloc, fsl_free});
	const char *path = NULL;
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		assert_true(nth < 10000);
		fsl_mem_fail_at(nth);
		status = write_localisation(sample, &path, NULL);
		fsl_mem_fail_at(0);
		/* base/file.h says FSL_ERR_IO or FSL_ERR_MEMORY where its own memory is short */
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY || status == FSL_ERR_IO);
		assert_int_equal(count_files(folder), status == FSL_OK ? 1 : 0);
	}
	cJSON_InitHooks(NULL);
	sample_destroy(sample);
}

static void the_case_holds_both_files_unchanged(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	struct fsl_report report = sample_report(sample);
	cJSON *localisation = fsl_localisation_json(&sample->localisation, &sample->topology,
						    &sample->run, &sample->config);
	assert_int_equal(fsl_report_json(stream, &report, &sample->config, NULL), FSL_OK);
	assert_int_equal(fclose(stream), 0);
	cJSON *json = cJSON_Parse(text);
	assert_non_null(json);
	assert_true(cJSON_IsObject(cJSON_GetObjectItem(json, "perception")));
	char *expected_text = fsl_json_text(localisation, 0);
	char *part_text = fsl_json_text(cJSON_GetObjectItem(json, "localisation"), 0);
	assert_string_equal(part_text, expected_text);
	fsl_free(part_text);
	fsl_free(expected_text);
	cJSON_Delete(localisation);
	cJSON_Delete(json);
	free(text);
	sample_destroy(sample);
}

static void parts_that_did_not_run_are_null(void **state)
{
	(void)state;
	char *text = NULL;
	size_t length = 0;
	const struct fsl_report nothing = {0};
	FILE *stream = open_memstream(&text, &length);
	assert_int_equal(fsl_report_json(stream, &nothing, NULL, NULL), FSL_OK);
	assert_int_equal(fclose(stream), 0);
	cJSON *json = cJSON_Parse(text);
	static const char *const keys[] = {"perception", "localisation", "capture", "hang"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, keys[i])));
	}
	assert_string_equal(cJSON_GetObjectItem(json, "state")->valuestring, "unknown");
	cJSON_Delete(json);
	free(text);
}

static void a_full_stdout_is_an_error(void **state)
{
	(void)state;
	FILE *full = fopen("/dev/full", "w");
	if (full == NULL) {
		skip();
	}
	const struct fsl_report nothing = {0};
	struct fsl_error err = {0};
	assert_int_equal(fsl_report_json(full, &nothing, NULL, &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "No space left"));
	(void)fclose(full);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(files_are_named_as_the_reference_names_them),
		IN_FOLDER(an_existing_file_is_never_replaced),
		IN_FOLDER(a_folder_without_a_free_name_is_an_error),
		IN_FOLDER(a_folder_below_a_file_is_an_error_that_names_the_key),
		IN_FOLDER(a_folder_of_an_option_is_not_said_to_be_a_key),
		IN_FOLDER(a_full_disk_is_an_error_and_leaves_no_part_of_a_file),
		IN_FOLDER(every_failed_allocation_leaves_no_file),
		cmocka_unit_test(the_case_holds_both_files_unchanged),
		cmocka_unit_test(parts_that_did_not_run_are_null),
		cmocka_unit_test(a_full_stdout_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

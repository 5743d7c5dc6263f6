/* Perception on the reference cases: the result that truth.json asks for, and the reference's
 * output. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/number.h"
#include "detect/perceive.h"
#include "plugin/registry.h"
#include "source/ingest.h"

enum { PATH_BYTES = 1024 };

static const char *shared_dir(void)
{
	const char *dir = getenv("FSL_SHARED_DIR");
	return dir != NULL && dir[0] != '\0' ? dir : FSL_SHARED_DIR;
}

struct expectation {
	const char *name;
	enum fsl_verdict_kind kind;
	int64_t onset_step; /* of the only episode; -1: none */
	int64_t last_step;  /* of the timeline */
	double ratio;       /* after / before */
};

static const struct expectation expectations[] = {
	{"ckpt_tp8_r3", FSL_VERDICT_NORMAL, -1, 79, 1.0},
	{"clean_comm_tp2dp2pp2", FSL_VERDICT_NORMAL, -1, 59, 1.0},
	{"clean_tp8", FSL_VERDICT_NORMAL, -1, 79, 1.0},
	{"commlink_tp2dp2pp2_r2r6", FSL_VERDICT_JOB_SLOWDOWN, 45, 59, 1.58},
	{"compute_tp2dp4_r2_onset52", FSL_VERDICT_JOB_SLOWDOWN, 52, 69, 1.29},
	{"compute_tp4dp2_r6_onset30", FSL_VERDICT_JOB_SLOWDOWN, 30, 69, 1.29},
	{"compute_tp8_r3", FSL_VERDICT_NORMAL, -1, 79, 1.0},
	{"dataloader_tp4dp2_r4", FSL_VERDICT_NORMAL, -1, 69, 1.0},
	{"empty_rank6_tp8", FSL_VERDICT_NORMAL, -1, 79, 1.0},
	{"hang_tp8_at60", FSL_VERDICT_HANG, -1, 59, 1.0},
	{"json_compute_tp8_r3", FSL_VERDICT_NORMAL, -1, 27, 1.0},
	{"missing_rank5_tp8", FSL_VERDICT_NORMAL, -1, 79, 1.0},
	{"oplaunch_tp8_r3", FSL_VERDICT_NORMAL, -1, 79, 1.0},
	{"outer_tp8_r3", FSL_VERDICT_NORMAL, -1, 79, 1.0},
	{"spike_tp8", FSL_VERDICT_NORMAL, -1, 79, 1.0},
	{"stepslow_tp8_from40", FSL_VERDICT_JOB_SLOWDOWN, 40, 79, 1.49},
	{"tsdbscan_tp8_r3_onset60", FSL_VERDICT_JOB_SLOWDOWN, 60, 79, 1.20},
};
enum { N_EXPECTATIONS = sizeof(expectations) / sizeof(expectations[0]) };

/* One case, read and judged. */
struct judged {
	char dir[PATH_BYTES - 64];
	struct fsl_registry *registry;
	struct fsl_config config;
	struct fsl_run run;
	struct fsl_steps steps;
	struct fsl_perception out;
	struct fsl_error err;
};

static const char *file_of(const struct judged *judged, const char *name, char *path)
{
	(void)snprintf(path, PATH_BYTES, "%s/%s", judged->dir, name);
	return path;
}

static cJSON *read_json(const struct judged *judged, const char *name)
{
	char path[PATH_BYTES];
	char *text = NULL;
	size_t length = 0;
	assert_int_equal(fsl_file_read_text(file_of(judged, name, path), &text, &length, NULL),
			 FSL_OK);
	cJSON *json = cJSON_Parse(text);
	fsl_free(text);
	assert_non_null(json);
	return json;
}

/* truth.json: now_ns. Read as text, a double has not enough digits. */
static int64_t read_now(const struct judged *judged)
{
	char path[PATH_BYTES];
	char *text = NULL;
	size_t length = 0;
	int64_t now_ns = 0;
	assert_int_equal(
		fsl_file_read_text(file_of(judged, "truth.json", path), &text, &length, NULL),
		FSL_OK);
	const char *found = strstr(text, "\"now_ns\":");
	assert_non_null(found);
	found += strlen("\"now_ns\":");
	assert_true(fsl_parse_i64(found, strcspn(found, ",\n}"), &now_ns));
	fsl_free(text);
	return now_ns;
}

static void open_case(struct judged *judged, const char *name, bool with_timeline)
{
	char root[PATH_BYTES];
	char model[PATH_BYTES];
	*judged = (struct judged){.registry = fsl_registry_create()};
	assert_non_null(judged->registry);
	(void)snprintf(judged->dir, sizeof(judged->dir), "%s/data/cases/%s", shared_dir(), name);
	assert_int_equal(fsl_config_load(&judged->config,
					 file_of(judged, "model_config.json", model),
					 judged->registry, &judged->err),
			 FSL_OK);
	struct fsl_ingest_options options = {
		.root_path = file_of(judged, "mspti", root),
		.training_log = with_timeline ? judged->config.training_log : NULL,
		.from_ns = INT64_MIN,
		.to_ns = INT64_MAX,
		.n_threads = 1,
	};
	assert_int_equal(fsl_run_init(&judged->run, &judged->err), FSL_OK);
	assert_int_equal(fsl_ingest_run(&judged->run, &options, &judged->err), FSL_OK);
	assert_int_equal(fsl_steps_build(&judged->steps, &judged->run, &judged->err), FSL_OK);
	judged->config.now_ns = read_now(judged);
}

static void judge(struct judged *judged)
{
	struct fsl_progress progress;
	fsl_perception_fini(&judged->out);
	assert_int_equal(fsl_progress_build(&progress, &judged->run, &judged->steps, &judged->err),
			 FSL_OK);
	assert_int_equal(
		fsl_perceive(&judged->out, &judged->run, &progress, &judged->config, &judged->err),
		FSL_OK);
	fsl_progress_fini(&progress);
}

static void close_case(struct judged *judged)
{
	fsl_perception_fini(&judged->out);
	fsl_steps_fini(&judged->steps);
	fsl_run_fini(&judged->run);
	fsl_config_fini(&judged->config);
	fsl_registry_destroy(judged->registry);
}

static void check_case(const struct expectation *expected)
{
	struct judged judged;
	open_case(&judged, expected->name, true);
	judge(&judged);
	const struct fsl_perception *out = &judged.out;
	print_message("%-26s %-12s %s\n", expected->name, out->anomaly_type, out->reason);
	assert_int_equal(out->kind, expected->kind);
	assert_string_equal(judged.steps.source, "timeline");
	assert_int_equal(judged.steps.items[judged.steps.n_items - 1].step, expected->last_step);
	assert_int_equal(out->n_episodes, expected->onset_step >= 0 ? 1 : 0);
	if (expected->onset_step >= 0) {
		const struct fsl_step_episode *episode = &out->episodes[0];
		assert_int_equal(episode->onset_step, expected->onset_step);
		assert_int_equal(episode->until_step, -1);
		assert_true(fabs(episode->after_ms / episode->before_ms - expected->ratio) < 0.02);
		/* All of it, not two steps of it; the last step may have been cut short. */
		size_t n_slow = (size_t)(expected->last_step - expected->onset_step) + 1;
		assert_int_equal(episode->n_steps, n_slow);
		assert_in_range(out->n_anomalies, n_slow - 1, n_slow);
		assert_int_equal(out->anomalies[0].step, expected->onset_step);
	}
	close_case(&judged);
}

static void every_case_is_judged_as_its_truth_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_EXPECTATIONS; i++) {
		check_case(&expectations[i]);
	}
}

static void hang_is_one_only_when_now_is_past_the_limit(void **state)
{
	(void)state;
	struct judged judged;
	open_case(&judged, "hang_tp8_at60", true);
	judge(&judged);
	assert_string_equal(judged.out.anomaly_type, "hang");
	assert_true(judged.out.hang_mins > 59.9 && judged.out.hang_mins < 60.1);
	assert_int_equal(judged.out.n_stopped_first, 0);
	judged.config.now_ns = judged.out.hang_since_ns + INT64_C(29) * 60 * FSL_NS_PER_S;
	judge(&judged);
	assert_string_equal(judged.out.anomaly_type, "normal");
	close_case(&judged);
}

static void long_steps_around_checkpoints_are_explained(void **state)
{
	(void)state;
	struct judged judged;
	open_case(&judged, "ckpt_tp8_r3", true);
	judge(&judged);
	/* Five checkpoints, and behind each a step in which rank 0 waits for rank 3 to finish. */
	assert_int_equal(judged.out.n_explained, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(judged.out.explained[i].step,
				 15 * ((int64_t)i / 2 + 1) + (int64_t)i % 2);
		assert_string_equal(judged.out.explained[i].why, "checkpoint");
	}
	close_case(&judged);
}

static void missing_timeline_is_no_error(void **state)
{
	(void)state;
	struct judged judged;
	open_case(&judged, "clean_tp8", false);
	/* Markers alone: the operators' period stands in, or nothing does. */
	judge(&judged);
	assert_false(judged.out.is_anomaly);
	fsl_steps_fini(&judged.steps);
	judge(&judged);
	assert_int_equal(judged.out.kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	close_case(&judged);
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	assert_non_null(item);
	return cJSON_IsString(item) ? strtod(item->valuestring, NULL) : item->valuedouble;
}

/* The reference numbers the steps of its range from 0 and counts integer milliseconds. */
static void check_reference(const char *name)
{
	struct judged judged;
	open_case(&judged, name, true);
	judged.config.algorithm = FSL_ALGORITHM_SYSTRACE;
	judged.config.now_ns = 0; /* its hang needs two polls */
	judge(&judged);
	cJSON *document = read_json(&judged, "expected_perception_fixed.json");
	const cJSON *expected = cJSON_GetObjectItemCaseSensitive(document, "perception");
	const cJSON *steps = cJSON_GetObjectItemCaseSensitive(expected, "anomaly_info");
	const struct fsl_perception *out = &judged.out;
	assert_string_equal(
		out->anomaly_type,
		cJSON_GetObjectItemCaseSensitive(expected, "anomaly_type")->valuestring);
	assert_int_equal(out->n_anomalies, cJSON_GetArraySize(steps));
	for (int i = 0; i < cJSON_GetArraySize(steps); i++) {
		const cJSON *step = cJSON_GetArrayItem(steps, i);
		const struct fsl_step_anomaly *ours = &out->anomalies[i];
		assert_true((double)(ours->step - judged.config.task_stable_step) ==
			    number_of(step, "training_step"));
		assert_true(ours->step_ms == number_of(step, "anomaly_training_time"));
		assert_true(fabs(ours->normal_ms - number_of(step, "normal_training_time")) < 1e-9);
		assert_true(fabs(ours->degree - number_of(step, "anomaly_degree")) <= 0.0005001);
	}
	assert_true((double)(out->start_ns / FSL_NS_PER_MS) == number_of(expected, "start_time"));
	assert_true((double)(out->end_ns / FSL_NS_PER_MS) == number_of(expected, "end_time"));
	cJSON_Delete(document);
	close_case(&judged);
}

static void systrace_mode_prints_the_numbers_of_the_reference(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_EXPECTATIONS; i++) {
		print_message("%s\n", expectations[i].name);
		check_reference(expectations[i].name);
	}
}

int main(void)
{
	char path[PATH_BYTES];
	struct stat status;
	(void)snprintf(path, sizeof(path), "%s/data/cases", shared_dir());
	if (stat(path, &status) != 0) {
		print_message("no reference cases, skipped: path=\"%s\"\n", path);
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_is_judged_as_its_truth_says),
		cmocka_unit_test(hang_is_one_only_when_now_is_past_the_limit),
		cmocka_unit_test(long_steps_around_checkpoints_are_explained),
		cmocka_unit_test(missing_timeline_is_no_error),
		cmocka_unit_test(systrace_mode_prints_the_numbers_of_the_reference),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Shared by tests on reference data: its place, the list of cases, and how to read one. */
#ifndef TESTS_SHARED_H
#define TESTS_SHARED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/file.h"
#include "config/config.h"
#include "match/topology_build.h"
#include "plugin/registry.h"
#include "source/ingest.h"

enum { SHARED_SKIP = 77, SHARED_PATH_BYTES = 1024 };

static const char *const shared_cases[] = {
	"ckpt_tp8_r3",
	"clean_comm_tp2dp2pp2",
	"clean_tp8",
	"commlink_tp2dp2pp2_r2r6",
	"compute_tp2dp4_r2_onset52",
	"compute_tp4dp2_r6_onset30",
	"compute_tp8_r3",
	"dataloader_tp4dp2_r4",
	"empty_rank6_tp8",
	"hang_tp8_at60",
	"json_compute_tp8_r3",
	"missing_rank5_tp8",
	"oplaunch_tp8_r3",
	"outer_tp8_r3",
	"spike_tp8",
	"stepslow_tp8_from40",
	"tsdbscan_tp8_r3_onset60",
};
enum { SHARED_CASES_N = sizeof(shared_cases) / sizeof(shared_cases[0]) };

/* "<shared>/data/<name>/<file>" in @path. */
static inline const char *shared_path(char path[SHARED_PATH_BYTES], const char *name,
				      const char *file)
{
	const char *asked = getenv("FSL_SHARED_DIR");
	int length = snprintf(path, SHARED_PATH_BYTES, "%s/data/%s/%s",
			      asked != NULL ? asked : FSL_SHARED_DIR, name, file);
	assert_in_range(length, 1, SHARED_PATH_BYTES - 1);
	return path;
}

/* Says so and returns false where the reference data is absent. */
static inline bool shared_is_there(void)
{
	char path[SHARED_PATH_BYTES];
	if (access(shared_path(path, "cases", ""), R_OK) == 0) {
		return true;
	}
	printf("skipped, no reference data: path=\"%s\"\n", path);
	return false;
}

static inline cJSON *shared_json(const char *name, const char *file)
{
	char path[SHARED_PATH_BYTES];
	char *text = NULL;
	size_t length = 0;
	assert_int_equal(fsl_file_read_text(shared_path(path, name, file), &text, &length, NULL),
			 FSL_OK);
	cJSON *root = cJSON_ParseWithLength(text, length);
	fsl_free(text);
	assert_non_null(root);
	return root;
}

/* A tree that was read: configuration, operators, topology. */
struct shared_job {
	struct fsl_registry *registry;
	struct fsl_config config;
	struct fsl_run run;
	struct fsl_topology topology;
};

/* Reads a tree by its model_config.json, or by @root_path with the built-in configuration. */
static inline void shared_job_load(struct shared_job *job, const char *config_path,
				   const char *root_path, enum fsl_algorithm algorithm)
{
	struct fsl_error err = {0};
	*job = (struct shared_job){.registry = fsl_registry_create()};
	assert_non_null(job->registry);
	enum fsl_status status = fsl_config_load(&job->config, config_path, job->registry, &err);
	job->config.algorithm = algorithm;
	if (status == FSL_OK) {
		status = fsl_run_init(&job->run, &err);
	}
	if (status == FSL_OK) {
		struct fsl_ingest_options options = {
			.root_path = root_path != NULL ? root_path : job->config.root_path,
			.training_log = root_path != NULL ? NULL : job->config.training_log,
			.from_ns = INT64_MIN,
			.to_ns = INT64_MAX,
		};
		status = fsl_ingest_run(&job->run, &options, &err);
	}
	if (status == FSL_OK) {
		status = fsl_topology_build(&job->topology, &job->run, &job->config, &err);
	}
	if (status != FSL_OK) {
		fsl_error_print(stderr, &err);
	}
	assert_int_equal(status, FSL_OK);
}

static inline void shared_job_fini(struct shared_job *job)
{
	fsl_topology_fini(&job->topology);
	fsl_run_fini(&job->run);
	fsl_config_fini(&job->config);
	fsl_registry_destroy(job->registry);
}

#endif

/* A scratch folder with configuration files, and the problems that loading them reports. */
#ifndef TESTS_UNIT_CONFIG_CONFIG_FIXTURE_H
#define TESTS_UNIT_CONFIG_CONFIG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "plugin/registry.h"

enum { PROBLEMS_BYTES = 64 * 1024 };

struct fixture {
	char directory[64];
	char model[128], metric[128]; /* paths of the two files */
	struct fsl_registry *registry;
	struct fsl_config config;
	struct fsl_error err;
	size_t n_errors, n_warnings, n_notes;
	char problems[PROBLEMS_BYTES]; /* "error: ...\n" and "warning: ...\n" */
	char note[1024];               /* the last one */
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	assert_non_null(fixture);
	strcpy(fixture->directory, "/tmp/failslow-config-XXXXXX");
	assert_non_null(mkdtemp(fixture->directory));
	(void)snprintf(fixture->model, sizeof(fixture->model), "%s/model_config.json",
		       fixture->directory);
	(void)snprintf(fixture->metric, sizeof(fixture->metric), "%s/metric_config.json",
		       fixture->directory);
	fixture->registry = fsl_registry_create();
	assert_non_null(fixture->registry);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	fsl_config_fini(&fixture->config);
	fsl_registry_destroy(fixture->registry);
	(void)unlink(fixture->model);
	(void)unlink(fixture->metric);
	(void)rmdir(fixture->directory);
	free(fixture);
	return 0;
}

static void write_bytes(const char *path, const char *text, size_t length)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void keep_problem(void *context, enum fsl_log_level level, const char *text)
{
	struct fixture *fixture = context;
	size_t length = strlen(fixture->problems);
	if (level == FSL_LOG_INFO) {
		fixture->n_notes++;
		(void)snprintf(fixture->note, sizeof(fixture->note), "%s", text);
		return;
	}
	fixture->n_errors += level == FSL_LOG_ERROR;
	fixture->n_warnings += level == FSL_LOG_WARNING;
	(void)snprintf(fixture->problems + length, sizeof(fixture->problems) - length, "%s: %s\n",
		       level == FSL_LOG_ERROR ? "error" : "warning", text);
}

/* Loads @path afresh (NULL: built-in defaults). */
static enum fsl_status load_path(struct fixture *fixture, const char *path)
{
	const struct fsl_config_reporter reporter = {keep_problem, fixture};
	fsl_config_fini(&fixture->config);
	fsl_error_clear(&fixture->err);
	fixture->n_errors = 0;
	fixture->n_warnings = 0;
	fixture->n_notes = 0;
	fixture->problems[0] = '\0';
	return fsl_config_load_reported(&fixture->config, path, fixture->registry, &reporter,
					&fixture->err);
}

static enum fsl_status load_model(struct fixture *fixture, const char *text)
{
	write_bytes(fixture->model, text, strlen(text));
	return load_path(fixture, fixture->model);
}

/* Loads an empty model with @text as its metric configuration. */
static inline enum fsl_status load_metric(struct fixture *fixture, const char *text)
{
	write_bytes(fixture->metric, text, strlen(text));
	return load_model(fixture, "{}");
}

/* The file cannot be used, and the problems say @what. */
static inline void assert_refused(struct fixture *fixture, enum fsl_status status, const char *what)
{
	if (status != FSL_ERR_CONFIG || strstr(fixture->problems, what) == NULL) {
		fail_msg("wanted \"%s\" among the problems: %s", what, fixture->problems);
	}
	assert_true(fixture->n_errors > 0);
	assert_true(fixture->err.n_causes > 0);
	assert_null(fixture->config.arena.blocks); /* left empty */
}

/* The file can be used, and exactly one warning says @what. */
static inline void assert_warned(struct fixture *fixture, enum fsl_status status, const char *what)
{
	if (status != FSL_OK || fixture->n_warnings != 1 ||
	    strstr(fixture->problems, what) == NULL) {
		fail_msg("wanted the warning \"%s\": %s", what, fixture->problems);
	}
}

static inline void assert_silent(struct fixture *fixture, enum fsl_status status)
{
	if (status != FSL_OK || fixture->problems[0] != '\0') {
		fail_msg("wanted no problems: %s", fixture->problems);
	}
}

/* Effective value and origin as `failslow config explain` shows them. */
static inline const struct fsl_config_value *explained(const struct fixture *fixture,
						       const char *key)
{
	for (size_t i = 0; i < fixture->config.n_values; i++) {
		if (strcmp(fixture->config.values[i].key, key) == 0) {
			return &fixture->config.values[i];
		}
	}
	fail_msg("no value recorded for %s", key);
	return NULL;
}

#endif

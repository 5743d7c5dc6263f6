/* `failslow config`: is a configuration right, what does it amount to, which keys are there. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "config/config.h"
#include "match/topology_build.h"
#include "plugin/registry.h"
#include "report/document.h"

enum { VALUE_SHOWN = 60 }; /* of a value in text; JSON has all of it */
static const char wanted[] = "check [FILE], explain [FILE] or keys";

/* Problems that `check` counts while the loader reports them. */
struct findings {
	size_t n_errors, n_warnings;
	struct fsl_document document;
	cJSON *problems; /* JSON only; NULL: problems are printed at once */
};

static void count_problem(void *context, enum fsl_log_level level, const char *text)
{
	struct findings *findings = context;
	const char *word = level == FSL_LOG_ERROR ? "error" : "warning";
	findings->n_errors += level == FSL_LOG_ERROR;
	findings->n_warnings += level != FSL_LOG_ERROR;
	if (findings->problems == NULL) {
		printf("%s: %s\n", word, text);
		return;
	}
	cJSON *object = fsl_document_object(&findings->document, findings->problems, NULL);
	fsl_document_text(&findings->document, object, "level", word);
	fsl_document_text(&findings->document, object, "text", text);
}

static enum fsl_status print_check_json(const char *path, struct findings *findings,
					struct fsl_error *err)
{
	struct fsl_document *document = &findings->document;
	cJSON *root = cJSON_CreateObject();
	fsl_document_text(document, root, "path", path);
	fsl_document_count(document, root, "errors", findings->n_errors);
	fsl_document_count(document, root, "warnings", findings->n_warnings);
	fsl_document_item(document, root, "problems", findings->problems);
	findings->problems = NULL; /* the root owns it from here on */
	return fsl_print_json(fsl_document_finish(document, root), err);
}

/* Looks for faults that only the keys of a valid configuration together show. */
static enum fsl_status check_together(const struct fsl_config *config, struct findings *findings,
				      struct fsl_error *err)
{
	struct fsl_error own = {0};
	enum fsl_status status = fsl_hccl_domain_check(config, &own);
	if (status == FSL_ERR_MEMORY) {
		*err = own;
		return status;
	}
	if (status != FSL_OK) {
		count_problem(findings, FSL_LOG_ERROR, fsl_error_root(&own));
	}
	return FSL_OK;
}

static enum fsl_status check_file(const char *path, struct fsl_registry *registry,
				  enum fsl_output_format format, int *exit_code,
				  struct fsl_error *err)
{
	struct findings findings = {0};
	const struct fsl_config_reporter reporter = {count_problem, &findings};
	struct fsl_config config;
	struct fsl_error load_err = {0};
	if (format == FSL_OUTPUT_JSON && (findings.problems = cJSON_CreateArray()) == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the list of problems");
	}
	enum fsl_status status =
		fsl_config_load_reported(&config, path, registry, &reporter, &load_err);
	if (status == FSL_OK) {
		status = check_together(&config, &findings, &load_err);
		fsl_config_fini(&config);
	}
	if (status != FSL_OK && status != FSL_ERR_CONFIG) {
		*err = load_err;
		goto out;
	}
	status = FSL_OK;
	const char *shown = path != NULL ? path : "built-in defaults";
	if (format == FSL_OUTPUT_JSON) {
		status = print_check_json(shown, &findings, err);
	} else {
		printf("%s: %s, errors=%zu, warnings=%zu\n", shown,
		       findings.n_errors > 0 ? "cannot be used" : "can be used", findings.n_errors,
		       findings.n_warnings);
	}
	*exit_code = findings.n_errors > 0 ? FSL_EXIT_USAGE : FSL_EXIT_DONE;
out:
	cJSON_Delete(findings.problems);
	return status;
}

static const char *source_of(const struct fsl_config_value *value)
{
	return value->file[0] != '\0' ? value->file : "default";
}

static enum fsl_status explain_text(const struct fsl_config *config, struct fsl_error *err)
{
	enum { N_COLUMNS = 3 };
	struct fsl_arena arena = {0};
	size_t n_cells = (config->n_values + 1) * N_COLUMNS;
	const char **cells = NULL;
	FSL_TRY(FSL_ARENA_NEW(cells, &arena, n_cells, "cells", err));
	enum fsl_status status = FSL_OK;
	cells[0] = "key";
	cells[1] = "from";
	cells[2] = "value";
	for (size_t i = 0; i < config->n_values; i++) {
		const struct fsl_config_value *value = &config->values[i];
		const char **row = cells + (i + 1) * N_COLUMNS;
		row[0] = value->key;
		row[1] = source_of(value);
		row[2] = strlen(value->value) <= VALUE_SHOWN
				 ? value->value
				 : fsl_arena_printf(&arena, "%.*s...", VALUE_SHOWN, value->value);
		if (row[2] == NULL) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
			goto out;
		}
	}
	/* A row is a line, for grep. */
	fsl_print_table(cells, config->n_values + 1, N_COLUMNS, INT_MAX);
out:
	fsl_arena_fini(&arena);
	return status;
}

static enum fsl_status explain_json(const struct fsl_config *config, struct fsl_error *err)
{
	struct fsl_document document = {0};
	cJSON *list = fsl_document_array(&document, NULL, NULL);
	for (size_t i = 0; i < config->n_values; i++) {
		const struct fsl_config_value *value = &config->values[i];
		cJSON *object = fsl_document_object(&document, list, NULL);
		fsl_document_text(&document, object, "key", value->key);
		fsl_document_item(&document, object, "value", cJSON_CreateRaw(value->value));
		fsl_document_text(&document, object, "from", source_of(value));
	}
	return fsl_print_json(fsl_document_finish(&document, list), err);
}

static enum fsl_status explain_file(const char *path, struct fsl_registry *registry,
				    enum fsl_output_format format, struct fsl_error *err)
{
	struct fsl_config config;
	FSL_TRY(fsl_config_load(&config, path, registry, err));
	enum fsl_status status =
		format == FSL_OUTPUT_JSON ? explain_json(&config, err) : explain_text(&config, err);
	fsl_config_fini(&config);
	return status;
}

static enum fsl_status keys_text(enum fsl_config_file file, struct fsl_error *err)
{
	enum { N_COLUMNS = 5 };
	size_t n_keys = 0, n_rows = 1;
	const struct fsl_config_key *keys = fsl_config_keys(&n_keys);
	const char **cells = NULL;
	FSL_TRY(FSL_NEW(cells, (n_keys + 1) * N_COLUMNS, "cells", err));
	static const char *const heading[N_COLUMNS] = {"key", "type", "default", "unit", "meaning"};
	memcpy(cells, heading, sizeof(heading));
	for (size_t i = 0; i < n_keys; i++) {
		const char *const row[N_COLUMNS] = {keys[i].key, keys[i].type, keys[i].fallback,
						    keys[i].unit, keys[i].help};
		if (keys[i].file == file) {
			memcpy(cells + n_rows * N_COLUMNS, row, sizeof(row));
			n_rows++;
		}
	}
	printf("%s:\n", fsl_config_file_text(file));
	fsl_print_table(cells, n_rows, N_COLUMNS, fsl_terminal_width());
	fsl_free(cells);
	return FSL_OK;
}

static void add_key(struct fsl_document *document, cJSON *list, const struct fsl_config_key *key)
{
	cJSON *object = fsl_document_object(document, list, NULL);
	fsl_document_text(document, object, "file", fsl_config_file_text(key->file));
	fsl_document_text(document, object, "key", key->key);
	fsl_document_text(document, object, "type", key->type);
	fsl_document_item(document, object, "default", cJSON_CreateRaw(key->fallback));
	fsl_document_text(document, object, "unit", key->unit);
	if (key->max > key->min) {
		fsl_document_item(document, object, "min", cJSON_CreateNumber(key->min));
		fsl_document_item(document, object, "max", cJSON_CreateNumber(key->max));
	}
	if (key->choices != NULL) {
		cJSON *choices = fsl_document_array(document, object, "choices");
		for (size_t i = 0; key->choices[i] != NULL; i++) {
			fsl_document_text(document, choices, NULL, key->choices[i]);
		}
	}
	fsl_document_text(document, object, "origin", key->is_ours ? "failslow" : "sysTrace");
	fsl_document_bool(document, object, "used", key->kind != FSL_KIND_UNUSED);
	fsl_document_text(document, object, "help", key->help);
}

static enum fsl_status keys_json(struct fsl_error *err)
{
	size_t n_keys = 0;
	const struct fsl_config_key *keys = fsl_config_keys(&n_keys);
	struct fsl_document document = {0};
	cJSON *list = fsl_document_array(&document, NULL, NULL);
	for (size_t i = 0; i < n_keys; i++) {
		add_key(&document, list, &keys[i]);
	}
	return fsl_print_json(fsl_document_finish(&document, list), err);
}

static enum fsl_status print_keys(enum fsl_output_format format, struct fsl_error *err)
{
	if (format == FSL_OUTPUT_JSON) {
		return keys_json(err);
	}
	FSL_TRY(keys_text(FSL_CONFIG_MODEL, err));
	printf("\n");
	return keys_text(FSL_CONFIG_METRIC, err);
}

static enum fsl_status run_topic(int n_operands, char **operands, enum fsl_output_format format,
				 int *exit_code, struct fsl_error *err)
{
	bool is_check = strcmp(operands[0], "check") == 0;
	if (strcmp(operands[0], "keys") == 0) {
		FSL_TRY(fsl_check_operands(n_operands, 1, 1, "no operand behind keys", err));
		return print_keys(format, err);
	}
	if (!is_check && strcmp(operands[0], "explain") != 0) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "unknown task: given=\"%s\", wanted=\"%s\"",
				operands[0], wanted);
	}
	const char *path = n_operands > 1 ? operands[1] : fsl_config_find_default();
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the detector registry");
	}
	enum fsl_status status = is_check ? check_file(path, registry, format, exit_code, err)
					  : explain_file(path, registry, format, err);
	fsl_registry_destroy(registry);
	return status;
}

enum fsl_status fsl_cmd_config(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	static const struct fsl_output_command command = {
		.name = "config",
		.synopsis = "config check|explain|keys [FILE] [--format text|json]",
		.text = "check    prints every problem of a configuration\n"
			"explain  prints every effective value and where it comes from\n"
			"keys     lists all keys with type, default and meaning\n"
			"Without FILE: the installed configuration, else the built-in one.\n",
		.format_help = "text or json.",
		.n_operands_min = 1,
		.n_operands_max = 2,
		.operands = wanted,
	};
	struct fsl_output_request request = {0};
	enum fsl_status status = fsl_output_request_parse(&request, &command, argc, argv, err);
	*exit_code = FSL_EXIT_DONE;
	if (status != FSL_OK || request.is_done) {
		return status;
	}
	return run_topic(request.n_operands, argv + 1, request.format, exit_code, err);
}

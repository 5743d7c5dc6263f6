/* `failslow config`: is a configuration right, what does it amount to, which keys are there. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "config/config.h"
#include "match/topology_build.h"
#include "plugin/registry.h"

enum { VALUE_SHOWN = 60 }; /* of a value in text; JSON has all of it */
static const char wanted[] = "check [FILE], explain [FILE] or keys";

/* Problems that `check` counts while the loader reports them. */
struct findings {
	size_t n_errors, n_warnings;
	cJSON *problems; /* JSON only; NULL: problems are printed at once */
	bool is_short;   /* a problem could not be kept: out of memory */
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
	cJSON *object = cJSON_CreateObject();
	if (!cJSON_AddItemToArray(findings->problems, object) ||
	    !fsl_json_add_text(object, "level", word) || !fsl_json_add_text(object, "text", text)) {
		findings->is_short = true;
	}
}

static enum fsl_status print_check_json(const char *path, struct findings *findings,
					struct fsl_error *err)
{
	cJSON *root = cJSON_CreateObject();
	bool ok = !findings->is_short && fsl_json_add_text(root, "path", path) &&
		  cJSON_AddNumberToObject(root, "errors", (double)findings->n_errors) != NULL &&
		  cJSON_AddNumberToObject(root, "warnings", (double)findings->n_warnings) != NULL &&
		  cJSON_AddItemToObject(root, "problems", findings->problems);
	if (ok) {
		findings->problems = NULL; /* the root owns it from here on */
		return fsl_print_json(root, err);
	}
	cJSON_Delete(root);
	return fsl_print_json(NULL, err);
}

/* Looks for faults that only the keys of a valid configuration together show. */
static void check_together(const struct fsl_config *config, struct findings *findings)
{
	struct fsl_error err = {0};
	if (fsl_hccl_domain_check(config, &err) != FSL_OK) {
		count_problem(findings, FSL_LOG_ERROR, fsl_error_root(&err));
	}
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
		check_together(&config, &findings);
		fsl_config_fini(&config);
	} else if (status != FSL_ERR_CONFIG) {
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

static enum fsl_status explain_text(const struct fsl_config *config, struct fsl_error *err)
{
	enum { N_COLUMNS = 3 };
	struct fsl_arena arena = {0};
	size_t n_cells = (config->n_values + 1) * N_COLUMNS;
	const char **cells = fsl_arena_alloc(&arena, n_cells * sizeof(*cells));
	if (cells == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
	}
	enum fsl_status status = FSL_OK;
	cells[0] = "key";
	cells[1] = "from";
	cells[2] = "value";
	for (size_t i = 0; i < config->n_values; i++) {
		const struct fsl_config_value *value = &config->values[i];
		const char **row = cells + (i + 1) * N_COLUMNS;
		row[0] = value->key;
		row[1] = value->file[0] != '\0' ? value->file : "default";
		row[2] = strlen(value->value) <= VALUE_SHOWN
				 ? value->value
				 : fsl_arena_printf(&arena, "%.*s...", VALUE_SHOWN, value->value);
		if (row[2] == NULL) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
			goto out;
		}
	}
	fsl_print_table(cells, config->n_values + 1, N_COLUMNS);
out:
	fsl_arena_fini(&arena);
	return status;
}

static enum fsl_status explain_json(const struct fsl_config *config, struct fsl_error *err)
{
	cJSON *list = cJSON_CreateArray();
	bool ok = list != NULL;
	for (size_t i = 0; ok && i < config->n_values; i++) {
		const struct fsl_config_value *value = &config->values[i];
		cJSON *object = cJSON_CreateObject();
		ok = cJSON_AddItemToArray(list, object) &&
		     fsl_json_add_text(object, "key", value->key) &&
		     cJSON_AddRawToObject(object, "value", value->value) != NULL &&
		     fsl_json_add_text(object, "from",
				       value->file[0] != '\0' ? value->file : "default");
	}
	if (!ok) {
		cJSON_Delete(list);
		list = NULL;
	}
	return fsl_print_json(list, err);
}

static enum fsl_status explain_file(const char *path, struct fsl_registry *registry,
				    enum fsl_output_format format, struct fsl_error *err)
{
	struct fsl_config config;
	enum fsl_status status = fsl_config_load(&config, path, registry, err);
	if (status != FSL_OK) {
		return status;
	}
	status =
		format == FSL_OUTPUT_JSON ? explain_json(&config, err) : explain_text(&config, err);
	fsl_config_fini(&config);
	return status;
}

static enum fsl_status keys_text(enum fsl_config_file file, struct fsl_error *err)
{
	enum { N_COLUMNS = 5 };
	size_t n_keys = 0, n_rows = 1;
	const struct fsl_config_key *keys = fsl_config_keys(&n_keys);
	const char **cells = fsl_calloc((n_keys + 1) * N_COLUMNS, sizeof(*cells));
	if (cells == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
	}
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
	fsl_print_table(cells, n_rows, N_COLUMNS);
	fsl_free(cells);
	return FSL_OK;
}

static bool add_key(cJSON *list, const struct fsl_config_key *key)
{
	cJSON *object = cJSON_CreateObject();
	bool ok = cJSON_AddItemToArray(list, object) &&
		  fsl_json_add_text(object, "file", fsl_config_file_text(key->file)) &&
		  fsl_json_add_text(object, "key", key->key) &&
		  fsl_json_add_text(object, "type", key->type) &&
		  cJSON_AddRawToObject(object, "default", key->fallback) != NULL &&
		  fsl_json_add_text(object, "unit", key->unit);
	if (ok && key->max > key->min) {
		ok = cJSON_AddNumberToObject(object, "min", key->min) != NULL &&
		     cJSON_AddNumberToObject(object, "max", key->max) != NULL;
	}
	if (ok && key->choices != NULL) {
		cJSON *choices = cJSON_AddArrayToObject(object, "choices");
		ok = choices != NULL;
		for (size_t i = 0; ok && key->choices[i] != NULL; i++) {
			ok = cJSON_AddItemToArray(choices, cJSON_CreateString(key->choices[i]));
		}
	}
	return ok && fsl_json_add_text(object, "origin", key->is_ours ? "failslow" : "sysTrace") &&
	       cJSON_AddBoolToObject(object, "used", key->kind != FSL_KIND_UNUSED) != NULL &&
	       fsl_json_add_text(object, "help", key->help);
}

static enum fsl_status keys_json(struct fsl_error *err)
{
	size_t n_keys = 0;
	const struct fsl_config_key *keys = fsl_config_keys(&n_keys);
	cJSON *list = cJSON_CreateArray();
	bool ok = list != NULL;
	for (size_t i = 0; ok && i < n_keys; i++) {
		ok = add_key(list, &keys[i]);
	}
	if (!ok) {
		cJSON_Delete(list);
		list = NULL;
	}
	return fsl_print_json(list, err);
}

static enum fsl_status print_keys(enum fsl_output_format format, struct fsl_error *err)
{
	if (format == FSL_OUTPUT_JSON) {
		return keys_json(err);
	}
	enum fsl_status status = keys_text(FSL_CONFIG_MODEL, err);
	if (status == FSL_OK) {
		printf("\n");
		status = keys_text(FSL_CONFIG_METRIC, err);
	}
	return status;
}

static enum fsl_status run_topic(int n_operands, char **operands, enum fsl_output_format format,
				 int *exit_code, struct fsl_error *err)
{
	bool is_check = strcmp(operands[0], "check") == 0;
	if (strcmp(operands[0], "keys") == 0) {
		enum fsl_status status =
			fsl_check_operands(n_operands, 1, 1, "no operand behind keys", err);
		return status == FSL_OK ? print_keys(format, err) : status;
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
			"Without FILE: the installed configuration, else the built-in one.",
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

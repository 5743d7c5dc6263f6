/* `failslow config`: is a configuration right, what does it amount to, which keys are there. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/language.h"
#include "base/mem.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/config_places.h"
#include "config/config.h"
#include "match/topology_build.h"
#include "plugin/registry.h"
#include "report/document.h"

enum { VALUE_SHOWN = 60 }; /* of a value in text; JSON has all of it */
static const char wanted[] = "check [FILE], explain [FILE], init [FILE], keys or where";

/* The command line. */
struct request {
	const char *task;
	const char *path;              /* NULL: the default configuration */
	struct fsl_config_place place; /* of the default configuration */
	int format;                    /* enum fsl_output_format */
	bool is_strict, wants_help;
};

/* Problems that `check` counts while the loader reports them. */
struct findings {
	size_t n_errors, n_warnings, n_notes;
	bool is_strict; /* warnings and notes count as errors */
	struct fsl_document document;
	cJSON *problems; /* JSON only; NULL: problems are printed at once */
};

static void count_problem(void *context, enum fsl_log_level level, const char *text)
{
	struct findings *findings = context;
	const char *word = findings->is_strict || level == FSL_LOG_ERROR ? "error"
			   : level == FSL_LOG_WARNING                    ? "warning"
									 : "note";
	findings->n_errors += word[0] == 'e';
	findings->n_warnings += word[0] == 'w';
	findings->n_notes += word[0] == 'n';
	if (findings->problems == NULL) {
		struct fsl_told told;
		(void)fsl_tell_print(stdout, "%s: ", word);
		printf("%s\n", fsl_tell(text, &told));
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
	fsl_document_count(document, root, "notes", findings->n_notes);
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
	if (findings->is_strict && config->path[0] != '\0' && config->n_known_keys == 0) {
		char text[FSL_CAUSE_MESSAGE_MAX];
		(void)snprintf(text, sizeof(text),
			       "no key of it is known, `failslow config keys` shows all and "
			       "`failslow config init` writes a file to begin with: file=\"%s\"",
			       config->path);
		count_problem(findings, FSL_LOG_ERROR, text);
	}
	return FSL_OK;
}

/* The last line of `check`. */
static void print_summary(const char *path, const struct findings *findings, bool has_known_keys)
{
	struct fsl_told told;
	const char *state = findings->n_errors > 0 ? "cannot be used"
			    : has_known_keys       ? "can be used"
						   : "no key of it is known, so the defaults hold";
	printf("%s: %s, errors=%zu, warnings=%zu", path, fsl_tell(state, &told), findings->n_errors,
	       findings->n_warnings);
	if (findings->n_notes > 0) {
		printf(", notes=%zu", findings->n_notes);
	}
	printf("\n");
}

static enum fsl_status check_file(const struct request *request, struct fsl_registry *registry,
				  int *exit_code, struct fsl_error *err)
{
	struct findings findings = {.is_strict = request->is_strict};
	const struct fsl_config_reporter reporter = {count_problem, &findings};
	struct fsl_config config;
	struct fsl_error load_err = {0};
	bool has_known_keys = true, as_json = request->format == FSL_OUTPUT_JSON;
	if (as_json && (findings.problems = cJSON_CreateArray()) == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the list of problems");
	}
	enum fsl_status status =
		fsl_config_load_reported(&config, request->path, registry, &reporter, &load_err);
	if (status == FSL_OK) {
		has_known_keys = config.n_known_keys > 0 || request->path == NULL;
		status = check_together(&config, &findings, &load_err);
		fsl_config_fini(&config);
	}
	if (status != FSL_OK && status != FSL_ERR_CONFIG) {
		*err = load_err;
		goto out;
	}
	status = FSL_OK;
	const char *shown = request->path != NULL ? request->path : "built-in defaults";
	if (as_json) {
		status = print_check_json(shown, &findings, err);
	} else {
		print_summary(shown, &findings, has_known_keys);
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
	cells[1] = "origin";
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

/* check and explain: tasks about one file. */
static enum fsl_status look_at_file(struct request *request, int *exit_code, struct fsl_error *err)
{
	if (request->path == NULL && fsl_config_find_default(&request->place)) {
		request->path = request->place.path;
	}
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the detector registry");
	}
	enum fsl_status status =
		strcmp(request->task, "check") == 0
			? check_file(request, registry, exit_code, err)
			: explain_file(request->path, registry,
				       (enum fsl_output_format)request->format, err);
	fsl_registry_destroy(registry);
	return status;
}

static enum fsl_status show_keys(struct request *request, int *exit_code, struct fsl_error *err)
{
	(void)exit_code;
	return print_keys((enum fsl_output_format)request->format, err);
}

static enum fsl_status init_file(struct request *request, int *exit_code, struct fsl_error *err)
{
	(void)exit_code;
	return fsl_config_init(request->path, err);
}

static enum fsl_status show_places(struct request *request, int *exit_code, struct fsl_error *err)
{
	(void)exit_code;
	return fsl_config_where(request->format == FSL_OUTPUT_JSON, err);
}

struct task {
	const char *name;
	bool has_file;
	enum fsl_status (*run)(struct request *request, int *exit_code, struct fsl_error *err);
};

static const struct task tasks[] = {
	{"check", true, look_at_file}, {"explain", true, look_at_file}, {"init", true, init_file},
	{"keys", false, show_keys},    {"where", false, show_places},
};

static enum fsl_status run_task(struct request *request, int n_operands, int *exit_code,
				struct fsl_error *err)
{
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		const struct task *task = &tasks[i];
		if (strcmp(task->name, request->task) != 0) {
			continue;
		}
		if (!task->has_file && n_operands > 1) {
			return FSL_FAIL(err, FSL_ERR_USAGE,
					"too many operands: given=%d, wanted=\"no operand behind "
					"%s\"",
					n_operands, task->name);
		}
		if (request->is_strict && strcmp(task->name, "check") != 0) {
			return FSL_FAIL(err, FSL_ERR_USAGE,
					"--strict belongs to `failslow config check`: task=\"%s\"",
					task->name);
		}
		return task->run(request, exit_code, err);
	}
	return FSL_FAIL(err, FSL_ERR_USAGE, "unknown task: given=\"%s\", wanted=\"%s\"",
			request->task, wanted);
}

enum fsl_status fsl_cmd_config(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct request request = {0};
	int n_operands = 0;
	const struct fsl_opt options[] = {
		{"strict", 0, FSL_OPT_FLAG, &request.is_strict, 0, 0, NULL, NULL,
		 "check: unknown keys and keys without effect are errors."},
		{"format", 0, FSL_OPT_CHOICE, &request.format, 0, 0, fsl_output_formats, NULL,
		 "text or json."},
		{"help", 'h', FSL_OPT_FLAG, &request.wants_help, 0, 0, NULL, NULL,
		 "Shows this help."},
		{0},
	};
	*exit_code = FSL_EXIT_DONE;
	FSL_TRY(fsl_opt_parse(options, argc, argv, &n_operands, err));
	if (request.wants_help) {
		fsl_command_help(
			"config",
			"config check|explain|init|keys|where [FILE] [--strict] "
			"[--format text|json]",
			"check    prints every problem of a configuration\n"
			"explain  prints every effective value and where it comes from\n"
			"init     writes a configuration to begin with, over no other file\n"
			"keys     lists all keys with type, default and meaning\n"
			"where    lists the places of the configuration, and tells the one in use\n"
			"Without FILE: the configuration that `where` shows, else the "
			"built-in one.\n",
			options);
		return FSL_OK;
	}
	FSL_TRY(fsl_check_operands(n_operands, 1, 2, wanted, err));
	request.task = argv[1];
	request.path = n_operands > 1 ? argv[2] : NULL;
	return run_task(&request, n_operands, exit_code, err);
}

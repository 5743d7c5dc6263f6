/* `failslow list`: what this program knows, from the same tables that it works with. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <failslow/detector.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "model/verdict.h"
#include "plugin/registry.h"
#include "report/document.h"
#include "report/reporter.h"
#include "source/ingest.h"
#include "source/kineto/find.h"
#include "source/log/log_pattern.h"

enum topic { DETECTORS, FORMATS, REPORTERS, METRICS, COMMANDS, CAUSES, TOPICS_N };
static const char wanted[] = "detectors, formats, reporters, metrics, commands or causes";

static const char *const topics[TOPICS_N] = {"detectors", "formats",  "reporters",
					     "metrics",   "commands", "causes"};
/* Headings are also the names in JSON. */
static const char *const headings[TOPICS_N][3] = {
	[DETECTORS] = {"name", "scope", "summary"}, [FORMATS] = {"name", "summary"},
	[REPORTERS] = {"name", "summary"},          [METRICS] = {"name", "unit", "help"},
	[COMMANDS] = {"name", "summary"},           [CAUSES] = {"name", "help"},
};

static const struct {
	const char *name, *unit, *help;
} metrics[] = {
#define METRIC(id, name, unit, help) {name, unit, help},
#include <failslow/metrics.def>
#undef METRIC
	{NULL, NULL, NULL},
};

static const char *const scope_texts[] = {
	[FSL_SCOPE_RANK] = "rank", [FSL_SCOPE_GROUP] = "group", [FSL_SCOPE_JOB] = "job"};

static const char *const cause_helps[FSL_CAUSES_N] = {
	[FSL_CAUSE_COMPUTE] = "the rank's own computation takes longer than its peers'",
	[FSL_CAUSE_HOST] = "the host is late in handing work to the accelerator",
	[FSL_CAUSE_DATALOADER] = "loading the data of a step takes longer than on the peers",
	[FSL_CAUSE_STORAGE] = "saving a checkpoint takes longer than on the peers",
	[FSL_CAUSE_NETWORK] = "the link between two ranks is slow",
};

/* Cells of row @idx, from the table that the program works with; false behind the last row. */
static bool row_of(enum topic topic, const struct fsl_registry *registry, size_t idx,
		   const char *cells[3])
{
	const struct fsl_detector *detector = NULL;
	size_t n_traces = 0;
	switch (topic) {
	case DETECTORS:
		detector = fsl_registry_at(registry, idx);
		if (detector != NULL) {
			cells[0] = detector->name;
			cells[1] = scope_texts[detector->scope];
			cells[2] = detector->summary;
		}
		return detector != NULL;
	case FORMATS:
		if (fsl_kineto_form_at(idx, &cells[0], &cells[1])) {
			return true;
		}
		while (fsl_kineto_form_at(n_traces, &cells[0], &cells[1])) {
			n_traces++;
		}
		idx -= n_traces;
		if (idx >= fsl_formats_size()) {
			return fsl_log_form_at(idx - fsl_formats_size(), &cells[0], &cells[1]);
		}
		cells[0] = fsl_formats_at(idx)->name;
		cells[1] = fsl_formats_at(idx)->summary;
		break;
	case REPORTERS:
		cells[0] = idx < fsl_reporters_size() ? fsl_reporters_at(idx)->name : NULL;
		cells[1] = idx < fsl_reporters_size() ? fsl_reporters_at(idx)->summary : NULL;
		break;
	case METRICS:
		cells[0] = metrics[idx].name;
		cells[1] = metrics[idx].unit;
		cells[2] = metrics[idx].help;
		break;
	case COMMANDS:
		cells[0] = fsl_commands[idx].name;
		cells[1] = fsl_commands[idx].summary;
		break;
	case CAUSES:
		cells[0] = idx < FSL_CAUSES_N ? fsl_cause_text((enum fsl_cause)idx) : NULL;
		cells[1] = idx < FSL_CAUSES_N ? cause_helps[idx] : NULL;
		break;
	case TOPICS_N:
		return false;
	}
	return cells[0] != NULL;
}

static size_t n_columns_of(enum topic topic)
{
	return headings[topic][2] != NULL ? 3 : 2;
}

static enum fsl_status print_text(enum topic topic, const struct fsl_registry *registry,
				  struct fsl_error *err)
{
	const char *row[3] = {NULL};
	size_t n_columns = n_columns_of(topic), n_rows = 0;
	while (row_of(topic, registry, n_rows, row)) {
		n_rows++;
	}
	const char **cells = NULL;
	FSL_TRY(FSL_NEW(cells, (n_rows + 1) * n_columns, "cells", err));
	memcpy(cells, headings[topic], n_columns * sizeof(*cells));
	for (size_t i = 0; i < n_rows; i++) {
		(void)row_of(topic, registry, i, row);
		memcpy(cells + (i + 1) * n_columns, row, n_columns * sizeof(*cells));
	}
	fsl_print_table(cells, n_rows + 1, n_columns, fsl_terminal_width());
	fsl_free(cells);
	return FSL_OK;
}

/* A value of a parameter as JSON, from the double in its table. */
static cJSON *param_value(const struct fsl_param *param, double value)
{
	switch (param->type) {
	case FSL_PARAM_BOOL:
		return cJSON_CreateBool(value > 0);
	case FSL_PARAM_CHOICE:
		return cJSON_CreateString(param->choices[(int)value]);
	case FSL_PARAM_INT:
	case FSL_PARAM_REAL:
		break;
	}
	return isnan(value) ? cJSON_CreateNull() : cJSON_CreateNumber(value);
}

static void add_param(struct fsl_document *document, cJSON *list, const struct fsl_param *param)
{
	static const char *const types[] = {"integer", "number", "bool", "text"};
	cJSON *object = fsl_document_object(document, list, NULL);
	bool is_number = param->type == FSL_PARAM_INT || param->type == FSL_PARAM_REAL;
	fsl_document_text(document, object, "key", param->key);
	fsl_document_text(document, object, "type", types[param->type]);
	fsl_document_item(document, object, "default", param_value(param, param->fallback));
	if (is_number) {
		fsl_document_item(document, object, "min", cJSON_CreateNumber(param->min));
		fsl_document_item(document, object, "max", cJSON_CreateNumber(param->max));
		fsl_document_bool(document, object, "nullable", param->nullable);
	}
	if (param->type == FSL_PARAM_CHOICE) {
		cJSON *choices = fsl_document_array(document, object, "choices");
		for (size_t i = 0; param->choices[i] != NULL; i++) {
			fsl_document_text(document, choices, NULL, param->choices[i]);
		}
	}
	fsl_document_text(document, object, "help", param->help);
}

/* Metrics and parameters of a detector: too much for a line of text, all of it in JSON. */
static void add_detector_facts(struct fsl_document *document, cJSON *object,
			       const struct fsl_detector *detector)
{
	cJSON *list = fsl_document_array(document, object, "metrics");
	for (size_t i = 0; i < FSL_METRICS_N; i++) {
		if ((detector->needs & FSL_NEED(i)) != 0) {
			fsl_document_text(document, list, NULL, metrics[i].name);
		}
	}
	cJSON *params = fsl_document_array(document, object, "parameters");
	for (const struct fsl_param *param = detector->params; param->key != NULL; param++) {
		add_param(document, params, param);
	}
}

static enum fsl_status print_json(enum topic topic, const struct fsl_registry *registry,
				  struct fsl_error *err)
{
	const char *row[3] = {NULL};
	struct fsl_document document = {0};
	cJSON *list = fsl_document_array(&document, NULL, NULL);
	for (size_t i = 0; row_of(topic, registry, i, row); i++) {
		cJSON *object = fsl_document_object(&document, list, NULL);
		for (size_t column = 0; column < n_columns_of(topic); column++) {
			fsl_document_text(&document, object, headings[topic][column], row[column]);
		}
		if (topic == DETECTORS) {
			add_detector_facts(&document, object, fsl_registry_at(registry, i));
		}
	}
	return fsl_print_json(fsl_document_finish(&document, list), err);
}

static enum fsl_status list_topic(const char *topic, enum fsl_output_format format,
				  struct fsl_error *err)
{
	size_t idx = 0;
	while (idx < TOPICS_N && strcmp(topics[idx], topic) != 0) {
		idx++;
	}
	if (idx == TOPICS_N) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "cannot list this: given=\"%s\", wanted=\"%s\"",
				topic, wanted);
	}
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the detector registry");
	}
	enum fsl_status status = format == FSL_OUTPUT_JSON
					 ? print_json((enum topic)idx, registry, err)
					 : print_text((enum topic)idx, registry, err);
	fsl_registry_destroy(registry);
	return status;
}

enum fsl_status fsl_cmd_list(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	static const struct fsl_output_command command = {
		.name = "list",
		.synopsis =
			"list detectors|formats|reporters|metrics|commands|causes [--format text|json]",
		.text = "Lists what this program knows. JSON also has the parameters of detectors.\n",
		.format_help = "text, or json with all that is known of each entry.",
		.n_operands_min = 1,
		.n_operands_max = 1,
		.operands = wanted,
	};
	struct fsl_output_request request = {0};
	enum fsl_status status = fsl_output_request_parse(&request, &command, argc, argv, err);
	*exit_code = FSL_EXIT_DONE;
	if (status != FSL_OK || request.is_done) {
		return status;
	}
	return list_topic(argv[1], request.format, err);
}

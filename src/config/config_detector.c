/* Detector blocks of metrics, and the "detectors" section of model_config.json. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "config/config_load.h"
#include "plugin/registry.h"

enum {
	NAMES_MAX = FSL_DETECTOR_CONFIGS_MAX,
	PARAMS_MAX = 128, /* parameters that an unknown key is compared with */
	ENTRIES_MAX = FSL_DETECTOR_CONFIGS_MAX / 2, /* the other half is for built-in detectors */
};
#define FILTER_KEY "alarm_filter_window_size"

static const struct fsl_param *find_param(const struct fsl_detector *detector, const char *key)
{
	for (const struct fsl_param *param = detector->params; param->key != NULL; param++) {
		if (strcmp(param->key, key) == 0) {
			return param;
		}
	}
	return NULL;
}

/* Reports a plug-in that cannot be loaded as a problem of the file that names it. */
static enum fsl_status report_plugin(struct fsl_config_loader *loader, const char *key,
				     const struct fsl_error *why)
{
	if (why->status == FSL_ERR_MEMORY) {
		return fsl_config_no_memory(loader);
	}
	/* The newest link tells the action, the root tells why it failed. */
	const char *tried = why->n_causes > 1 ? why->causes[why->n_causes - 1].message : "";
	return fsl_config_problem(loader, FSL_LOG_ERROR,
				  "unusable plug-in: file=\"%s\", key=\"%s\": %s%s%s", loader->file,
				  key, tried, tried[0] != '\0' ? ": " : "", fsl_error_root(why));
}

/* Detectors of sysTrace's later files. What they propose is only a hint, so a file that asks for
 * one is used without the comparison. */
static const char *const only_systrace[] = {"SlidingWindowKSigma", "BOCPDStreamDetector"};

static bool is_only_systrace(const cJSON *type)
{
	for (size_t i = 0; i < sizeof(only_systrace) / sizeof(only_systrace[0]); i++) {
		if (cJSON_IsString(type) && strcmp(type->valuestring, only_systrace[i]) == 0) {
			return true;
		}
	}
	return false;
}

static enum fsl_status report_unknown_detector(struct fsl_config_loader *loader, const char *key,
					       const char *name)
{
	const char *names[NAMES_MAX] = {NULL};
	size_t n_names = fsl_registry_size(loader->registry);
	n_names = n_names < NAMES_MAX ? n_names : NAMES_MAX;
	for (size_t i = 0; i < n_names; i++) {
		names[i] = fsl_registry_at(loader->registry, i)->name;
	}
	const char *nearest = fsl_nearest_name(name, strlen(name), names, n_names);
	return fsl_config_problem(loader, FSL_LOG_ERROR,
				  "unknown detector, `failslow list detectors` shows all: "
				  "file=\"%s\", key=\"%s\", value=\"%s\"%s%s%s",
				  loader->file, key, name,
				  nearest != NULL ? ", did_you_mean=\"" : "",
				  nearest != NULL ? nearest : "", nearest != NULL ? "\"" : "");
}

/* "key.name" */
static const char *sub_key(struct fsl_config_loader *loader, const char *key, const char *name)
{
	return fsl_config_path(loader, "%s.%s", key, name);
}

/* The detector of a block: from its "plugin", else its "type", else @name (NULL: the block must
 * have "plugin" or "type"). *out stays NULL after a reported problem. */
static enum fsl_status resolve_detector(struct fsl_config_loader *loader, const cJSON *block,
					const char *key, const char *name,
					const struct fsl_detector **out)
{
	const cJSON *plugin = cJSON_GetObjectItemCaseSensitive(block, "plugin");
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(block, "type");
	const cJSON *named = plugin != NULL && !cJSON_IsNull(plugin) ? plugin : type;
	const char *named_key = sub_key(loader, key, named == plugin ? "plugin" : "type");
	if ((named == NULL || cJSON_IsNull(named)) && name == NULL) {
		return fsl_config_wrong(loader, key, block,
					"null, or an object with \"type\" (name of a detector) or "
					"\"plugin\" (path of a shared object)");
	}
	if (named == NULL || cJSON_IsNull(named)) {
		*out = fsl_registry_find(loader->registry, name);
		return *out != NULL ? FSL_OK : report_unknown_detector(loader, key, name);
	}
	if (!cJSON_IsString(named) || named->valuestring[0] == '\0') {
		return fsl_config_wrong(loader, named_key, named,
					named == plugin ? "path of a shared object"
							: "name of a detector");
	}
	if (named == type) {
		*out = fsl_registry_find(loader->registry, named->valuestring);
		return *out != NULL
			       ? FSL_OK
			       : report_unknown_detector(loader, named_key, named->valuestring);
	}
	const char *path = fsl_config_resolve(loader, named->valuestring);
	if (path == NULL) {
		return fsl_config_no_memory(loader);
	}
	struct fsl_error why = {0};
	enum fsl_status status = fsl_registry_load_plugin(loader->registry, path, out, &why);
	return status == FSL_OK ? FSL_OK : report_plugin(loader, named_key, &why);
}

/* One parameter as JSON text, read back from the params struct. */
static void param_text(const struct fsl_param *param, const char *params, char *text, size_t size)
{
	int64_t integer = 0;
	double real = 0;
	bool flag = false;
	int choice = 0;
	switch (param->type) {
	case FSL_PARAM_INT:
		memcpy(&integer, params + param->offset, sizeof(integer));
		(void)snprintf(text, size, "%lld", (long long)integer);
		return;
	case FSL_PARAM_REAL:
		memcpy(&real, params + param->offset, sizeof(real));
		(void)fsl_config_number_text(real, text, size);
		return;
	case FSL_PARAM_BOOL:
		memcpy(&flag, params + param->offset, sizeof(flag));
		(void)snprintf(text, size, "%s", flag ? "true" : "false");
		return;
	case FSL_PARAM_CHOICE:
		memcpy(&choice, params + param->offset, sizeof(choice));
		(void)snprintf(text, size, "\"%s\"", param->choices[choice]);
		return;
	}
}

static enum fsl_status record_params(struct fsl_config_loader *loader, const cJSON *block,
				     const char *key, const struct fsl_detector *detector,
				     const void *params)
{
	char text[128];
	for (const struct fsl_param *param = detector->params; param->key != NULL; param++) {
		param_text(param, params, text, sizeof(text));
		FSL_TRY(fsl_config_record(loader, sub_key(loader, key, param->key), text,
					  fsl_config_item(block, param->key) == NULL));
	}
	return FSL_OK;
}

/* Window of the alarm filter: from the block, else from outside it, else the detector's default. */
static enum fsl_status load_filter(struct fsl_config_loader *loader, const cJSON *block,
				   const char *key, const cJSON *outer_window,
				   struct fsl_detector_config *out)
{
	const struct fsl_config_key *row = fsl_config_row("detectors.<detector>." FILTER_KEY);
	const struct fsl_param *param = find_param(out->detector, FILTER_KEY);
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(block, FILTER_KEY);
	item = item != NULL ? item : outer_window;
	out->alarm_filter_window_size = param != NULL ? (int64_t)param->fallback : 1;
	if (item == NULL) {
		return FSL_OK;
	}
	if (!fsl_config_is_integer(item, row->min, row->max)) {
		return fsl_config_wrong(loader, sub_key(loader, key, FILTER_KEY), item,
					"whole number of windows, at least 1");
	}
	out->alarm_filter_window_size = (int64_t)item->valuedouble;
	return FSL_OK;
}

/* True if @path is a parameter or an object that holds parameters ("n_sigma_method"). */
static bool is_param_path(const struct fsl_detector *detector, const char *path)
{
	size_t length = strlen(path);
	for (const struct fsl_param *param = detector->params; param->key != NULL; param++) {
		if (strncmp(param->key, path, length) == 0 &&
		    (param->key[length] == '\0' || param->key[length] == '.')) {
			return true;
		}
	}
	return false;
}

/* Reports and removes the members of @object that the detector does not know. */
static enum fsl_status drop_unknown(struct fsl_config_loader *loader, cJSON *object,
				    const char *key, const char *holder,
				    const struct fsl_detector *detector)
{
	static const char *const own_keys[] = {"type", "plugin", "metric", "enabled", FILTER_KEY};
	const char *known[PARAMS_MAX + sizeof(own_keys) / sizeof(own_keys[0])];
	size_t n_known = 0, n_holder = strlen(holder);
	for (size_t i = 0; n_holder == 0 && i < sizeof(own_keys) / sizeof(own_keys[0]); i++) {
		known[n_known++] = own_keys[i];
	}
	const struct fsl_param *params = detector->params;
	for (size_t i = 0; i < PARAMS_MAX && params[i].key != NULL; i++) {
		if (strncmp(params[i].key, holder, n_holder) == 0) {
			known[n_known++] = params[i].key + n_holder;
		}
	}
	cJSON *next = NULL;
	for (cJSON *item = object->child; item != NULL; item = next) {
		next = item->next;
		const char *path = fsl_config_path(loader, "%s%s", holder, item->string);
		const char *prefix = sub_key(loader, key, holder);
		/* "n_sigma_method.bias" is a member of the holder, not of the block. */
		bool has_dot = strchr(item->string, '.') != NULL;
		bool is_known = !has_dot && is_param_path(detector, path);
		for (size_t i = 0; !has_dot && !is_known && i < n_known; i++) {
			is_known = strcmp(known[i], item->string) == 0;
		}
		if (!is_known) {
			FSL_TRY(fsl_config_unknown(loader, prefix, item->string, known, n_known));
			cJSON_Delete(cJSON_DetachItemViaPointer(object, item));
		}
	}
	return FSL_OK;
}

/* Removes unknown keys of a block and of the parameter objects inside it. */
static enum fsl_status drop_all_unknown(struct fsl_config_loader *loader, cJSON *block,
					const char *key, const struct fsl_detector *detector)
{
	FSL_TRY(drop_unknown(loader, block, key, "", detector));
	for (cJSON *item = block->child; item != NULL; item = item->next) {
		if (cJSON_IsObject(item)) {
			const char *holder = fsl_config_path(loader, "%s.", item->string);
			FSL_TRY(drop_unknown(loader, item, key, holder, detector));
		}
	}
	return FSL_OK;
}

/* Reads parameters by the detector's table. @merged is the block with the outer window added. */
static enum fsl_status load_params(struct fsl_config_loader *loader, const cJSON *merged,
				   const char *key, struct fsl_detector_config *out)
{
	char where[FSL_CAUSE_MESSAGE_MAX / 2];
	struct fsl_error why = {0};
	(void)snprintf(where, sizeof(where), "%s: %s",
		       loader->file[0] != '\0' ? loader->file : "built-in defaults", key);
	enum fsl_status status = fsl_registry_params(out->detector, merged, where,
						     &loader->config->arena, &out->params, &why);
	if (status == FSL_OK) {
		return record_params(loader, merged, key, out->detector, out->params);
	}
	out->detector = NULL;
	/* The registry's message has place, key, value and the allowed values. */
	return status == FSL_ERR_MEMORY
		       ? fsl_config_no_memory(loader)
		       : fsl_config_problem(loader, FSL_LOG_ERROR, "%s", fsl_error_root(&why));
}

/* Reads the parameters of a resolved block. */
static enum fsl_status fill_detector(struct fsl_config_loader *loader, const cJSON *block,
				     const char *key, const cJSON *outer_window,
				     struct fsl_detector_config *out)
{
	cJSON *merged = cJSON_Duplicate(block, true);
	if (merged == NULL) {
		return fsl_config_no_memory(loader);
	}
	enum fsl_status status = load_filter(loader, block, key, outer_window, out);
	bool is_outer_used = outer_window != NULL &&
			     find_param(out->detector, FILTER_KEY) != NULL &&
			     cJSON_GetObjectItemCaseSensitive(block, FILTER_KEY) == NULL;
	if (status == FSL_OK && is_outer_used &&
	    !cJSON_AddNumberToObject(merged, FILTER_KEY, outer_window->valuedouble)) {
		status = fsl_config_no_memory(loader);
	}
	FSL_THEN(status, drop_all_unknown(loader, merged, key, out->detector));
	FSL_THEN(status, load_params(loader, merged, key, out));
	cJSON_Delete(merged);
	return status;
}

enum fsl_status fsl_config_load_detector(struct fsl_config_loader *loader, const cJSON *block,
					 const char *key, const cJSON *outer_window,
					 struct fsl_detector_config *out)
{
	*out = (struct fsl_detector_config){.name = "", .enabled = false};
	if (block == NULL || cJSON_IsNull(block)) {
		return fsl_config_record(loader, key, "null", block == NULL);
	}
	if (!cJSON_IsObject(block)) {
		return fsl_config_wrong(loader, key, block, "object or null");
	}
	const cJSON *plugin = cJSON_GetObjectItemCaseSensitive(block, "plugin");
	if ((plugin == NULL || cJSON_IsNull(plugin)) &&
	    is_only_systrace(cJSON_GetObjectItemCaseSensitive(block, "type"))) {
		fsl_config_name(loader, &loader->missing, key);
		return fsl_config_record(loader, key, "null", false);
	}
	enum fsl_status status = resolve_detector(loader, block, key, NULL, &out->detector);
	if (status != FSL_OK || out->detector == NULL) {
		return status;
	}
	out->name = out->detector->name;
	out->enabled = true;
	char type[128];
	(void)snprintf(type, sizeof(type), "\"%s\"", out->name);
	FSL_TRY(fsl_config_record(loader, sub_key(loader, key, "type"), type, false));
	return fill_detector(loader, block, key, outer_window, out);
}

/* "exec" -> FSL_METRIC_EXEC; FSL_METRICS_N: unknown. */
static enum fsl_metric metric_from_name(const char *name)
{
	static const char *const names[] = {
#define METRIC(id, name, unit, help) name,
#include <failslow/metrics.def>
#undef METRIC
	};
	int metric = 0;
	while (metric < FSL_METRICS_N && strcmp(names[metric], name) != 0) {
		metric++;
	}
	return (enum fsl_metric)metric;
}

/* The first metric that a detector understands. */
static enum fsl_metric first_metric(const struct fsl_detector *detector)
{
	int metric = 0;
	while (metric + 1 < FSL_METRICS_N && (detector->needs & FSL_NEED(metric)) == 0) {
		metric++;
	}
	return (enum fsl_metric)metric;
}

/* Reads "metric" and "enabled" of an entry of the section. */
static enum fsl_status load_entry_keys(struct fsl_config_loader *loader, const cJSON *block,
				       const char *key, struct fsl_detector_config *out)
{
	const cJSON *metric = cJSON_GetObjectItemCaseSensitive(block, "metric");
	const cJSON *enabled = cJSON_GetObjectItemCaseSensitive(block, "enabled");
	const char *enabled_key = sub_key(loader, key, "enabled");
	out->metric = first_metric(out->detector);
	if (metric != NULL && !cJSON_IsNull(metric)) {
		enum fsl_metric found = cJSON_IsString(metric)
						? metric_from_name(metric->valuestring)
						: FSL_METRICS_N;
		if (found == FSL_METRICS_N || (out->detector->needs & FSL_NEED(found)) == 0) {
			return fsl_config_wrong(loader, sub_key(loader, key, "metric"), metric,
						"a metric that the detector understands, "
						"see `failslow list detectors`");
		}
		out->metric = found;
	}
	if (enabled != NULL && !cJSON_IsBool(enabled)) {
		return fsl_config_wrong(loader, enabled_key, enabled, "true or false");
	}
	out->enabled = enabled == NULL || cJSON_IsTrue(enabled);
	return fsl_config_record(loader, enabled_key, out->enabled ? "true" : "false",
				 enabled == NULL);
}

static enum fsl_status load_entry(struct fsl_config_loader *loader, const cJSON *block)
{
	struct fsl_config *config = loader->config;
	const char *name = fsl_arena_strdup(&config->arena, block->string);
	const char *key = sub_key(loader, "detectors", block->string);
	if (name == NULL) {
		return fsl_config_no_memory(loader);
	}
	if (!cJSON_IsObject(block)) {
		return fsl_config_wrong(loader, key, block, "object");
	}
	if (config->n_detectors == ENTRIES_MAX) {
		return fsl_config_problem(loader, FSL_LOG_ERROR,
					  "too many detectors: file=\"%s\", key=\"detectors\", "
					  "allowed=%d",
					  loader->file, ENTRIES_MAX);
	}
	struct fsl_detector_config entry = {.name = name};
	enum fsl_status status = resolve_detector(loader, block, key, name, &entry.detector);
	if (status != FSL_OK || entry.detector == NULL) {
		return status;
	}
	status = load_entry_keys(loader, block, key, &entry);
	FSL_THEN(status, fill_detector(loader, block, key, NULL, &entry));
	if (status == FSL_OK && entry.detector != NULL) {
		config->detectors[config->n_detectors++] = entry;
	}
	return status;
}

/* Adds entries with defaults for the detectors that the file does not name. */
static enum fsl_status add_unnamed(struct fsl_config_loader *loader)
{
	struct fsl_config *config = loader->config;
	for (size_t i = 0; i < fsl_registry_size(loader->registry); i++) {
		const struct fsl_detector *detector = fsl_registry_at(loader->registry, i);
		struct fsl_detector_config entry = {.detector = detector,
						    .name = detector->name,
						    .metric = first_metric(detector),
						    .enabled = true};
		const struct fsl_param *filter = find_param(detector, FILTER_KEY);
		entry.alarm_filter_window_size = filter != NULL ? (int64_t)filter->fallback : 1;
		if (fsl_config_detector(config, detector->name) != NULL ||
		    config->n_detectors_known == FSL_DETECTOR_CONFIGS_MAX) {
			continue;
		}
		FSL_TRY(fsl_registry_params(detector, NULL, detector->name, &config->arena,
					    &entry.params, loader->err));
		config->detectors[config->n_detectors_known++] = entry;
	}
	return FSL_OK;
}

enum fsl_status fsl_config_load_detectors(struct fsl_config_loader *loader, const cJSON *section)
{
	const cJSON *block = NULL;
	if (section != NULL && cJSON_IsObject(section)) {
		block = section->child;
	} else if (section != NULL && !cJSON_IsNull(section)) {
		FSL_TRY(fsl_config_wrong(loader, "detectors", section, "object"));
	}
	for (; block != NULL; block = block->next) {
		FSL_TRY(load_entry(loader, block));
	}
	loader->config->n_detectors_known = loader->config->n_detectors;
	return add_unnamed(loader);
}

/* metric_config.json: how a metric makes series of operators, and which detectors judge them. */
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "config/config_load.h"

static const char launch_suffix[] = "_launch";

/* Allowed keys of a metric, of its aggregation, and of one of its functions. */
static const char *const metric_keys[] = {
	"metric_type",    "aggregation",  "method", "priority", "type", "alarm_filter_window_size",
	"space_detector", "time_detector"};
static const char *const idle_keys[] = {"metric_type", "method", "priority"};
static const char *const aggregation_keys[] = {"during_s", "during_steps", "funcs"};
static const char *const func_keys[] = {"func", "func_params"};
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static enum fsl_status check_keys(struct fsl_config_loader *loader, const cJSON *object,
				  const char *prefix, const char *const *known, size_t n_known)
{
	for (const cJSON *item = object->child; item != NULL; item = item->next) {
		size_t idx = 0;
		while (idx < n_known && strcmp(known[idx], item->string) != 0) {
			idx++;
		}
		if (idx == n_known) {
			FSL_TRY(fsl_config_unknown(loader, prefix, item->string, known, n_known));
		}
	}
	return FSL_OK;
}

/* Notes keys of a metric that nothing uses. */
static void note_idle_keys(struct fsl_config_loader *loader, const cJSON *metric)
{
	for (size_t i = 0; i < N_OF(idle_keys); i++) {
		if (fsl_config_item(metric, idle_keys[i]) != NULL) {
			fsl_config_name(loader, &loader->idle, idle_keys[i]);
		}
	}
}

/* Reads the parameter of percentile (0..100) or quantile (0..1); other functions have none. */
static enum fsl_status load_func_params(struct fsl_config_loader *loader, const cJSON *params,
					const char *key, const char *name, struct fsl_agg_func *out)
{
	static const char *const known[] = {"q"};
	bool is_quantile = strcmp(name, "quantile") == 0;
	bool needs_q = is_quantile || out->agg == FSL_AGG_PERCENTILE;
	const cJSON *q = cJSON_GetObjectItemCaseSensitive(params, "q");
	double q_max = is_quantile ? 1 : 100;
	const char *path = fsl_config_path(loader, "%s.func_params.", key);
	if (params != NULL && !cJSON_IsNull(params) && !cJSON_IsObject(params)) {
		return fsl_config_wrong(loader, key, params, "func_params is an object");
	}
	if (needs_q && (!cJSON_IsNumber(q) || !(q->valuedouble >= 0 && q->valuedouble <= q_max))) {
		return fsl_config_problem(loader, FSL_LOG_ERROR,
					  "%s needs a number q from 0 to %g: file=\"%s\", "
					  "key=\"%sq\"",
					  name, q_max, loader->file, path);
	}
	out->q = needs_q ? q->valuedouble * (is_quantile ? 100 : 1) : 0;
	char text[32];
	out->suffix = needs_q ? fsl_config_path(
					loader, "%s_q-%s", name,
					fsl_config_number_text(q->valuedouble, text, sizeof(text)))
			      : fsl_config_path(loader, "%s", name);
	return cJSON_IsObject(params) ? check_keys(loader, params, path, known, needs_q) : FSL_OK;
}

/* Reads one entry of aggregation.funcs; adds it to @metric if it is valid. */
static enum fsl_status load_func(struct fsl_config_loader *loader, const cJSON *item,
				 const char *key, struct fsl_metric_config *metric)
{
	struct fsl_agg_func func = {.agg = FSL_AGG_MEAN};
	if (!cJSON_IsObject(item)) {
		return fsl_config_wrong(loader, key, item,
					"object with \"func\" and \"func_params\"");
	}
	FSL_TRY(check_keys(loader, item, fsl_config_path(loader, "%s.", key), func_keys,
			   N_OF(func_keys)));
	const cJSON *named = cJSON_GetObjectItemCaseSensitive(item, "func");
	const char *name = named == NULL ? "mean" : cJSON_GetStringValue(named);
	int agg = name == NULL                    ? -1
		  : strcmp(name, "quantile") == 0 ? (int)FSL_AGG_PERCENTILE
						  : fsl_agg_from_name(name);
	if (agg < 0) {
		return fsl_config_wrong(loader, key, named,
					"min, max, mean, median, sum, std, var, ptp, percentile "
					"or quantile");
	}
	func.agg = (enum fsl_agg)agg;
	enum fsl_status status = load_func_params(
		loader, cJSON_GetObjectItemCaseSensitive(item, "func_params"), key, name, &func);
	if (status != FSL_OK || func.suffix == NULL) {
		return status;
	}
	for (size_t i = 0; i < metric->n_funcs; i++) {
		if (strcmp(metric->funcs[i].suffix, func.suffix) == 0) {
			return fsl_config_wrong(loader, key, item, "each function once");
		}
	}
	metric->funcs[metric->n_funcs++] = func;
	return FSL_OK;
}

static enum fsl_status load_funcs(struct fsl_config_loader *loader, const cJSON *item,
				  const char *key, struct fsl_metric_config *metric)
{
	cJSON *fallback =
		item == NULL ? cJSON_Parse(fsl_config_row("<metric>.aggregation.funcs")->fallback)
			     : NULL;
	const cJSON *list = item != NULL ? item : fallback;
	enum fsl_status status = FSL_OK;
	if (list == NULL) {
		return fsl_config_no_memory(loader);
	}
	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > FSL_AGG_FUNCS_MAX) {
		status = fsl_config_wrong(loader, key, list, "list of at most 16 functions");
		goto out;
	}
	size_t idx = 0;
	for (const cJSON *func = list->child; status == FSL_OK && func != NULL; func = func->next) {
		const char *path = fsl_config_path(loader, "%s[%zu]", key, idx++);
		status = load_func(loader, func, path, metric);
	}
	FSL_THEN(status, fsl_config_record_json(loader, key, list, item == NULL));
out:
	cJSON_Delete(fallback);
	return status;
}

/* "NAME.part" */
static const char *key_of(struct fsl_config_loader *loader, const char *metric, const char *part)
{
	return fsl_config_path(loader, "%s.%s", metric, part);
}

static enum fsl_status load_aggregation(struct fsl_config_loader *loader, const cJSON *item,
					struct fsl_metric_config *metric)
{
	const char *prefix = key_of(loader, metric->name, "aggregation.");
	if (cJSON_IsNull(item)) {
		item = NULL;
	}
	if (item != NULL && !cJSON_IsObject(item)) {
		FSL_TRY(fsl_config_wrong(loader, prefix, item, "object"));
		item = NULL;
	} else if (item != NULL) {
		FSL_TRY(check_keys(loader, item, prefix, aggregation_keys, N_OF(aggregation_keys)));
	}
	FSL_TRY(fsl_config_store(loader, fsl_config_row("<metric>.aggregation.during_s"),
				 fsl_config_item(item, "during_s"),
				 key_of(loader, metric->name, "aggregation.during_s"), metric));
	FSL_TRY(fsl_config_store(loader, fsl_config_row("<metric>.aggregation.during_steps"),
				 fsl_config_item(item, "during_steps"),
				 key_of(loader, metric->name, "aggregation.during_steps"), metric));
	return load_funcs(loader, fsl_config_item(item, "funcs"),
			  key_of(loader, metric->name, "aggregation.funcs"), metric);
}

/* Sets operator and table from the name: "HcclAllGather_launch" is the launch of HcclAllGather. */
static enum fsl_status name_metric(struct fsl_config_loader *loader, const char *name,
				   struct fsl_metric_config *metric)
{
	size_t length = strlen(name), n_suffix = strlen(launch_suffix);
	metric->is_launch =
		length > n_suffix && strcmp(name + length - n_suffix, launch_suffix) == 0;
	metric->name = fsl_arena_strdup(&loader->config->arena, name);
	metric->op_name = fsl_arena_strndup(&loader->config->arena, name,
					    metric->is_launch ? length - n_suffix : length);
	return metric->name != NULL && metric->op_name != NULL ? FSL_OK
							       : fsl_config_no_memory(loader);
}

static enum fsl_status load_detectors(struct fsl_config_loader *loader, const cJSON *json,
				      struct fsl_metric_config *metric)
{
	/* sysTrace filters only the findings of time detectors. */
	FSL_TRY(fsl_config_load_detector(loader, fsl_config_item(json, "space_detector"),
					 key_of(loader, metric->name, "space_detector"), NULL,
					 &metric->space_detector));
	FSL_TRY(fsl_config_load_detector(loader, fsl_config_item(json, "time_detector"),
					 key_of(loader, metric->name, "time_detector"),
					 fsl_config_item(json, "alarm_filter_window_size"),
					 &metric->time_detector));
	metric->space_detector.metric = metric->is_launch ? FSL_METRIC_LAUNCH : FSL_METRIC_EXEC;
	metric->time_detector.metric = metric->space_detector.metric;
	return FSL_OK;
}

static enum fsl_status load_metric(struct fsl_config_loader *loader, const cJSON *json,
				   struct fsl_metric_config *metric)
{
	const char *prefix = key_of(loader, json->string, "");
	FSL_TRY(name_metric(loader, json->string, metric));
	FSL_TRY(check_keys(loader, json, prefix, metric_keys, N_OF(metric_keys)));
	note_idle_keys(loader, json);
	FSL_TRY(fsl_config_store(loader, fsl_config_row("<metric>.type"),
				 fsl_config_item(json, "type"),
				 key_of(loader, json->string, "type"), metric));
	FSL_TRY(load_aggregation(loader, fsl_config_item(json, "aggregation"), metric));
	return load_detectors(loader, json, metric);
}

enum fsl_status fsl_config_load_metrics(struct fsl_config_loader *loader, const cJSON *root)
{
	struct fsl_config *config = loader->config;
	enum fsl_status status = FSL_OK;
	for (const cJSON *item = root->child; status == FSL_OK && item != NULL; item = item->next) {
		if (strcmp(item->string, "$schema") == 0) {
			continue; /* for editors */
		}
		if (!cJSON_IsObject(item)) {
			status = fsl_config_wrong(loader, item->string, item,
						  "object that describes a metric");
		} else if (config->n_metrics == FSL_METRIC_CONFIGS_MAX) {
			return fsl_config_problem(loader, FSL_LOG_ERROR,
						  "too many metrics: file=\"%s\", allowed=%d",
						  loader->file, FSL_METRIC_CONFIGS_MAX);
		} else {
			status = load_metric(loader, item, &config->metrics[config->n_metrics]);
			config->n_metrics += status == FSL_OK;
		}
	}
	return status == FSL_OK ? fsl_config_tell_names(loader) : status;
}

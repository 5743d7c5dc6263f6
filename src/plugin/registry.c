/* The list of detectors, how a shared object joins it, and parameters of a detector from JSON. */
#include "plugin/registry.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETECTOR(name) extern const struct fsl_detector fsl_detector_##name;
#include "base/os_error.h"
#include "base/trust.h"
#include "detectors.def"
#undef DETECTOR

static const struct fsl_detector *const builtin[] = {
#define DETECTOR(name) &fsl_detector_##name,
#include "detectors.def"
#undef DETECTOR
	NULL, /* ends the table; C has no empty arrays */
};

/* Whole numbers come from JSON as doubles, which are exact up to this value. */
#define EXACT_INTEGER_MAX 9007199254740992.0

enum { N_BUILTIN = sizeof(builtin) / sizeof(builtin[0]) - 1 };

struct plugin {
	char *path; /* canonical; registry arena */
	void *handle;
	const struct fsl_detector *detector;
};

struct fsl_registry {
	struct fsl_arena arena;
	struct plugin *plugins;
	size_t n_plugins, capacity;
};

struct fsl_registry *fsl_registry_create(void)
{
	return fsl_calloc(1, sizeof(struct fsl_registry));
}

void fsl_registry_destroy(struct fsl_registry *registry)
{
	if (registry == NULL) {
		return;
	}
	for (size_t i = registry->n_plugins; i-- > 0;) {
		dlclose(registry->plugins[i].handle);
	}
	fsl_free(registry->plugins);
	fsl_arena_fini(&registry->arena);
	fsl_free(registry);
}

size_t fsl_registry_size(const struct fsl_registry *registry)
{
	return N_BUILTIN + registry->n_plugins;
}

const struct fsl_detector *fsl_registry_at(const struct fsl_registry *registry, size_t idx)
{
	if (idx < N_BUILTIN) {
		return builtin[idx];
	}
	idx -= N_BUILTIN;
	return idx < registry->n_plugins ? registry->plugins[idx].detector : NULL;
}

const struct fsl_detector *fsl_registry_find(const struct fsl_registry *registry, const char *name)
{
	for (size_t i = 0; i < fsl_registry_size(registry); i++) {
		const struct fsl_detector *detector = fsl_registry_at(registry, i);
		if (strcmp(detector->name, name) == 0) {
			return detector;
		}
	}
	return NULL;
}

static size_t param_size(enum fsl_param_type type)
{
	switch (type) {
	case FSL_PARAM_INT:
		return sizeof(int64_t);
	case FSL_PARAM_REAL:
		return sizeof(double);
	case FSL_PARAM_BOOL:
		return sizeof(bool);
	case FSL_PARAM_CHOICE:
		return sizeof(int);
	}
	return SIZE_MAX;
}

static bool is_text(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* True if the default could be written in a configuration. */
static bool is_fallback_allowed(const struct fsl_param *param)
{
	double fallback = param->fallback;
	switch (param->type) {
	case FSL_PARAM_INT:
		return fallback == floor(fallback) && fallback >= param->min &&
		       fallback <= param->max;
	case FSL_PARAM_REAL:
		return (param->nullable && fallback != fallback) ||
		       (fallback >= param->min && fallback <= param->max);
	case FSL_PARAM_BOOL:
		return fallback == 0.0 || fallback == 1.0;
	case FSL_PARAM_CHOICE:
		for (int i = 0; param->choices[i] != NULL; i++) {
			if (fallback == (double)i) {
				return true;
			}
		}
		return false;
	}
	return false;
}

static const char *param_fault(const struct fsl_param *param, size_t params_size)
{
	size_t size = param_size(param->type);
	if (size == SIZE_MAX) {
		return "parameter has an unknown type";
	}
	if (!is_text(param->key) || !is_text(param->help)) {
		return "parameter has no key or no help";
	}
	if (param->offset > params_size || size > params_size - param->offset) {
		return "parameter lies outside params_size";
	}
	if (param->type == FSL_PARAM_CHOICE && param->choices == NULL) {
		return "choice parameter has no choices";
	}
	if (param->nullable && param->type != FSL_PARAM_REAL) {
		return "only a real parameter can be nullable";
	}
	if (param->type == FSL_PARAM_INT &&
	    !(fabs(param->min) <= EXACT_INTEGER_MAX && fabs(param->max) <= EXACT_INTEGER_MAX)) {
		return "limits of an integer parameter lie beyond 2^53";
	}
	if (!is_fallback_allowed(param)) {
		return "default of a parameter is not one of its allowed values";
	}
	return NULL;
}

static const char *detector_fault(const struct fsl_detector *detector)
{
	if (!is_text(detector->name)) {
		return "name is missing";
	}
	if (!is_text(detector->summary)) {
		return "summary is missing";
	}
	if (detector->needs == 0) {
		return "needs names no metric";
	}
	if (detector->scope != FSL_SCOPE_RANK && detector->scope != FSL_SCOPE_GROUP &&
	    detector->scope != FSL_SCOPE_JOB) {
		return "scope is unknown";
	}
	if (detector->params == NULL) {
		return "params is missing";
	}
	if (detector->scan == NULL) {
		return "scan is missing";
	}
	return NULL;
}

enum fsl_status fsl_detector_check(const struct fsl_detector *detector, struct fsl_error *err)
{
	/* Another ABI means another layout: no other field may be read before this check. */
	if (detector->abi != FSL_DETECTOR_ABI) {
		return FSL_FAIL(err, FSL_ERR_PLUGIN,
				"detector was built for another version of failslow, build it "
				"again with this version's headers: abi=%u, wanted=%u",
				detector->abi, (unsigned int)FSL_DETECTOR_ABI);
	}
	const char *fault = detector_fault(detector);
	if (fault != NULL) {
		return FSL_FAIL(err, FSL_ERR_PLUGIN, "incomplete detector: name=\"%s\", why=\"%s\"",
				is_text(detector->name) ? detector->name : "", fault);
	}
	for (const struct fsl_param *param = detector->params; param->key != NULL; param++) {
		fault = param_fault(param, detector->params_size);
		if (fault != NULL) {
			return FSL_FAIL(err, FSL_ERR_PLUGIN,
					"incomplete detector: name=\"%s\", parameter=\"%s\", "
					"why=\"%s\"",
					detector->name, param->key, fault);
		}
	}
	return FSL_OK;
}

static const struct fsl_detector *loaded_from(const struct fsl_registry *registry, const char *path)
{
	for (size_t i = 0; i < registry->n_plugins; i++) {
		if (strcmp(registry->plugins[i].path, path) == 0) {
			return registry->plugins[i].detector;
		}
	}
	return NULL;
}

/* Checks the export of @handle and adds it to the table. */
static enum fsl_status adopt(struct fsl_registry *registry, const char *path, void *handle,
			     struct fsl_error *err)
{
	const struct fsl_detector *detector = dlsym(handle, FSL_PLUGIN_SYMBOL);
	if (detector == NULL) {
		return FSL_FAIL(err, FSL_ERR_PLUGIN,
				"shared object exports no detector: symbol=\"%s\"",
				FSL_PLUGIN_SYMBOL);
	}
	FSL_TRY(fsl_detector_check(detector, err));
	if (fsl_registry_find(registry, detector->name) != NULL) {
		return FSL_FAIL(err, FSL_ERR_PLUGIN,
				"another detector has this name, rename one of them: name=\"%s\"",
				detector->name);
	}
	FSL_TRY(FSL_GROW(registry->plugins, registry->capacity, registry->n_plugins + 1, err));
	char *copy = fsl_arena_strdup(&registry->arena, path);
	if (copy == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
	}
	registry->plugins[registry->n_plugins++] = (struct plugin){copy, handle, detector};
	return FSL_OK;
}

/* A plug-in runs with the rights of this program. So nobody else may change its file or the folder
 * that holds it. */
static enum fsl_status check_trust(const char *canonical, struct fsl_error *err)
{
	char folder[PATH_MAX];
	struct stat facts;
	(void)snprintf(folder, sizeof(folder), "%s", canonical);
	folder[strrchr(folder, '/') - folder] = '\0';
	const char *const entries[] = {canonical, folder[0] != '\0' ? folder : "/"};
	for (size_t i = 0; i < 2; i++) {
		if (stat(entries[i], &facts) != 0) {
			return FSL_FAIL(err, FSL_ERR_PLUGIN,
					"cannot look at it: path=\"%s\", why=\"%s\"", entries[i],
					fsl_os_error(errno).text);
		}
		if (fsl_trust_entry(entries[i], &facts, err) != FSL_OK) {
			return FSL_ERR_PLUGIN;
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_registry_load_plugin(struct fsl_registry *registry, const char *path,
					 const struct fsl_detector **out, struct fsl_error *err)
{
	/* The canonical path contains a slash, so that dlopen never searches library folders. */
	char canonical[PATH_MAX];
	if (realpath(path, canonical) == NULL) {
		return FSL_FAIL(err, FSL_ERR_PLUGIN, "cannot load plug-in: path=\"%s\", why=\"%s\"",
				path, fsl_os_error(errno).text);
	}
	const struct fsl_detector *known = loaded_from(registry, canonical);
	if (known != NULL) {
		*out = known;
		return FSL_OK;
	}
	if (check_trust(canonical, err) != FSL_OK) {
		return FSL_CAUSE(err, FSL_ERR_PLUGIN,
				 "a plug-in that others can change is not loaded, move it where "
				 "only its user may write: path=\"%s\"",
				 path);
	}
	void *handle = dlopen(canonical, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		return FSL_FAIL(err, FSL_ERR_PLUGIN, "cannot load plug-in: path=\"%s\", why=\"%s\"",
				path, dlerror());
	}
	enum fsl_status status = adopt(registry, canonical, handle, err);
	if (status != FSL_OK) {
		dlclose(handle);
		return FSL_CAUSE(err, status, "cannot load plug-in: path=\"%s\"", path);
	}
	*out = registry->plugins[registry->n_plugins - 1].detector;
	return FSL_OK;
}

enum { KEY_LENGTH_MAX = 96, VALUE_TEXT_MAX = 80 };

static void describe_allowed(const struct fsl_param *param, char *text, size_t size)
{
	switch (param->type) {
	case FSL_PARAM_INT:
		(void)snprintf(text, size, "integer from %.15g to %.15g", param->min, param->max);
		return;
	case FSL_PARAM_REAL:
		(void)snprintf(text, size, "number from %g to %g%s", param->min, param->max,
			       param->nullable ? ", or null" : "");
		return;
	case FSL_PARAM_BOOL:
		(void)snprintf(text, size, "true or false");
		return;
	case FSL_PARAM_CHOICE:
		break;
	}
	size_t used = 0;
	for (int i = 0; param->choices[i] != NULL && used < size; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
					 param->choices[i]);
	}
}

static enum fsl_status reject(const struct fsl_param *param, const cJSON *value, const char *where,
			      struct fsl_error *err)
{
	char allowed[FSL_CAUSE_MESSAGE_MAX / 2];
	describe_allowed(param, allowed, sizeof(allowed));
	char *text = cJSON_PrintUnformatted(value);
	enum fsl_status status = FSL_FAIL(
		err, FSL_ERR_CONFIG,
		"value not allowed: where=\"%s\", key=\"%s\", value=%.*s, allowed=\"%s\"", where,
		param->key, (int)VALUE_TEXT_MAX, text != NULL ? text : "?", allowed);
	cJSON_free(text);
	return status;
}

/* Index of a choice's text, -1 if it is none of them. */
static int find_choice(const struct fsl_param *param, const cJSON *value)
{
	for (int i = 0; cJSON_IsString(value) && param->choices[i] != NULL; i++) {
		if (strcmp(param->choices[i], value->valuestring) == 0) {
			return i;
		}
	}
	return -1;
}

/* The value as a double (choices: their index); false if type or range is wrong. */
static bool read_value(const struct fsl_param *param, const cJSON *value, double *out)
{
	int choice = -1;
	switch (param->type) {
	case FSL_PARAM_REAL:
		if (param->nullable && cJSON_IsNull(value)) {
			*out = (double)NAN;
			return true;
		}
		break;
	case FSL_PARAM_INT:
		if (!cJSON_IsNumber(value) || floor(value->valuedouble) < value->valuedouble) {
			return false;
		}
		break;
	case FSL_PARAM_BOOL:
		*out = cJSON_IsTrue(value) ? 1.0 : 0.0;
		return cJSON_IsBool(value);
	case FSL_PARAM_CHOICE:
		choice = find_choice(param, value);
		*out = (double)choice;
		return choice >= 0;
	}
	*out = cJSON_IsNumber(value) ? value->valuedouble : (double)NAN;
	return *out >= param->min && *out <= param->max;
}

static void store_value(const struct fsl_param *param, double value, char *params)
{
	union {
		int64_t integer;
		double real;
		bool flag;
		int choice;
	} stored = {.real = value};
	switch (param->type) {
	case FSL_PARAM_INT:
		stored.integer = (int64_t)value;
		break;
	case FSL_PARAM_REAL:
		break;
	case FSL_PARAM_BOOL:
		stored.flag = value > 0.0;
		break;
	case FSL_PARAM_CHOICE:
		stored.choice = (int)value;
		break;
	}
	/* The table gives offsets in bytes, and only the detector knows the struct. */
	memcpy(params + param->offset, &stored, param_size(param->type));
}

/* Looks up a dotted key. *out is NULL if the value, or an object on the way to it, is absent. */
static enum fsl_status look_up(const cJSON *json, const struct fsl_param *param, const char *where,
			       const cJSON **out, struct fsl_error *err)
{
	const char *key = param->key;
	for (const char *dot = strchr(key, '.'); dot != NULL && json != NULL;
	     dot = strchr(key, '.')) {
		char name[KEY_LENGTH_MAX];
		(void)snprintf(name, sizeof(name), "%.*s", (int)(dot - key), key);
		json = cJSON_GetObjectItemCaseSensitive(json, name);
		if (json != NULL && !cJSON_IsObject(json)) {
			return FSL_FAIL(err, FSL_ERR_CONFIG,
					"value not allowed: where=\"%s\", key=\"%.*s\", "
					"allowed=\"object\"",
					where, (int)(dot - param->key), param->key);
		}
		key = dot + 1;
	}
	*out = json != NULL ? cJSON_GetObjectItemCaseSensitive(json, key) : NULL;
	return FSL_OK;
}

enum fsl_status fsl_registry_params(const struct fsl_detector *detector, const cJSON *json,
				    const char *where, struct fsl_arena *arena, const void **params,
				    struct fsl_error *err)
{
	if (json != NULL && !cJSON_IsObject(json)) {
		return FSL_FAIL(err, FSL_ERR_CONFIG,
				"parameters of a detector must be an object: where=\"%s\", "
				"detector=\"%s\"",
				where, detector->name);
	}
	char *made = fsl_arena_alloc(arena, detector->params_size > 0 ? detector->params_size : 1);
	if (made == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
	}
	for (const struct fsl_param *param = detector->params; param->key != NULL; param++) {
		const cJSON *value = NULL;
		double number = param->fallback;
		FSL_TRY(look_up(json, param, where, &value, err));
		if (value != NULL && !read_value(param, value, &number)) {
			return reject(param, value, where, err);
		}
		store_value(param, number, made);
	}
	*params = made;
	return FSL_OK;
}

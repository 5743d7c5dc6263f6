/* The list of detectors, and how a shared object joins it. */
#include "plugin/registry.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DETECTOR(name) extern const struct fsl_detector fsl_detector_##name;
#include "base/os_error.h"
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

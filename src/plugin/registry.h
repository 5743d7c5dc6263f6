/* The known detectors: the built-in table from detectors.def, and detectors from shared objects. */
#ifndef FSL_PLUGIN_REGISTRY_H
#define FSL_PLUGIN_REGISTRY_H

#include <cjson/cJSON.h>
#include <failslow/detector.h>

#include "base/mem.h"

struct fsl_registry; /* opaque */

struct fsl_registry *fsl_registry_create(void); /* NULL when out of memory */
void fsl_registry_destroy(struct fsl_registry *registry);

size_t fsl_registry_size(const struct fsl_registry *registry);
const struct fsl_detector *fsl_registry_at(const struct fsl_registry *registry, size_t idx);
/* The detector with this name, NULL if unknown; borrowed from @registry. */
const struct fsl_detector *fsl_registry_find(const struct fsl_registry *registry, const char *name);

/* Checks the promises of a descriptor: ABI, name, texts, scan, and a parameter table whose defaults
 * are in range and whose fields lie inside params_size. FSL_ERR_PLUGIN names the broken promise. */
enum fsl_status fsl_detector_check(const struct fsl_detector *detector, struct fsl_error *err);

/*
 * Loads a detector from a shared object. FSL_ERR_PLUGIN with a clear message for: no such file, no
 * FSL_PLUGIN_SYMBOL, another ABI, an incomplete descriptor, the name of a built-in detector.
 * Loading the same file twice is fine. *out is borrowed from @registry.
 */
enum fsl_status fsl_registry_load_plugin(struct fsl_registry *registry, const char *path,
					 const struct fsl_detector **out, struct fsl_error *err);

/*
 * Reads parameters from JSON by the detector's table. Type and range are checked, dotted keys read
 * nested objects, absent keys take their fallback. @json may be NULL (all defaults). @where names
 * the place for messages ("metric_config.json: HcclAllGather.time_detector"). Keys that the table
 * lacks are ignored here; src/config reports them. The result lies in @arena.
 */
enum fsl_status fsl_registry_params(const struct fsl_detector *detector, const cJSON *json,
				    const char *where, struct fsl_arena *arena, const void **params,
				    struct fsl_error *err);

#endif

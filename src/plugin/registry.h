/* Which detectors exist: the built-in table from detectors.def and those loaded from shared
 * objects. */
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
/* NULL when unknown. */
const struct fsl_detector *fsl_registry_find(const struct fsl_registry *registry, const char *name);

/*
 * True promises of a descriptor: ABI, name, texts, scan, and a parameter table whose defaults are
 * in range and whose fields lie inside params_size. FSL_ERR_PLUGIN says which promise is broken.
 */
enum fsl_status fsl_detector_check(const struct fsl_detector *detector, struct fsl_error *err);

/*
 * Loads a detector from a shared object. Clear errors for: no such file, no FSL_PLUGIN_SYMBOL,
 * another ABI, incomplete descriptor, a name that a built-in has. Loading the same file twice is
 * fine.
 */
enum fsl_status fsl_registry_load_plugin(struct fsl_registry *registry, const char *path,
					 const struct fsl_detector **out, struct fsl_error *err);

/*
 * Parameters from JSON by the detector's table: type and range are checked, dotted keys read nested
 * objects, absent keys take their fallback. @json may be NULL (all defaults). @where names the
 * place for messages ("metric_config.json: HcclAllGather.time_detector"). Keys that the table does
 * not have are left alone: src/config reports them. Result in @arena.
 */
enum fsl_status fsl_registry_params(const struct fsl_detector *detector, const cJSON *json,
				    const char *where, struct fsl_arena *arena, const void **params,
				    struct fsl_error *err);

#endif

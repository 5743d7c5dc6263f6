/* Detectors of the registry, asked through the engine. */
#include "judge/ask.h"

#include "detect/engine.h"
#include "plugin/registry.h"

static enum fsl_status configure(struct fsl_detector_config *out,
				 const struct fsl_registry *registry, const char *name,
				 const cJSON *given, struct fsl_arena *arena, struct fsl_error *err)
{
	const struct fsl_detector *detector = fsl_registry_find(registry, name);
	if (detector == NULL) {
		return FSL_FAIL(err, FSL_ERR_INTERNAL, "no such detector: name=\"%s\"", name);
	}
	*out = (struct fsl_detector_config){
		.detector = detector, .name = detector->name, .enabled = true};
	return fsl_registry_params(detector, given, "failslow profile", arena, &out->params, err);
}

enum fsl_status fsl_profile_detector(struct fsl_detector_config *out, const char *name,
				     const char *given, struct fsl_arena *arena,
				     struct fsl_error *err)
{
	struct fsl_registry *registry = fsl_registry_create();
	cJSON *json = given != NULL ? cJSON_Parse(given) : NULL;
	bool is_short = registry == NULL || (given != NULL && json == NULL);
	enum fsl_status status =
		is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detector=\"%s\"", name)
			 : configure(out, registry, name, json, arena, err);
	cJSON_Delete(json);
	fsl_registry_destroy(registry);
	return status;
}

enum fsl_status fsl_profile_ask(struct fsl_findings *findings,
				const struct fsl_detector_config *detector,
				const struct fsl_windows *windows, struct fsl_error *err)
{
	bool is_skipped = false;
	findings->n_items = 0;
	enum fsl_status status = fsl_engine_scan(detector, windows, findings, &is_skipped, err);
	FSL_REQUIRE(!is_skipped);
	return status;
}

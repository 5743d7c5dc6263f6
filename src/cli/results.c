/* Finds the results of earlier runs. */
#include "cli/results.h"

#include "base/try.h"
#include "plugin/registry.h"

static enum fsl_status find(struct fsl_results *out, const char *config_path, const char *output,
			    struct fsl_error *err)
{
	out->registry = fsl_registry_create();
	if (out->registry == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	struct fsl_config_place place;
	const char *path = config_path;
	if (path == NULL && fsl_config_find_default(&place)) {
		path = place.path;
	}
	FSL_TRY(fsl_config_load(&out->config, path, out->registry, err));
	out->folder = out->config.slow_node_detection_path;
	out->state_path = out->config.state_path;
	if (output != NULL) {
		out->folder = output;
		out->state_path =
			fsl_arena_printf(&out->config.arena, "%s/" FSL_STATE_FILE, output);
	}
	return out->state_path != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: option=\"output\"");
}

enum fsl_status fsl_results_find(struct fsl_results *out, const char *config_path,
				 const char *output, struct fsl_error *err)
{
	*out = (struct fsl_results){0};
	enum fsl_status status = find(out, config_path, output, err);
	if (status != FSL_OK) {
		fsl_results_fini(out);
	}
	return status;
}

void fsl_results_fini(struct fsl_results *results)
{
	fsl_config_fini(&results->config);
	fsl_registry_destroy(results->registry);
	*results = (struct fsl_results){0};
}

/* Loads both files into one struct, and looks up its parts. */
#include "config/config.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "config/config_load.h"

/* Built-in metric configuration, for lack of a file; a test keeps it equal to the shipped file.
 * sysTrace's values: windows of p90, DBSCAN between ranks, n-sigma against the past. */
#define AGGREGATION(seconds, funcs)                                                                \
	"\"aggregation\":{\"during_s\":" seconds ",\"funcs\":[" funcs "]}"
#define PERCENTILE(q) "{\"func\":\"percentile\",\"func_params\":{\"q\":" q "}}"
#define SPACE(eps, window, scaling)                                                                \
	"\"space_detector\":{\"type\":\"SlidingWindowDBSCAN\",\"dist_metric\":\"euclidean\","      \
	"\"eps\":" eps ",\"cv_threshold\":0.03,\"min_samples\":2,\"window_size\":" window ","      \
	"\"scaling\":" scaling "}"
#define TIME(training, abs_bias, upper)                                                            \
	"\"time_detector\":{\"type\":\"SlidingWindowKSigmaDetector\",\"preprocess_eps\":0.1,"      \
	"\"preprocess_min_samples\":10,\"alarm_filter_window_size\":5,\"n_sigma_method\":{"        \
	"\"type\":\"SlidingWindowNSigma\",\"training_window_size\":" training ","                  \
	"\"min_update_window_size\":10,\"min_std_val\":0.0001,\"bias\":0.1,"                       \
	"\"abs_bias\":" abs_bias ",\"nsigma_coefficient\":4,\"detect_type\":\"upper_bound\","      \
	"\"min_expert_lower_bound\":null,\"max_expert_lower_bound\":null,"                         \
	"\"min_expert_upper_bound\":" upper ",\"max_expert_upper_bound\":null}}"
#define METRIC(name, type, aggregation, space, time)                                               \
	"\"" name "\":{\"type\":\"" type "\"," aggregation "," space "," time "}"
#define NO_SPACE "\"space_detector\":null"

/* clang-format off */
static const char builtin_metrics[] = "{"
	METRIC("HcclAllGather", "compute", AGGREGATION("3", PERCENTILE("90")),
	       SPACE("0.4", "22", "false"), TIME("20", "null", "null")) ","
	METRIC("HcclAllGather_launch", "compute", AGGREGATION("3", PERCENTILE("90")),
	       SPACE("3.0", "20", "true"), TIME("20", "5", "null")) ","
	METRIC("HcclReduceScatter", "compute", AGGREGATION("5", PERCENTILE("90")),
	       SPACE("0.4", "100", "false"), TIME("40", "5", "50")) ","
	METRIC("HcclBatchSendRecv", "network", AGGREGATION("5", PERCENTILE("90") "," PERCENTILE("10")),
	       NO_SPACE, TIME("20", "null", "null")) ","
	METRIC("HcclAllReduce", "network", AGGREGATION("5", PERCENTILE("90")),
	       NO_SPACE, TIME("20", "null", "50")) "}";
/* clang-format on */

/* Folder of a path: "a/b.json" -> "a", "b.json" -> "."; config arena. */
static const char *directory_of(struct fsl_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (slash == NULL) {
		return fsl_arena_strdup(arena, ".");
	}
	return fsl_arena_strndup(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

/* Points the loader at a file, for messages and relative paths. */
static enum fsl_status enter_file(struct fsl_config_loader *loader, const char *path)
{
	struct fsl_arena *arena = &loader->config->arena;
	loader->file = fsl_arena_strdup(arena, path);
	loader->directory = directory_of(arena, path);
	return loader->file != NULL && loader->directory != NULL ? FSL_OK
								 : fsl_config_no_memory(loader);
}

/* A metric file that the model file names must exist. Without a name, built-in metrics are used. */
static enum fsl_status load_metric_file(struct fsl_config_loader *loader, bool is_named)
{
	const char *path = loader->config->metric_config;
	cJSON *root = NULL;
	enum fsl_status status = FSL_OK;
	if (is_named || (loader->file[0] != '\0' && access(path, F_OK) == 0)) {
		status = enter_file(loader, path);
		FSL_THEN(status, fsl_config_read(loader, path, &root));
	} else {
		loader->config->metric_config = NULL;
		loader->file = "";
		status = fsl_config_amend(loader, "metric_config", NULL);
		FSL_THEN(status, fsl_config_parse(loader, builtin_metrics,
						  sizeof(builtin_metrics) - 1, &root));
	}
	if (status == FSL_OK && root != NULL) {
		status = fsl_config_load_metrics(loader, root);
	}
	cJSON_Delete(root);
	return status;
}

static enum fsl_status load_files(struct fsl_config_loader *loader, const char *path)
{
	struct fsl_config *config = loader->config;
	cJSON *root = NULL;
	enum fsl_status status = FSL_OK;
	if (path != NULL) {
		status = enter_file(loader, path);
		FSL_THEN(status, fsl_config_read(loader, path, &root));
		if (status != FSL_OK || root == NULL) {
			return status; /* unreadable: no further checks are possible */
		}
	}
	config->path = loader->file;
	config->directory = loader->directory;
	status = fsl_config_load_model(loader, root);
	FSL_THEN(status, fsl_config_load_detectors(loader, fsl_config_item(root, "detectors")));
	FSL_THEN(status, load_metric_file(loader, fsl_config_item(root, "metric_config") != NULL));
	cJSON_Delete(root);
	return status;
}

enum fsl_status fsl_config_load_reported(struct fsl_config *config, const char *path,
					 struct fsl_registry *registry,
					 const struct fsl_config_reporter *reporter,
					 struct fsl_error *err)
{
	*config = (struct fsl_config){.path = "", .directory = "."};
	struct fsl_config_loader loader = {.config = config,
					   .registry = registry,
					   .reporter = reporter,
					   .file = "",
					   .directory = ".",
					   .err = err};
	enum fsl_status status = load_files(&loader, path);
	FSL_THEN(status, loader.is_short ? fsl_config_no_memory(&loader) : FSL_OK);
	if (status == FSL_OK && loader.n_errors > 0) {
		status = FSL_FAIL(err, FSL_ERR_CONFIG, "%s", loader.first_error);
		if (loader.n_errors > 1) {
			status = FSL_CAUSE(
				err, status,
				"several things are wrong in the configuration, "
				"`failslow config check` shows all: path=\"%s\", errors=%zu",
				path != NULL ? path : "", loader.n_errors);
		}
	}
	if (status != FSL_OK) {
		fsl_config_fini(config);
	}
	return status;
}

enum fsl_status fsl_config_load(struct fsl_config *config, const char *path,
				struct fsl_registry *registry, struct fsl_error *err)
{
	return fsl_config_load_reported(config, path, registry, NULL, err);
}

void fsl_config_fini(struct fsl_config *config)
{
	fsl_free(config->values);
	fsl_arena_fini(&config->arena);
	*config = (struct fsl_config){.path = "", .directory = "."};
}

const struct fsl_metric_config *fsl_config_metric(const struct fsl_config *config, const char *name)
{
	for (size_t i = 0; i < config->n_metrics; i++) {
		if (strcmp(config->metrics[i].name, name) == 0) {
			return &config->metrics[i];
		}
	}
	/* Collectors write Allreduce, sysTrace's configuration AllReduce. */
	bool is_allreduce = strcasestr(name, "allreduce") != NULL;
	for (size_t i = 0; is_allreduce && i < config->n_metrics; i++) {
		if (strcasecmp(config->metrics[i].name, name) == 0) {
			return &config->metrics[i];
		}
	}
	return NULL;
}

const struct fsl_detector_config *fsl_config_detector(const struct fsl_config *config,
						      const char *name)
{
	for (size_t i = 0; i < config->n_detectors_known; i++) {
		if (strcmp(config->detectors[i].name, name) == 0) {
			return &config->detectors[i];
		}
	}
	return NULL;
}

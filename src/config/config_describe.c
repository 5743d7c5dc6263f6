/* A model_config.json in a folder that is looked at. Nobody vouches for it: it may describe the
 * job, and say nothing about what runs, what is written, or what else is read. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/try.h"
#include "config/config_load.h"

/* Keys that describe the job; "hccl_domain" is loaded by a function of its own. */
static const char *const plain_keys[] = {
	"job_name",          "log_type",       "task_stable_step",   "min_startup_detection_steps",
	"steps_window_size", "k_sigma",        "anomaly_degree_thr", "hang_times_mins_thr",
	"hang_forget_hours", "slow_ratio_min", "persistence_min",    "steps_min",
	"rank_coverage_min",
};
/* Keys that name a file or a folder, which must lie in the folder. */
static const char *const path_keys[] = {"training_log", "rank_table_json"};

/* Receives the problems of both passes. */
struct complaint {
	char *text; /* the first; "" if there is none */
	size_t size;
};

static void keep_first(void *context, enum fsl_log_level level, const char *text)
{
	struct complaint *complaint = context;
	(void)level;
	if (complaint->text[0] == '\0') {
		(void)snprintf(complaint->text, complaint->size, "%s", text);
	}
}

/* True if @path is a file or a folder that lies in @folder, with all links followed. */
static bool is_inside(const char *path, const char *folder)
{
	char *real = realpath(path, NULL), *real_folder = realpath(folder, NULL);
	struct stat facts;
	bool is_found = real != NULL && real_folder != NULL && stat(real, &facts) == 0 &&
			(S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode));
	size_t length = is_found ? strlen(real_folder) : 0;
	is_found = is_found && strncmp(real, real_folder, length) == 0 &&
		   (real[length] == '/' || real_folder[length - 1] == '/');
	free(real);
	free(real_folder);
	return is_found;
}

static enum fsl_status take_path(struct fsl_config_loader *loader, const cJSON *item,
				 const char *key, size_t *n_taken)
{
	if (!cJSON_IsString(item) || item->valuestring[0] == '\0') {
		return FSL_OK;
	}
	const char *path = fsl_config_resolve(loader, item->valuestring);
	if (path == NULL) {
		return fsl_config_no_memory(loader);
	}
	if (!is_inside(path, loader->directory)) {
		return fsl_config_problem(loader, FSL_LOG_WARNING,
					  "the path of %s is not in the folder: "
					  "file=\"%s\"",
					  key, loader->file);
	}
	++*n_taken;
	return fsl_config_store(loader, fsl_config_row(key), item, key, loader->config);
}

static enum fsl_status take_keys(struct fsl_config_loader *loader, const cJSON *root,
				 size_t *n_taken)
{
	for (size_t i = 0; i < sizeof(plain_keys) / sizeof(plain_keys[0]); i++) {
		const char *key = plain_keys[i];
		const cJSON *item = fsl_config_item(root, key);
		if (item != NULL) {
			++*n_taken;
			FSL_TRY(fsl_config_store(loader, fsl_config_row(key), item, key,
						 loader->config));
		}
	}
	for (size_t i = 0; i < sizeof(path_keys) / sizeof(path_keys[0]); i++) {
		const cJSON *item = fsl_config_item(root, path_keys[i]);
		FSL_TRY(take_path(loader, item, path_keys[i], n_taken));
	}
	if (fsl_config_item(root, "hccl_domain") != NULL) {
		++*n_taken;
		memset(loader->config->hccl_domain, 0, sizeof(loader->config->hccl_domain));
		return fsl_config_load_domains(loader, root);
	}
	return FSL_OK;
}

/* Reads and checks the file in @trial, so that nothing changes if it cannot be used. */
static enum fsl_status read_checked(struct fsl_config_loader *trial, cJSON **root)
{
	struct stat facts;
	size_t n_taken = 0;
	if (stat(trial->file, &facts) != 0 || !S_ISREG(facts.st_mode) ||
	    !is_inside(trial->file, trial->directory)) {
		return fsl_config_problem(trial, FSL_LOG_ERROR, "it is not a file in the folder");
	}
	if (facts.st_size > FSL_CONFIG_BYTES_MAX) {
		return fsl_config_problem(trial, FSL_LOG_ERROR, "it is too large");
	}
	FSL_TRY(fsl_config_read(trial, trial->file, root));
	return *root != NULL ? take_keys(trial, *root, &n_taken) : FSL_OK;
}

enum fsl_status fsl_config_describe(struct fsl_config *config, const char *folder, const char *path,
				    char *complaint, size_t size, struct fsl_error *err)
{
	struct complaint first = {complaint, size};
	const struct fsl_config_reporter reporter = {keep_first, &first};
	struct fsl_config scratch = {0};
	struct fsl_config_loader trial = {.config = &scratch,
					  .reporter = &reporter,
					  .file = path,
					  .directory = folder,
					  .err = err};
	struct fsl_config_loader loader = trial;
	loader.config = config;
	loader.file = fsl_arena_strdup(&config->arena, path);
	size_t n_taken = 0;
	cJSON *root = NULL;
	complaint[0] = '\0';
	enum fsl_status status = loader.file != NULL ? FSL_OK : fsl_config_no_memory(&loader);
	FSL_THEN(status, read_checked(&trial, &root));
	if (status == FSL_OK && root != NULL && trial.n_errors == 0) {
		status = take_keys(&loader, root, &n_taken);
	}
	FSL_THEN(status,
		 trial.is_short || loader.is_short ? fsl_config_no_memory(&loader) : FSL_OK);
	config->described_by = status == FSL_OK && n_taken > 0 ? loader.file : NULL;
	cJSON_Delete(root);
	fsl_config_fini(&scratch);
	return status;
}

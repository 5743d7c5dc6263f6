/* The nearest folder that all operands share. */
#include "cli/operands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "match/topology_build.h"

static int compare_words(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

void fsl_operands_sort(char **words, size_t n)
{
	if (n > 1) {
		qsort(words, n, sizeof(*words), compare_words);
	}
}

/* Cuts the real path of a file or folder to that of a folder; "" for the root of the tree. */
static bool set_folder(char folder[PATH_MAX], const char *path)
{
	struct stat facts;
	if (realpath(path, folder) == NULL || stat(folder, &facts) != 0) {
		return false;
	}
	if (!S_ISDIR(facts.st_mode) || strcmp(folder, "/") == 0) {
		*strrchr(folder, '/') = '\0';
	}
	return true;
}

/* Cuts @common to what it shares with @folder, whole names alone. */
static void cut_to_common(char *common, const char *folder)
{
	size_t length = 0, i = 0;
	for (;; i++) {
		bool ends = (common[i] == '\0' || common[i] == '/') &&
			    (folder[i] == '\0' || folder[i] == '/');
		length = ends ? i : length;
		if (common[i] != folder[i] || common[i] == '\0') {
			break;
		}
	}
	common[length] = '\0';
}

const char *fsl_operands_root(const char *const *paths, size_t n, char buffer[PATH_MAX])
{
	char folder[PATH_MAX];
	if (n < 2) {
		return n == 1 ? paths[0] : NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (!set_folder(i == 0 ? buffer : folder, paths[i])) {
			return paths[0];
		}
		if (i > 0) {
			cut_to_common(buffer, folder);
		}
	}
	if (buffer[0] == '\0') {
		memcpy(buffer, "/", 2);
	}
	return buffer;
}

/* The folder among the operands that has a model_config.json, and its path, to be freed with
 * fsl_free. *n_found: how many have one. */
static char *find_description(const char *const *paths, size_t n, const char **folder,
			      size_t *n_found)
{
	char *found = NULL;
	*n_found = 0;
	for (size_t i = 0; i < n; i++) {
		char *path = fsl_path_join(paths[i], "model_config.json");
		if (path == NULL || access(path, F_OK) != 0) {
			fsl_free(path);
			continue;
		}
		fsl_free(found);
		found = path;
		*folder = paths[i];
		++*n_found;
	}
	return found;
}

enum fsl_status fsl_operands_describe(struct fsl_config *config, const char *const *paths, size_t n,
				      bool warns, struct fsl_error *err)
{
	char complaint[FSL_CAUSE_MESSAGE_MAX] = "";
	const char *folder = NULL;
	size_t n_found = 0;
	struct fsl_error why = {0};
	enum fsl_status status = FSL_OK;
	char *path = find_description(paths, n, &folder, &n_found);
	if (n_found > 1) {
		(void)snprintf(complaint, sizeof(complaint), "%zu folders have one", n_found);
	} else if (n_found == 1) {
		status = fsl_config_describe(config, folder, path, complaint, sizeof(complaint),
					     err);
	}
	if (config->described_by != NULL && fsl_hccl_domain_check(config, &why) != FSL_OK) {
		memset(config->hccl_domain, 0, sizeof(config->hccl_domain));
		(void)snprintf(complaint, sizeof(complaint), "%s", fsl_error_root(&why));
	}
	if (status == FSL_OK && warns && complaint[0] != '\0') {
		fsl_log(FSL_LOG_WARNING, "config", "model_config.json of the folder is %s: %s",
			config->described_by != NULL ? "used in part" : "not used", complaint);
	}
	fsl_free(path);
	return status;
}

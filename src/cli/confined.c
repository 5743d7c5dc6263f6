/* From configuration and command line to the list of what a run may read and write. */
#include "cli/confined.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/host_processes.h"
#include "report/reporter.h"
#include "source/ascend/find/discover.h"
#include "source/systrace/frame_symbols.h"
#include "state/state_place.h"
#include "team/team.h"

/* Cuts the last name off a true path. */
static void cut_name(char *path)
{
	char *slash = strrchr(path, '/');
	slash[slash == path ? 1 : 0] = '\0';
}

/* Allows one input; an output folder of a profiler, or a file in it, with the files around it. */
static void allow_input(struct fsl_confine *plan, const char *path)
{
	char folder[PATH_MAX];
	struct stat facts;
	fsl_confine_allow(plan, FSL_CONFINE_INPUT, path);
	if (path == NULL || realpath(path, folder) == NULL || stat(folder, &facts) != 0) {
		return;
	}
	if (S_ISREG(facts.st_mode)) {
		cut_name(folder);
	}
	if (folder[0] == '/' && fsl_profile_is_output_name(strrchr(folder, '/') + 1)) {
		cut_name(folder);
		fsl_confine_allow(plan, FSL_CONFINE_INPUT, folder);
	}
}

/* Allows the folder in which the state lies, which may be another one than configured. */
static void allow_state(struct fsl_confine *plan, const char *path)
{
	char folder[PATH_MAX], wanted[PATH_MAX + 16];
	const char *slash = strrchr(path, '/');
	int length = slash != NULL ? (int)(slash - path) : 0;
	if (length >= PATH_MAX) {
		return; /* told when the state is opened */
	}
	(void)snprintf(folder, sizeof(folder), "%.*s", length, path);
	if (length == 0) {
		(void)snprintf(folder, sizeof(folder), "%s", slash != NULL ? "/" : ".");
	}
	fsl_confine_allow(plan, FSL_CONFINE_WRITE, folder);
	/* If the folder is to be made yet: whether it is safe then depends on those above. */
	while (access(folder, F_OK) != 0 && strchr(folder, '/') != NULL &&
	       strcmp(folder, "/") != 0) {
		cut_name(folder);
	}
	(void)snprintf(wanted, sizeof(wanted), "%s/%s", access(folder, F_OK) == 0 ? folder : ".",
		       slash != NULL ? slash + 1 : path);
	char *place = NULL;
	struct fsl_error ignored = {0};
	if (fsl_state_place(&place, wanted, FSL_LOG_DEBUG, &ignored) == FSL_OK) {
		cut_name(place);
		fsl_confine_allow(plan, FSL_CONFINE_WRITE, place);
	}
	fsl_free(place);
}

/* Files and folders that keys of the configuration name. */
static void allow_job(struct fsl_confine *plan, const struct fsl_config *config)
{
	char beside[PATH_MAX];
	allow_input(plan, config->root_path);
	if (config->root_path != NULL) {
		fsl_confine_allow(plan, FSL_CONFINE_INPUT,
				  fsl_host_processes_beside(config->root_path, beside));
	}
	allow_input(plan, config->training_log);
	fsl_confine_allow(plan, FSL_CONFINE_READ, config->rank_table_json);
	if (config->with_fail_slow) {
		fsl_confine_allow(plan, FSL_CONFINE_READ, config->fail_slow_perception_path);
	}
	if (!config->is_look) {
		fsl_confine_allow(plan, FSL_CONFINE_WRITE, config->fail_slow_perception_path);
		fsl_confine_allow(plan, FSL_CONFINE_WRITE, config->slow_node_detection_path);
		allow_state(plan, config->state_path);
	}
}

/* Allows to write a file: its draft lies beside it. */
static void allow_output_file(struct fsl_confine *plan, const char *path)
{
	char folder[PATH_MAX];
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;
	int length = slash != NULL ? (int)(slash - path) : 0;
	if (path == NULL || length >= PATH_MAX) {
		return; /* told when the file is written */
	}
	(void)snprintf(folder, sizeof(folder), "%.*s", length, path);
	fsl_confine_allow(plan, FSL_CONFINE_WRITE, length > 0 ? folder : slash != NULL ? "/" : ".");
}

void fsl_confined_begin(const struct fsl_confined_run *run)
{
	struct fsl_confine *plan = fsl_confine_create();
	fsl_confine_allow_usual(plan);
	if (!run->config->may_confine) {
		fsl_confine_allow(plan, FSL_CONFINE_NOTHING, "confine is off");
	}
	if (fsl_team_size() > 1) {
		fsl_confine_allow(plan, FSL_CONFINE_NOTHING, "processes work together");
	}
	fsl_confine_allow(plan, FSL_CONFINE_READ, run->config->path);
	for (size_t i = 0; i < run->n_paths; i++) {
		allow_input(plan, run->paths[i]);
	}
	const char *libraries = run->libraries != NULL ? run->libraries : "";
	char folder[PATH_MAX];
	while (fsl_folder_list_next(&libraries, folder, sizeof(folder))) {
		fsl_confine_allow(plan, FSL_CONFINE_INPUT, folder);
	}
	allow_input(plan, run->baseline);
	fsl_confine_allow(plan, FSL_CONFINE_WRITE, run->output);
	allow_output_file(plan, run->page);
	if (run->has_job) {
		allow_job(plan, run->config);
	}
	fsl_report_allow(plan, run->config);
	fsl_confine_begin(plan, fsl_confine_abi());
	fsl_confine_destroy(plan);
}

void fsl_confined_begin_files(const char *path, const char *beside, const char *output)
{
	struct fsl_confine *plan = fsl_confine_create();
	fsl_confine_allow_usual(plan);
	fsl_confine_allow(plan, FSL_CONFINE_READ, path);
	if (beside != NULL) {
		fsl_confine_allow(plan, FSL_CONFINE_READ, beside);
	}
	if (output != NULL) {
		allow_output_file(plan, output);
	}
	fsl_confine_begin(plan, fsl_confine_abi());
	fsl_confine_destroy(plan);
}

const char *fsl_confined_support(void)
{
	return fsl_confine_abi() > 0 ? "yes" : "no, the kernel has no Landlock";
}

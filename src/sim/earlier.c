/* Removes the files of an earlier job from the folder that a job is written to. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/os_error.h"
#include "base/try.h"
#include "sim/sim_parts.h"

enum { PATH_BYTES = 4096 };

/* Every file name of a simulated rank; # is a number. Other files in the folders are not ours. */
static const struct {
	const char *folder, *pattern;
} rank_files[] = {
	{"mspti", "hccl_activity-10.#.#.#-.#.csv"},
	{"mspti", "hccl_activity-10.#.#.#-.#.csv.gz"},
	{"mspti", "hccl_activity-10.#.#.#-.#.csv.zst"},
	{"mspti", "hccl_activity-10.#.#.#-.#.json"},
	{"mspti", "hccl_activity-10.#.#.#-.#.json.gz"},
	{"mspti", "hccl_activity-10.#.#.#-.#.json.zst"},
	{"timeline", "host#--#.timeline"},
};

static bool has_form(const char *name, const char *pattern)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern != '#' && *name++ != *pattern) {
			return false;
		}
		if (*pattern == '#' && !isdigit((unsigned char)*name)) {
			return false;
		}
		while (*pattern == '#' && isdigit((unsigned char)*name)) {
			name++;
		}
	}
	return *name == '\0';
}

static bool is_rank_file(const char *folder, const char *name)
{
	for (size_t i = 0; i < sizeof(rank_files) / sizeof(rank_files[0]); i++) {
		if (strcmp(rank_files[i].folder, folder) == 0 &&
		    has_form(name, rank_files[i].pattern)) {
			return true;
		}
	}
	return false;
}

static enum fsl_status remove_rank_files(const char *dir, const char *folder, struct fsl_error *err)
{
	char path[PATH_BYTES], **names = NULL;
	size_t n_names = 0;
	(void)snprintf(path, sizeof(path), "%s/%s", dir, folder);
	if (access(path, F_OK) != 0) {
		return FSL_OK;
	}
	enum fsl_status status = fsl_dir_list(path, &names, &n_names, err);
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		if (!is_rank_file(folder, names[i])) {
			continue;
		}
		(void)snprintf(path, sizeof(path), "%s/%s/%s", dir, folder, names[i]);
		if (unlink(path) != 0) {
			status = FSL_FAIL(err, FSL_ERR_IO,
					  "cannot remove a file of the earlier job: path=\"%s\", "
					  "reason=\"%s\"",
					  path, fsl_os_error(errno).text);
		}
	}
	fsl_free(names);
	return status;
}

enum fsl_status fsl_sim_earlier_remove(const char *dir, struct fsl_error *err)
{
	FSL_TRY(remove_rank_files(dir, "mspti", err));
	return remove_rank_files(dir, "timeline", err);
}

/* Files beside the state file, for what is too large for it and may be lost. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "state/state.h"

#define INFIX "-tails-"

enum { DIGITS = 16, AGE_MAX_S = 2 * 24 * 3600 };

char *fsl_state_beside(const char *state_path, const char *root)
{
	size_t size = strlen(state_path) + sizeof(INFIX) + DIGITS;
	char *path = fsl_calloc(size, 1);
	if (path != NULL) {
		(void)snprintf(path, size, "%s" INFIX "%016" PRIx64, state_path,
			       fsl_hash_bytes(FSL_HASH_START, root, strlen(root)));
	}
	return path;
}

/* Of the state file of that name, and of no other. */
static bool is_beside(const char *name, const char *state_name)
{
	size_t n_state = strlen(state_name), n_infix = strlen(INFIX);
	return strncmp(name, state_name, n_state) == 0 &&
	       strncmp(name + n_state, INFIX, n_infix) == 0 &&
	       strlen(name + n_state + n_infix) == DIGITS &&
	       strspn(name + n_state + n_infix, "0123456789abcdef") == DIGITS;
}

static void remove_if_old(DIR *folder, const char *name)
{
	struct stat facts;
	int fd = dirfd(folder);
	if (fstatat(fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode) &&
	    facts.st_mtime < time(NULL) - AGE_MAX_S) {
		(void)unlinkat(fd, name, 0);
	}
}

void fsl_state_sweep_beside(const char *state_path)
{
	const char *slash = strrchr(state_path, '/');
	const char *state_name = slash != NULL ? slash + 1 : state_path;
	size_t n_folder = (size_t)(state_name - state_path);
	char *folder_path = fsl_calloc(n_folder + 2, 1);
	if (folder_path == NULL) {
		return;
	}
	memcpy(folder_path, n_folder > 0 ? state_path : ".", n_folder > 0 ? n_folder : 1);
	DIR *folder = opendir(folder_path);
	fsl_free(folder_path);
	const struct dirent *entry = folder != NULL ? readdir(folder) : NULL;
	for (; entry != NULL; entry = readdir(folder)) {
		if (is_beside(entry->d_name, state_name)) {
			remove_if_old(folder, entry->d_name);
		}
	}
	if (folder != NULL) {
		(void)closedir(folder);
	}
}

/* Names of the files beside the state file, and how they go. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "state/state_parts.h"

enum { DIGITS = 16, DAY_S = 24 * 3600 };

/* What follows the name of the state file, and for how long nobody wrote to a file that goes. */
static const struct beside {
	const char *infix;
	time_t age_max_s;
} kinds[FSL_BESIDE_N] = {
	[FSL_BESIDE_KEPT] = {"-kept-", 90 * DAY_S},
	[FSL_BESIDE_TAILS] = {"-tails-", 2 * DAY_S},
};

char *fsl_state_beside(const char *state_path, enum fsl_beside kind, const char *root)
{
	const char *infix = kinds[kind].infix;
	size_t size = strlen(state_path) + strlen(infix) + DIGITS + 1;
	char *path = fsl_calloc(size, 1);
	if (path != NULL) {
		(void)snprintf(path, size, "%s%s%016" PRIx64, state_path, infix,
			       fsl_hash_bytes(FSL_HASH_START, root, strlen(root)));
	}
	return path;
}

enum fsl_status fsl_state_prepare_folder(const char *path, struct fsl_error *err)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t length = slash != NULL ? (size_t)(slash - path) : 0;
	if (length == 0) {
		return FSL_OK;
	}
	if (length >= sizeof(folder)) {
		return FSL_FAIL(err, FSL_ERR_IO, "path too long, name a shorter one: path=\"%s\"",
				path);
	}
	memcpy(folder, path, length);
	folder[length] = '\0';
	return fsl_dir_create(folder, err);
}

static bool is_of_kind(const char *behind, const struct beside *kind)
{
	size_t n_infix = strlen(kind->infix);
	return strncmp(behind, kind->infix, n_infix) == 0 && strlen(behind + n_infix) == DIGITS &&
	       strspn(behind + n_infix, "0123456789abcdef") == DIGITS;
}

/* The kind of a file of the state file of that name, and of no other; NULL: it is none. */
static const struct beside *kind_of(const char *name, const char *state_name)
{
	size_t n_state = strlen(state_name);
	for (size_t k = 0; k < FSL_BESIDE_N; k++) {
		if (strncmp(name, state_name, n_state) == 0 &&
		    is_of_kind(name + n_state, &kinds[k])) {
			return &kinds[k];
		}
	}
	return NULL;
}

/* What a run that was killed left behind. */
static const struct beside half_written = {"", 2 * DAY_S};

static bool is_half_written(const char *name)
{
	static const char begin[] = FSL_FILE_TEMP_BEGIN, end[] = FSL_FILE_TEMP_END;
	size_t n = strlen(name), n_begin = sizeof(begin) - 1, n_end = sizeof(end) - 1;
	return n > n_begin + n_end && strncmp(name, begin, n_begin) == 0 &&
	       strcmp(name + n - n_end, end) == 0 &&
	       strspn(name + n_begin, "0123456789.") == n - n_begin - n_end + 1;
}

/* A file that nobody wrote to for too long, or any of the state when @is_any_age. */
static void remove_beside(DIR *folder, const char *name, const char *state_name, bool is_any_age)
{
	const struct beside *kind = kind_of(name, state_name);
	if (kind == NULL && !is_any_age && is_half_written(name)) {
		kind = &half_written;
	}
	struct stat facts;
	int fd = dirfd(folder);
	if (kind != NULL && fstatat(fd, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(facts.st_mode) &&
	    (is_any_age || facts.st_mtime < time(NULL) - kind->age_max_s)) {
		(void)unlinkat(fd, name, 0);
	}
}

static void sweep(const char *state_path, bool is_any_age)
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
		remove_beside(folder, entry->d_name, state_name, is_any_age);
	}
	if (folder != NULL) {
		(void)closedir(folder);
	}
}

void fsl_state_sweep_beside(const char *state_path)
{
	sweep(state_path, false);
}

void fsl_state_forget(const char *state_path)
{
	(void)unlink(state_path);
	sweep(state_path, true);
}

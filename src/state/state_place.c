/* Finds a place for a database that only root and the user can touch. */
#include "state/state_place.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/os_error.h"
#include "base/trust.h"

static enum fsl_status fail_to_look(const char *path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_IO, "cannot look at it: path=\"%s\", reason=\"%s\"", path,
			fsl_os_error(errno).text);
}

/*
 * Looks at "/", "/a" and "/a/b" of the true name @folder in this order: after each, nobody else can
 * change what the next name stands for. In a sticky folder others may make files, but not replace
 * ours: it may lie above the database, and hold it only if @may_be_sticky.
 */
static enum fsl_status check_folder(char *folder, bool may_be_sticky, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	size_t length = strlen(folder);
	for (size_t end = 1; status == FSL_OK && end <= length; end++) {
		struct stat facts;
		char kept = folder[end];
		if (end > 1 && kept != '/' && kept != '\0') {
			continue;
		}
		folder[end] = '\0';
		if (lstat(folder, &facts) != 0) {
			status = fail_to_look(folder, err);
		} else if (!S_ISDIR(facts.st_mode)) {
			status = FSL_FAIL(err, FSL_ERR_IO, "is no folder: path=\"%s\"", folder);
		} else {
			bool is_above = end < length || may_be_sticky;
			if (is_above && (facts.st_mode & S_ISVTX) != 0) {
				facts.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
			}
			status = fsl_trust_entry(folder, &facts, err);
		}
		folder[end] = kept;
	}
	return status;
}

/* The database and what SQLite would read beside it. None of them has to be there. */
static enum fsl_status check_files(const char *path, struct fsl_error *err)
{
	static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; status == FSL_OK && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char file[PATH_MAX + 16];
		struct stat facts;
		(void)snprintf(file, sizeof(file), "%s%s", path, suffixes[i]);
		if (lstat(file, &facts) != 0) {
			status = errno == ENOENT ? FSL_OK : fail_to_look(file, err);
		} else if (S_ISLNK(facts.st_mode)) {
			status = FSL_FAIL(err, FSL_ERR_IO, "is a link: path=\"%s\"", file);
		} else if (S_ISREG(facts.st_mode) && facts.st_nlink > 1) {
			status = FSL_FAIL(err, FSL_ERR_IO, "has several names: path=\"%s\"", file);
		} else {
			status = fsl_trust_entry(file, &facts, err);
		}
	}
	return status;
}

/* Joins the true name @folder and @name to *out if a database is safe there. */
static enum fsl_status check_place(char **out, char *folder, const char *name,
				   struct fsl_error *err)
{
	char *path = fsl_path_join(folder, name);
	if (path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", name);
	}
	enum fsl_status status = check_folder(folder, false, err);
	FSL_THEN(status, check_files(path, err));
	if (status != FSL_OK) {
		fsl_free(path);
		return status;
	}
	*out = path;
	return FSL_OK;
}

/* Makes @path with the folders above that are absent, each in a safe one, for the user alone. */
static enum fsl_status make_folder(char *path, struct fsl_error *err)
{
	char found[PATH_MAX];
	if (realpath(path, found) != NULL) {
		return check_folder(found, true, err);
	}
	char *slash = strrchr(path, '/');
	if (errno != ENOENT || slash == NULL || slash == path) {
		return fail_to_look(path, err);
	}
	*slash = '\0';
	enum fsl_status status = make_folder(path, err);
	*slash = '/';
	if (status == FSL_OK && mkdir(path, 0700) != 0 && errno != EEXIST) {
		status = FSL_FAIL(err, FSL_ERR_IO,
				  "cannot make the folder: path=\"%s\", reason=\"%s\"", path,
				  fsl_os_error(errno).text);
	}
	return status;
}

/* Joins @base and @below to the folder of the user's own, and @name to *out. */
static enum fsl_status own_place(char **out, const char *base, const char *below, const char *name,
				 struct fsl_error *err)
{
	char folder[PATH_MAX];
	char found[PATH_MAX];
	if (base == NULL || base[0] != '/') {
		return FSL_FAIL(err, FSL_ERR_IO, "no folder of the user is known, set HOME");
	}
	int length = snprintf(folder, sizeof(folder), "%s%s", base, below);
	if (length < 0 || (size_t)length >= sizeof(folder)) {
		return FSL_FAIL(err, FSL_ERR_IO, "path too long: path=\"%s\"", base);
	}
	enum fsl_status status = make_folder(folder, err);
	if (status == FSL_OK && realpath(folder, found) == NULL) {
		status = fail_to_look(folder, err);
	}
	return status == FSL_OK ? check_place(out, found, name, err) : status;
}

/* Databases wanted in several folders have several names in the one folder of the user. */
static enum fsl_status place_elsewhere(char **out, const char *folder, const char *name,
				       struct fsl_error *err)
{
	struct fsl_error ignored = {0};
	char own_name[NAME_MAX + 1];
	uint64_t hash = fsl_hash_bytes(FSL_HASH_START, folder, strlen(folder) + 1);
	hash = fsl_hash_bytes(hash, name, strlen(name));
	int length = snprintf(own_name, sizeof(own_name), "%016" PRIx64 "-%s", hash, name);
	if (length < 0 || (size_t)length >= sizeof(own_name)) {
		return FSL_FAIL(err, FSL_ERR_IO, "name too long: file=\"%s\"", name);
	}
	if (own_place(out, getenv("XDG_STATE_HOME"), "/failslow", own_name, &ignored) == FSL_OK) {
		return FSL_OK;
	}
	return geteuid() == 0
		       ? own_place(out, "/var/lib/failslow", "", own_name, err)
		       : own_place(out, getenv("HOME"), "/.local/state/failslow", own_name, err);
}

enum fsl_status fsl_state_place(char **out, const char *wanted, enum fsl_log_level level,
				struct fsl_error *err)
{
	struct fsl_error why = {0};
	struct fsl_error why_not_elsewhere = {0};
	char folder[PATH_MAX];
	char found[PATH_MAX];
	const char *slash = strrchr(wanted, '/');
	const char *name = slash != NULL ? slash + 1 : wanted;
	size_t length = (size_t)(name - wanted);
	if (length >= sizeof(folder)) {
		return FSL_FAIL(err, FSL_ERR_IO, "path too long, name a shorter one: path=\"%s\"",
				wanted);
	}
	memcpy(folder, length > 0 ? wanted : ".", length > 0 ? length : 1);
	folder[length > 0 ? length : 1] = '\0';
	if (realpath(folder, found) == NULL) {
		return fail_to_look(folder, err);
	}
	enum fsl_status status = check_place(out, found, name, &why);
	if (status != FSL_ERR_IO) {
		return status == FSL_OK ? FSL_OK : FSL_FAIL(err, status, "out of memory for state");
	}
	status = place_elsewhere(out, found, name, &why_not_elsewhere);
	if (status != FSL_OK) {
		return FSL_FAIL(
			err, status,
			"not safe where it is wanted, and no other place is: cause=\"%s\", other=\"%s\"",
			fsl_error_root(&why), fsl_error_root(&why_not_elsewhere));
	}
	fsl_log(level, "state",
		"not safe where it is wanted, another file is used until it is: wanted=\"%s\", "
		"used=\"%s\", cause=\"%s\"",
		wanted, *out, fsl_error_root(&why));
	return FSL_OK;
}

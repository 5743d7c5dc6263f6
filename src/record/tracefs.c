/* Finding tracefs, and reading and writing its files. */
#include "record/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/os_error.h"

#define MOUNT_REMEDY "mount -t tracefs tracefs /sys/kernel/tracing"

static bool join(char *path, size_t size, const char *root, const char *name)
{
	int length = snprintf(path, size, "%s/%s", root, name);
	return length > 0 && (size_t)length < size;
}

bool fsl_tracefs_has(const char *root, const char *name)
{
	char path[FSL_TRACEFS_PATH_MAX];
	return join(path, sizeof(path), root, name) && access(path, F_OK) == 0;
}

static bool kernel_has_tracefs(void)
{
	char *text = NULL;
	size_t length = 0;
	bool has = true; /* without /proc nobody knows */
	if (fsl_file_read_text("/proc/filesystems", &text, &length, NULL) == FSL_OK) {
		has = strstr(text, "\ttracefs\n") != NULL;
	}
	fsl_free(text);
	return has;
}

static enum fsl_status fail_to_find(int code, struct fsl_error *err)
{
	if (code == EACCES || code == EPERM) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"this user may not use the kernel's tracer, record as root: "
				"path=\"/sys/kernel/tracing\", reason=\"%s\"",
				fsl_os_error(code).text);
	}
	if (!kernel_has_tracefs()) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"the kernel has no tracefs, it was built without CONFIG_TRACING: "
				"path=\"/proc/filesystems\"");
	}
	return FSL_FAIL(err, FSL_ERR_IO,
			"tracefs is not mounted, mount it as root, or record on the host if this "
			"is a container: remedy=\"" MOUNT_REMEDY "\"");
}

enum fsl_status fsl_tracefs_find(char root[FSL_TRACEFS_PATH_MAX], const char *given,
				 struct fsl_error *err)
{
	const char *const places[] = {given != NULL ? given : "/sys/kernel/tracing",
				      given != NULL ? given : "/sys/kernel/debug/tracing"};
	int code = ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[FSL_TRACEFS_PATH_MAX];
		if (join(path, sizeof(path), places[i], "tracing_on") &&
		    access(path, R_OK | W_OK) == 0) {
			(void)snprintf(root, FSL_TRACEFS_PATH_MAX, "%s", places[i]);
			return FSL_OK;
		}
		code = errno != ENOENT ? errno : code;
	}
	return fail_to_find(code, err);
}

enum fsl_status fsl_tracefs_write(const char *root, const char *name, const char *text,
				  struct fsl_error *err)
{
	char path[FSL_TRACEFS_PATH_MAX];
	size_t n_left = strlen(text);
	if (!join(path, sizeof(path), root, name)) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "the path is too long: path=\"%s\"", root);
	}
	int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int code = file < 0 ? errno : 0;
	while (code == 0 && n_left > 0) {
		ssize_t n_written = write(file, text, n_left);
		if (n_written >= 0) {
			text += n_written;
			n_left -= (size_t)n_written;
		} else if (errno != EINTR) {
			code = errno;
		}
	}
	if (file >= 0) {
		(void)close(file);
	}
	return code == 0 ? FSL_OK
			 : FSL_FAIL(err, FSL_ERR_IO,
				    "cannot set the kernel's tracer: path=\"%s\", reason=\"%s\"",
				    path, fsl_os_error(code).text);
}

enum fsl_status fsl_tracefs_read(const char *root, const char *name,
				 char text[FSL_TRACEFS_TEXT_MAX], struct fsl_error *err)
{
	char path[FSL_TRACEFS_PATH_MAX], read_text[FSL_TRACEFS_TEXT_MAX];
	size_t n_read = 0;
	if (!join(path, sizeof(path), root, name)) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "the path is too long: path=\"%s\"", root);
	}
	int file = open(path, O_RDONLY | O_CLOEXEC);
	int code = file < 0 ? errno : 0;
	while (code == 0 && n_read < sizeof(read_text) - 1) {
		ssize_t n = read(file, read_text + n_read, sizeof(read_text) - 1 - n_read);
		if (n == 0) {
			break;
		}
		if (n > 0) {
			n_read += (size_t)n;
		} else if (errno != EINTR) {
			code = errno;
		}
	}
	if (file >= 0) {
		(void)close(file);
	}
	if (code != 0) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot read the state of the kernel's tracer: path=\"%s\", "
				"reason=\"%s\"",
				path, fsl_os_error(code).text);
	}
	while (n_read > 0 && read_text[n_read - 1] == '\n') {
		n_read--;
	}
	memcpy(text, read_text, n_read);
	text[n_read] = '\0';
	return FSL_OK;
}

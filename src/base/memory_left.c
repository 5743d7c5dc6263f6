/* Reads /proc/meminfo and the limits of control groups; trims the heap. */
#include "base/memory_left.h"

#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096, LINE_BYTES = 4096 };

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* MemAvailable, in bytes. */
static uint64_t read_available(const char *root)
{
	char path[PATH_BYTES], line[LINE_BYTES];
	uint64_t n_kib = UINT64_MAX;
	(void)snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &n_kib) == 1) {
			break;
		}
	}
	if (file != NULL) {
		(void)fclose(file);
	}
	return n_kib <= UINT64_MAX / 1024 ? n_kib * 1024 : UINT64_MAX;
}

/* Number in a file of one line; UINT64_MAX for "max" or if there is no such file. */
static uint64_t read_limit(const char *path)
{
	uint64_t limit = UINT64_MAX;
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		return limit;
	}
	if (fscanf(file, "%" SCNu64, &limit) != 1) {
		limit = UINT64_MAX;
	}
	(void)fclose(file);
	return limit;
}

/* Least limit of the group @group (begins with '/') and of the groups around it. In a container the
 * group may have its name on the host, while only the outermost folder exists. */
static uint64_t limit_of(const char *root, const char *hierarchy, const char *group,
			 const char *name)
{
	char folder[LINE_BYTES], path[2 * PATH_BYTES];
	uint64_t least = UINT64_MAX;
	(void)snprintf(folder, sizeof(folder), "%s", group);
	for (;;) {
		int length = snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s%s/%s", root,
				      hierarchy, folder, name);
		if (length > 0 && (size_t)length < sizeof(path)) {
			least = least_of(least, read_limit(path));
		}
		char *slash = strrchr(folder, '/');
		if (slash == NULL) {
			return least;
		}
		*slash = '\0';
	}
}

/* Reads a line of /proc/self/cgroup: number, controllers (none in v2) and group, between colons. */
static uint64_t limit_of_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':');
	char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
	if (group == NULL) {
		return UINT64_MAX;
	}
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	controllers++;
	if (controllers[0] == '\0') {
		return limit_of(root, "", group, "memory.max");
	}
	bool is_memory = strcmp(controllers, "memory") == 0;
	return is_memory ? limit_of(root, "/memory", group, "memory.limit_in_bytes") : UINT64_MAX;
}

uint64_t fsl_memory_left(const char *root)
{
	char path[PATH_BYTES], line[LINE_BYTES];
	uint64_t left = read_available(root);
	(void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		left = least_of(left, limit_of_line(root, line));
	}
	if (file != NULL) {
		(void)fclose(file);
	}
	return left;
}

void fsl_memory_give_back(void)
{
#ifdef __GLIBC__
	(void)malloc_trim(0);
#endif
}

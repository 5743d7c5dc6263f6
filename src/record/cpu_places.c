/* Reads cpuN/topology, cpuN/cache/indexK and cpuN/nodeM. */
#include "record/cpu_places.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"

enum {
	PATH_BYTES = 512,
	CPUS_MAX = 4096,   /* as readers of traces have */
	CACHES_MAX = 16,   /* of one CPU; machines have four */
	NUMBER_BYTES = 64, /* of a file with one number, or a list that begins with one */
};

/* The number at the begin of the file; -1: there is none. */
static int64_t number_in(const char *folder, int64_t cpu, const char *name)
{
	char path[PATH_BYTES], text[NUMBER_BYTES] = "";
	int64_t number = -1;
	(void)snprintf(path, sizeof(path), "%s/cpu%" PRId64 "/%s", folder, cpu, name);
	FILE *file = fopen(path, "re");
	if (file == NULL) {
		return -1;
	}
	bool is_told = fgets(text, sizeof(text), file) != NULL &&
		       fsl_parse_i64(text, strspn(text, "0123456789"), &number);
	(void)fclose(file);
	return is_told ? number : -1;
}

/* The number in the name of the entry "nodeM". */
static int64_t node_of(const char *folder, int64_t cpu)
{
	char path[PATH_BYTES], **names = NULL;
	size_t n_names = 0;
	int64_t node = -1;
	(void)snprintf(path, sizeof(path), "%s/cpu%" PRId64, folder, cpu);
	if (fsl_dir_list(path, &names, &n_names, NULL) != FSL_OK) {
		return -1;
	}
	for (size_t i = 0; i < n_names && node < 0; i++) {
		const char *digits = names[i] + strlen("node");
		if (strncmp(names[i], "node", strlen("node")) == 0 &&
		    !fsl_parse_i64(digits, strlen(digits), &node)) {
			node = -1;
		}
	}
	fsl_free(names);
	return node;
}

/* The first CPU of those that share the cache of the last level, which goes to *level. */
static int64_t cache_of(const char *folder, int64_t cpu, int64_t *level)
{
	int64_t first = -1;
	*level = 0;
	for (int k = 0; k < CACHES_MAX; k++) {
		char name[NUMBER_BYTES];
		(void)snprintf(name, sizeof(name), "cache/index%d/level", k);
		int64_t found = number_in(folder, cpu, name);
		if (found > *level) {
			(void)snprintf(name, sizeof(name), "cache/index%d/shared_cpu_list", k);
			first = number_in(folder, cpu, name);
			*level = found;
		}
	}
	return first;
}

static void write_number(FILE *stream, char before, int64_t number)
{
	if (before != '\0') {
		(void)fputc(before, stream);
	}
	if (number >= 0) {
		(void)fprintf(stream, "%" PRId64, number);
	}
}

size_t fsl_record_cpu_places_write(const char *cpus, FILE *stream)
{
	size_t n = 0;
	for (int64_t cpu = 0; cpu < CPUS_MAX; cpu++) {
		int64_t level = 0, core = number_in(cpus, cpu, "topology/core_id");
		if (core < 0) {
			continue; /* offline, or none */
		}
		int64_t cache = cache_of(cpus, cpu, &level);
		if (n++ == 0) {
			(void)fprintf(stream, "# CPU,Core,Socket,Node,L%" PRId64 "\n",
				      level > 0 ? level : 3);
		}
		write_number(stream, '\0', cpu);
		write_number(stream, ',', core);
		write_number(stream, ',', number_in(cpus, cpu, "topology/physical_package_id"));
		write_number(stream, ',', node_of(cpus, cpu));
		write_number(stream, ',', cache);
		(void)fputc('\n', stream);
	}
	return n;
}

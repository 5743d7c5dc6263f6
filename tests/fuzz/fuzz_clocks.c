/*
 * Any bytes as the files that tell the clock and the ranks of a kernel trace: start_info, end_info
 * and info.json of a profile of Ascend, ranks.json, and what has the name of the trace. The byte
 * 0x1e ends a file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/number.h"
#include "fuzz/fuzz.h"
#include "source/ftrace/find.h"

static const char *const names[] = {"start_info", "end_info",      "info.json",
				    "ranks.json", "t.clocks.json", "t.pid_mapping.json"};
enum { NAMES_N = sizeof(names) / sizeof(names[0]), PATH_BYTES = 96 };
/* Differences of times are far from the limits of their type. */
static const int64_t OFFSET_NS_MAX = INT64_C(1) << 62;

/* Path of a part of the folder of this process, which has the form that profiles have. */
static void name_part(char path[PATH_BYTES], const char *part)
{
	(void)snprintf(path, PATH_BYTES, "/tmp/failslow-fuzz-clocks-%ld%s", (long)getpid(), part);
}

static const char *const parts[] = {"", "/PROF_1", "/PROF_1/host"};
enum { PARTS_N = sizeof(parts) / sizeof(parts[0]) };

static void make_folders(void)
{
	char path[PATH_BYTES];
	for (size_t i = 0; i < PARTS_N; i++) {
		name_part(path, parts[i]);
		FSL_REQUIRE(mkdir(path, 0700) == 0);
	}
}

static void remove_folders(void)
{
	char path[PATH_BYTES];
	for (size_t i = PARTS_N; i-- > 0;) {
		name_part(path, parts[i]);
		FSL_REQUIRE(rmdir(path) == 0);
	}
}

static void name_file(char path[PATH_BYTES], const char *name)
{
	char part[PATH_BYTES / 2];
	(void)snprintf(part, sizeof(part), "/PROF_1/host/%s", name);
	name_part(path, part);
}

/* Writes the files that the input has, and removes the others. */
static void write_files(const uint8_t *data, size_t n_bytes)
{
	char path[PATH_BYTES];
	for (size_t i = 0; i < NAMES_N; i++) {
		const uint8_t *end = n_bytes > 0 ? memchr(data, 0x1e, n_bytes) : NULL;
		size_t n = end != NULL ? (size_t)(end - data) : n_bytes;
		name_file(path, names[i]);
		(void)unlink(path);
		if (n > 0) {
			int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
			FSL_REQUIRE(file >= 0 && write(file, data, n) == (ssize_t)n);
			FSL_REQUIRE(close(file) == 0);
		}
		n += end != NULL ? 1 : 0;
		data += n;
		n_bytes -= n;
	}
}

static void check_clocks(const struct fsl_prof_clocks *clocks, const char *path, int64_t first_ns)
{
	bool is_ambiguous = false;
	const struct fsl_prof_clock *best =
		fsl_prof_clocks_choose(clocks, path, first_ns, &is_ambiguous);
	FSL_REQUIRE(clocks->n_items <= 1 && !is_ambiguous); /* there is one folder */
	FSL_REQUIRE(best == NULL || best == clocks->items);
	for (size_t i = 0; i < clocks->n_items; i++) {
		const struct fsl_prof_clock *clock = &clocks->items[i];
		FSL_REQUIRE(clock->begin_ns > 0 && clock->begin_ns < clock->end_ns);
		FSL_REQUIRE(llabs(clock->offset_ns) <= OFFSET_NS_MAX);
		FSL_REQUIRE(llabs(clock->drift_ns) / 2 <= OFFSET_NS_MAX);
	}
}

static void check_beside(const struct fsl_ftrace_beside *beside,
			 const struct fsl_ftrace_ranks *ranks)
{
	FSL_REQUIRE(beside->clock != NULL && llabs(beside->offset_ns) <= OFFSET_NS_MAX);
	FSL_REQUIRE(beside->has_offset || (beside->offset_ns == 0 && beside->drift_ns == 0));
	FSL_REQUIRE(!beside->is_clock_told || beside->clock[0] != '\0');
	for (size_t i = 0; i < ranks->n_items; i++) {
		FSL_REQUIRE(ranks->items[i].pid > 0 && ranks->items[i].rank >= 0);
		FSL_REQUIRE(i == 0 || ranks->items[i - 1].rank < ranks->items[i].rank);
	}
	for (size_t i = 1; i < ranks->n_told; i++) {
		FSL_REQUIRE(ranks->told[i - 1].tid <= ranks->told[i].tid);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static const char *const own[] = {"", "mono_raw", "mono", "boot", "tai", "counter"};
	static const int64_t first[] = {FSL_NS_ABSENT, 0, INT64_C(30001129942581), INT64_MAX};
	char path[PATH_BYTES], root[PATH_BYTES];
	const char *folder = root;
	struct fsl_prof_clocks clocks = {0};
	struct fsl_ftrace_beside beside;
	struct fsl_ftrace_ranks ranks = {0};
	if (n_bytes == 0) {
		return 0;
	}
	int64_t first_ns = first[data[0] / 8 % 4];
	fsl_log_set_level(FSL_LOG_ERROR);
	name_part(root, "");
	make_folders();
	write_files(data + 1, n_bytes - 1);
	name_file(path, "t.txt");
	FSL_REQUIRE(fsl_prof_clocks_find(&clocks, &folder, 1, NULL) == FSL_OK);
	check_clocks(&clocks, path, first_ns);
	FSL_REQUIRE(fsl_ftrace_read_beside(&beside, &ranks, path, own[data[0] % 8 % 6], first_ns,
					   NULL) == FSL_OK);
	check_beside(&beside, &ranks);
	fsl_ftrace_ranks_resolve(&ranks);
	fsl_prof_clocks_fini(&clocks);
	fsl_ftrace_ranks_fini(&ranks);
	write_files(data + n_bytes, 0);
	remove_folders();
	return 0;
}

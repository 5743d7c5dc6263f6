/* The table of cases, and one run of one of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/number.h"
#include "bench/bench_parts.h"

/* clang-format off */
const struct fsl_bench_case fsl_bench_cases[] = {
	{"memcpy", "copies the bytes of the CSV files in memory",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_IN_MEMORY_TWICE, NULL, NULL, fsl_bench_memcpy, NULL, NULL},
	{"read", "reads the CSV files with read(2), 256 KiB at a time",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_FILES, NULL, NULL, fsl_bench_read, NULL, NULL},
	{"newlines", "finds the line ends of the CSV files with memchr, in memory",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_IN_MEMORY, "marker", NULL, fsl_bench_newlines, NULL, NULL},
	{"cache", "adds up as many bytes that stay in the first cache: a core at work, whatever the memory does",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_FILES, NULL, NULL, fsl_bench_cache, NULL, NULL},
	{"cache-all", "the same on --jobs threads: what the cores are worth together",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_FILES, NULL, NULL, fsl_bench_cache_all, "cache", NULL},
	{"libcsv", "cuts the CSV files into fields with libcsv and parses the same numbers",
	 FSL_BENCH_LIBRARY, FSL_BENCH_CSV, FSL_BENCH_FILES, "marker", NULL, fsl_bench_libcsv, NULL, NULL},
	{"cjson", "builds a tree of each array of the JSON files with cJSON, in memory",
	 FSL_BENCH_LIBRARY, FSL_BENCH_JSON, FSL_BENCH_IN_MEMORY, "marker", NULL, fsl_bench_cjson, NULL, NULL},
	{"protobuf-c", "unpacks the timelines as one message, in memory",
	 FSL_BENCH_LIBRARY, FSL_BENCH_TIMELINES, FSL_BENCH_IN_MEMORY, "stage", NULL, fsl_bench_protobuf, NULL, NULL},
	{"csv", "reads the CSV files into operators",
	 FSL_BENCH_WORK, FSL_BENCH_CSV, FSL_BENCH_FILES, "marker", "libcsv", fsl_bench_marker_csv, NULL, NULL},
	{"json", "reads the JSON files into operators",
	 FSL_BENCH_WORK, FSL_BENCH_JSON, FSL_BENCH_FILES, "marker", "cjson", fsl_bench_marker_json, NULL, NULL},
	{"timelines", "reads the timelines into stages",
	 FSL_BENCH_WORK, FSL_BENCH_TIMELINES, FSL_BENCH_FILES, "stage", "protobuf-c", fsl_bench_timelines, NULL, NULL},
	{"ingest", "finds, reads and merges the CSV files, one thread",
	 FSL_BENCH_WORK, FSL_BENCH_CSV, FSL_BENCH_FILES, "marker", "libcsv", fsl_bench_ingest, NULL, NULL},
	{"detect", "the whole program on the CSV tree, one thread",
	 FSL_BENCH_WORK, FSL_BENCH_CSV, FSL_BENCH_FILES, "row", "libcsv", NULL, NULL, NULL},
	{"detect-all", "the same with --jobs threads (default: one per core)",
	 FSL_BENCH_WORK, FSL_BENCH_CSV, FSL_BENCH_FILES, "row", "libcsv", NULL, "detect", NULL},
	{"detect-again", "the same, going on from a run before the last 1 % of the files was there, one thread",
	 FSL_BENCH_WORK, FSL_BENCH_CSV, FSL_BENCH_FILES, "row", NULL, NULL, NULL, "detect"},
	{.name = NULL},
};
/* clang-format on */

static enum fsl_status fail_unknown(const char *name, struct fsl_error *err)
{
	const char *names[FSL_BENCH_CASES_MAX];
	char known[256] = "";
	size_t n = 0, length = 0;
	for (const struct fsl_bench_case *item = fsl_bench_cases; item->name != NULL; item++) {
		names[n++] = item->name;
		length += (size_t)snprintf(known + length, sizeof(known) - length, "%s%s",
					   n > 1 ? ", " : "", item->name);
	}
	const char *nearest = fsl_nearest_name(name, strlen(name), names, n);
	return FSL_FAIL(err, FSL_ERR_USAGE, "no such case%s%s%s: case=\"%.60s\", known=\"%s\"",
			nearest != NULL ? ", did you mean \"" : "", nearest != NULL ? nearest : "",
			nearest != NULL ? "\"?" : "", name, known);
}

enum fsl_status fsl_bench_case_find(const struct fsl_bench_case **out, const char *name,
				    struct fsl_error *err)
{
	for (const struct fsl_bench_case *item = fsl_bench_cases; item->name != NULL; item++) {
		if (strcmp(item->name, name) == 0) {
			*out = item;
			return FSL_OK;
		}
	}
	return fail_unknown(name, err);
}

const char *fsl_bench_role_text(enum fsl_bench_role role)
{
	static const char *const texts[] = {"limit", "library", "work"};
	return texts[role];
}

const char *fsl_bench_input_text(enum fsl_bench_input input)
{
	static const char *const texts[] = {"csv", "json", "timelines"};
	return texts[input];
}

/* Resources of one run. */
struct run {
	struct fsl_arena arena;
	struct fsl_bench_data data;
	char *bytes, *spare;
	size_t n_filled;
};

static enum fsl_status list_files(struct run *run, const char *folder, struct fsl_error *err)
{
	char **names = NULL;
	size_t n_names = 0;
	enum fsl_status status = fsl_dir_list(folder, &names, &n_names, err);
	const char **paths = fsl_arena_alloc(&run->arena, (n_names + 1) * sizeof(*paths));
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		struct stat info;
		char *path = fsl_arena_printf(&run->arena, "%s/%s", folder, names[i]);
		if (paths == NULL || path == NULL) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", n_names);
		} else if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
			paths[run->data.n_paths++] = path;
			run->data.n_bytes += (size_t)info.st_size;
		}
	}
	run->data.paths = paths;
	fsl_free(names);
	if (status == FSL_OK && run->data.n_bytes == 0) {
		status = FSL_FAIL(err, FSL_ERR_INPUT, "the folder holds no files: path=\"%s\"",
				  folder);
	}
	return status;
}

static enum fsl_status keep_block(void *context, const char *block, size_t n_bytes,
				  struct fsl_error *err)
{
	struct run *run = context;
	if (n_bytes > run->data.n_bytes - run->n_filled) {
		return FSL_FAIL(err, FSL_ERR_INPUT, "the files grow while they are read");
	}
	memcpy(run->bytes + run->n_filled, block, n_bytes);
	run->n_filled += n_bytes;
	return FSL_OK;
}

static enum fsl_status fill_memory(struct run *run, bool is_twice, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	/* A NUL behind the last byte, for libraries that read it. */
	run->bytes = fsl_calloc(run->data.n_bytes + 1, 1);
	run->spare = is_twice ? fsl_calloc(run->data.n_bytes, 1) : NULL;
	if (run->bytes == NULL || (is_twice && run->spare == NULL)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", run->data.n_bytes);
	}
	for (size_t i = 0; i < run->data.n_paths && status == FSL_OK; i++) {
		status = fsl_bench_each_block(run->data.paths[i], keep_block, run, err);
	}
	if (is_twice) {
		/* Touches the pages before the clock starts. */
		memset(run->spare, 1, run->data.n_bytes);
	}
	run->data.bytes = run->bytes;
	run->data.spare = run->spare;
	return status;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now = {0};
	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * FSL_NS_PER_S + now.tv_nsec;
}

/* The timed part. callgrind finds this function by its name and counts nothing else. */
enum fsl_status fsl_bench_timed(const struct fsl_bench_case *item,
				const struct fsl_bench_data *data, struct fsl_bench_sample *out,
				struct fsl_error *err);
__attribute__((noinline)) enum fsl_status fsl_bench_timed(const struct fsl_bench_case *item,
							  const struct fsl_bench_data *data,
							  struct fsl_bench_sample *out,
							  struct fsl_error *err)
{
	int64_t wall_ns = clock_ns(CLOCK_MONOTONIC), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	enum fsl_status status = item->work(data, &out->n_rows, err);
	out->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	out->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_ns;
	return status;
}

enum fsl_status fsl_bench_case_run(const struct fsl_bench_case *item, const char *folder,
				   int64_t n_jobs, struct fsl_bench_sample *out,
				   struct fsl_error *err)
{
	struct run run = {.data = {.folder = folder, .n_jobs = n_jobs}};
	*out = (struct fsl_bench_sample){0};
	if (item->work == NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"the case is the program itself, run failslow detect: case=\"%s\"",
				item->name);
	}
	enum fsl_status status = list_files(&run, folder, err);
	if (status == FSL_OK && item->memory != FSL_BENCH_FILES) {
		status = fill_memory(&run, item->memory == FSL_BENCH_IN_MEMORY_TWICE, err);
	}
	if (status == FSL_OK) {
		out->n_bytes = run.data.n_bytes;
		status = fsl_bench_timed(item, &run.data, out, err);
	}
	fsl_free(run.spare);
	fsl_free(run.bytes);
	fsl_arena_fini(&run.arena);
	return status;
}

void fsl_bench_sample_print(const struct fsl_bench_sample *sample)
{
	printf("bytes=%" PRIu64 " rows=%" PRIu64 " cpu_ns=%" PRId64 " wall_ns=%" PRId64 "\n",
	       sample->n_bytes, sample->n_rows, sample->cpu_ns, sample->wall_ns);
}

/* The number behind @key; false if there is none. */
static bool find_number(const char *text, const char *key, int64_t *out)
{
	const char *at = strstr(text, key);
	return at != NULL && fsl_bench_number(at + strlen(key), out);
}

bool fsl_bench_sample_parse(struct fsl_bench_sample *out, const char *text)
{
	int64_t n_bytes = 0, n_rows = 0;
	struct fsl_bench_sample read = {0};
	if (!find_number(text, "bytes=", &n_bytes) || !find_number(text, "rows=", &n_rows) ||
	    !find_number(text, "cpu_ns=", &read.cpu_ns) ||
	    !find_number(text, "wall_ns=", &read.wall_ns)) {
		return false;
	}
	read.n_bytes = (uint64_t)n_bytes;
	read.n_rows = (uint64_t)n_rows;
	*out = read;
	return true;
}

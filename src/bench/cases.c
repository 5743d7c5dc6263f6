/* The cases: limits of the machine, common libraries, failslow's readers; and one run of one of
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <csv.h>
#include <omp.h>

#include "base/digits.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/os_error.h"
#include "bench/bench_parts.h"
#include "source/ingest.h"
#include "timeline.pb-c.h"

/* Limits of the machine for the same bytes: copying, reading, scanning each byte; and its cores. */

static enum fsl_status copy(const struct fsl_bench_data *data, uint64_t *n_rows,
			    struct fsl_error *err)
{
	(void)n_rows;
	(void)err;
	memcpy(data->spare, data->bytes, data->n_bytes);
	/* Uses the copy, so that the compiler cannot drop it. */
	__asm__ volatile("" : : "r"(data->spare) : "memory");
	return FSL_OK;
}

/*
 * Opens a file, passes block after block to @take, closes it; for cases that read files themselves.
 */
static enum fsl_status each_block(const char *path,
				  enum fsl_status (*take)(void *context, const char *block,
							  size_t n_bytes, struct fsl_error *err),
				  void *context, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	ssize_t n = 1;
	char *block = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot open: path=\"%s\", reason=\"%s\"", path,
				fsl_os_error(errno).text);
	}
	status = FSL_NEW(block, FSL_FILE_BLOCK_BYTES, "bytes", err);
	while (status == FSL_OK && n > 0) {
		n = read(fd, block, FSL_FILE_BLOCK_BYTES);
		if (n < 0) {
			status =
				FSL_FAIL(err, FSL_ERR_IO, "cannot read: path=\"%s\", reason=\"%s\"",
					 path, fsl_os_error(errno).text);
		} else if (take != NULL) {
			status = take(context, block, (size_t)n, err);
		}
	}
	(void)close(fd);
	fsl_free(block);
	return status;
}

static enum fsl_status read_all(const struct fsl_bench_data *data, uint64_t *n_rows,
				struct fsl_error *err)
{
	(void)n_rows;
	for (size_t i = 0; i < data->n_paths; i++) {
		FSL_TRY(each_block(data->paths[i], NULL, NULL, err));
	}
	return FSL_OK;
}

/* One line of each file is its header. */
static enum fsl_status find_newlines(const struct fsl_bench_data *data, uint64_t *n_rows,
				     struct fsl_error *err)
{
	const char *end = data->bytes + data->n_bytes;
	uint64_t n_lines = 0;
	(void)err;
	for (const char *at = data->bytes; at < end; n_lines++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		if (newline == NULL) {
			break;
		}
		at = newline + 1;
	}
	*n_rows = n_lines - data->n_paths;
	return FSL_OK;
}

/* Adds up the bytes of a block. The block stays in the first-level cache; the compiler must treat
 * it as new each time. */
static uint64_t add_up(const unsigned char *block, size_t n_bytes)
{
	uint64_t sum = 0;
	__asm__ volatile("" : "+r"(block) : : "memory");
	for (size_t i = 0; i < n_bytes; i++) {
		sum += block[i];
	}
	return sum;
}

static enum fsl_status add_up_all(const struct fsl_bench_data *data, int n_threads)
{
	enum { BLOCK_BYTES = 16 * 1024 };
	uint64_t sum = 0;
#pragma omp parallel num_threads(n_threads) reduction(+ : sum)
	{
		unsigned char block[BLOCK_BYTES];
		memset(block, 1, sizeof(block));
#pragma omp for schedule(static)
		for (size_t at = 0; at < data->n_bytes; at += BLOCK_BYTES) {
			sum += add_up(block, sizeof(block));
		}
	}
	__asm__ volatile("" : : "r"(sum));
	return FSL_OK;
}

static enum fsl_status add_up_alone(const struct fsl_bench_data *data, uint64_t *n_rows,
				    struct fsl_error *err)
{
	(void)n_rows;
	(void)err;
	return add_up_all(data, 1);
}

static enum fsl_status add_up_on_threads(const struct fsl_bench_data *data, uint64_t *n_rows,
					 struct fsl_error *err)
{
	(void)n_rows;
	(void)err;
	return add_up_all(data, data->n_jobs > 0 ? (int)data->n_jobs : omp_get_max_threads());
}

/* The same work with the obvious libraries: libcsv and cJSON, which failslow uses for irregular CSV
 * and small JSON, and protobuf-c without failslow's own walk over the outer message. */

/* The columns with numbers that failslow's reader takes from a marker row. */
static const char *const number_columns[] = {"Flag", "Id", "SourceKind", "Timestamp"};
enum { NUMBERS_N = sizeof(number_columns) / sizeof(number_columns[0]), COLUMNS_MAX = 64 };

struct csv_rows {
	struct csv_parser parser;
	bool is_number[COLUMNS_MAX];
	size_t column;
	bool is_in_header;
	uint64_t n_rows, n_wrong;
	uint64_t sum; /* of all numbers, so that the compiler cannot drop any */
};

static void take_field(void *text, size_t length, void *context)
{
	struct csv_rows *rows = context;
	size_t column = rows->column++;
	uint64_t number = 0;
	if (column >= COLUMNS_MAX) {
		return;
	}
	if (rows->is_in_header) {
		for (size_t i = 0; i < NUMBERS_N; i++) {
			rows->is_number[column] |= strlen(number_columns[i]) == length &&
						   memcmp(number_columns[i], text, length) == 0;
		}
	} else if (rows->is_number[column]) {
		/* libcsv's buffer has at least 128 bytes: words of 8 may be read. */
		rows->n_wrong += fsl_digits_parse_spare(text, length, &number) ? 0 : 1;
		rows->sum += number;
	}
}

static void take_row(int end, void *context)
{
	struct csv_rows *rows = context;
	(void)end;
	rows->n_rows += rows->is_in_header ? 0 : 1;
	rows->is_in_header = false;
	rows->column = 0;
}

static enum fsl_status parse_block(void *context, const char *block, size_t n_bytes,
				   struct fsl_error *err)
{
	struct csv_rows *rows = context;
	size_t n = csv_parse(&rows->parser, block, n_bytes, take_field, take_row, rows);
	return n == n_bytes ? FSL_OK
			    : FSL_FAIL(err, FSL_ERR_FORMAT, "libcsv stopped: reason=\"%s\"",
				       csv_strerror(csv_error(&rows->parser)));
}

static enum fsl_status cut_by_libcsv(const struct fsl_bench_data *data, uint64_t *n_rows,
				     struct fsl_error *err)
{
	struct csv_rows rows = {.n_rows = 0};
	enum fsl_status status = FSL_OK;
	if (csv_init(&rows.parser, 0) != 0) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"libcsv\"");
	}
	for (size_t i = 0; i < data->n_paths && status == FSL_OK; i++) {
		rows.is_in_header = true;
		memset(rows.is_number, 0, sizeof(rows.is_number));
		status = each_block(data->paths[i], parse_block, &rows, err);
		(void)csv_fini(&rows.parser, take_field, take_row, &rows);
	}
	csv_free(&rows.parser);
	if (status == FSL_OK && rows.n_wrong > 0) {
		status = FSL_FAIL(err, FSL_ERR_FORMAT, "fields that are no numbers: fields=%llu",
				  (unsigned long long)rows.n_wrong);
	}
	__asm__ volatile("" : : "r"(rows.sum));
	*n_rows = rows.n_rows;
	return status;
}

/* The arrays follow each other, as the collector writes them. */
static enum fsl_status parse_by_cjson(const struct fsl_bench_data *data, uint64_t *n_rows,
				      struct fsl_error *err)
{
	const char *at = data->bytes, *end = data->bytes + data->n_bytes;
	while (at < end && strspn(at, " \t\r\n") < (size_t)(end - at)) {
		const char *next = NULL;
		cJSON *array = cJSON_ParseWithLengthOpts(at, (size_t)(end - at), &next, false);
		if (array == NULL) {
			return FSL_FAIL(err, FSL_ERR_FORMAT, "cJSON stopped: offset=%zu",
					(size_t)(at - data->bytes));
		}
		*n_rows += (uint64_t)cJSON_GetArraySize(array);
		cJSON_Delete(array);
		at = next;
	}
	return FSL_OK;
}

/* Timelines in a row are one message by the rules of the wire format. */
static enum fsl_status unpack_by_protobuf(const struct fsl_bench_data *data, uint64_t *n_rows,
					  struct fsl_error *err)
{
	Timeline *timeline = timeline__unpack(NULL, data->n_bytes, (const uint8_t *)data->bytes);
	if (timeline == NULL) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "protobuf-c refuses the timelines");
	}
	*n_rows = timeline->n_stages;
	timeline__free_unpacked(timeline, NULL);
	return FSL_OK;
}

/* failslow's readers alone, file by file, and the whole ingest. */

static enum fsl_status read_file(const struct fsl_format *format, const char *path,
				 uint64_t *n_rows, struct fsl_error *err)
{
	struct fsl_file file = {.path = path, .format = format->name, .message = ""};
	struct fsl_sink sink = {0};
	struct fsl_reader *reader = NULL;
	enum fsl_status status = fsl_sink_init(&sink, &file, err);
	FSL_THEN(status, fsl_reader_open(&reader, path, err));
	FSL_THEN(status, format->read(reader, &sink, err));
	if (status == FSL_OK && file.message[0] != '\0') {
		status = FSL_FAIL(err, FSL_ERR_FORMAT, "%s: path=\"%s\"", file.message, path);
	}
	*n_rows += file.n_records;
	fsl_reader_close(reader);
	fsl_sink_fini(&sink);
	return status;
}

static enum fsl_status read_files(const char *name, const struct fsl_bench_data *data,
				  uint64_t *n_rows, struct fsl_error *err)
{
	const struct fsl_format *format = fsl_format_by_name(name);
	if (format == NULL) {
		return FSL_FAIL(err, FSL_ERR_INTERNAL, "no such format: name=\"%s\"", name);
	}
	for (size_t i = 0; i < data->n_paths; i++) {
		FSL_TRY(read_file(format, data->paths[i], n_rows, err));
	}
	return FSL_OK;
}

static enum fsl_status read_marker_csv(const struct fsl_bench_data *data, uint64_t *n_rows,
				       struct fsl_error *err)
{
	return read_files("mspti_csv", data, n_rows, err);
}

static enum fsl_status read_marker_json(const struct fsl_bench_data *data, uint64_t *n_rows,
					struct fsl_error *err)
{
	return read_files("mspti_json", data, n_rows, err);
}

static enum fsl_status read_timelines(const struct fsl_bench_data *data, uint64_t *n_rows,
				      struct fsl_error *err)
{
	return read_files("timeline_pb", data, n_rows, err);
}

/* Includes finding the files and merging them into one run. */
static enum fsl_status ingest(const struct fsl_bench_data *data, uint64_t *n_rows,
			      struct fsl_error *err)
{
	struct fsl_run run = {0};
	const struct fsl_ingest_options options = {.root_path = data->folder,
						   .from_ns = INT64_MIN,
						   .to_ns = INT64_MAX,
						   .n_threads = 1};
	enum fsl_status status = fsl_run_init(&run, err);
	FSL_THEN(status, fsl_ingest_run(&run, &options, err));
	for (size_t i = 0; i < run.n_files; i++) {
		*n_rows += run.files[i].n_records;
	}
	fsl_run_fini(&run);
	return status;
}

/* clang-format off */
const struct fsl_bench_case fsl_bench_cases[] = {
	{"memcpy", "copies the bytes of the CSV files in memory",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_IN_MEMORY_TWICE, NULL, NULL, copy, NULL, NULL},
	{"read", "reads the CSV files with read(2), 256 KiB at a time",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_FILES, NULL, NULL, read_all, NULL, NULL},
	{"newlines", "finds the line ends of the CSV files with memchr, in memory",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_IN_MEMORY, "marker", NULL, find_newlines, NULL, NULL},
	{"cache", "adds up as many bytes that stay in the first cache: a core at work, whatever the memory does",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_FILES, NULL, NULL, add_up_alone, NULL, NULL},
	{"cache-all", "the same on --jobs threads: what the cores are worth together",
	 FSL_BENCH_LIMIT, FSL_BENCH_CSV, FSL_BENCH_FILES, NULL, NULL, add_up_on_threads, "cache", NULL},
	{"libcsv", "cuts the CSV files into fields with libcsv and parses the same numbers",
	 FSL_BENCH_LIBRARY, FSL_BENCH_CSV, FSL_BENCH_FILES, "marker", NULL, cut_by_libcsv, NULL, NULL},
	{"cjson", "builds a tree of each array of the JSON files with cJSON, in memory",
	 FSL_BENCH_LIBRARY, FSL_BENCH_JSON, FSL_BENCH_IN_MEMORY, "marker", NULL, parse_by_cjson, NULL, NULL},
	{"protobuf-c", "unpacks the timelines as one message, in memory",
	 FSL_BENCH_LIBRARY, FSL_BENCH_TIMELINES, FSL_BENCH_IN_MEMORY, "stage", NULL, unpack_by_protobuf, NULL, NULL},
	{"cjson-chrome", "builds a tree of each trace with cJSON, in memory",
	 FSL_BENCH_LIBRARY, FSL_BENCH_TRACES, FSL_BENCH_IN_MEMORY, "event", NULL, fsl_bench_parse_traces, NULL, NULL},
	{"csv", "reads the CSV files into operators",
	 FSL_BENCH_WORK, FSL_BENCH_CSV, FSL_BENCH_FILES, "marker", "libcsv", read_marker_csv, NULL, NULL},
	{"json", "reads the JSON files into operators",
	 FSL_BENCH_WORK, FSL_BENCH_JSON, FSL_BENCH_FILES, "marker", "cjson", read_marker_json, NULL, NULL},
	{"timelines", "reads the timelines into stages",
	 FSL_BENCH_WORK, FSL_BENCH_TIMELINES, FSL_BENCH_FILES, "stage", "protobuf-c", read_timelines, NULL, NULL},
	{"chrome", "reads the events of traces of PyTorch's profiler",
	 FSL_BENCH_WORK, FSL_BENCH_TRACES, FSL_BENCH_FILES, "event", "cjson-chrome", fsl_bench_walk_traces, NULL, NULL},
	{"kineto", "reads the traces into kernels, calls, collectives and steps",
	 FSL_BENCH_WORK, FSL_BENCH_TRACES, FSL_BENCH_FILES, "event", "cjson-chrome", fsl_bench_read_traces, NULL, NULL},
	{"ingest", "finds, reads and merges the CSV files, one thread",
	 FSL_BENCH_WORK, FSL_BENCH_CSV, FSL_BENCH_FILES, "marker", "libcsv", ingest, NULL, NULL},
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
	char known[512] = "";
	size_t n = 0, length = 0;
	for (const struct fsl_bench_case *item = fsl_bench_cases; item->name != NULL; item++) {
		names[n++] = item->name;
		length += (size_t)snprintf(known + length, sizeof(known) - length, "%s%s",
					   n > 1 ? ", " : "", item->name);
	}
	const char *nearest = fsl_nearest_name(name, strlen(name), names, n);
	return FSL_FAIL(err, FSL_ERR_USAGE, "no such case: case=\"%.60s\"%s%s%s, known=\"%s\"",
			name, nearest != NULL ? ", did_you_mean=\"" : "",
			nearest != NULL ? nearest : "", nearest != NULL ? "\"" : "", known);
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
	static const char *const texts[] = {"csv", "json", "timelines", "traces"};
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
	/* A NUL behind the last byte, for libraries that read it. */
	FSL_TRY(FSL_NEW(run->bytes, run->data.n_bytes + 1, "bytes", err));
	if (is_twice) {
		FSL_TRY(FSL_NEW(run->spare, run->data.n_bytes, "bytes", err));
	}
	for (size_t i = 0; i < run->data.n_paths; i++) {
		FSL_TRY(each_block(run->data.paths[i], keep_block, run, err));
	}
	if (is_twice) {
		/* Touches the pages before the clock starts. */
		memset(run->spare, 1, run->data.n_bytes);
	}
	run->data.bytes = run->bytes;
	run->data.spare = run->spare;
	return FSL_OK;
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

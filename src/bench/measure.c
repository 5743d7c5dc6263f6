/* Runs one case once in a process of its own, and counts its instructions with callgrind. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <failslow/stats.h>
#include <omp.h>

#include "base/file.h"
#include "base/language.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os_error.h"
#include "bench/bench_parts.h"
#include "config/config.h"
#include "state/cache.h"

bool fsl_bench_number(const char *text, int64_t *out)
{
	text += strspn(text, " \t");
	return fsl_parse_i64(text, strspn(text, "0123456789"), out);
}

static enum fsl_status fail_run(const char *name, int exit_code, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_INTERNAL, "the case failed: case=\"%s\", exit_code=%d", name,
			exit_code);
}

/* Text of a file in the folder of the benchmark; free with fsl_free. */
static enum fsl_status read_output(const struct fsl_bench_place *place, const char *name,
				   char **text, struct fsl_error *err)
{
	char path[FSL_BENCH_PATH_BYTES];
	size_t length = 0;
	(void)snprintf(path, sizeof(path), "%s/%s", place->path, name);
	return fsl_file_read_text(path, text, &length, err);
}

static enum fsl_status measure_part(struct fsl_bench_sample *out, struct fsl_bench_place *place,
				    const struct fsl_bench_case *item,
				    const struct fsl_bench_tree *tree, int64_t n_jobs,
				    struct fsl_error *err)
{
	char folder[FSL_BENCH_PATH_BYTES], out_path[FSL_BENCH_PATH_BYTES], jobs[32];
	char *text = NULL;
	struct fsl_bench_usage usage;
	fsl_bench_tree_folder(tree, folder);
	(void)snprintf(out_path, sizeof(out_path), "%s/sample", place->path);
	(void)snprintf(jobs, sizeof(jobs), "--jobs=%" PRId64, n_jobs);
	const char *argv[] = {place->program, "bench", jobs, "--case", item->name, folder, NULL};
	enum fsl_status status = fsl_bench_spawn(place, argv, out_path, NULL, &usage, err);
	if (status == FSL_OK && usage.exit_code != 0) {
		status = fail_run(item->name, usage.exit_code, err);
	}
	FSL_THEN(status, read_output(place, "sample", &text, err));
	if (status == FSL_OK && !fsl_bench_sample_parse(out, text)) {
		status = fail_run(item->name, usage.exit_code, err);
	}
	out->peak_bytes = usage.peak_bytes;
	fsl_free(text);
	return status;
}

/* Takes the amount that was read from the coverage of the verdict. */
static bool take_coverage(struct fsl_bench_sample *out, const char *text)
{
	cJSON *root = cJSON_Parse(text);
	const cJSON *verdict = cJSON_GetObjectItem(root, "localisation");
	const cJSON *coverage = cJSON_GetObjectItem(verdict, "coverage");
	const cJSON *rows = cJSON_GetObjectItem(coverage, "rowsRead");
	const cJSON *bytes = cJSON_GetObjectItem(cJSON_GetObjectItem(coverage, "files"), "bytes");
	bool is_found = cJSON_IsNumber(rows) && cJSON_IsNumber(bytes);
	if (is_found) {
		out->n_rows = (uint64_t)rows->valuedouble;
		out->n_bytes = (uint64_t)bytes->valuedouble;
	}
	cJSON_Delete(root);
	return is_found;
}

/* Command line of `failslow detect` over a tree. */
struct detect_words {
	char config[FSL_BENCH_PATH_BYTES], output[FSL_BENCH_PATH_BYTES];
	char now[32], from[32], jobs[32];
};

/* Writes the words to @argv; returns their number. */
static size_t fill_detect(const char **argv, struct detect_words *words,
			  const struct fsl_bench_place *place, const struct fsl_bench_tree *tree,
			  const struct fsl_bench_detect *how)
{
	size_t n = 0;
	(void)snprintf(words->config, sizeof(words->config), "%s/model_config.json", tree->path);
	(void)snprintf(words->output, sizeof(words->output), "%s/verdict", place->path);
	(void)snprintf(words->now, sizeof(words->now), "--now=%" PRId64, tree->now_ns);
	(void)snprintf(words->jobs, sizeof(words->jobs), "--jobs=%" PRId64,
		       how->n_jobs > 0 ? how->n_jobs : omp_get_max_threads());
	(void)snprintf(words->from, sizeof(words->from), "--from=%" PRId64, how->from_ns);
	const char *const given[] = {place->program,
				     "detect",
				     "--config",
				     words->config,
				     "--output",
				     words->output,
				     "--format=json",
				     "-qq",
				     words->now,
				     words->jobs,
				     how->from_ns != INT64_MIN ? words->from : NULL};
	while (n < sizeof(given) / sizeof(given[0]) && given[n] != NULL) {
		argv[n] = given[n];
		n++;
	}
	argv[n] = NULL;
	return n;
}

/* Removes the state of an earlier run, which would save this run the reading. */
static void forget_state(const struct detect_words *words)
{
	char path[FSL_BENCH_PATH_BYTES + 32];
	(void)snprintf(path, sizeof(path), "%s/" FSL_STATE_FILE, words->output);
	char *cache = fsl_cache_path(path);
	(void)unlink(path);
	if (cache != NULL) {
		(void)unlink(cache);
	}
	fsl_free(cache);
}

enum fsl_status fsl_bench_measure_detect(struct fsl_bench_sample *out,
					 struct fsl_bench_place *place,
					 const struct fsl_bench_tree *tree,
					 const struct fsl_bench_detect *how, struct fsl_error *err)
{
	char out_path[FSL_BENCH_PATH_BYTES];
	char *text = NULL;
	struct detect_words words;
	struct fsl_bench_usage usage;
	const char *argv[FSL_BENCH_ARGS_MAX];
	(void)fill_detect(argv, &words, place, tree, how);
	(void)snprintf(out_path, sizeof(out_path), "%s/verdict.json", place->path);
	if (!how->goes_on) {
		forget_state(&words);
	}
	enum fsl_status status = fsl_bench_spawn(place, argv, out_path, NULL, &usage, err);
	if (status == FSL_OK && usage.exit_code != 0) {
		status = fail_run("detect", usage.exit_code, err);
	}
	FSL_THEN(status, read_output(place, "verdict.json", &text, err));
	*out = (struct fsl_bench_sample){
		.cpu_ns = usage.cpu_ns, .wall_ns = usage.wall_ns, .peak_bytes = usage.peak_bytes};
	if (status == FSL_OK && !take_coverage(out, text)) {
		status = FSL_FAIL(err, FSL_ERR_INTERNAL, "the verdict has no coverage");
	}
	fsl_free(text);
	return status;
}

enum { KEPT_PERCENT = 99 };

/* The end of a file while it is cut off. */
struct ending {
	int fd; /* -1: not open */
	char *bytes;
	size_t n_bytes;
	off_t at;
};

struct endings {
	struct ending *items;
	size_t n, capacity;
};

static enum fsl_status fail_file(const char *what, const char *path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_IO, "%s: path=\"%s\", reason=\"%s\"", what, path,
			fsl_os_error(errno).text);
}

static enum fsl_status cut_file(struct ending *out, const char *path, struct fsl_error *err)
{
	struct stat info;
	out->fd = open(path, O_RDWR | O_CLOEXEC);
	if (out->fd < 0 || fstat(out->fd, &info) != 0) {
		return fail_file(N_("cannot open"), path, err);
	}
	out->at = info.st_size / 100 * KEPT_PERCENT;
	out->n_bytes = (size_t)(info.st_size - out->at);
	FSL_TRY(FSL_NEW(out->bytes, out->n_bytes, "bytes", err));
	if (pread(out->fd, out->bytes, out->n_bytes, out->at) != (ssize_t)out->n_bytes) {
		return fail_file(N_("cannot read"), path, err);
	}
	return ftruncate(out->fd, out->at) == 0 ? FSL_OK : fail_file(N_("cannot cut"), path, err);
}

static enum fsl_status cut_files(struct endings *out, const char *folder, struct fsl_error *err)
{
	char **names = NULL, path[2 * FSL_BENCH_PATH_BYTES];
	size_t n_names = 0;
	enum fsl_status status = fsl_dir_list(folder, &names, &n_names, err);
	FSL_THEN(status, FSL_GROW(out->items, out->capacity, out->n + n_names, err));
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		out->items[out->n] = (struct ending){.fd = -1};
		status = cut_file(&out->items[out->n++], path, err);
	}
	fsl_free(names);
	return status;
}

/* Cuts the markers, and the timelines if there are any. */
static enum fsl_status cut_tree(struct endings *out, const struct fsl_bench_tree *tree,
				struct fsl_error *err)
{
	static const char *const folders[] = {"mspti", "timeline"};
	char path[FSL_BENCH_PATH_BYTES];
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", tree->path, folders[i]);
		if (access(path, F_OK) == 0) {
			FSL_TRY(cut_files(out, path, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status append(const struct endings *endings, const struct fsl_bench_tree *tree,
			      struct fsl_error *err)
{
	for (size_t i = 0; i < endings->n; i++) {
		const struct ending *ending = &endings->items[i];
		if (pwrite(ending->fd, ending->bytes, ending->n_bytes, ending->at) !=
		    (ssize_t)ending->n_bytes) {
			return fail_file(N_("cannot append to the files"), tree->path, err);
		}
	}
	return FSL_OK;
}

static void release(struct endings *endings)
{
	for (size_t i = 0; i < endings->n; i++) {
		if (endings->items[i].fd >= 0) {
			(void)close(endings->items[i].fd);
		}
		fsl_free(endings->items[i].bytes);
	}
	fsl_free(endings->items);
}

/* Measures a run that continues one over 99 % of each file, as under cron, on one thread. The files
 * are whole again afterwards, unless it fails. */
static enum fsl_status measure_again(struct fsl_bench_sample *out, struct fsl_bench_place *place,
				     const struct fsl_bench_tree *tree, struct fsl_error *err)
{
	struct endings endings = {0};
	const struct fsl_bench_detect anew = {.n_jobs = 1, .from_ns = INT64_MIN};
	const struct fsl_bench_detect again = {.n_jobs = 1, .from_ns = INT64_MIN, .goes_on = true};
	enum fsl_status status = cut_tree(&endings, tree, err);
	FSL_THEN(status, fsl_bench_measure_detect(out, place, tree, &anew, err));
	FSL_THEN(status, append(&endings, tree, err));
	FSL_THEN(status, fsl_bench_measure_detect(out, place, tree, &again, err));
	release(&endings);
	return status;
}

enum fsl_status fsl_bench_measure(struct fsl_bench_sample *out, struct fsl_bench_place *place,
				  const struct fsl_bench_case *item,
				  const struct fsl_bench_tree *tree, int64_t n_jobs,
				  struct fsl_error *err)
{
	if (item->work != NULL) {
		return measure_part(out, place, item, tree, n_jobs, err);
	}
	if (item->anew != NULL) {
		return measure_again(out, place, tree, err);
	}
	const struct fsl_bench_detect how = {.n_jobs = item->alone != NULL ? n_jobs : 1,
					     .from_ns = INT64_MIN};
	return fsl_bench_measure_detect(out, place, tree, &how, err);
}

enum fsl_status fsl_bench_measure_start_up(struct fsl_bench_sample *out,
					   struct fsl_bench_place *place, struct fsl_error *err)
{
	const char *argv[] = {place->program, "--version", NULL};
	struct fsl_bench_usage usage;
	FSL_TRY(fsl_bench_spawn(place, argv, NULL, NULL, &usage, err));
	*out = (struct fsl_bench_sample){
		.cpu_ns = usage.cpu_ns, .wall_ns = usage.wall_ns, .peak_bytes = usage.peak_bytes};
	return FSL_OK;
}

enum fsl_status fsl_bench_count_instructions(double *out, const char **note,
					     struct fsl_bench_place *place,
					     const struct fsl_bench_case *item,
					     const struct fsl_bench_tree *tree,
					     struct fsl_error *err)
{
	const char *argv[FSL_BENCH_ARGS_MAX] = {
		"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
		item->work != NULL ? "--toggle-collect=fsl_bench_timed"
				   : "--toggle-collect=fsl_cmd_detect"};
	char folder[FSL_BENCH_PATH_BYTES], err_path[FSL_BENCH_PATH_BYTES];
	char *text = NULL;
	int64_t n_instructions = 0;
	struct detect_words words;
	struct fsl_bench_usage usage;
	*out = (double)NAN;
	if (item->alone != NULL || item->anew != NULL) {
		return FSL_OK;
	}
	fsl_bench_tree_folder(tree, folder);
	(void)snprintf(err_path, sizeof(err_path), "%s/callgrind", place->path);
	if (item->work == NULL) {
		const struct fsl_bench_detect how = {.n_jobs = 1, .from_ns = INT64_MIN};
		(void)fill_detect(argv + 4, &words, place, tree, &how);
		forget_state(&words);
	} else {
		const char *const given[] = {place->program, "bench", "--case", item->name, folder};
		memcpy(argv + 4, given, sizeof(given));
	}
	enum fsl_status status = fsl_bench_spawn(place, argv, NULL, err_path, &usage, err);
	if (status != FSL_OK || usage.exit_code == 127) {
		*note = "valgrind is not installed";
		return status;
	}
	status = read_output(place, "callgrind", &text, err);
	const char *at = text != NULL ? strstr(text, "Collected :") : NULL;
	if (usage.exit_code != 0 || at == NULL ||
	    !fsl_bench_number(at + strlen("Collected :"), &n_instructions) || n_instructions == 0) {
		*note = "callgrind cannot run this program";
	} else {
		*out = (double)n_instructions;
	}
	fsl_free(text);
	return status;
}

static double figure(const struct fsl_bench_sample *sample, size_t which)
{
	const double figures[] = {(double)sample->cpu_ns, (double)sample->wall_ns,
				  (double)sample->peak_bytes};
	return figures[which];
}

struct fsl_bench_sample fsl_bench_median(const struct fsl_bench_sample *samples, size_t n)
{
	enum { CPU, WALL, PEAK, FIGURES_N };
	double values[FSL_BENCH_RUNS_MAX], scratch[FSL_BENCH_RUNS_MAX], medians[FIGURES_N];
	for (size_t which = 0; which < FIGURES_N; which++) {
		for (size_t i = 0; i < n; i++) {
			values[i] = figure(&samples[i], which);
		}
		medians[which] = fsl_median(values, n, scratch);
	}
	return (struct fsl_bench_sample){.n_bytes = samples[0].n_bytes,
					 .n_rows = samples[0].n_rows,
					 .cpu_ns = (int64_t)medians[CPU],
					 .wall_ns = (int64_t)medians[WALL],
					 .peak_bytes = (uint64_t)medians[PEAK]};
}

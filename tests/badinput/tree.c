/* A tree with one slow rank, ways to damage it, and the program's answer about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tree.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/known_job.h"

void tree_create(struct tree *tree, const char *name)
{
	struct known_job job;
	known_job_init(&job);
	job.params.steps = 40;
	job.params.seed = 4;
	job.fault = FSL_SIM_COMPUTE;
	job.onset_step = 15;
	job.n_culprits = 1;
	job.culprits[0] = TREE_SLOW_RANK;
	struct fsl_sim_truth truth;
	char unique[64];
	(void)snprintf(unique, sizeof(unique), "badinput-%s-%ld", name, (long)getpid());
	assert_true(scratch_create(FSL_BUILD_DIR, unique, tree->dir, sizeof(tree->dir)));
	assert_int_equal(known_job_write(&job, tree->dir, &truth, NULL), FSL_OK);
	tree->now_ns = truth.now_ns;
	fsl_sim_truth_fini(&truth);
}

void tree_remove(struct tree *tree)
{
	scratch_remove(tree->dir);
}

const char *tree_path(const struct tree *tree, const char *name, char path[TREE_PATH_MAX])
{
	int length = snprintf(path, TREE_PATH_MAX, "%s/%s", tree->dir, name);
	assert_true(length > 0 && length < TREE_PATH_MAX);
	return path;
}

const char *tree_markers(const struct tree *tree, int rank, char path[TREE_PATH_MAX])
{
	char name[64];
	(void)snprintf(name, sizeof(name), "mspti/hccl_activity-10.1.0.1-.%d.csv", rank);
	return tree_path(tree, name, path);
}

char *file_read(const char *path, size_t *n_bytes)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	size_t size = file_size(path);
	char *data = calloc(1, size + 1);
	assert_non_null(data);
	*n_bytes = fread(data, 1, size, file);
	(void)fclose(file);
	return data;
}

static void write_mode(const char *path, const char *mode, const void *data, size_t n_bytes)
{
	FILE *file = fopen(path, mode);
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, n_bytes, file), n_bytes);
	assert_int_equal(fclose(file), 0);
}

void file_write(const char *path, const void *data, size_t n_bytes)
{
	write_mode(path, "wb", data, n_bytes);
}

void file_write_text(const char *path, const char *text)
{
	file_write(path, text, strlen(text));
}

void file_append(const char *path, const void *data, size_t n_bytes)
{
	write_mode(path, "ab", data, n_bytes);
}

void file_truncate(const char *path, size_t n_bytes)
{
	assert_int_equal(truncate(path, (off_t)n_bytes), 0);
}

size_t file_size(const char *path)
{
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	return (size_t)status.st_size;
}

static uint64_t fnv1a(uint64_t hash, const void *data, size_t n_bytes)
{
	const unsigned char *bytes = data;
	for (size_t i = 0; i < n_bytes; i++) {
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	}
	return hash;
}

static uint64_t file_digest(const char *path)
{
	uint64_t hash = fnv1a(UINT64_C(14695981039346656037), path, strlen(path));
	FILE *file = fopen(path, "rb");
	if (file == NULL) {
		return hash; /* no permission, or a link that leads nowhere: the name must do */
	}
	char block[4096];
	size_t n_bytes = 0;
	while ((n_bytes = fread(block, 1, sizeof(block), file)) > 0) {
		hash = fnv1a(hash, block, n_bytes);
	}
	(void)fclose(file);
	return hash;
}

/* Two levels are enough: the folders of a tree hold files only. */
static uint64_t folder_digest(const char *path, int depth)
{
	DIR *dir = opendir(path);
	if (dir == NULL) {
		return file_digest(path);
	}
	uint64_t sum = 0;
	for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
		char child[2 * TREE_PATH_MAX];
		(void)snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
		if (entry->d_name[0] != '.') {
			sum += depth > 0 ? folder_digest(child, depth - 1) : file_digest(child);
		}
	}
	(void)closedir(dir);
	return sum;
}

uint64_t tree_digest(const char *path)
{
	return folder_digest(path, 1);
}

/* Whole verdicts or none, and no temporary file. */
static void assert_nothing_half_written(const char *out)
{
	DIR *dir = opendir(out);
	if (dir == NULL) {
		return;
	}
	for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
		size_t length = strlen(entry->d_name);
		bool is_json = length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
		bool is_state = strstr(entry->d_name, "failslow_state") != NULL;
		bool is_folder = entry->d_name[0] == '.' && length <= 2;
		if (!is_json && !is_state && !is_folder) {
			print_message("left behind: %s/%s\n", out, entry->d_name);
			fail();
		}
		if (is_json) {
			char path[2 * TREE_PATH_MAX];
			size_t n_bytes = 0;
			(void)snprintf(path, sizeof(path), "%s/%s", out, entry->d_name);
			char *text = file_read(path, &n_bytes);
			cJSON *json = cJSON_Parse(text);
			assert_non_null(json);
			cJSON_Delete(json);
			free(text);
		}
	}
	(void)closedir(dir);
}

static uint64_t inputs_digest(const struct tree *tree)
{
	static const char *const inputs[] = {"mspti", "timeline", "model_config.json",
					     "metric_config.json"};
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		char path[TREE_PATH_MAX];
		sum += tree_digest(tree_path(tree, inputs[i], path));
	}
	return sum;
}

void tree_run(const struct tree *tree, struct answer *answer, const char *const more[])
{
	char config[TREE_PATH_MAX];
	char out[TREE_PATH_MAX];
	char now[32];
	(void)snprintf(now, sizeof(now), "%" PRId64, tree->now_ns);
	const char *arguments[ARGUMENTS_MAX + 1] = {
		FSL_PROGRAM, "detect",
		"--config",  tree_path(tree, "model_config.json", config),
		"--output",  tree_path(tree, "out", out),
		"--now",     now,
		"--format",  "json",
	};
	size_t n_arguments = 10;
	for (size_t i = 0; more != NULL && more[i] != NULL; i++) {
		assert_true(n_arguments < ARGUMENTS_MAX);
		arguments[n_arguments++] = more[i];
	}
	/* execv takes its arguments without const and leaves them as they are. */
	char *argv[ARGUMENTS_MAX + 1];
	memcpy(argv, arguments, sizeof(argv));
	assert_true(program_run(&answer->run, NULL, argv));
	answer->json = cJSON_Parse(answer->run.out);
}

void tree_detect(const struct tree *tree, struct answer *answer, const char *const more[])
{
	char out[TREE_PATH_MAX];
	uint64_t before = inputs_digest(tree);
	tree_run(tree, answer, more);
	assert_int_equal(answer->run.signal, 0);
	assert_true(before == inputs_digest(tree));
	assert_nothing_half_written(tree_path(tree, "out", out));
}

void answer_fini(struct answer *answer)
{
	cJSON_Delete(answer->json);
	program_run_fini(&answer->run);
}

/* Prints the answer without its long lists. */
static void print_answer(const struct answer *answer)
{
	const cJSON *part = cJSON_GetObjectItemCaseSensitive(answer->json, "localisation");
	char *culprits = cJSON_Print(cJSON_GetObjectItemCaseSensitive(part, "culprits"));
	char *coverage = cJSON_Print(cJSON_GetObjectItemCaseSensitive(part, "coverage"));
	(void)fprintf(stderr, "exit code %d\n%s\nculprits %s\ncoverage %s\n", answer->run.exit_code,
		      answer->run.err, culprits != NULL ? culprits : "none",
		      coverage != NULL ? coverage : "none");
	cJSON_free(culprits);
	cJSON_free(coverage);
}

static const cJSON *localisation_of(const struct answer *answer)
{
	const cJSON *part = cJSON_GetObjectItemCaseSensitive(answer->json, "localisation");
	if (part == NULL) {
		print_answer(answer);
	}
	assert_non_null(part);
	return part;
}

static const cJSON *coverage_of(const struct answer *answer)
{
	return cJSON_GetObjectItemCaseSensitive(localisation_of(answer), "coverage");
}

void assert_slow_rank_found(const struct answer *answer)
{
	const cJSON *culprits =
		cJSON_GetObjectItemCaseSensitive(localisation_of(answer), "culprits");
	const cJSON *first = cJSON_GetArrayItem(culprits, 0);
	const cJSON *rank = cJSON_GetObjectItemCaseSensitive(first, "rank");
	if (answer->run.exit_code != 0 || cJSON_GetArraySize(culprits) != 1 || rank == NULL ||
	    rank->valueint != TREE_SLOW_RANK) {
		print_answer(answer);
		fail();
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t n_text = strlen(text);
	size_t n_end = strlen(end);
	return n_text >= n_end && strcmp(text + n_text - n_end, end) == 0;
}

static bool has_words(const char *text, const char *const words[])
{
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strstr(text, words[i]) == NULL) {
			print_message("not said: %s\n", words[i]);
			return false;
		}
	}
	return true;
}

void assert_problem(const struct answer *answer, const char *file, const char *state,
		    const char *const words[])
{
	const cJSON *list =
		cJSON_GetObjectItemCaseSensitive(coverage_of(answer), "filesWithProblems");
	const cJSON *entry = NULL;
	cJSON_ArrayForEach(entry, list)
	{
		const char *path =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "path"));
		const char *found =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "state"));
		const char *message =
			cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "message"));
		if (path != NULL && ends_with(path, file) && found != NULL && message != NULL &&
		    strcmp(found, state) == 0 && has_words(message, words)) {
			return;
		}
	}
	print_message("no such problem: file %s, state %s\n", file, state);
	print_answer(answer);
	fail();
}

double rows_dropped(const struct answer *answer, const char *key)
{
	const cJSON *dropped = cJSON_GetObjectItemCaseSensitive(coverage_of(answer), "rowsDropped");
	const cJSON *count = cJSON_GetObjectItemCaseSensitive(dropped, key);
	return cJSON_IsNumber(count) ? count->valuedouble : 0.0;
}

double coverage_number(const struct answer *answer, const char *key)
{
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(coverage_of(answer), key);
	return cJSON_IsNumber(number) ? number->valuedouble : 0.0;
}

int n_culprits(const struct answer *answer)
{
	return cJSON_GetArraySize(
		cJSON_GetObjectItemCaseSensitive(localisation_of(answer), "culprits"));
}

bool is_missing_rank(const struct answer *answer, int rank)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(coverage_of(answer), "ranksMissing");
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		if (item->valueint == rank) {
			return true;
		}
	}
	return false;
}

void assert_refused(const struct answer *answer, int exit_code, const char *const words[])
{
	if (answer->run.exit_code != exit_code || !has_words(answer->run.err, words)) {
		print_answer(answer);
		fail();
	}
}

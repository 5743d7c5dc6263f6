/* The program's answer about a simulated job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "support/program.h"

enum { PATH_BYTES = 1024 };

/* The job as a command, so that a failure can be repeated by hand. */
static void print_job(const struct known_job *job)
{
	char text[PATH_BYTES];
	known_job_print(job, text, sizeof(text));
	print_message("repeat with: failslow simulate DIR %s\n", text);
}

static void copy_text(char target[JUDGE_TEXT_MAX], const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
	(void)snprintf(target, JUDGE_TEXT_MAX, "%s", text != NULL ? text : "");
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int copy_ranks(int target[JUDGE_CULPRITS_MAX], const cJSON *list)
{
	int n = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		assert_true(n < JUDGE_CULPRITS_MAX);
		target[n++] = item->valueint;
	}
	return n;
}

/* Ascending by rank: the program orders culprits by what they cost. */
static void add_culprit(struct judgement *out, const cJSON *entry)
{
	assert_true(out->n_culprits < JUDGE_CULPRITS_MAX);
	int rank = cJSON_GetObjectItemCaseSensitive(entry, "rank")->valueint;
	int at = out->n_culprits++;
	for (; at > 0 && out->culprits[at - 1] > rank; at--) {
		out->culprits[at] = out->culprits[at - 1];
		memcpy(out->causes[at], out->causes[at - 1], JUDGE_TEXT_MAX);
	}
	out->culprits[at] = rank;
	copy_text(out->causes[at], entry, "cause");
}

static void read_json(struct judgement *out, const char *text)
{
	cJSON *root = cJSON_Parse(text);
	const cJSON *perception = cJSON_GetObjectItemCaseSensitive(root, "perception");
	const cJSON *localisation = cJSON_GetObjectItemCaseSensitive(root, "localisation");
	assert_non_null(perception);
	assert_non_null(localisation);
	copy_text(out->perception, perception, "verdict");
	copy_text(out->kind, localisation, "verdict");
	out->slowdown = number_of(localisation, "slowdown");
	out->lost_ms = NAN;
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(localisation, "culprits");
	if (cJSON_GetArraySize(list) > 0) {
		out->lost_ms = number_of(cJSON_GetArrayItem(list, 0), "lostMsPerStep");
	}
	const cJSON *entry = NULL;
	cJSON_ArrayForEach(entry, list)
	{
		add_culprit(out, entry);
	}
	const cJSON *coverage = cJSON_GetObjectItemCaseSensitive(localisation, "coverage");
	out->n_steps = (int)number_of(coverage, "steps");
	copy_text(out->steps_source, coverage, "stepsSource");
	out->n_missing = copy_ranks(out->missing,
				    cJSON_GetObjectItemCaseSensitive(coverage, "ranksMissing"));
	const cJSON *hang = cJSON_GetObjectItemCaseSensitive(perception, "hang");
	out->n_stopped =
		copy_ranks(out->stopped, cJSON_GetObjectItemCaseSensitive(hang, "stoppedFirst"));
	cJSON_Delete(root);
}

void judge_tree(struct judgement *out, const char *dir, const char *results, int64_t now_ns,
		int n_threads)
{
	*out = (struct judgement){.n_culprits = 0};
	char config[PATH_BYTES];
	char output[PATH_BYTES];
	char now[32];
	char threads[16];
	(void)snprintf(config, sizeof(config), "%s/model_config.json", dir);
	(void)snprintf(output, sizeof(output), "%s", results);
	(void)snprintf(now, sizeof(now), "%" PRId64, now_ns);
	(void)snprintf(threads, sizeof(threads), "%d", n_threads);
	char *argv[] = {FSL_PROGRAM, "detect", "--config", config,     "--output", output, "--now",
			now,         "--jobs", threads,    "--format", "json",     NULL};
	struct program_run run;
	bool is_started = program_run(&run, NULL, argv);
	if (!is_started || run.exit_code != 0) {
		print_message("exit code %d, signal %d\n%s%s\n", run.exit_code, run.signal,
			      run.out != NULL ? run.out : "", run.err != NULL ? run.err : "");
	}
	assert_true(is_started);
	assert_int_equal(run.exit_code, 0);
	read_json(out, run.out);
	program_run_fini(&run);
}

void judge(struct judgement *out, const struct known_job *job, int n_threads)
{
	char name[64];
	char dir[PATH_BYTES];
	(void)snprintf(name, sizeof(name), "property-%ld", (long)getpid());
	assert_true(scratch_create(FSL_BUILD_DIR, name, dir, sizeof(dir)));
	struct fsl_sim_truth truth;
	assert_int_equal(known_job_write(job, dir, &truth, NULL), FSL_OK);
	char results[2 * PATH_BYTES];
	(void)snprintf(results, sizeof(results), "%s/out", dir);
	judge_tree(out, dir, results, truth.now_ns, n_threads);
	fsl_sim_truth_fini(&truth);
	scratch_remove(dir);
}

static void print_judgement(const struct judgement *judgement)
{
	print_message("verdict %s, perception %s, slowdown %g, culprits", judgement->kind,
		      judgement->perception, judgement->slowdown);
	for (int i = 0; i < judgement->n_culprits; i++) {
		print_message(" %d (%s)", judgement->culprits[i], judgement->causes[i]);
	}
	print_message(", missing");
	for (int i = 0; i < judgement->n_missing; i++) {
		print_message(" %d", judgement->missing[i]);
	}
	print_message(", stopped first");
	for (int i = 0; i < judgement->n_stopped; i++) {
		print_message(" %d", judgement->stopped[i]);
	}
	print_message("\n");
}

static bool has_same_culprits(const struct judgement *a, const struct judgement *b)
{
	bool is_same = strcmp(a->kind, b->kind) == 0 && a->n_culprits == b->n_culprits;
	for (int i = 0; is_same && i < a->n_culprits; i++) {
		is_same =
			a->culprits[i] == b->culprits[i] && strcmp(a->causes[i], b->causes[i]) == 0;
	}
	return is_same;
}

void assert_same_verdict(const struct judgement *a, const struct judgement *b, const char *what)
{
	if (!has_same_culprits(a, b)) {
		print_message("%s changed the verdict\n", what);
		print_judgement(a);
		print_judgement(b);
		fail();
	}
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a;
	int y = *(const int *)b;
	return (x > y) - (x < y);
}

/* Labels of the culprits of @job, ascending. */
static int expected_ranks(int target[JUDGE_CULPRITS_MAX], const struct known_job *job)
{
	for (int32_t i = 0; i < job->n_culprits; i++) {
		target[i] = fsl_sim_label(&job->params, job->culprits[i]);
	}
	qsort(target, (size_t)job->n_culprits, sizeof(*target), compare_ints);
	return job->n_culprits;
}

static bool has_culprits(const struct judgement *judgement, const int *ranks, int n_ranks,
			 const char *cause)
{
	bool is_same = judgement->n_culprits == n_ranks;
	for (int i = 0; is_same && i < n_ranks; i++) {
		is_same = judgement->culprits[i] == ranks[i] &&
			  strcmp(judgement->causes[i], cause) == 0;
	}
	return is_same;
}

static bool is_right(const struct judgement *judgement, const struct known_job *job)
{
	int ranks[JUDGE_CULPRITS_MAX];
	int n_ranks = expected_ranks(ranks, job);
	size_t n_bytes = (size_t)n_ranks * sizeof(*ranks);
	bool is_silent = judgement->n_culprits == 0 && strcmp(judgement->perception, "normal") == 0;
	switch (job->fault) {
	case KNOWN_JOB_HEALTHY:
		return is_silent && judgement->n_missing == 0;
	case FSL_SIM_SPIKE:
		return judgement->n_culprits == 0 && judgement->n_missing == 0 &&
		       strcmp(judgement->perception, job->extra_ms > 1e3 ? "stalls" : "normal") ==
			       0;
	case FSL_SIM_MISSING:
	case FSL_SIM_EMPTY:
		return is_silent && judgement->n_missing == n_ranks &&
		       memcmp(judgement->missing, ranks, n_bytes) == 0;
	case FSL_SIM_COMPUTE:
		return has_culprits(judgement, ranks, n_ranks, "compute");
	case FSL_SIM_HOST:
		return has_culprits(judgement, ranks, n_ranks, "host");
	case FSL_SIM_DATALOADER:
		return has_culprits(judgement, ranks, n_ranks, "dataloader");
	case FSL_SIM_STORAGE:
		return has_culprits(judgement, ranks, n_ranks, "storage");
	case FSL_SIM_LINK:
		return strcmp(judgement->kind, "slow_link") == 0 &&
		       has_culprits(judgement, ranks, n_ranks, "network");
	case FSL_SIM_JOB_SLOW:
		return judgement->n_culprits == 0 &&
		       strcmp(judgement->perception, "job_slowdown") == 0;
	case FSL_SIM_HANG:
		return strcmp(judgement->perception, "hang") == 0 &&
		       judgement->n_stopped == n_ranks &&
		       memcmp(judgement->stopped, ranks, n_bytes) == 0;
	default:
		break;
	}
	return false;
}

void assert_right_verdict(const struct judgement *judgement, const struct known_job *job)
{
	if (!is_right(judgement, job)) {
		print_judgement(judgement);
		print_job(job);
		fail();
	}
}

/* Summaries of chapters: kept, found again, bounded, and lost at no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "state/cache.h"

#define NOW_NS INT64_C(1750000000000000000)
#define DAY_NS INT64_C(86400000000000)

static char folder[64], path[128], own[128]; /* own: of the user, in place of an unsafe one */

static int setup(void **state)
{
	(void)state;
	(void)strcpy(folder, "/tmp/failslow-cache-XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/deep/state-cache.db", folder);
	(void)snprintf(own, sizeof(own), "%s/own", folder);
	(void)umask(022);
	fsl_log_set_level(FSL_LOG_ERROR);
	return setenv("XDG_STATE_HOME", own, 1);
}

static int teardown(void **state)
{
	(void)state;
	char command[128];
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static struct fsl_cache_chapter items[64];

/* A job of @n chapters whose matrices have @n_matrices bytes each, its contents told by @seed. */
static struct fsl_cache_job make(size_t n, size_t n_matrices, unsigned char seed)
{
	static char summaries[64][16], *matrices;
	free(matrices);
	matrices = malloc(n_matrices + 1);
	memset(matrices, seed, n_matrices + 1);
	for (size_t k = 0; k < n; k++) {
		int length = snprintf(summaries[k], sizeof(summaries[k]), "%d of %zu", seed, k);
		items[k] = (struct fsl_cache_chapter){
			.begin_ns = 100 * (int64_t)k,
			.end_ns = 100 * (int64_t)(k + 1),
			.summary = summaries[k],
			.n_summary = (size_t)length,
			.matrices = matrices,
			.n_matrices = n_matrices,
			.is_new = true,
		};
	}
	return (struct fsl_cache_job){.head = "head", .n_head = 4, .items = items, .n_items = n};
}

static size_t count(const char *root, const char *rules)
{
	struct fsl_cache_job job = {0};
	assert_int_equal(fsl_cache_get(&job, path, root, rules, NULL), FSL_OK);
	size_t n = job.n_items;
	fsl_cache_job_fini(&job);
	return n;
}

static void put(const char *root, const char *rules, const struct fsl_cache_job *job)
{
	assert_int_equal(fsl_cache_put(path, root, rules, job, NOW_NS, NULL), FSL_OK);
}

static void the_file_stands_beside_the_state(void **state)
{
	(void)state;
	static const char *const paths[][2] = {
		{"/a/failslow_state.db", "/a/failslow_state-cache.db"},
		{"x", "x-cache.db"},
		{".db", ".db-cache.db"}};
	for (size_t i = 0; i < 3; i++) {
		char *found = fsl_cache_path(paths[i][0]);
		assert_string_equal(found, paths[i][1]);
		fsl_free(found);
	}
}

static void what_is_put_is_got_by_the_same_rules_alone(void **state)
{
	(void)state;
	struct fsl_cache_job job = make(5, 100, 7), got = {0};
	assert_int_equal(count("/job", "r1"), 0);
	put("/job", "r1", &job);
	assert_int_equal(count("/job", "r2"), 0);
	assert_int_equal(count("/other", "r1"), 0);
	assert_int_equal(fsl_cache_get(&got, path, "/job", "r1", NULL), FSL_OK);
	assert_int_equal(got.n_items, 5);
	assert_memory_equal(got.head, "head", 4);
	for (size_t k = 0; k < 5; k++) {
		assert_true(got.items[k].begin_ns == items[k].begin_ns &&
			    got.items[k].end_ns == items[k].end_ns);
		assert_int_equal(got.items[k].n_summary, items[k].n_summary);
		assert_memory_equal(got.items[k].summary, items[k].summary, items[k].n_summary);
		assert_int_equal(got.items[k].n_matrices, 100);
		assert_memory_equal(got.items[k].matrices, items[k].matrices, 100);
	}
	fsl_cache_job_fini(&got);
}

static void chapters_that_are_not_new_stay_and_those_not_listed_go(void **state)
{
	(void)state;
	struct fsl_cache_job job = make(6, 10, 1), got = {0};
	put("/job", "r", &job);
	job = make(4, 10, 2);
	for (size_t k = 0; k < 3; k++) {
		items[k].is_new = false;
	}
	put("/job", "r", &job);
	assert_int_equal(fsl_cache_get(&got, path, "/job", "r", NULL), FSL_OK);
	assert_int_equal(got.n_items, 4);
	assert_memory_equal(got.items[2].summary, "1 of 2", 6);
	assert_memory_equal(got.items[3].summary, "2 of 3", 6);
	fsl_cache_job_fini(&got);
	job = make(2, 10, 3);
	items[0].is_new = false; /* of other rules nothing is left */
	put("/job", "r2", &job);
	assert_int_equal(count("/job", "r"), 0);
	assert_int_equal(count("/job", "r2"), 1);
}

static void the_oldest_matrices_go_where_there_is_no_room(void **state)
{
	(void)state;
	enum { MATRICES = 1 << 20, CHAPTERS = 40 };
	struct fsl_cache_job job = make(CHAPTERS, MATRICES, 9), got = {0};
	struct stat facts;
	put("/job", "r", &job);
	assert_int_equal(fsl_cache_get(&got, path, "/job", "r", NULL), FSL_OK);
	assert_int_equal(got.n_items, CHAPTERS);
	for (size_t k = 0; k < CHAPTERS; k++) {
		size_t n = k < CHAPTERS - 31 ? 0 : MATRICES;
		assert_int_equal(got.items[k].n_matrices, n);
	}
	fsl_cache_job_fini(&got);
	assert_int_equal(stat(path, &facts), 0);
	assert_true(facts.st_size < (FSL_CACHE_JOB_BYTES_MAX / 32) * 33);
}

static void jobs_that_nobody_judges_go(void **state)
{
	(void)state;
	struct fsl_cache_job job = make(3, 10, 1);
	put("/old", "r", &job);
	assert_int_equal(fsl_cache_put(path, "/new", "r", &job,
				       NOW_NS + (FSL_CACHE_DAYS - 1) * DAY_NS, NULL),
			 FSL_OK);
	assert_int_equal(count("/old", "r"), 3);
	assert_int_equal(fsl_cache_put(path, "/new", "r", &job,
				       NOW_NS + (FSL_CACHE_DAYS + 1) * DAY_NS, NULL),
			 FSL_OK);
	assert_int_equal(count("/old", "r"), 0);
	assert_int_equal(count("/new", "r"), 3);
}

static void a_damaged_file_is_made_anew(void **state)
{
	(void)state;
	struct fsl_cache_job job = make(3, 5000, 1);
	for (int at = 0; at < 20000; at += 1500) {
		put("/job", "r", &job);
		int file = open(path, O_RDWR);
		assert_true(file >= 0);
		char rubbish[700];
		memset(rubbish, 0xa5, sizeof(rubbish));
		assert_true(pwrite(file, rubbish, sizeof(rubbish), at) == (ssize_t)sizeof(rubbish));
		(void)close(file);
		struct fsl_cache_job got = {0};
		enum fsl_status status = fsl_cache_get(&got, path, "/job", "r", NULL);
		assert_true(status == FSL_OK && got.n_items <= 3);
		for (size_t k = 0; k < got.n_items; k++) {
			assert_memory_equal(got.items[k].summary, items[k].summary, 6);
		}
		fsl_cache_job_fini(&got);
		(void)unlink(path);
	}
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs("this is no database, whoever wrote it, and it is long enough to be seen",
		    file);
	(void)fclose(file);
	assert_int_equal(count("/job", "r"), 0);
	put("/job", "r", &job);
	assert_int_equal(count("/job", "r"), 3);
}

static void links_are_not_followed(void **state)
{
	(void)state;
	char target[128];
	struct stat before, after;
	struct fsl_cache_job job = make(1, 1, 1);
	put("/job", "r", &job);
	(void)snprintf(target, sizeof(target), "%s/elsewhere", folder);
	assert_int_equal(rename(path, target), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(stat(target, &before), 0);
	assert_int_equal(count("/job", "r"), 0);
	put("/b", "r", &job);
	assert_int_equal(count("/b", "r"), 1);
	assert_int_equal(stat(target, &after), 0);
	assert_true(before.st_size == after.st_size &&
		    before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

static void a_folder_that_others_may_write_holds_no_cache(void **state)
{
	(void)state;
	static const mode_t modes[] = {0777, 01777, 0775};
	char shared[128];
	(void)snprintf(shared, sizeof(shared), "%s/deep", folder);
	struct fsl_cache_job job = make(2, 9, 1);
	assert_int_equal(mkdir(shared, 0755), 0);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]) - (geteuid() != 0); i++) {
		assert_int_equal(chmod(shared, modes[i]), 0);
		put("/job", "r", &job);
		assert_int_equal(count("/job", "r"), 2);
		assert_int_not_equal(access(path, F_OK), 0);
	}
}

static void a_locked_file_is_waited_for_by_nobody(void **state)
{
	(void)state;
	sqlite3 *db = NULL;
	struct fsl_cache_job job = make(2, 10, 1), got = {0};
	put("/job", "r", &job);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(fsl_cache_put(path, "/job", "r", &job, NOW_NS, NULL), FSL_ERR_IO);
	assert_int_equal(fsl_cache_get(&got, path, "/job", "r", NULL), FSL_ERR_IO);
	assert_int_equal(got.n_items, 0);
	sqlite3_close(db);
	assert_int_equal(count("/job", "r"), 2);
}

static void a_run_that_is_killed_leaves_all_or_nothing(void **state)
{
	(void)state;
	enum { ROUNDS = 25 };
	struct fsl_cache_job job = make(2, 10, 1);
	put("/job", "r", &job);
	for (int round = 0; round < ROUNDS; round++) {
		pid_t child = fork();
		if (child == 0) {
			for (unsigned char seed = 2;; seed++) {
				struct fsl_cache_job other = make(2 + seed % 40, 30000, seed);
				(void)fsl_cache_put(path, "/job", "r", &other, NOW_NS, NULL);
			}
		}
		(void)usleep((useconds_t)(1000 + 1700 * round));
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		struct fsl_cache_job got = {0};
		assert_int_equal(fsl_cache_get(&got, path, "/job", "r", NULL), FSL_OK);
		assert_true(got.n_items >= 2);
		int seed = atoi(got.items[0].summary);
		assert_int_equal(got.n_items, seed == 1 ? 2 : 2 + seed % 40);
		for (size_t k = 0; k < got.n_items; k++) {
			assert_int_equal(atoi(got.items[k].summary), seed);
		}
		fsl_cache_job_fini(&got);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_file_stands_beside_the_state),
		TEST(what_is_put_is_got_by_the_same_rules_alone),
		TEST(chapters_that_are_not_new_stay_and_those_not_listed_go),
		TEST(the_oldest_matrices_go_where_there_is_no_room),
		TEST(jobs_that_nobody_judges_go),
		TEST(a_damaged_file_is_made_anew),
		TEST(links_are_not_followed),
		TEST(a_folder_that_others_may_write_holds_no_cache),
		TEST(a_locked_file_is_waited_for_by_nobody),
		TEST(a_run_that_is_killed_leaves_all_or_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

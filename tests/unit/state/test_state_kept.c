/* What is kept of a capture: found again by folder and rules, never changed, never half there. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/mem.h"
#include "base/number.h"
#include "state/state.h"

#define NOW (INT64_C(1750000000) * FSL_NS_PER_S)
#define DAY (INT64_C(24) * 3600 * FSL_NS_PER_S)

static char folder[64], path[128];
static struct fsl_state *state_file;

static int setup(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/fsl_kept_XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/state.db", folder);
	return fsl_state_open(&state_file, path, NULL) == FSL_OK ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	fsl_state_close(state_file);
	(void)unlink(path);
	return rmdir(folder);
}

static void put(const char *root, const char *rules, const char *text, int64_t now_ns)
{
	assert_int_equal(
		fsl_state_put_kept(state_file, root, rules, text, strlen(text), now_ns, NULL),
		FSL_OK);
}

/* What is kept has to be @text; NULL: nothing. */
static void expect(const char *root, const char *rules, const char *text)
{
	void *bytes = NULL;
	size_t n = 0;
	assert_int_equal(fsl_state_get_kept(state_file, root, rules, &bytes, &n, NULL), FSL_OK);
	assert_int_equal(n, text != NULL ? strlen(text) : 0);
	assert_true((bytes != NULL) == (text != NULL));
	if (text != NULL) {
		assert_memory_equal(bytes, text, n);
	}
	fsl_free(bytes);
}

static void execute(const char *sql)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void what_is_kept_is_found_by_folder_and_rules(void **state)
{
	(void)state;
	expect("/a", "1", NULL);
	put("/a", "1", "first", NOW);
	put("/b", "1", "other", NOW);
	expect("/a", "1", "first");
	expect("/b", "1", "other");
	expect("/a", "2", NULL);
	put("/a", "2", "second", NOW);
	expect("/a", "2", "second");
	expect("/a", "1", NULL);
}

static void what_changed_on_disk_is_not_used(void **state)
{
	(void)state;
	put("/a", "1", "first", NOW);
	execute("UPDATE kept SET bytes = x'66697273' || x'75'");
	expect("/a", "1", NULL);
	put("/a", "1", "again", NOW);
	expect("/a", "1", "again");
}

static void what_nobody_asked_for_in_90_days_is_removed(void **state)
{
	(void)state;
	put("/a", "1", "old", NOW);
	put("/b", "1", "new", NOW + 90 * DAY);
	expect("/a", "1", "old");
	put("/b", "1", "new", NOW + 90 * DAY + 1);
	expect("/a", "1", NULL);
}

/* A file that was written to so many days ago. */
static void write_file(const char *file_path, int days)
{
	const struct timespec then = {time(NULL) - days * 24 * 3600 - 60, 0};
	const struct timespec times[2] = {then, then};
	FILE *file = fopen(file_path, "w");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(utimensat(AT_FDCWD, file_path, times, 0), 0);
}

static void what_stands_beside_goes_after_two_days(void **state)
{
	(void)state;
	static const char *const others[] = {"-tails-0123456789abcdeg", "-tails-01234567",
					     "-journal", "-tails-0123456789abcdef.old"};
	char *old = fsl_state_beside(path, "/old"), *new = fsl_state_beside(path, "/new");
	assert_non_null(old);
	assert_non_null(new);
	write_file(old, 2);
	write_file(new, 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char other[160];
		(void)snprintf(other, sizeof(other), "%s%s", path, others[i]);
		write_file(other, 100);
	}
	fsl_state_sweep_beside(path);
	assert_int_equal(access(old, F_OK), -1);
	assert_int_equal(unlink(new), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char other[160];
		(void)snprintf(other, sizeof(other), "%s%s", path, others[i]);
		assert_int_equal(unlink(other), 0);
	}
	fsl_free(old);
	fsl_free(new);
}

static void a_file_of_the_first_version_gets_the_table(void **state)
{
	(void)state;
	put("/a", "1", "text", NOW);
	execute("DROP TABLE kept; PRAGMA user_version = 1");
	fsl_state_close(state_file);
	state_file = NULL;
	assert_int_equal(fsl_state_open(&state_file, path, NULL), FSL_OK);
	expect("/a", "1", NULL);
	put("/a", "1", "text", NOW);
	expect("/a", "1", "text");
}

static void a_failed_write_leaves_what_was_there(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	put("/a", "1", "first", NOW);
	execute("CREATE TRIGGER full BEFORE INSERT ON kept BEGIN SELECT RAISE(ABORT, 'full'); END");
	assert_int_equal(fsl_state_put_kept(state_file, "/a", "1", "x", 1, NOW, &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "state_path"));
	expect("/a", "1", "first");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_kept_is_found_by_folder_and_rules, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_changed_on_disk_is_not_used, setup, teardown),
		cmocka_unit_test_setup_teardown(what_nobody_asked_for_in_90_days_is_removed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_stands_beside_goes_after_two_days, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_of_the_first_version_gets_the_table, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_failed_write_leaves_what_was_there, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which journal a state file has: a write-ahead log while a run has a file of this host alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/log.h"
#include "base/number.h"
#include "state/journal.h"
#include "state/state.h"

#define NOW (INT64_C(1750000000) * FSL_NS_PER_S)

static char folder[64];
static char path[128];

static int setup(void **state)
{
	(void)state;
	(void)umask(022);
	(void)snprintf(folder, sizeof(folder), "/tmp/fsl_journal_XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/state.db", folder);
	return setenv("STATE_DIRECTORY", folder, 1);
}

static bool is_there(const char *suffix)
{
	char file[256];
	(void)snprintf(file, sizeof(file), "%s%s", path, suffix);
	return access(file, F_OK) == 0;
}

static int teardown(void **state)
{
	(void)state;
	static const char *const names[] = {"", "-journal", "-wal", "-shm", ".damaged-1"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char file[256];
		(void)snprintf(file, sizeof(file), "%s%s", path, names[i]);
		(void)unlink(file);
	}
	(void)unsetenv("STATE_DIRECTORY");
	return rmdir(folder);
}

/* A folder for tests may lie on a file system that is served to others. */
static void skip_if_no_log_is_possible(void)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	(void)fclose(file);
	bool is_possible = fsl_journal_is_of_one_host(path);
	(void)unlink(path);
	if (!is_possible) {
		skip();
	}
}

static struct fsl_state *open_state(void)
{
	struct fsl_state *opened = NULL;
	struct fsl_error err = {0};
	assert_int_equal(fsl_state_open(&opened, path, &err), FSL_OK);
	return opened;
}

static void write_alarm(struct fsl_state *state, int32_t rank)
{
	struct fsl_error err = {0};
	struct fsl_alarm alarm = {.is_suppressed = false};
	struct fsl_culprit culprit = fsl_culprit_of(rank);
	struct fsl_localisation localisation;
	fsl_localisation_init(&localisation);
	culprit.cause = FSL_CAUSE_COMPUTE;
	localisation.kind = FSL_VERDICT_SLOW_RANK;
	localisation.reason = "a rank is slow";
	localisation.culprits = &culprit;
	localisation.n_culprits = 1;
	assert_int_equal(
		fsl_state_check_alarm(state, "/job", &localisation, NOW, 20.0, &alarm, &err),
		FSL_OK);
	assert_int_equal(fsl_state_settle(state, true, &err), FSL_OK);
}

static int64_t count_by(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	assert_int_equal(
		sqlite3_prepare_v2(db, "SELECT count(*) FROM alarms", -1, &statement, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return n;
}

static int64_t count_alarms(void)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	int64_t n = count_by(db);
	sqlite3_close(db);
	return n;
}

/* Bytes 18 and 19 of a database: 1 rollback journal, 2 write-ahead log. */
static int journal_of_file(void)
{
	unsigned char head[20] = {0};
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
	(void)fclose(file);
	return head[18];
}

static void reader_that_stays_keeps_no_run_from_writing(void **test)
{
	(void)test;
	skip_if_no_log_is_possible();
	struct fsl_state *state = open_state();
	write_alarm(state, 3);
	sqlite3 *reader = NULL;
	assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(count_by(reader), 1);
	write_alarm(state, 4);
	assert_int_equal(count_by(reader), 1); /* its view does not change */
	fsl_state_close(state);
	sqlite3_close(reader);
	assert_int_equal(count_alarms(), 2);
}

static void log_that_a_reader_kept_ends_with_the_next_run(void **test)
{
	(void)test;
	skip_if_no_log_is_possible();
	struct fsl_state *state = open_state();
	write_alarm(state, 1);
	sqlite3 *reader = NULL;
	assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(count_by(reader), 1);
	fsl_state_close(state);
	assert_int_equal(journal_of_file(), 2);
	sqlite3_close(reader);
	fsl_state_close(open_state());
	assert_int_equal(journal_of_file(), 1);
	assert_int_equal(count_alarms(), 1);
}

static void file_at_rest_has_neither_log_nor_shared_memory(void **test)
{
	(void)test;
	skip_if_no_log_is_possible();
	struct fsl_state *state = open_state();
	write_alarm(state, 5);
	assert_true(is_there("-wal"));
	assert_true(is_there("-shm"));
	fsl_state_close(state);
	assert_false(is_there("-wal"));
	assert_false(is_there("-shm"));
	assert_int_equal(journal_of_file(), 1);
}

static void file_in_a_shared_folder_never_gets_a_log(void **test)
{
	(void)test;
	(void)unsetenv("STATE_DIRECTORY");
	struct fsl_state *state = open_state();
	write_alarm(state, 5);
	assert_false(is_there("-wal"));
	assert_int_equal(journal_of_file(), 1);
	fsl_state_close(state);
	assert_int_equal(count_alarms(), 1);
}

static void log_of_a_run_that_was_killed_is_played_back(void **test)
{
	(void)test;
	skip_if_no_log_is_possible();
	pid_t child = fork();
	if (child == 0) {
		write_alarm(open_state(), 7);
		_exit(0); /* nothing is closed */
	}
	int how = 0;
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
	assert_true(is_there("-wal"));
	struct fsl_state *state = open_state();
	write_alarm(state, 8);
	fsl_state_close(state);
	assert_int_equal(count_alarms(), 2);
	assert_int_equal(journal_of_file(), 1);
}

static void touch(const char *suffix)
{
	char file[256];
	(void)snprintf(file, sizeof(file), "%s%s", path, suffix);
	FILE *made = fopen(file, "w");
	assert_non_null(made);
	(void)fclose(made);
}

static void nothing_is_played_back_into_a_new_file(void **test)
{
	(void)test;
	touch("");
	touch("-journal");
	touch("-wal");
	touch("-shm");
	assert_true(fsl_journal_remove(path));
	assert_false(is_there("-journal") || is_there("-wal") || is_there("-shm"));
	assert_true(is_there(""));
	assert_true(fsl_journal_remove(path)); /* none is there */
}

static void names_that_only_begin_like_a_state_folder_are_shared(void **test)
{
	(void)test;
	assert_int_equal(setenv("STATE_DIRECTORY", "/tm:/usr/bin", 1), 0);
	assert_false(fsl_journal_is_of_one_host("/tmp"));
	assert_false(fsl_journal_is_of_one_host("/usr/binary"));
	assert_false(fsl_journal_is_of_one_host("/var/library/state.db"));
	assert_int_equal(setenv("STATE_DIRECTORY", "", 1), 0);
	assert_false(fsl_journal_is_of_one_host("/etc"));
	assert_int_equal(setenv("STATE_DIRECTORY", ":::", 1), 0);
	assert_false(fsl_journal_is_of_one_host("/etc"));
}

static void each_of_several_state_folders_counts(void **test)
{
	(void)test;
	char both[256];
	skip_if_no_log_is_possible();
	(void)snprintf(both, sizeof(both), "/var/lib/other:%s", folder);
	assert_int_equal(setenv("STATE_DIRECTORY", both, 1), 0);
	struct fsl_state *state = open_state();
	write_alarm(state, 2);
	assert_true(is_there("-wal"));
	fsl_state_close(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	fsl_log_set_level(FSL_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		CASE(reader_that_stays_keeps_no_run_from_writing),
		CASE(log_that_a_reader_kept_ends_with_the_next_run),
		CASE(file_at_rest_has_neither_log_nor_shared_memory),
		CASE(file_in_a_shared_folder_never_gets_a_log),
		CASE(log_of_a_run_that_was_killed_is_played_back),
		CASE(nothing_is_played_back_into_a_new_file),
		CASE(names_that_only_begin_like_a_state_folder_are_shared),
		CASE(each_of_several_state_folders_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

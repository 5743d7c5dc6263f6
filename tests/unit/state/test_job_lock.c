/* One run at a time has the lock of a job. */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
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

#include "base/log.h"
#include "state/job_lock.h"
#include "support/program.h"

static struct {
	char folder[PATH_MAX];
	char state_path[PATH_MAX];
	struct fsl_error err;
} fixture;

static int setup(void **state)
{
	(void)state;
	char made[] = "/tmp/fsl_lock_XXXXXX";
	memset(&fixture, 0, sizeof(fixture));
	assert_non_null(mkdtemp(made));
	assert_non_null(realpath(made, fixture.folder));
	(void)snprintf(fixture.state_path, PATH_MAX, "%s/results/state.db", fixture.folder);
	(void)setenv("XDG_STATE_HOME", fixture.folder, 1);
	(void)umask(022);
	fsl_log_set_level(FSL_LOG_ERROR);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(fixture.folder);
	return 0;
}

/* A lock belongs to a process: another one asks. */
static enum fsl_lock_result asked_by_another(const char *job, const char *training_log)
{
	int code = 0;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		const struct fsl_lock_request request = {fixture.state_path, job, training_log, 0};
		struct fsl_job_lock lock = {.fd = -1};
		enum fsl_lock_result result = FSL_LOCK_NONE;
		(void)fsl_job_lock_take(&lock, &request, &result, NULL);
		_exit(result == FSL_LOCK_BUSY && lock.other != getppid() ? 99 : (int)result);
	}
	assert_int_equal(waitpid(child, &code, 0), child);
	assert_true(WIFEXITED(code) && WEXITSTATUS(code) != 99);
	return (enum fsl_lock_result)WEXITSTATUS(code);
}

static enum fsl_lock_result take(struct fsl_job_lock *lock, const char *job, double wait_s)
{
	const struct fsl_lock_request request = {fixture.state_path, job, NULL, wait_s};
	enum fsl_lock_result result = FSL_LOCK_NONE;
	assert_int_equal(fsl_job_lock_take(lock, &request, &result, &fixture.err), FSL_OK);
	return result;
}

static void a_second_run_over_the_job_is_told_of_the_first(void **state)
{
	(void)state;
	struct fsl_job_lock lock;
	assert_int_equal(take(&lock, "/tmp", 0), FSL_LOCK_TAKEN);
	assert_int_equal(asked_by_another("/tmp", NULL), FSL_LOCK_BUSY);
	assert_int_equal(asked_by_another("/tmp/.", NULL), FSL_LOCK_BUSY);
	fsl_job_lock_release(&lock);
	assert_int_equal(asked_by_another("/tmp", NULL), FSL_LOCK_TAKEN);
	assert_int_equal(asked_by_another("/tmp", NULL), FSL_LOCK_TAKEN);
}

static void other_jobs_with_the_same_state_have_locks_of_their_own(void **state)
{
	(void)state;
	struct fsl_job_lock lock;
	assert_int_equal(take(&lock, "/tmp", 0), FSL_LOCK_TAKEN);
	assert_int_equal(asked_by_another("/usr", NULL), FSL_LOCK_TAKEN);
	assert_int_equal(asked_by_another("/tmp", "/usr"), FSL_LOCK_TAKEN);
	fsl_job_lock_release(&lock);
}

static void a_killed_run_leaves_no_lock(void **state)
{
	(void)state;
	int ready[2], code = 0;
	char byte = 0;
	struct fsl_job_lock lock;
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)take(&lock, "/tmp", 0);
		assert_int_equal(write(ready[1], "x", 1), 1);
		(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(take(&lock, "/tmp", 0.2), FSL_LOCK_BUSY);
	assert_int_equal(lock.other, child);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &code, 0), child);
	assert_int_equal(take(&lock, "/tmp", 0), FSL_LOCK_TAKEN);
	fsl_job_lock_release(&lock);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void a_run_that_waits_gets_the_lock(void **state)
{
	(void)state;
	int ready[2], code = 0;
	char byte = 0;
	struct fsl_job_lock lock;
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)take(&lock, "/tmp", 0);
		assert_int_equal(write(ready[1], "x", 1), 1);
		(void)close(ready[1]);
		(void)usleep(100000);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(take(&lock, "/tmp", 60), FSL_LOCK_TAKEN);
	assert_int_equal(waitpid(child, &code, 0), child);
	fsl_job_lock_release(&lock);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void a_link_in_place_of_the_file_is_not_followed(void **state)
{
	(void)state;
	char path[PATH_MAX + 16], target[PATH_MAX + 16];
	struct fsl_job_lock lock;
	(void)snprintf(path, sizeof(path), "%s/results", fixture.folder);
	assert_int_equal(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/results/state.lock", fixture.folder);
	(void)snprintf(target, sizeof(target), "%s/target", fixture.folder);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(take(&lock, "/tmp", 0), FSL_LOCK_TAKEN); /* in the safe place */
	assert_int_equal(access(target, F_OK), -1);
	fsl_job_lock_release(&lock);
}

static void a_folder_that_cannot_be_made_keeps_no_run_from_its_work(void **state)
{
	(void)state;
	struct fsl_job_lock lock;
	(void)snprintf(fixture.state_path, PATH_MAX, "/dev/null/results/state.db");
	assert_int_equal(take(&lock, "/tmp", 0), FSL_LOCK_NONE);
	fsl_job_lock_release(&lock);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_second_run_over_the_job_is_told_of_the_first),
		CASE(other_jobs_with_the_same_state_have_locks_of_their_own),
		CASE(a_killed_run_leaves_no_lock),
		CASE(a_run_that_waits_gets_the_lock),
		CASE(a_link_in_place_of_the_file_is_not_followed),
		CASE(a_folder_that_cannot_be_made_keeps_no_run_from_its_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

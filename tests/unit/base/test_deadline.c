/* A process that takes too long ends, and says what it was doing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/deadline.h"
#include "base/file.h"

enum { EXIT_CODE = 4, OTHER_CODE = 21, DONE = 7 };
#define MINUTES 0.0005

/* Runs @work in a process of its own. *text: what it printed on stderr. Returns its exit code. */
static int run(void (*work)(void), char *text, size_t size)
{
	int ends[2], how = 0;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		(void)close(ends[1]);
		work();
		_exit(DONE);
	}
	(void)close(ends[1]);
	size_t n = 0;
	ssize_t n_read = 0;
	while ((n_read = read(ends[0], text + n, size - 1 - n)) > 0) {
		n += (size_t)n_read;
	}
	text[n] = '\0';
	(void)close(ends[0]);
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFEXITED(how));
	return WEXITSTATUS(how);
}

static _Noreturn void sleep_on(void)
{
	for (;;) {
		(void)pause();
	}
}

static void block_the_signal_and_sleep(void)
{
	sigset_t all;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	fsl_deadline_begin(MINUTES, EXIT_CODE);
	sleep_on();
}

static void compute_in_a_stage(void)
{
	fsl_deadline_begin(20 * MINUTES, OTHER_CODE);
	fsl_deadline_stage("judging");
	for (volatile unsigned i = 0;; i++) {
	}
}

static void read_files(void)
{
	char path[400], control[] = "b\x1b[1m";
	(void)fsl_deadline_file_begin("before");
	fsl_deadline_begin(60.0, EXIT_CODE);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	int closed = fsl_deadline_file_begin("closed");
	(void)fsl_deadline_file_begin(control);
	(void)fsl_deadline_file_begin(path);
	fsl_deadline_file_end(closed);
	fsl_deadline_stage("reading");
	(void)raise(SIGALRM); /* as if the time were over */
}

static void read_more_files_than_are_told(void)
{
	fsl_deadline_begin(60.0, EXIT_CODE);
	for (int i = 0; i < 100; i++) {
		fsl_deadline_file_end(fsl_deadline_file_begin("read to its end"));
	}
	for (int i = 0; i < 100; i++) {
		(void)fsl_deadline_file_begin("open");
	}
	(void)raise(SIGALRM); /* as if the time were over */
}

static void end_in_time(void)
{
	struct fsl_reader *reader = NULL;
	fsl_deadline_begin(60.0, EXIT_CODE);
	(void)fsl_reader_open(&reader, "/etc/passwd", NULL);
	fsl_reader_close(reader);
	fsl_deadline_end();
	(void)raise(SIGALRM); /* one that was on its way */
}

static void have_no_deadline(void)
{
	fsl_deadline_begin(0.0, EXIT_CODE);
	fsl_deadline_end();
}

static void a_process_that_sleeps_or_computes_ends(void **state)
{
	(void)state;
	char text[4096];
	assert_int_equal(run(block_the_signal_and_sleep, text, sizeof(text)), EXIT_CODE);
	assert_non_null(strstr(text, "failslow: error: deadline: the run takes longer"));
	assert_non_null(strstr(text, "minutes=0.0005, stage=\"beginning\"\n"));
	assert_int_equal(run(compute_in_a_stage, text, sizeof(text)), OTHER_CODE);
	assert_non_null(strstr(text, "minutes=0.01, stage=\"judging\"\n"));
}

static void files_that_are_being_read_are_told(void **state)
{
	(void)state;
	char text[4096];
	assert_int_equal(run(read_files, text, sizeof(text)), EXIT_CODE);
	assert_non_null(strstr(text, "stage=\"reading\", file=\"b?[1m\", file=\"xxx"));
	assert_null(strstr(text, "closed"));
	assert_null(strstr(text, "before"));
	assert_int_equal(strspn(strstr(text, "xxx"), "x"), 255);
	assert_int_equal(run(read_more_files_than_are_told, text, sizeof(text)), EXIT_CODE);
	assert_non_null(
		strstr(text, "file=\"open\", file=\"open\", file=\"open\", file=\"open\"\n"));
}

static void a_process_that_is_done_in_time_goes_on(void **state)
{
	(void)state;
	char text[256];
	assert_int_equal(run(end_in_time, text, sizeof(text)), DONE);
	assert_string_equal(text, "");
	assert_int_equal(run(have_no_deadline, text, sizeof(text)), DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_sleeps_or_computes_ends),
		cmocka_unit_test(files_that_are_being_read_are_told),
		cmocka_unit_test(a_process_that_is_done_in_time_goes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

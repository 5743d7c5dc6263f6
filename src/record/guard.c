/* The guard: forked twice, so that init inherits it, in a session of its own. */
#include "record/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os_error.h"

/* A guard is meant to outlive what ends the recorder. */
static void ignore_signals(void)
{
	static const int signals[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGPIPE,
				      SIGUSR1, SIGUSR2, SIGTSTP, SIGALRM};
	sigset_t none;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		(void)signal(signals[i], SIG_IGN);
	}
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Closes all descriptors but three. */
static void close_others(int a, int b, int c)
{
	long n_files = sysconf(_SC_OPEN_MAX);
	int end = n_files > 0 && n_files < 65536 ? (int)n_files : 65536;
	for (int file = 0; file < end; file++) {
		if (file != a && file != b && file != c) {
			(void)close(file);
		}
	}
	/* Whoever writes to the standard streams must not hit a file of somebody. */
	while (open("/dev/null", O_RDWR) >= 0 && fcntl(STDERR_FILENO, F_GETFD) < 0) {
	}
}

static _Noreturn void watch(int alive, int done, int keep,
			    enum fsl_status (*put_back)(void *context, struct fsl_error *err),
			    void *context)
{
	struct fsl_error err = {0};
	char byte;
	ssize_t n_read = 0;
	ignore_signals();
	close_others(alive, done, keep);
	(void)prctl(PR_SET_NAME, "failslow-guard");
	(void)!chdir("/");
	do {
		n_read = read(alive, &byte, 1);
	} while (n_read > 0 || (n_read < 0 && errno == EINTR));
	if (put_back(context, &err) != FSL_OK) {
		const char *text = fsl_error_root(&err);
		(void)!write(done, text, strlen(text));
	}
	_exit(0);
}

static void close_end(int end)
{
	if (end >= 0) {
		(void)close(end);
	}
}

enum fsl_status fsl_guard_begin(struct fsl_guard *guard,
				enum fsl_status (*put_back)(void *context, struct fsl_error *err),
				void *context, int keep, struct fsl_error *err)
{
	int alive[2] = {-1, -1}, done[2] = {-1, -1}, how = 0;
	bool is_made = pipe2(alive, O_CLOEXEC) == 0 && pipe2(done, O_CLOEXEC) == 0;
	pid_t child = is_made ? fork() : -1;
	if (child == 0) {
		(void)setsid();
		pid_t grandchild = fork();
		if (grandchild == 0) {
			(void)close(alive[1]);
			(void)close(done[0]);
			watch(alive[0], done[1], keep, put_back, context);
		}
		_exit(grandchild > 0 ? 0 : 1);
	}
	int code = errno;
	bool is_there = child > 0 && waitpid(child, &how, 0) == child && how == 0;
	close_end(alive[0]);
	close_end(done[1]);
	if (!is_there) {
		close_end(alive[1]);
		close_end(done[0]);
		return FSL_FAIL(err, FSL_ERR_IO, "cannot start a process: reason=\"%s\"",
				fsl_os_error(child > 0 ? EAGAIN : code).text);
	}
	*guard = (struct fsl_guard){.alive = alive[1], .done = done[0]};
	return FSL_OK;
}

enum fsl_status fsl_guard_end(struct fsl_guard *guard, struct fsl_error *err)
{
	char text[FSL_CAUSE_MESSAGE_MAX];
	size_t n_text = 0;
	ssize_t n_read = 0;
	(void)close(guard->alive);
	do {
		n_read = read(guard->done, text + n_text, sizeof(text) - 1 - n_text);
		n_text += n_read > 0 ? (size_t)n_read : 0;
	} while ((n_read > 0 && n_text < sizeof(text) - 1) || (n_read < 0 && errno == EINTR));
	(void)close(guard->done);
	text[n_text] = '\0';
	*guard = (struct fsl_guard){.alive = -1, .done = -1};
	return n_text == 0 ? FSL_OK : FSL_FAIL(err, FSL_ERR_IO, "%s", text);
}

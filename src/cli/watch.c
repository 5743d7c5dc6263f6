/* The loop of `failslow watch`: starts looks, waits for whatever comes first, ends in order. */
#include "cli/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/notify.h"
#include "base/number.h"
#include "base/os_error.h"
#include "base/try.h"
#include "cli/command.h"

enum {
	LINE_BYTES = 480, /* of a status; longer lines are printed whole */
	EXEC_FAILED = 127,
};
#define KILL_AFTER_NS INT64_C(1000000000) /* a look that was asked to end gets so long */
#define GIVE_UP_AFTER_NS                                                                           \
	INT64_C(1500000000) /* its disk does not answer: the watch ends without it */
#define NEVER INT64_MAX

struct watch {
	const struct fsl_watch_plan *plan;
	struct fsl_notify notify;
	sigset_t outer_signals; /* blocked when the watch began; looks begin with them, too */
	int signal_fd;
	pid_t look; /* 0: none goes on */
	int output; /* standard output of the look; -1: closed */
	double every_s;
	int64_t begun_ns;        /* of the newest look */
	int64_t next_ns;         /* when the next look is due */
	int64_t ping_ns;         /* when the next sign of life is due */
	int64_t asked_to_end_ns; /* NEVER: not asked */
	bool is_killed;
	char line[LINE_BYTES + 1]; /* last line of the look, without its end */
	size_t n_line;
	bool is_line_over; /* the next byte begins another line */
	int exit_code;
};

static int64_t monotonic_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * FSL_NS_PER_S + now.tv_nsec;
}

/* In the new process: becomes the look. It ends with the watch. */
static _Noreturn void become_look(const struct watch *watch, pid_t parent, int output)
{
	int input = open("/dev/null", O_RDONLY);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && input >= 0 &&
	    dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    sigprocmask(SIG_SETMASK, &watch->outer_signals, NULL) == 0) {
		/* The same program, also if another version was installed meanwhile. */
		(void)execv("/proc/self/exe", watch->plan->argv);
	}
	_exit(EXEC_FAILED);
}

static enum fsl_status start_look(struct watch *watch, struct fsl_error *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot make a pipe: reason=\"%s\"",
				fsl_os_error(errno).text);
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	pid_t parent = getpid();
	pid_t look = fork();
	if (look == 0) {
		become_look(watch, parent, ends[1]);
	}
	int code = errno;
	(void)close(ends[1]);
	if (look < 0) {
		(void)close(ends[0]);
		return FSL_FAIL(err, FSL_ERR_IO, "cannot start a process: reason=\"%s\"",
				fsl_os_error(code).text);
	}
	watch->look = look;
	watch->output = ends[0];
	watch->n_line = 0;
	watch->is_line_over = false;
	watch->line[0] = '\0';
	return FSL_OK;
}

/* Keeps the last line for the status. */
static void keep_line(struct watch *watch, const char *bytes, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++) {
		if (watch->is_line_over) {
			watch->n_line = 0;
			watch->is_line_over = false;
		}
		if (bytes[i] == '\n') {
			watch->is_line_over = true;
		} else if (watch->n_line < LINE_BYTES) {
			watch->line[watch->n_line++] = bytes[i];
		}
	}
	watch->line[watch->n_line] = '\0';
}

/* Passes on what the look has printed by now. */
static void pass_output(struct watch *watch)
{
	char bytes[4096];
	ssize_t n_bytes = 0;
	while (watch->output >= 0 && (n_bytes = read(watch->output, bytes, sizeof(bytes))) > 0) {
		keep_line(watch, bytes, (size_t)n_bytes);
		if (!watch->plan->is_quiet) {
			(void)fwrite(bytes, 1, (size_t)n_bytes, stdout);
			(void)fflush(stdout);
		}
	}
	if (watch->output >= 0 && (n_bytes == 0 || (errno != EAGAIN && errno != EINTR))) {
		(void)close(watch->output);
		watch->output = -1;
	}
}

/* Exit code of a look that ended. Its own messages have told why it failed. */
static int code_of(int how)
{
	if (WIFSIGNALED(how)) {
		fsl_log(FSL_LOG_WARNING, "watch", "the look was ended by a signal: signal=%d",
			WTERMSIG(how));
		return FSL_EXIT_INTERNAL;
	}
	if (WEXITSTATUS(how) == EXEC_FAILED) {
		fsl_log(FSL_LOG_WARNING, "watch",
			"the look could not be started, is /proc mounted: path=\"/proc/self/exe\"");
		return FSL_EXIT_INTERNAL;
	}
	return WEXITSTATUS(how);
}

/* Takes note of the end of the look, if it has ended. */
static void reap_look(struct watch *watch)
{
	int how = 0;
	if (watch->look == 0 || waitpid(watch->look, &how, WNOHANG) != watch->look) {
		return;
	}
	pass_output(watch);
	if (watch->output >= 0) {
		(void)close(watch->output);
		watch->output = -1;
	}
	watch->look = 0;
	if (watch->asked_to_end_ns != NEVER) {
		return;
	}
	watch->exit_code = code_of(how);
	int64_t took_s = (monotonic_ns() - watch->begun_ns) / FSL_NS_PER_S;
	fsl_notify_send(&watch->notify, "STATUS=%s (exit code %d, %" PRId64 " s)",
			watch->n_line > 0 ? watch->line : "the last look gave no verdict",
			watch->exit_code, took_s);
}

static void reload(struct watch *watch)
{
	struct fsl_error err = {0};
	double every_s = 0.0;
	fsl_notify_send(&watch->notify, "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
			monotonic_ns() / 1000);
	if (watch->plan->reload(watch->plan->context, &every_s, &err) == FSL_OK) {
		watch->every_s = every_s;
		watch->next_ns = watch->plan->is_once ? watch->next_ns : monotonic_ns();
		fsl_notify_send(&watch->notify, "READY=1");
		return;
	}
	fsl_log(FSL_LOG_ERROR, "watch",
		"the configuration cannot be used, correct it: cause=\"%s\"", fsl_error_root(&err));
	fsl_notify_send(&watch->notify, "READY=1\nSTATUS=the configuration cannot be used: %s",
			fsl_error_root(&err));
}

static void stop(struct watch *watch)
{
	if (watch->asked_to_end_ns != NEVER) {
		return;
	}
	watch->asked_to_end_ns = monotonic_ns();
	fsl_notify_send(&watch->notify, "STOPPING=1");
	if (watch->look != 0) {
		(void)kill(watch->look, SIGTERM);
	}
}

static void take_signals(struct watch *watch)
{
	struct signalfd_siginfo info;
	while (read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			reload(watch);
		} else if (info.ssi_signo != SIGCHLD) {
			stop(watch);
		}
	}
	reap_look(watch);
}

/* Does what is due by now. */
static enum fsl_status do_due(struct watch *watch, struct fsl_error *err)
{
	int64_t now_ns = monotonic_ns();
	if (now_ns >= watch->ping_ns) {
		fsl_notify_send(&watch->notify, "WATCHDOG=1");
		watch->ping_ns = now_ns + watch->notify.watchdog_ns / 2;
	}
	if (watch->asked_to_end_ns != NEVER) {
		if (watch->look != 0 && !watch->is_killed &&
		    now_ns >= watch->asked_to_end_ns + KILL_AFTER_NS) {
			(void)kill(watch->look, SIGKILL);
			watch->is_killed = true;
		}
		return FSL_OK;
	}
	if (watch->look == 0 && now_ns >= watch->next_ns) {
		watch->begun_ns = now_ns;
		double wait_ns = watch->every_s * (double)FSL_NS_PER_S;
		watch->next_ns = watch->plan->is_once ? NEVER : now_ns + (int64_t)wait_ns;
		FSL_TRY(start_look(watch, err));
		fsl_notify_send(&watch->notify, "STATUS=looking at the job");
	}
	return FSL_OK;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Sleeps until a signal, output of the look, or the next thing that is due. */
static void wait_for_something(struct watch *watch)
{
	struct pollfd sources[] = {{.fd = watch->signal_fd, .events = POLLIN},
				   {.fd = watch->output, .events = POLLIN}};
	int64_t until_ns = watch->look == 0 ? watch->next_ns : NEVER;
	until_ns = earlier(until_ns, watch->ping_ns);
	if (watch->asked_to_end_ns != NEVER) {
		int64_t more_ns = watch->is_killed ? GIVE_UP_AFTER_NS : KILL_AFTER_NS;
		until_ns = earlier(until_ns, watch->asked_to_end_ns + more_ns);
	}
	int64_t left_ns = until_ns - monotonic_ns();
	left_ns = left_ns > 0 ? left_ns : 0;
	const struct timespec left = {.tv_sec = left_ns / FSL_NS_PER_S,
				      .tv_nsec = left_ns % FSL_NS_PER_S};
	(void)ppoll(sources, 2, until_ns == NEVER ? NULL : &left, NULL);
}

static bool is_over(const struct watch *watch)
{
	bool is_asked = watch->asked_to_end_ns != NEVER;
	bool is_given_up = is_asked && monotonic_ns() >= watch->asked_to_end_ns + GIVE_UP_AFTER_NS;
	bool is_done = is_asked || (watch->plan->is_once && watch->next_ns == NEVER);
	return (is_done && watch->look == 0) || is_given_up;
}

static enum fsl_status run(struct watch *watch, struct fsl_error *err)
{
	fsl_notify_send(&watch->notify, "READY=1");
	FSL_TRY(do_due(watch, err));
	while (!is_over(watch)) {
		wait_for_something(watch);
		pass_output(watch);
		take_signals(watch);
		FSL_TRY(do_due(watch, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_watch_run(const struct fsl_watch_plan *plan, int *exit_code,
			      struct fsl_error *err)
{
	struct watch watch = {
		.plan = plan, .output = -1, .every_s = plan->every_s, .asked_to_end_ns = NEVER};
	sigset_t signals;
	enum fsl_status status = FSL_OK;
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGHUP);
	(void)sigaddset(&signals, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &signals, &watch.outer_signals);
	fsl_notify_open(&watch.notify);
	watch.next_ns = monotonic_ns();
	watch.ping_ns = watch.notify.watchdog_ns > 0 ? watch.next_ns : NEVER;
	watch.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch.signal_fd < 0) {
		status = FSL_FAIL(err, FSL_ERR_IO, "cannot wait for signals: reason=\"%s\"",
				  fsl_os_error(errno).text);
	}
	FSL_THEN(status, run(&watch, err));
	*exit_code =
		watch.asked_to_end_ns != NEVER || !plan->is_once ? FSL_EXIT_DONE : watch.exit_code;
	if (watch.signal_fd >= 0) {
		(void)close(watch.signal_fd);
	}
	fsl_notify_close(&watch.notify);
	(void)sigprocmask(SIG_SETMASK, &watch.outer_signals, NULL);
	return status;
}

/* Runs another program in a process group of its own. */
#include "alarm/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alarm/channel.h"
#include "base/mem.h"
#include "base/os_error.h"
#include "base/try.h"

extern char **environ;

/* Pipes of a running program; -1: closed. */
struct running {
	pid_t pid;
	int input, output;
	size_t n_written, n_read;
};

static void close_pipe(int *end)
{
	if (*end >= 0) {
		close(*end);
	}
	*end = -1;
}

/* Our environment with what is added; free the array alone. NULL: out of memory. */
static char **make_environment(const char *const *added)
{
	size_t n = 0, n_added = 0;
	while (environ[n] != NULL) {
		n++;
	}
	while (added != NULL && added[n_added] != NULL) {
		n_added++;
	}
	char **all = fsl_calloc(n + n_added + 1, sizeof(*all));
	if (all != NULL) {
		memcpy(all, environ, n * sizeof(*all));
		memcpy(all + n, added, n_added * sizeof(*all));
	}
	return all;
}

/* Starts it with @in as stdin and @out as stdout. Returns 0 or the number of the error. */
static int start(pid_t *pid, const struct fsl_program *program, char **environment, int in, int out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	(void)sigemptyset(&none);
	int code = posix_spawn_file_actions_init(&files);
	if (code != 0) {
		return code;
	}
	code = posix_spawnattr_init(&attributes);
	if (code == 0) {
		(void)posix_spawnattr_setpgroup(&attributes, 0);
		(void)posix_spawnattr_setsigmask(&attributes, &none);
		(void)posix_spawnattr_setflags(&attributes,
					       POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
		code = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
		code = code == 0 ? posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO)
				 : code;
		code = code == 0 ? posix_spawnp(pid, program->words[0], &files, &attributes,
						(char *const *)program->words, environment)
				 : code;
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return code;
}

/* Writes and reads what is ready; false: nothing is left to do. */
static bool exchange(struct running *run, const struct fsl_program *program, int wait_ms)
{
	struct pollfd ends[] = {{run->input, POLLOUT, 0}, {run->output, POLLIN, 0}};
	if (run->input < 0 && run->output < 0) {
		return false;
	}
	if (poll(ends, 2, wait_ms) <= 0) {
		return true;
	}
	if (ends[0].revents != 0) {
		size_t left = strlen(program->input) - run->n_written;
		ssize_t n = write(run->input, program->input + run->n_written, left);
		run->n_written += n > 0 ? (size_t)n : 0;
		if ((n < 0 && errno != EAGAIN) || run->n_written == strlen(program->input)) {
			close_pipe(&run->input); /* it need not read all */
		}
	}
	if (ends[1].revents != 0) {
		char buffer[1024];
		ssize_t n = read(run->output, buffer, sizeof(buffer));
		size_t room = program->n_output - 1 - run->n_read;
		size_t n_kept = n > 0 && (size_t)n < room ? (size_t)n : n > 0 ? room : 0;
		memcpy(program->output + run->n_read, buffer, n_kept);
		run->n_read += n_kept;
		program->output[run->n_read] = '\0';
		if (n == 0 || (n < 0 && errno != EAGAIN)) {
			close_pipe(&run->output);
		}
	}
	return true;
}

/* Waits until it ends; false: it did not in time, and was killed. */
static bool wait_for(struct running *run, const struct fsl_program *program, int *code)
{
	enum { LOOK_MS = 20 };
	for (;;) {
		int left_ms = fsl_clock_left_ms(program->deadline_ns);
		bool is_busy = exchange(run, program, left_ms < LOOK_MS ? left_ms : LOOK_MS);
		pid_t ended = waitpid(run->pid, code, WNOHANG);
		if (ended == run->pid) {
			(void)exchange(run, program, 0);
			return true;
		}
		if (left_ms == 0 || ended < 0) {
			(void)kill(-run->pid, SIGKILL);
			(void)waitpid(run->pid, code, 0);
			return false;
		}
		if (!is_busy) {
			(void)poll(NULL, 0, left_ms < LOOK_MS ? left_ms : LOOK_MS);
		}
	}
}

static enum fsl_status fail(const struct fsl_program *program, enum fsl_status status,
			    const char *why, int code, struct fsl_error *err)
{
	return FSL_FAIL(err, status,
			"a program that is to be told did not do its work, run it by hand: "
			"key=\"%s\", program=\"%s\", reason=\"%s\", code=%d",
			program->key, program->words[0], why, code);
}

static enum fsl_status run_with(const struct fsl_program *program, char **environment, int in[2],
				int out[2], struct fsl_error *err)
{
	struct running run = {.input = in[1], .output = out[0]};
	int code = start(&run.pid, program, environment, in[0], out[1]);
	close_pipe(&in[0]);
	close_pipe(&out[1]);
	bool is_done = false;
	int ended = 0;
	if (code == 0) {
		if (program->input == NULL) {
			close_pipe(&run.input);
		}
		is_done = wait_for(&run, program, &ended);
	}
	close_pipe(&run.input);
	close_pipe(&run.output);
	in[1] = -1;
	out[0] = -1;
	if (code != 0) {
		return fail(program, FSL_ERR_CONFIG, fsl_os_error(code).text, code, err);
	}
	if (!is_done) {
		return fail(program, FSL_ERR_IO, "it took too long (alarm_timeout_s)", 0, err);
	}
	if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
		return fail(program, FSL_ERR_IO, "it failed",
			    WIFEXITED(ended) ? WEXITSTATUS(ended) : -1, err);
	}
	return FSL_OK;
}

enum fsl_status fsl_program_run(const struct fsl_program *program, struct fsl_error *err)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1};
	bool has_output = program->n_output > 0;
	if (fsl_clock_left_ms(program->deadline_ns) == 0) {
		return fail(program, FSL_ERR_IO, "no time is left (alarm_timeout_s)", 0, err);
	}
	char **environment = make_environment(program->environment);
	if (environment == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: key=\"%s\"", program->key);
	}
	bool is_made = pipe2(in, O_CLOEXEC) == 0 &&
		       (has_output ? pipe2(out, O_CLOEXEC) == 0
				   : (out[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0) &&
		       fcntl(in[1], F_SETFL, O_NONBLOCK) == 0;
	/* A program that does not read its input must not end this one. */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	enum fsl_status status =
		is_made ? run_with(program, environment, in, out, err)
			: fail(program, FSL_ERR_IO, fsl_os_error(errno).text, errno, err);
	(void)signal(SIGPIPE, before);
	close_pipe(&in[0]);
	close_pipe(&in[1]);
	close_pipe(&out[0]);
	close_pipe(&out[1]);
	fsl_free(environment);
	return status;
}

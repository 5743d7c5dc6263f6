/* Runs a program as a user would. */
#include "support/program.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum { READ_BYTES = 4096, OPEN_FILES_MAX = 16 };

/* One output stream of the child. */
struct stream {
	int fd; /* -1: at its end */
	char *text;
	size_t n_bytes, capacity;
};

/* Appends what is there; false at the end or on an error. */
static bool stream_read(struct stream *stream)
{
	if (FSL_GROW(stream->text, stream->capacity, stream->n_bytes + READ_BYTES + 1, NULL) !=
	    FSL_OK) {
		return false;
	}
	ssize_t n_bytes = read(stream->fd, stream->text + stream->n_bytes, READ_BYTES);
	if (n_bytes <= 0) {
		return n_bytes < 0 && errno == EINTR;
	}
	stream->n_bytes += (size_t)n_bytes;
	return true;
}

static void read_both(struct stream streams[2])
{
	while (streams[0].fd >= 0 || streams[1].fd >= 0) {
		struct pollfd polls[2];
		for (int i = 0; i < 2; i++) {
			polls[i] = (struct pollfd){.fd = streams[i].fd, .events = POLLIN};
		}
		if (poll(polls, 2, -1) < 0 && errno != EINTR) {
			return;
		}
		for (int i = 0; i < 2; i++) {
			if (polls[i].revents != 0 && !stream_read(&streams[i])) {
				(void)close(streams[i].fd);
				streams[i].fd = -1;
			}
		}
	}
}

/* Not fork(), which copies the pages of a test that has much memory. */
static bool start(pid_t *child, const char *dir, char *const argv[], int out, int err)
{
	posix_spawn_file_actions_t actions;
	if (posix_spawn_file_actions_init(&actions) != 0) {
		return false;
	}
	bool is_started =
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
						 0) == 0 &&
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) == 0 &&
		posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO) == 0 &&
		(dir == NULL || posix_spawn_file_actions_addchdir_np(&actions, dir) == 0) &&
		posix_spawn(child, argv[0], &actions, NULL, argv, environ) == 0;
	(void)posix_spawn_file_actions_destroy(&actions);
	return is_started;
}

static bool finish(struct program_run *run, pid_t child)
{
	int status = 0;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			return false;
		}
	}
	run->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return true;
}

bool program_run(struct program_run *run, const char *dir, char *const argv[])
{
	*run = (struct program_run){.exit_code = -1};
	int out[2];
	int err[2];
	if (pipe2(out, O_CLOEXEC) != 0) {
		return false;
	}
	if (pipe2(err, O_CLOEXEC) != 0) {
		(void)close(out[0]);
		(void)close(out[1]);
		return false;
	}
	pid_t child = 0;
	bool is_started = start(&child, dir, argv, out[1], err[1]);
	(void)close(out[1]);
	(void)close(err[1]);
	struct stream streams[2] = {{.fd = out[0]}, {.fd = err[0]}};
	read_both(streams);
	for (int i = 0; i < 2; i++) {
		if (streams[i].text != NULL) {
			streams[i].text[streams[i].n_bytes] = '\0';
		}
	}
	run->out = streams[0].text;
	run->err = streams[1].text;
	return is_started && finish(run, child) && run->out != NULL && run->err != NULL;
}

void program_run_fini(struct program_run *run)
{
	fsl_free(run->out);
	fsl_free(run->err);
	*run = (struct program_run){0};
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
	(void)status;
	(void)kind;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void scratch_remove(const char *path)
{
	(void)nftw(path, remove_entry, OPEN_FILES_MAX, FTW_DEPTH | FTW_PHYS);
}

bool scratch_create(const char *parent, const char *name, char *path, size_t size)
{
	int length = snprintf(path, size, "%s/%s", parent, name);
	if (length < 0 || (size_t)length >= size) {
		return false;
	}
	scratch_remove(path);
	(void)mkdir(parent, 0755);
	return mkdir(path, 0755) == 0;
}

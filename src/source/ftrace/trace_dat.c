/* The process that reads a trace.dat, its limits and its end. */
#include "source/ftrace/trace_dat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os_error.h"
#include "base/try.h"
#include "source/ftrace/trace_dat_lines.h"

enum {
	/* The library takes 0.3 s to begin, for the names of a kernel, and writes 50 MB of a file
	 * in a second. Seconds of a CPU beyond these are those of a loop without end. */
	CPU_S_MIN = 10,
	BYTES_A_CPU_S = 1 << 20,
	PIPE_BYTES = 1 << 20, /* as much as users may have */
};
/* Names, formats and one part of each CPU are in memory at once: 20 MB of usual files. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(SANITIZED)
static const rlim_t MEMORY_BYTES_MAX = RLIM_INFINITY; /* a sanitizer maps more than all memory */
#else
static const rlim_t MEMORY_BYTES_MAX = (rlim_t)1 << 30;
#endif

struct fsl_trace_dat {
	pid_t pid; /* -1: it has ended */
	char *path;
};

bool fsl_trace_dat_is_supported(void)
{
	return fsl_trace_dat_load();
}

const char *fsl_trace_dat_version(void)
{
	return fsl_trace_dat_load() ? FSL_TRACECMD_VERSION : "no";
}

static void limit(enum __rlimit_resource resource, rlim_t most)
{
	struct rlimit now;
	if (getrlimit(resource, &now) == 0 && most < now.rlim_max) {
		now.rlim_cur = now.rlim_max = most;
		(void)setrlimit(resource, &now);
	}
}

/* In the new process. What the library says on its way is no message of failslow. */
static _Noreturn void run(const char *path, uint64_t n_bytes, int fd)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT};
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		(void)signal(faults[i], SIG_DFL);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)dup2(nothing, STDIN_FILENO);
	(void)dup2(nothing, STDOUT_FILENO);
	(void)dup2(nothing, STDERR_FILENO);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, CPU_S_MIN + (rlim_t)(n_bytes / BYTES_A_CPU_S));
	limit(RLIMIT_DATA, MEMORY_BYTES_MAX);
	_exit((int)fsl_trace_dat_write(path, fd));
}

static enum fsl_status start(struct fsl_trace_dat *dat, uint64_t n_bytes, int fds[2],
			     struct fsl_error *err)
{
	if (pipe2(fds, O_CLOEXEC) != 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "pipe: file=\"%s\", cause=\"%s\"", dat->path,
				fsl_os_error(errno).text);
	}
	(void)fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES);
	dat->pid = fork();
	if (dat->pid == 0) {
		(void)close(fds[0]);
		run(dat->path, n_bytes, fds[1]);
	}
	int code = errno;
	(void)close(fds[1]);
	if (dat->pid < 0) {
		(void)close(fds[0]);
		return FSL_FAIL(err, FSL_ERR_IO, "fork: file=\"%s\", cause=\"%s\"", dat->path,
				fsl_os_error(code).text);
	}
	return FSL_OK;
}

enum fsl_status fsl_trace_dat_open(struct fsl_trace_dat **out, struct fsl_reader **lines,
				   const char *path, struct fsl_error *err)
{
	struct fsl_reader *file = NULL;
	struct fsl_trace_dat *dat = NULL;
	int fds[2] = {-1, -1};
	FSL_TRY(fsl_reader_open(&file, path, err));
	bool is_packed = !fsl_reader_can_seek(file);
	uint64_t n_bytes = fsl_reader_disk_bytes(file);
	fsl_reader_close(file);
	if (is_packed) {
		return FSL_FAIL(err, FSL_ERR_FORMAT,
				"a trace.dat that is compressed as a whole is not read, "
				"unpack it: file=\"%s\"",
				path);
	}
	FSL_TRY(FSL_NEW(dat, 1, "processes", err));
	*dat = (struct fsl_trace_dat){.pid = -1, .path = fsl_path_join("", path)};
	enum fsl_status status = dat->path == NULL ? FSL_FAIL(err, FSL_ERR_MEMORY,
							      "out of memory: path=\"%s\"", path)
						   : start(dat, n_bytes, fds, err);
	FSL_THEN(status, fsl_reader_open_fd(lines, fds[0], path, err));
	if (status != FSL_OK) {
		fsl_trace_dat_close(dat);
		return status;
	}
	*out = dat;
	return FSL_OK;
}

/* Waits for the end of the process; its status as of waitpid(2). */
static int await(struct fsl_trace_dat *dat)
{
	int how = 0;
	while (dat->pid > 0 && waitpid(dat->pid, &how, 0) < 0 && errno == EINTR) {
	}
	dat->pid = -1;
	return how;
}

enum fsl_status fsl_trace_dat_finish(struct fsl_trace_dat *dat, struct fsl_error *err)
{
	int how = dat->pid > 0 ? await(dat) : 0;
	if (how == 0) {
		return FSL_OK;
	}
	if (WIFSIGNALED(how)) {
		return FSL_FAIL(err, FSL_ERR_FORMAT,
				"libtracecmd crashed on the trace.dat, which is damaged, or of "
				"a newer trace-cmd: write text with `trace-cmd report -t -N`: "
				"file=\"%s\", signal=%d",
				dat->path, WTERMSIG(how));
	}
	return FSL_FAIL(err, FSL_ERR_FORMAT,
			"libtracecmd does not read the trace.dat, which is damaged, or of a newer "
			"trace-cmd: write text with `trace-cmd report -t -N`: file=\"%s\"",
			dat->path);
}

void fsl_trace_dat_close(struct fsl_trace_dat *dat)
{
	if (dat == NULL) {
		return;
	}
	if (dat->pid > 0) {
		(void)kill(dat->pid, SIGKILL);
		(void)await(dat);
	}
	fsl_free(dat->path);
	fsl_free(dat);
}

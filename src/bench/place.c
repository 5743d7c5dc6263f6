/* The folder of a benchmark and its processes. Both are gone at the end, however it ends. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "base/os_error.h"
#include "bench/bench_parts.h"

enum { OPEN_FOLDERS_MAX = 16, KIB = 1024, KILLED_EXIT_CODE = 128 };

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDING_N = sizeof(ending_signals) / sizeof(ending_signals[0]) };

/* The signals that end this program, and SIGCHLD. The parent may have set some to be ignored
 * (nohup); they stay ignored. */
static void fill_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	for (size_t i = 0; i < ENDING_N; i++) {
		struct sigaction action;
		if (sigaction(ending_signals[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN) {
			sigaddset(signals, ending_signals[i]);
		}
	}
}

enum fsl_status fsl_bench_place_open(struct fsl_bench_place *place, const char *program,
				     const char *dir, struct fsl_error *err)
{
	sigset_t signals;
	*place = (struct fsl_bench_place){.program = program};
	fill_signals(&signals);
	(void)pthread_sigmask(SIG_BLOCK, &signals, &place->before);
	/* The parent may have SIGCHLD ignored; then waiting would be impossible. */
	(void)signal(SIGCHLD, SIG_DFL);
	int n = snprintf(place->path, sizeof(place->path), "%s/failslow-bench.XXXXXX", dir);
	if (n < 0 || (size_t)n >= sizeof(place->path)) {
		place->path[0] = '\0';
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"the path of the folder is too long: dir=\"%s\"", dir);
	}
	if (mkdtemp(place->path) == NULL) {
		place->path[0] = '\0';
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot make a folder for the inputs, choose another with --dir: "
				"dir=\"%s\", reason=\"%s\"",
				dir, fsl_os_error(errno).text);
	}
	return FSL_OK;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place)
{
	(void)info;
	(void)type;
	(void)place;
	(void)remove(path);
	return 0;
}

void fsl_bench_place_close(struct fsl_bench_place *place)
{
	if (place->path[0] != '\0') {
		(void)nftw(place->path, remove_entry, OPEN_FOLDERS_MAX, FTW_DEPTH | FTW_PHYS);
	}
	/* A signal that came outside a wait ends the program here, after the clean-up. */
	(void)pthread_sigmask(SIG_SETMASK, &place->before, NULL);
}

static int64_t now_ns(void)
{
	struct timespec now = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * FSL_NS_PER_S + now.tv_nsec;
}

static int64_t ns_of(struct timeval time)
{
	return (int64_t)time.tv_sec * FSL_NS_PER_S + (int64_t)time.tv_usec * FSL_NS_PER_US;
}

/*
 * 0, or the error number of posix_spawn. The process blocks the signals that were blocked before.
 */
static int start(pid_t *pid, const struct fsl_bench_place *place, const char *const *argv,
		 const char *out_path, const char *err_path)
{
	enum { FILE_MODE = 0600 };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int flags = O_WRONLY | O_CREAT | O_TRUNC;
	int code = posix_spawn_file_actions_init(&files);
	if (code != 0) {
		return code;
	}
	code = posix_spawnattr_init(&attributes);
	if (code != 0) {
		(void)posix_spawn_file_actions_destroy(&files);
		return code;
	}
	(void)posix_spawnattr_setsigmask(&attributes, &place->before);
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	code = posix_spawn_file_actions_addopen(
		&files, STDOUT_FILENO, out_path != NULL ? out_path : "/dev/null", flags, FILE_MODE);
	if (code == 0 && err_path != NULL) {
		code = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_path, flags,
							FILE_MODE);
	}
	if (code == 0) {
		code = posix_spawnp(pid, argv[0], &files, &attributes, (char *const *)argv,
				    environ);
	}
	(void)posix_spawnattr_destroy(&attributes);
	(void)posix_spawn_file_actions_destroy(&files);
	return code;
}

/* Waits until the process ends. If a signal asks this program to end, the process is killed. */
static void wait_for(pid_t pid, struct fsl_bench_place *place, int *state, struct rusage *used)
{
	sigset_t signals;
	fill_signals(&signals);
	for (;;) {
		int number = sigwaitinfo(&signals, NULL);
		if (number == SIGCHLD && wait4(pid, state, WNOHANG, used) == pid) {
			return;
		}
		if (number > 0 && number != SIGCHLD) {
			place->interrupted = number;
			(void)kill(pid, SIGKILL);
			while (wait4(pid, state, 0, used) < 0 && errno == EINTR) {
			}
			return;
		}
	}
}

enum fsl_status fsl_bench_spawn(struct fsl_bench_place *place, const char *const *argv,
				const char *out_path, const char *err_path,
				struct fsl_bench_usage *usage, struct fsl_error *err)
{
	pid_t pid = -1;
	int state = 0;
	struct rusage used = {0};
	int64_t begin_ns = now_ns();
	int code = start(&pid, place, argv, out_path, err_path);
	*usage = (struct fsl_bench_usage){0};
	if (code == ENOENT) {
		usage->exit_code = 127;
		return FSL_OK;
	}
	if (code != 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot start: program=\"%s\", reason=\"%s\"",
				argv[0], fsl_os_error(code).text);
	}
	wait_for(pid, place, &state, &used);
	if (place->interrupted != 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "interrupted: signal=%d", place->interrupted);
	}
	usage->exit_code =
		WIFEXITED(state) ? WEXITSTATUS(state) : KILLED_EXIT_CODE + WTERMSIG(state);
	usage->wall_ns = now_ns() - begin_ns;
	usage->cpu_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
	usage->peak_bytes = (uint64_t)used.ru_maxrss * KIB;
	return FSL_OK;
}

/* Loaded before the program's libraries. Ends the process if it opens a file whose path contains
 * FSL_TEST_DIE_ON, or if it starts MPI while FSL_TEST_NO_MPI is set. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int open(const char *path, int flags, ...)
{
	const char *part = getenv("FSL_TEST_DIE_ON");
	mode_t mode = 0;
	if ((flags & O_CREAT) != 0) {
		va_list args;
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (part != NULL && strstr(path, part) != NULL) {
		(void)raise(SIGKILL);
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

typedef int init_function(int *argc, char ***argv, int wanted, int *given);
init_function MPI_Init_thread;

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
	init_function *init = NULL;
	if (getenv("FSL_TEST_NO_MPI") != NULL) {
		abort();
	}
	*(void **)&init = dlsym(RTLD_NEXT, "MPI_Init_thread");
	return init(argc, argv, wanted, given);
}

/* Entry of the program; everything is in command.c, where tests reach it. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "text/json_tree.h"

static bool is_end_ours;

/*
 * OpenMP calls exit(1) if it cannot make a thread or is out of memory, and 1 is the code of an
 * anomaly. Another thread may hold the lock of standard output: it is not flushed.
 */
static void guard_end(int code, void *unused)
{
	struct fsl_error err = {0};
	(void)code;
	(void)unused;
	if (!is_end_ours) {
		(void)FSL_FAIL(&err, FSL_ERR_MEMORY,
			       "no threads or no memory left for OpenMP, raise the limits "
			       "(ulimit -u, ulimit -v, pids and memory of the container) or use "
			       "--jobs 1");
		fsl_error_print(stderr, &err);
		_exit(FSL_EXIT_INTERNAL);
	}
}

/* GSL ends the program at any error. Its callers look whether they got memory. */
static void refuse_gsl_error(const char *reason, const char *file, int line, int code)
{
	if (code != GSL_ENOMEM) {
		fsl_assert_failed(reason, file, line);
	}
}

int main(int argc, char **argv)
{
	if (on_exit(guard_end, NULL) != 0) {
		return FSL_EXIT_INTERNAL;
	}
	fsl_mem_keep_freed();
	fsl_json_tree_init();
	(void)gsl_set_error_handler(refuse_gsl_error);
	int code = fsl_command_line(argc, argv);
	is_end_ours = true;
	return code;
}

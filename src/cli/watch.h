/*
 * Looks at a job again and again. Each look is a process of its own, so that its memory goes back
 * to the system and it can be stopped at any moment; one process looks at a time.
 */
#ifndef FSL_CLI_WATCH_H
#define FSL_CLI_WATCH_H

#include <stdbool.h>

#include <failslow/error.h>

enum { FSL_EVERY_MINUTES_MAX = 525600 }; /* of --every; a year, as fail_slow_span_mins */

struct fsl_watch_plan {
	char *const *argv; /* of a look, begins with the program's name, ends with NULL */
	double every_s;    /* between the begins of two looks */
	bool is_once;      /* one look alone */
	bool is_quiet;     /* prints no lines of looks */
	/* Reads the configuration anew after SIGHUP and sets *every_s. After a failure the watch
	 * goes on as before. */
	enum fsl_status (*reload)(void *context, double *every_s, struct fsl_error *err);
	void *context;
};

/*
 * Goes on until SIGTERM or SIGINT, which end a look that goes on, too; *exit_code is then that of
 * success. After a single look *exit_code is that of the look. The standard output of looks is
 * printed line by line, and the service manager gets each line as the status. FSL_ERR_IO if the
 * system refuses what the watch needs.
 */
enum fsl_status fsl_watch_run(const struct fsl_watch_plan *plan, int *exit_code,
			      struct fsl_error *err);

#endif

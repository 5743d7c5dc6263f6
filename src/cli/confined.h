/* The plan by which a command confines its process: all that it reads and writes (base/confine.h).
 */
#ifndef FSL_CLI_CONFINED_H
#define FSL_CLI_CONFINED_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

struct fsl_confined_run {
	const struct fsl_config *config;
	const char *const *paths; /* [n_paths]: operands */
	size_t n_paths;
	const char *libraries; /* folders with libraries, separated by ':'; NULL: none */
	const char *baseline;  /* an earlier capture; NULL: none */
	const char *output;    /* folder for the results of captures; NULL: none */
	const char *page;      /* file for the HTML page; NULL: none */
	bool has_job;          /* the inputs, results and state of the configuration are used */
};

/*
 * Confines the process to what the run needs, unless the key "confine" is off, several processes
 * work together, or a reporter needs more. Call it when configuration and plug-ins are loaded and
 * no thread is started; a second call changes nothing. Never fails: a run that cannot be confined
 * goes on, and tells why with -v.
 */
void fsl_confined_begin(const struct fsl_confined_run *run);

/* The same for a command that reads one file, or two (@beside; NULL: one), and writes another one,
 * or standard output alone (@output NULL). */
void fsl_confined_begin_files(const char *path, const char *beside, const char *output);

/* Text for `failslow version`: whether runs are confined on this machine; static. */
const char *fsl_confined_support(void);

#endif

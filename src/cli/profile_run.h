/* Judges captures of a profiler and tells what they say: for `failslow profile` and for a look. */
#ifndef FSL_CLI_PROFILE_RUN_H
#define FSL_CLI_PROFILE_RUN_H

#include "capture/capture.h"
#include "report/reporter.h"

struct fsl_profile_run {
	const char *const *paths; /* [n_paths], at least one */
	size_t n_paths;
	struct fsl_profile_options input; /* without paths and number of threads */
	int n_jobs;                       /* threads; 0: one per core */
	const char *config_path;          /* NULL: the default one, and what the folder says */
	bool is_warned;                   /* about what the folder says */
	const char *baseline;             /* an earlier capture; NULL: none */
	int64_t device_bytes;             /* memory of a device; 0: not known */
	const char *output;               /* folder for the results; NULL: nothing is written */
	const char *page;                 /* file for the HTML page; NULL: none */
	int64_t lock_wait_s; /* longest wait for another run with this output; -1: as configured */
	bool wants_msprof;
	int exit_mode;           /* enum fsl_exit_mode */
	bool is_beside, is_long; /* as in fsl_report */
	bool has_colours;
	enum fsl_print print;
};

/*
 * Judges the captures and tells what they say. *exit_code is set on success. A run with an output
 * waits for another run over the same captures and output, and ends if that goes on; it has the
 * time limit of the configuration.
 */
enum fsl_status fsl_profile_run(const struct fsl_profile_run *run, int *exit_code,
				struct fsl_error *err);

/*
 * Sets *is_there to whether there are captures below one of @n_paths paths, and *has_other to
 * whether there are files beside them that may be of another kind. @refusal: what was found of a
 * profiler below the only path and is not read; no causes: nothing. Reads names and small files
 * alone. FSL_ERR_MEMORY, or FSL_ERR_INPUT if a path does not exist.
 */
enum fsl_status fsl_profile_look(const char *const *paths, size_t n_paths, bool *is_there,
				 bool *has_other, struct fsl_error *refusal, struct fsl_error *err);

#endif

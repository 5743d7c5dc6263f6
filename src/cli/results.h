/* Finds the results of earlier runs, for commands that read these and analyse nothing. */
#ifndef FSL_CLI_RESULTS_H
#define FSL_CLI_RESULTS_H

#include "config/config.h"

struct fsl_results {
	struct fsl_config config;
	struct fsl_registry *registry;
	const char *folder;     /* of the cases */
	const char *state_path; /* wanted place of the state file */
};

/* @config_path NULL: the installed configuration, if there is one. @output not NULL: the folder
 * that the runs had as --output. */
enum fsl_status fsl_results_find(struct fsl_results *out, const char *config_path,
				 const char *output, struct fsl_error *err);
void fsl_results_fini(struct fsl_results *results);

#endif

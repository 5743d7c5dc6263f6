/* `failslow config init` and `where`: the file that is used if the command line names none. */
#ifndef FSL_CLI_CONFIG_PLACES_H
#define FSL_CLI_CONFIG_PLACES_H

#include <stdbool.h>

#include <failslow/error.h>

/* Writes a configuration to begin with to @path and tells the path. NULL: to the first place of the
 * search; for root to the system's. FSL_ERR_USAGE if the file exists, FSL_ERR_IO. */
enum fsl_status fsl_config_init(const char *path, struct fsl_error *err);
/* Prints the places in the order of the search, and which one is in use. */
enum fsl_status fsl_config_where(bool as_json, struct fsl_error *err);

#endif

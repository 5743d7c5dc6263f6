/* Operands: files and folders of one job, in whatever order. */
#ifndef FSL_CLI_OPERANDS_H
#define FSL_CLI_OPERANDS_H

#include <limits.h>

#include "config/config.h"

/* Sorts @n words, so that their order changes no result. */
void fsl_operands_sort(char **words, size_t n);

/* The only operand; of several the nearest folder that holds all of them, in @buffer. NULL: there
 * are none. */
const char *fsl_operands_root(const char *const *paths, size_t n, char buffer[PATH_MAX]);

/* Takes what a model_config.json in one of the folders says of the job (fsl_config_describe).
 * @warns: once at most. FSL_ERR_MEMORY, else FSL_OK. */
enum fsl_status fsl_operands_describe(struct fsl_config *config, const char *const *paths, size_t n,
				      bool warns, struct fsl_error *err);

#endif

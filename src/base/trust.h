/* Tells whether only root and the user can change a file, before it steers this program. */
#ifndef FSL_BASE_TRUST_H
#define FSL_BASE_TRUST_H

#include <sys/stat.h>

#include <failslow/error.h>

/* FSL_OK if only root and the user can change the file or folder with @facts; else FSL_ERR_IO with
 * a message that names @path. A group that holds the user alone is nobody else. */
enum fsl_status fsl_trust_entry(const char *path, const struct stat *facts, struct fsl_error *err);

#endif

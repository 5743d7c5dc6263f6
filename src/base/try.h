/* What a function does after a failure, in one line for each step. */
#ifndef FSL_BASE_TRY_H
#define FSL_BASE_TRY_H

#include <failslow/error.h>

/*
 * Returns the status of @call from the calling function unless it is FSL_OK. For functions that own
 * nothing which they would have to release.
 */
#define FSL_TRY(call)                                                                              \
	do {                                                                                       \
		enum fsl_status fsl_try_status = (call);                                           \
		if (fsl_try_status != FSL_OK) {                                                    \
			return fsl_try_status;                                                     \
		}                                                                                  \
	} while (0)

/*
 * Makes @call unless @status, a variable, tells that something has failed before; @status is then
 * that of @call. For functions that hold memory, a file or a lock of their own: they go on to their
 * end, where they release it.
 */
#define FSL_THEN(status, call) ((void)((status) = (status) == FSL_OK ? (call) : (status)))

#endif

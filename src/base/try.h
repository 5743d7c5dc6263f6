/* Early return, for functions that own nothing which they would have to release. */
#ifndef FSL_BASE_TRY_H
#define FSL_BASE_TRY_H

#include <failslow/error.h>

/*
 * Returns the status of @call from the calling function unless it is FSL_OK. A function that holds
 * memory, a file or a lock of its own checks the status and goes to its label `out:` instead.
 */
#define FSL_TRY(call)                                                                              \
	do {                                                                                       \
		enum fsl_status fsl_try_status = (call);                                           \
		if (fsl_try_status != FSL_OK) {                                                    \
			return fsl_try_status;                                                     \
		}                                                                                  \
	} while (0)

#endif

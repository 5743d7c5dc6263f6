/* One line for each step of a function that may fail; FSL_TRY is in failslow/error.h. */
#ifndef FSL_BASE_TRY_H
#define FSL_BASE_TRY_H

#include <failslow/error.h>

/*
 * Makes @call unless @status, a variable, tells that something has failed before; @status is then
 * that of @call. For functions that hold memory, a file or a lock of their own: they go on to their
 * end, where they release it.
 */
#define FSL_THEN(status, call) ((void)((status) = (status) == FSL_OK ? (call) : (status)))

#endif

/* Patience if the process has no free descriptor: other threads close their files soon. */
#ifndef FSL_BASE_DESCRIPTORS_H
#define FSL_BASE_DESCRIPTORS_H

#include <stdbool.h>

/*
 * True if a call that failed with @code should be made again: no descriptor was free, and this call
 * and the process have waited less than they may. Waits a moment before it says so; else errno is
 * @code. @n_tries: 0 before the first call.
 */
bool fsl_may_open_again(int code, int *n_tries);

#endif

/* The threads of OpenMP, before there is work for them. */
#ifndef FSL_ENGINE_THREADS_H
#define FSL_ENGINE_THREADS_H

#include <stdint.h>

/* Number of threads that are worth starting for @n_bytes of input; at most @n_most. */
int fsl_threads_worth(int n_most, uint64_t n_bytes);

/* Number of threads that OpenMP has by default, before any are started. */
int fsl_threads_most(void);

/*
 * Sets how many threads parallel regions use: @n of them (0: as many as OpenMP has by default), or
 * as many as the limits of the process leave, with a warning: OpenMP ends the program if it cannot
 * make a thread. Returns @n, or how many are left if these are fewer: 1, if none can be made.
 */
int fsl_threads_allow(int n);

/*
 * Starts the threads that parallel regions will use, @n of them (0: as many as OpenMP has by
 * default), and leaves each on a processor of its own where there are enough. Processors that a
 * thread may use stay what they were; what fails costs only time. Once there is work to do, and
 * again when there is more: without it the first region waits 4 to 8 ms (a tick of the scheduler or
 * two) on kernels that give a new thread the processor of the one that made it. Takes and returns
 * what fsl_threads_allow() does.
 */
int fsl_threads_start(int n);

#endif

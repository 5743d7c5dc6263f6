/* The threads of OpenMP, before there is work for them. */
#ifndef FSL_CLI_THREADS_H
#define FSL_CLI_THREADS_H

#include <stdint.h>

/* Threads that work on @n_bytes of input is worth, of at most @n_most. */
int fsl_threads_worth(int n_most, uint64_t n_bytes);

/*
 * Starts the threads that parallel regions will use, and leaves each on a processor of its own
 * where there are enough: @n_jobs of them, or where that is 0, of those that OpenMP has by default
 * as many as @n_bytes of input are worth. Returns their number. Processors that a thread may use
 * stay what they were; what fails costs only time. Once there is work to do: without it the first
 * region waits 4 to 8 ms (a tick of the scheduler or two) on kernels that give a new thread the
 * processor of the one that made it.
 */
int fsl_threads_start(int n_jobs, uint64_t n_bytes);

#endif

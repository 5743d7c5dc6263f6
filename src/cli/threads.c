/* Starts the threads of the program, each on a processor of its own. */
#include "cli/threads.h"

#include <omp.h>
#ifdef __linux__
#include <sched.h>
#endif

/* With less for each, a second thread saves no time and half as much again goes into waiting: 37 ms
 * of two for 9 MB instead of 23 ms of one, which take as long. */
enum { THREAD_BYTES = 1 << 24 };

#ifdef __linux__
/* Leaves processor @cpu to the thread that was there before; free to come back afterwards. */
static void leave(int cpu, const cpu_set_t *allowed)
{
	cpu_set_t others = *allowed;
	CPU_CLR((size_t)cpu, &others);
	if (sched_getcpu() == cpu && CPU_COUNT(&others) > 0 &&
	    sched_setaffinity(0, sizeof(others), &others) == 0) {
		(void)sched_setaffinity(0, sizeof(*allowed), allowed);
	}
}

/*
 * One thread more than is wanted: while there are more of them than processors, the first one
 * sleeps until the others are there, and does not keep from them the processor that all are on by
 * spinning. The one too many ends with the next region.
 */
static void start_apart(int n)
{
	cpu_set_t allowed;
	int cpu = sched_getcpu();
	if (cpu < 0 || sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
		return; /* not known, or more processors than the set has room for */
	}
#pragma omp parallel num_threads(n + 1)
	if (omp_get_thread_num() != 0) {
		leave(cpu, &allowed);
	}
}
#endif

int fsl_threads_worth(int n_most, uint64_t n_bytes)
{
	uint64_t n = 1 + n_bytes / THREAD_BYTES;
	return n < (uint64_t)n_most ? (int)n : n_most;
}

int fsl_threads_start(int n_jobs, uint64_t n_bytes)
{
	static int n_default;
	n_default = n_default > 0 ? n_default : omp_get_max_threads();
	int n = n_jobs > 0 ? n_jobs : fsl_threads_worth(n_default, n_bytes);
	omp_set_num_threads(n);
#ifdef __linux__
	if (n > 1) {
		start_apart(n);
	}
#endif
	return n;
}

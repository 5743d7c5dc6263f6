/* Starts the threads of the program, each on a processor of its own. */
#include "engine/threads.h"

#include <omp.h>
#ifdef __linux__
#include <sched.h>
#endif

#include "base/mem.h"

/* With less for each, a second thread hardly saves time and half as much again goes into waiting:
 * two take 37 ms of CPU time for 9 MB of eight ranks, one 23, and they are done at the same time.
 */
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
 * spinning. The one too many ends with the next region. Those that stay prepare their heaps.
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
		if (omp_get_thread_num() < n) {
			fsl_mem_begin_thread();
		}
	}
}
#endif

int fsl_threads_worth(int n_most, uint64_t n_bytes)
{
	uint64_t n = 1 + n_bytes / THREAD_BYTES;
	return n < (uint64_t)n_most ? (int)n : n_most;
}

int fsl_threads_most(void)
{
	return omp_get_max_threads();
}

void fsl_threads_start(int n)
{
	if (n > 0) {
		omp_set_num_threads(n);
	}
#ifdef __linux__
	if (omp_get_max_threads() > 1) {
		start_apart(omp_get_max_threads());
	}
#endif
}

/* Starts the threads of the program, each on a processor of its own. */
#include "engine/threads.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"

/* Least input for each thread, in bytes. With less, a second thread saves no time and costs CPU
 * time: for 9 MB of eight ranks two threads take 37 ms of CPU time, one takes 23, and both end at
 * the same time. */
enum { THREAD_BYTES = 1 << 24 };

/* How many threads that OpenMP made stay until the program ends. */
static int n_staying;

static void *wait_for_gate(void *gate)
{
	(void)pthread_mutex_lock(gate);
	(void)pthread_mutex_unlock(gate);
	return NULL;
}

/* Threads of this process; 0: not known. A folder has a link for itself, its name, and each folder
 * in it. */
static int count_threads(void)
{
	struct stat facts;
	return stat("/proc/self/task", &facts) == 0 ? (int)facts.st_nlink - 2 : 0;
}

/* How many of @n more threads can be made, found by making them. The kernel counts one that was
 * joined for a moment longer. */
static int count_possible(int n)
{
	enum { TRIED_MAX = 1024, YIELDS_MAX = 100000 };
	pthread_t threads[TRIED_MAX];
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	int n_before = count_threads(), n_tried = n < TRIED_MAX ? n : TRIED_MAX, n_made = 0;
	(void)pthread_mutex_lock(&gate);
	while (n_made < n_tried &&
	       pthread_create(&threads[n_made], NULL, wait_for_gate, &gate) == 0) {
		n_made++;
	}
	(void)pthread_mutex_unlock(&gate);
	for (int i = 0; i < n_made; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < YIELDS_MAX && count_threads() > n_before; i++) {
		(void)sched_yield();
	}
	return n_made < n_tried ? n_made : n;
}

int fsl_threads_allow(int n)
{
	int n_wanted = n > 0 ? n : omp_get_max_threads();
	/* One in place of the first thread, which is there: start_apart() makes one too many. */
	int n_more = n_wanted - n_staying;
	int n_made = n_wanted > 1 && n_more > 0 ? count_possible(n_more) : n_more;
	if (n_made < n_more) {
		int n_left = n_staying + n_made > 1 ? n_staying + n_made : 1;
		fsl_log(FSL_LOG_WARNING, "threads",
			"a limit of threads or memory leaves fewer than wanted (ulimit -u, "
			"ulimit -v, pids of the container): wanted=%d, made=%d",
			n_wanted, n_left);
		n = n_wanted = n_left;
	}
	if (n > 0) {
		omp_set_num_threads(n_wanted);
	}
	return n;
}

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
 * Starts one thread more than is wanted. While there are more threads than processors, the first
 * thread sleeps until the other threads have started, and does not keep the processor from them by
 * spinning. The thread too many ends with the next region. The threads that stay prepare their
 * heaps.
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

int fsl_threads_start(int n)
{
	n = fsl_threads_allow(n);
#ifdef __linux__
	if (omp_get_max_threads() > 1) {
		start_apart(omp_get_max_threads());
		n_staying = omp_get_max_threads() - 1;
	}
#endif
	return n;
}

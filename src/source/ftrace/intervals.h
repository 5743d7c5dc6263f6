/* A kernel trace as intervals, to be drawn: who held each CPU, the states of threads, interrupts,
 * and who woke whom. Memory grows with the events. */
#ifndef FSL_SOURCE_FTRACE_INTERVALS_H
#define FSL_SOURCE_FTRACE_INTERVALS_H

#include "base/strpool.h"
#include "sched/sched.h"
#include "source/ftrace/load.h"

enum { FSL_FTRACE_INTERVALS_MAX = 1 << 26 }; /* of one kind; 3 GB */

struct fsl_ftrace_interval {
	int64_t begin_ns, end_ns; /* on the clock of the trace */
	int32_t thread;           /* index in the model; negative: none */
	int32_t cpu;              /* FSL_SCHED_ID_NONE: not told */
	uint32_t name_id;         /* of the task, or the interrupt; of states: FSL_STR_NONE */
	uint32_t wake;            /* of a thread that was woken: the wake, index + 1; 0: not told */
	int state;                /* of a thread: enum fsl_sched_state */
};

struct fsl_ftrace_list {
	struct fsl_ftrace_interval *items; /* in the order of their ends; of one CPU or thread also
					      of their begins */
	size_t n_items, items_capacity;
};

/* Start as {0}. */
struct fsl_ftrace_intervals {
	struct fsl_strpool *names;
	struct fsl_sched sched;            /* sums over the same intervals */
	struct fsl_ftrace_list held;       /* who held a CPU, idle times left out */
	struct fsl_ftrace_list states;     /* of threads */
	struct fsl_ftrace_list interrupts; /* nested within their CPU */
	/* From who began to wake a thread to the end of that, on the CPU of the waker; thread: the
	 * woken one. Never empty: at least 1 us. */
	struct fsl_ftrace_list wakes;
	int64_t from_ns, to_ns;            /* only intervals that end here; on the trace's clock */
	struct fsl_ftrace_waking *wakings; /* [n_wakings]: by thread, while it is read */
	size_t n_wakings, wakings_capacity;
	struct fsl_ftrace_nest *nests; /* [n_nests]: by CPU */
	size_t n_nests, nests_capacity;
};

/*
 * Reads the files of one host, which fsl_ftrace_load() has read with result @loaded into a model
 * with the window [@begin_ns, @end_ns). from_ns and to_ns are set before. @ranks must live as long
 * as @out. FSL_ERR_LIMIT: too many events, FSL_ERR_MEMORY, and what reading fails with.
 */
enum fsl_status fsl_ftrace_intervals_read(struct fsl_ftrace_intervals *out,
					  const struct fsl_ftrace_ranks *ranks,
					  const char *const *paths, size_t n_paths,
					  const struct fsl_ftrace_loaded *loaded, int64_t begin_ns,
					  int64_t end_ns, struct fsl_error *err);
void fsl_ftrace_intervals_fini(struct fsl_ftrace_intervals *intervals);

#endif

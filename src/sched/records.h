/* Threads of a host from records of when they were off their CPU, without the events of CPUs. */
#ifndef FSL_SCHED_RECORDS_H
#define FSL_SCHED_RECORDS_H

#include "sched/sched.h"

/* One time off a CPU. */
struct fsl_sched_away {
	struct fsl_sched_task task;
	int32_t tgid; /* its process; FSL_SCHED_ID_NONE: not told */
	int64_t begin_ns, end_ns;
	int64_t queue_ns; /* of it, at its end: ready to run; -1: not known */
	struct fsl_sched_task
		next; /* who took the CPU; tid 0: nobody, FSL_SCHED_ID_NONE: not told */
};

/*
 * Takes one record; those of a thread come in order, those of all threads in that
 * of their begins, and the model takes no other events. Between
 * two records the thread ran, unless they are so far apart (1 s) that some must be missing. A
 * record whose queue_ns is not known makes an unknown time. The wait is charged to @away->next,
 * which took the CPU at the begin: if nobody did, whoever came later is unknown. CPUs stay unknown.
 */
enum fsl_status fsl_sched_add_away(struct fsl_sched *sched, const struct fsl_sched_away *away,
				   struct fsl_error *err);

#endif

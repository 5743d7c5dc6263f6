/* Intervals of threads straight into the sums. */
#include "sched/records.h"

#include "base/number.h"
#include "sched/sched_parts.h"

/* A thread that runs so long without leaving its CPU is one whose records are missing. */
#define RUN_NS_MAX ((int64_t)FSL_NS_PER_S)

/* The thread that has the task's name now. */
static enum fsl_status thread_of(struct fsl_sched *sched, const struct fsl_sched_task *task,
				 int32_t tgid, int32_t *out, struct fsl_error *err)
{
	FSL_TRY(fsl_sched_thread_of(sched, task->tid, &task->comm, true, out, err));
	return tgid == FSL_SCHED_ID_NONE || sched->threads[*out].tgid == tgid
		       ? FSL_OK
		       : fsl_sched_thread_set_process(sched, *out, tgid, err);
}

/* The thread is in @state up to @until_ns. */
static enum fsl_status pass(struct fsl_sched *sched, int32_t thread, int state, int64_t until_ns,
			    struct fsl_error *err)
{
	int64_t since_ns = sched->threads[thread].since_ns;
	sched->threads[thread].since_ns = until_ns;
	return fsl_sched_count(sched, thread, state, since_ns, until_ns, err);
}

static enum fsl_status add_wait(struct fsl_sched *sched, int32_t thread,
				const struct fsl_sched_away *away, struct fsl_error *err)
{
	int32_t holder = FSL_SCHED_HOLDER_UNKNOWN;
	if (away->next.tid > 0) {
		FSL_TRY(thread_of(sched, &away->next, FSL_SCHED_ID_NONE, &holder, err));
	}
	struct fsl_sched_thread *own = &sched->threads[thread];
	if (own->wake == NULL) {
		FSL_TRY(FSL_ARENA_NEW(own->wake, &sched->arena, 1, "latencies", err));
	}
	fsl_latency_add(own->wake, away->queue_ns);
	FSL_TRY(pass(sched, thread, FSL_SCHED_RQ_WAKE, away->end_ns, err));
	return fsl_sched_charge(sched, thread, FSL_SCHED_ID_NONE, holder,
				away->end_ns - away->queue_ns, away->end_ns, err);
}

enum fsl_status fsl_sched_add_away(struct fsl_sched *sched, const struct fsl_sched_away *away,
				   struct fsl_error *err)
{
	int32_t thread = -1;
	if (!sched->is_begun) {
		sched->is_begun = true;
		sched->begin_ns =
			sched->begin_ns > away->begin_ns ? sched->begin_ns : away->begin_ns;
	}
	FSL_TRY(thread_of(sched, &away->task, away->tgid, &thread, err));
	struct fsl_sched_thread *own = &sched->threads[thread];
	if (own->n_runs == 0) {
		own->first_ns = own->since_ns = away->begin_ns;
	}
	if (away->begin_ns < own->since_ns) {
		return FSL_OK; /* it was off its CPU already */
	}
	bool is_missing = away->begin_ns - own->since_ns > RUN_NS_MAX;
	own->n_runs++;
	sched->n_switches++;
	FSL_TRY(pass(sched, thread, is_missing ? FSL_SCHED_UNKNOWN : FSL_SCHED_RUN, away->begin_ns,
		     err));
	if (away->queue_ns < 0) {
		FSL_TRY(pass(sched, thread, FSL_SCHED_UNKNOWN, away->end_ns, err));
	} else {
		FSL_TRY(pass(sched, thread, FSL_SCHED_SLEEP, away->end_ns - away->queue_ns, err));
		FSL_TRY(away->queue_ns > 0 ? add_wait(sched, thread, away, err) : FSL_OK);
	}
	sched->now_ns = away->end_ns > sched->now_ns ? away->end_ns : sched->now_ns;
	return FSL_OK;
}

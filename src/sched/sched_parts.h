/* Parts of the model that its files share. */
#ifndef FSL_SCHED_PARTS_H
#define FSL_SCHED_PARTS_H

#include "sched/sched.h"

/* Index of the thread with this id, which is made if it is new. Its name is @comm if no event of
 * its own told one; @is_own: this event tells it. */
enum fsl_status fsl_sched_thread_of(struct fsl_sched *sched, int32_t tid,
				    const struct fsl_sched_text *comm, bool is_own, int32_t *out,
				    struct fsl_error *err);
/* The thread with this id ended, and another one has the id now. */
enum fsl_status fsl_sched_thread_again(struct fsl_sched *sched, int32_t tid,
				       const struct fsl_sched_text *comm, int32_t *out,
				       struct fsl_error *err);
/* The thread's rank and process are those of @parent (indexes) unless its id is a rank's. */
void fsl_sched_thread_inherit(struct fsl_sched *sched, int32_t thread, int32_t parent);
/* The thread is a program of its own from now on. */
void fsl_sched_thread_part(struct fsl_sched *sched, int32_t thread);
/* The process of the thread was told. */
enum fsl_status fsl_sched_thread_set_process(struct fsl_sched *sched, int32_t thread, int32_t tgid,
					     struct fsl_error *err);

/* Counts [@from_ns, @to_ns) in @state for the thread, its rank and its steps. */
enum fsl_status fsl_sched_count(struct fsl_sched *sched, int32_t thread, int state, int64_t from_ns,
				int64_t to_ns, struct fsl_error *err);
/* Charges [@from_ns, @to_ns), in which @thread waited for @cpu, to @holder. */
enum fsl_status fsl_sched_charge(struct fsl_sched *sched, int32_t thread, int32_t cpu,
				 int32_t holder, int64_t from_ns, int64_t to_ns,
				 struct fsl_error *err);

/* The CPU, made if it is new; NULL: memory is short. */
struct fsl_sched_cpu *fsl_sched_cpu_of(struct fsl_sched *sched, int32_t cpu, struct fsl_error *err);
/* The slice of the CPU ends: @holder held it. Its waiters are charged. */
enum fsl_status fsl_sched_end_slice(struct fsl_sched *sched, int32_t cpu, int32_t holder,
				    int64_t end_ns, struct fsl_error *err);
enum fsl_status fsl_sched_join_queue(struct fsl_sched *sched, int32_t thread, int32_t cpu,
				     int64_t begin_ns, struct fsl_error *err);
/* The thread leaves its queue at @end_ns, or later if it is charged up to there already; that time
 * is returned. */
int64_t fsl_sched_leave_queue(struct fsl_sched *sched, int32_t thread, int64_t end_ns);

/* The thread was woken now, by its waker, behind a sleep since @since_ns. FSL_ERR_MEMORY. */
enum fsl_status fsl_sched_note_wake(struct fsl_sched *sched, int32_t thread, int64_t since_ns,
				    struct fsl_error *err);
/* The thread has a CPU now, for which it waited since @since_ns. */
enum fsl_status fsl_sched_note_queue(struct fsl_sched *sched, int32_t thread, int64_t since_ns,
				     struct fsl_error *err);
/* Makes chains of steps that ended up to @now_ns, if they are the worst of their rank. */
void fsl_sched_end_steps(struct fsl_sched *sched, int64_t now_ns);

/* Index of the interrupt that goes on on the CPU; -1: none that has begun in the trace. */
int32_t fsl_sched_open_interrupt(const struct fsl_sched *sched, int32_t cpu);
/* An interrupt begins or ends. */
enum fsl_status fsl_sched_feed_interrupt(struct fsl_sched *sched,
					 const struct fsl_sched_event *event,
					 struct fsl_error *err);

#endif

/*
 * Threads of a host in a kernel trace. Each thread has one state at a time, the times of its states
 * sum to its part of the window, and the time in which it waits for a CPU is charged to whoever
 * held that CPU. Memory grows with threads, steps and pairs of victim and culprit, never with
 * events.
 */
#ifndef FSL_SCHED_SCHED_H
#define FSL_SCHED_SCHED_H

#include <failslow/error.h>

#include "base/mem.h"
#include "sched/chains.h"
#include "sched/event.h"
#include "sched/latency.h"
#include "sched/pairs.h"
#include "sched/topology.h"

enum fsl_sched_state {
	FSL_SCHED_RUN,
	FSL_SCHED_RQ_WAKE,    /* on a queue since it was woken */
	FSL_SCHED_RQ_PREEMPT, /* on a queue since another task took the CPU */
	FSL_SCHED_SLEEP,      /* S: waits for something that a signal may end */
	FSL_SCHED_DISK,       /* D: waits for a device, mostly */
	FSL_SCHED_IDLE,       /* I: a thread of the kernel without work */
	FSL_SCHED_STOP,       /* T, t, P: stopped, traced or parked */
	FSL_SCHED_UNKNOWN,    /* the trace does not tell */
	FSL_SCHED_STATES_N,
	FSL_SCHED_DEAD = FSL_SCHED_STATES_N, /* no time passes in it */
};

/* Who holds a CPU if it is no thread; also in pairs. */
enum {
	FSL_SCHED_HOLDER_IDLE = -1,    /* nobody: the CPU was idle while a thread waited */
	FSL_SCHED_HOLDER_UNKNOWN = -2, /* the trace does not tell */
	FSL_SCHED_HOLDER_OTHERS = -3,  /* pairs beyond FSL_SCHED_PAIRS_MAX */
	/* The thread may not run although it is ready: it lost the CPU to nobody, as threads do
	 * whose control group has used up its quota. Whoever runs meanwhile takes nothing. */
	FSL_SCHED_HOLDER_QUOTA = -4,
};

enum {
	FSL_SCHED_THREADS_MAX = 4 << 20, /* as many ids of tasks Linux has */
	FSL_SCHED_RANKS_MAX = 1024,      /* of one host */
};

struct fsl_sched_thread {
	int32_t tid;
	int32_t tgid;    /* FSL_SCHED_ID_NONE: not told */
	int32_t process; /* thread (index) that stands for its process: its leader, or who forked it
			  */
	int32_t rank;    /* index in fsl_sched.ranks; -1: none */
	bool is_main;    /* its id is the pid of a rank */
	bool is_kernel;  /* by its name: kworker, migration, ksoftirqd, ... */
	bool is_named;   /* by an event of its own, not by the name at read time */
	char comm[FSL_SCHED_COMM_MAX + 1]; /* newest name */
	/* Present state. */
	int state; /* enum fsl_sched_state */
	int32_t cpu;
	int64_t since_ns;
	int64_t waking_ns;              /* somebody began to wake it; -1: nobody */
	int32_t waker, waker_interrupt; /* who did, as in fsl_sched_note */
	/* Sums over the window. */
	int64_t first_ns, end_ns; /* first and last time at which it is known to exist */
	int64_t in_ns[FSL_SCHED_STATES_N];
	int64_t runtime_ns; /* of sched_stat_runtime; exact if n_runtime > 0 */
	uint64_t n_runtime;
	uint64_t n_runs, n_voluntary, n_involuntary;
	uint64_t n_yields; /* of n_involuntary: the next thread is of the same process */
	uint64_t n_migrations, n_moves; /* events of migrations; runs on another CPU than before */
	/* Both counts, of CPUs that share no cache, and no node, with the one before. */
	uint64_t n_far_migrations[FSL_SCHED_FAR_N], n_far_moves[FSL_SCHED_FAR_N];
	int64_t irq_ns, softirq_ns;  /* interrupts while it ran */
	struct fsl_latency *wake;    /* woken to running; NULL: never. Owned by fsl_sched */
	struct fsl_latency *waking;  /* begin of waking to running */
	struct fsl_latency *preempt; /* preempted to running */
	bool is_throttled;           /* waits, and lost the CPU to nobody */
	uint64_t n_throttled;
	int64_t *step_waits_ns; /* [n_steps of its rank]: on a queue; NULL: none */
};

/* A thread that waits on the queue of a CPU, or did within the present slice. */
struct fsl_sched_waiter {
	int32_t thread;
	int64_t begin_ns; /* not charged yet from here on */
	int64_t end_ns;   /* INT64_MAX: waits still */
};

enum { FSL_SCHED_NESTING_MAX = 8 }; /* interrupts in interrupts; Linux has 4 kinds of contexts */

struct fsl_sched_interrupt_entry {
	bool is_soft;
	int64_t number, begin_ns, inner_ns;
};

struct fsl_sched_cpu {
	bool is_seen, is_lost; /* events were lost since last_ns */
	int64_t first_ns, last_ns;
	int32_t holder;   /* thread, or FSL_SCHED_HOLDER_IDLE, FSL_SCHED_HOLDER_UNKNOWN */
	int64_t since_ns; /* begin of the present slice */
	int64_t idle_ns, unknown_ns, busy_ns;
	struct fsl_sched_waiter *waiters;
	size_t n_waiters, waiters_capacity;
	struct fsl_sched_interrupt_entry nested[FSL_SCHED_NESTING_MAX];
	size_t n_nested;
	uint64_t n_breaks; /* switches away from a task that was not on the CPU */
};

/* A slot of the hash of thread ids: the newest thread with this id, or -1. */
struct fsl_sched_slot {
	int32_t tid, thread;
};

/* Process of a thread, told by something else than the trace. */
struct fsl_sched_told {
	int32_t tid, tgid;
};

/* Sums of one rank in one step. */
struct fsl_sched_cell {
	int64_t in_ns[FSL_SCHED_STATES_N];   /* over all threads of the rank */
	int64_t main_ns[FSL_SCHED_STATES_N]; /* of its main thread */
	int64_t irq_ns;                      /* interrupts while its threads ran */
	int64_t longest_wait_ns;             /* of the thread that waited longest */
	int32_t longest_waiter;              /* that thread; -1: none waited */
};

/* Steps of a rank on the clock of the trace, sorted, disjoint. */
struct fsl_sched_step {
	int64_t step;
	int64_t begin_ns, end_ns;
};

struct fsl_sched_rank {
	int32_t rank;
	int32_t pid;
	const struct fsl_sched_step *steps; /* borrowed */
	size_t n_steps;
	/* Times at which its main thread is known to run, sorted, borrowed; and how many of them
	 * the trace knows a state for, and RUN. They tell whether both clocks are the same. */
	const int64_t *calls_ns;
	size_t n_calls, n_calls_seen, n_calls_running;
	struct fsl_sched_cell *cells; /* [n_steps] */
	struct fsl_sched_cell whole;  /* over the window */
	int64_t *cpu_ns;              /* [FSL_SCHED_CPUS_MAX]: time it ran on each CPU */
	size_t n_ended;               /* steps that ended */
	struct fsl_sched_chain chain; /* of the step with the greatest cost up to now */
	int64_t chain_cost_ns;
};

/* Time that one kind of interrupt took on one CPU from the threads of one rank, or from others. */
struct fsl_sched_interrupt {
	bool is_soft;
	int32_t number;
	char name[FSL_SCHED_COMM_MAX + 1];
	uint64_t n;
	int64_t self_ns;   /* without interrupts inside */
	int64_t stolen_ns; /* of it while a thread of some rank ran */
};

/* Told of all that is counted, as it is counted; all times lie in the window. */
struct fsl_sched_watch {
	void *context;
	/* The thread (index) was in @state. A running thread ran on its cpu; a waiting one left the
	 * queue of its cpu. Its name is that of the time. */
	enum fsl_status (*was)(void *context, int32_t thread, int state, int64_t from_ns,
			       int64_t to_ns, struct fsl_error *err);
	/* The CPU was held by a thread (index), or FSL_SCHED_HOLDER_IDLE, FSL_SCHED_HOLDER_UNKNOWN.
	 */
	enum fsl_status (*held)(void *context, int32_t cpu, int32_t holder, int64_t from_ns,
				int64_t to_ns, struct fsl_error *err);
};

/* Start with fsl_sched_init. */
struct fsl_sched {
	int64_t begin_ns, end_ns; /* the window: times outside are not counted */
	bool is_begun;
	int64_t now_ns;
	struct fsl_sched_thread *threads;
	size_t n_threads, threads_capacity;
	struct fsl_sched_slot *slots; /* hash of thread ids */
	size_t n_slots;
	struct fsl_sched_cpu *cpus; /* [n_cpus], by number */
	size_t n_cpus, cpus_capacity;
	struct fsl_sched_rank *ranks;
	size_t n_ranks, ranks_capacity;
	const struct fsl_sched_told
		*told; /* [n_told], by tid; borrowed; may be set before events */
	size_t n_told;
	struct fsl_sched_pairs pairs;      /* thread -> holder */
	struct fsl_sched_pairs step_pairs; /* thread of a rank, step, CPU -> holder */
	/* Thread of a rank, step, task before a gap -> task behind it, of waits for a CPU whose
	 * holder is unknown in between; `cpu` is the task before, thread or FSL_SCHED_HOLDER_IDLE.
	 */
	struct fsl_sched_pairs gaps;
	int32_t gap_from, gap_to; /* of the slice that ends; FSL_SCHED_HOLDER_UNKNOWN: not told */
	struct fsl_sched_pairs rank_interrupts; /* rank, step, CPU -> interrupt */
	struct fsl_sched_pairs cpu_interrupts;  /* CPU (also victim) -> interrupt, whoever ran */
	struct fsl_sched_notes notes;
	struct fsl_sched_interrupt *interrupts;
	size_t n_interrupts, interrupts_capacity;
	uint64_t n_breaks, n_switches, n_wakeups, n_runtime, n_migrations, n_forks,
		n_interrupt_events;
	bool has_tgids;
	struct fsl_arena arena;
	const struct fsl_sched_topology *topology; /* borrowed; NULL: not told. As watch */
	const struct fsl_sched_watch *watch; /* borrowed; NULL: none. May be set before events */
};

/* Times in [@begin_ns, @end_ns) are counted; INT64_MIN, INT64_MAX: all of the trace. */
void fsl_sched_init(struct fsl_sched *sched, int64_t begin_ns, int64_t end_ns);
void fsl_sched_fini(struct fsl_sched *sched);

/* Adds a rank, before the first event: the process @pid, whose threads are its threads. @steps is
 * borrowed until the end. */
enum fsl_status fsl_sched_add_rank(struct fsl_sched *sched, int32_t rank, int32_t pid,
				   const struct fsl_sched_step *steps, size_t n_steps,
				   struct fsl_error *err);

/* Takes one event; times do not decrease. */
enum fsl_status fsl_sched_feed(struct fsl_sched *sched, const struct fsl_sched_event *event,
			       struct fsl_error *err);

/* Ends all states at the end of the window. Call once, after the last event. */
enum fsl_status fsl_sched_finish(struct fsl_sched *sched, struct fsl_error *err);

/* The part of the window in which the thread is known to exist; the sum of in_ns. */
int64_t fsl_sched_lived_ns(const struct fsl_sched *sched, const struct fsl_sched_thread *thread);
/* Migrations of the thread if the trace has their events, else its runs on another CPU than before.
 */
static inline uint64_t fsl_sched_moves(const struct fsl_sched *sched,
				       const struct fsl_sched_thread *thread)
{
	return sched->n_migrations > 0 ? thread->n_migrations : thread->n_moves;
}
/* The same, to a CPU that is far from the one before. */
static inline uint64_t fsl_sched_far_moves(const struct fsl_sched *sched,
					   const struct fsl_sched_thread *thread,
					   enum fsl_sched_far far)
{
	return sched->n_migrations > 0 ? thread->n_far_migrations[far] : thread->n_far_moves[far];
}
/* Time of waiting for a CPU. */
static inline int64_t fsl_sched_waited_ns(const int64_t in_ns[FSL_SCHED_STATES_N])
{
	return in_ns[FSL_SCHED_RQ_WAKE] + in_ns[FSL_SCHED_RQ_PREEMPT];
}
/* CPU time: the exact one of sched_stat_runtime if the trace has it, else that of the states. */
int64_t fsl_sched_ran_ns(const struct fsl_sched_thread *thread);
/* Newest thread with this id; NULL: none. */
const struct fsl_sched_thread *fsl_sched_find(const struct fsl_sched *sched, int32_t tid);
/* Name of a holder: of the thread, "idle", "unknown", "others". Borrowed. */
const char *fsl_sched_holder_name(const struct fsl_sched *sched, int32_t holder);

#endif

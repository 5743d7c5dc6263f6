/*
 * Who took the CPU from the processes of training: for each rank the steps in which its threads
 * waited for a CPU far longer than usual, and who held the CPU meanwhile.
 */
#ifndef FSL_JUDGE_HOSTBOUND_H
#define FSL_JUDGE_HOSTBOUND_H

#include "sched/sched.h"

enum {
	FSL_HOSTBOUND_HOLDERS_MAX = 6, /* told of a rank; the rest is one */
	FSL_HOSTBOUND_TIDS_MAX = 16,   /* processes named of a holder */
	FSL_HOSTBOUND_ADVICE_MAX = 16,
	FSL_HOSTBOUND_INTERRUPTS_MAX = 4, /* told of a rank */
};

enum fsl_holder_kind {
	FSL_HOLDER_PROCESS, /* of something else */
	FSL_HOLDER_RANK,    /* another rank of the job */
	FSL_HOLDER_OWN,     /* threads of the rank itself */
	FSL_HOLDER_KERNEL,
	FSL_HOLDER_QUOTA, /* nobody: the rank may not run */
	FSL_HOLDER_IDLE,  /* nobody: the CPU was idle */
	FSL_HOLDER_UNKNOWN,
	FSL_HOLDER_KINDS_N
};
extern const char *const fsl_holder_kind_texts[];

/* Threads of one name that held CPUs while a rank waited. */
struct fsl_hostbound_holder {
	enum fsl_holder_kind kind;
	int32_t rank;     /* of RANK: the rank; else -1 */
	const char *name; /* borrowed from the model */
	int32_t tids[FSL_HOSTBOUND_TIDS_MAX];
	size_t n_tids;
	bool has_more_tids; /* more processes than TIDS_MAX */
	int64_t seen_ns;    /* the trace shows that they held the CPU */
	int64_t likely_ns;  /* the trace shows them at both ends of gaps */
	int32_t cpu;        /* on which they held most */
	int64_t cpu_ns;
};

/* Interrupts of one kind on one of a rank's CPUs. */
struct fsl_hostbound_interrupt {
	const struct fsl_sched_interrupt *interrupt; /* borrowed from the model */
	int32_t cpu;
	int64_t taken_ns; /* in steps, while threads of the rank ran */
	int64_t cpu_ns;   /* in the window, whoever ran */
};

enum fsl_hostbound_cause {
	FSL_HOSTBOUND_NOTHING,
	FSL_HOSTBOUND_CPU,   /* others had the CPU */
	FSL_HOSTBOUND_QUOTA, /* the quota of its control group */
	FSL_HOSTBOUND_CAUSES_N
};
extern const char *const fsl_hostbound_cause_texts[];

struct fsl_hostbound_rank {
	int32_t index; /* in sched->ranks */
	int32_t rank, pid;
	const char *name; /* of its process; borrowed from the model */
	size_t n_steps;   /* judged: those that lie in the window as a whole */
	size_t n_high;    /* in which it waits far longer than usual */
	/* Numbers of the steps of the stretch that holds most high steps if there is one, else of
	 * the first and last high step; and steps between them, both included. */
	int64_t first_step, last_step;
	size_t n_stretch;
	bool is_stretch;
	double step_ms;       /* median length of a step */
	double high_step_ms;  /* mean length of high steps */
	double wait_ms;       /* mean wait of the thread that waits longest, in high steps */
	double usual_ms;      /* the same in steps that are not high, or of other ranks */
	double unknown_share; /* of the time of its threads */
	int32_t waiter;       /* thread (index) that waits most often; -1: none */
	struct fsl_hostbound_holder holders[FSL_HOSTBOUND_HOLDERS_MAX]; /* most first */
	size_t n_holders;
	struct fsl_hostbound_interrupt interrupts[FSL_HOSTBOUND_INTERRUPTS_MAX]; /* most first */
	size_t n_interrupts;
	int64_t high_wait_ns; /* of the waiters, in high steps: the sum over all holders */
	enum fsl_hostbound_cause cause;
	bool is_named;
};

enum fsl_advice_kind {
	FSL_ADVICE_MOVE_PROCESS, /* away from the CPU of a rank */
	FSL_ADVICE_PART_RANKS,   /* onto CPUs of their own */
	FSL_ADVICE_RAISE_QUOTA,
	FSL_ADVICE_MOVE_INTERRUPT,
	FSL_ADVICE_USE_IDLE_CPUS,
	FSL_ADVICE_BIND_NODE,  /* to the NUMA node on which the rank runs most */
	FSL_ADVICE_PART_CORES, /* ranks run on different CPUs of one core */
	FSL_ADVICE_KINDS_N
};
extern const char *const fsl_advice_kind_texts[];

struct fsl_hostbound_advice {
	enum fsl_advice_kind kind;
	int32_t rank, other_rank;                  /* -1: none */
	int32_t cpu;                               /* -1: none */
	const struct fsl_hostbound_holder *holder; /* NULL: none */
	const struct fsl_sched_interrupt *interrupt;
	double ms_per_step; /* what it is about; NaN: not told */
	int32_t first_cpu; /* USE_IDLE_CPUS: one of them, and their number. MOVE_INTERRUPT: a CPU on
			    * which no rank runs; -1: there is none */
	size_t n_cpus;
	/* BIND_NODE: the node, share of CPU time on other ones, and moves between nodes.
	 * PART_CORES: the other rank's CPU, and shares of the CPU time of both on theirs. */
	int32_t node, other_cpu;
	double share, other_share;
	uint64_t n_moves;
};

enum fsl_hostbound_verdict {
	FSL_HOSTBOUND_NORMAL,
	FSL_HOSTBOUND_FOUND,
	FSL_HOSTBOUND_NO_STEPS, /* threads alone can be told */
	FSL_HOSTBOUND_INSUFFICIENT,
	FSL_HOSTBOUND_VERDICTS_N
};
extern const char *const fsl_hostbound_verdict_texts[];

/* Start as {0}. */
struct fsl_hostbound {
	struct fsl_hostbound_rank *ranks; /* [n_ranks], most cost first */
	size_t n_ranks;
	struct fsl_hostbound_advice advice[FSL_HOSTBOUND_ADVICE_MAX];
	size_t n_advice;
	enum fsl_hostbound_verdict verdict;
	const char *reason; /* of INSUFFICIENT: a sentence, static; else "" */
};

/* Greatest holder of the rank's waits that is somebody; NULL: none. */
const struct fsl_hostbound_holder *fsl_hostbound_main_holder(const struct fsl_hostbound_rank *rank);

/* A CPU in the hands of one holder, as it is charged to the waits of a rank. */
struct fsl_hostbound_slice {
	int32_t holder;           /* thread (index), or FSL_SCHED_HOLDER_* */
	int32_t gap_from, gap_to; /* of the model when the slice ends */
};
/* The holder that the slice counts for if @rank (index; -1: none) waits; thread (index) or
 * FSL_SCHED_HOLDER_*. *is_likely: it is known by an end of a gap. @sched is finished. */
int32_t fsl_hostbound_holder_of(const struct fsl_sched *sched, int32_t rank,
				const struct fsl_hostbound_slice *slice, bool *is_likely);
/* True if the thread (index) is one of those that @holder sums up. */
bool fsl_hostbound_holds(const struct fsl_hostbound_holder *holder, const struct fsl_sched *sched,
			 int32_t rank, int32_t thread);

/* Judges a finished model, which must outlive @out. FSL_ERR_MEMORY. */
enum fsl_status fsl_hostbound_judge(struct fsl_hostbound *out, const struct fsl_sched *sched,
				    struct fsl_error *err);
void fsl_hostbound_fini(struct fsl_hostbound *hostbound);

#endif

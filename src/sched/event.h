/* One event of the kernel's scheduler or interrupts, as readers of traces hand it to the model. */
#ifndef FSL_SCHED_EVENT_H
#define FSL_SCHED_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FSL_SCHED_COMM_MAX = 15,   /* bytes of a task's name in the kernel, without its NUL */
	FSL_SCHED_CPUS_MAX = 4096, /* of one host; a greater number is no CPU */
	FSL_SCHED_TEXT_MAX = 127,  /* bytes that are kept of a mark or of an interrupt's name */
	FSL_SCHED_ID_NONE = -1,    /* a thread, process or CPU that is not told */
};

enum fsl_sched_kind {
	FSL_SCHED_OTHER, /* an event that the model does not need */
	FSL_SCHED_SWITCH,
	FSL_SCHED_WAKEUP, /* the task is on a queue from now on */
	FSL_SCHED_WAKEUP_NEW,
	FSL_SCHED_WAKING, /* somebody begins to wake the task */
	FSL_SCHED_MIGRATE,
	FSL_SCHED_FORK,
	FSL_SCHED_EXEC,
	FSL_SCHED_EXIT,
	FSL_SCHED_RUNTIME,
	FSL_SCHED_IRQ_ENTRY,
	FSL_SCHED_IRQ_EXIT,
	FSL_SCHED_SOFTIRQ_ENTRY,
	FSL_SCHED_SOFTIRQ_EXIT,
	FSL_SCHED_MARK, /* text that a program wrote into the trace */
	FSL_SCHED_LOST, /* events of this CPU are lost since its last one */
	FSL_SCHED_KINDS_N
};

/* Text in the reader's buffer. */
struct fsl_sched_text {
	const char *at; /* not NUL-terminated */
	size_t length;
};

struct fsl_sched_task {
	struct fsl_sched_text comm;
	int32_t tid;
};

/* Valid until the reader is asked for its next event. */
struct fsl_sched_event {
	enum fsl_sched_kind kind;
	int64_t time_ns; /* on the clock of the trace; LOST: unknown */
	int32_t cpu;
	int32_t tid;                /* of the task that runs on the CPU; 0: idle */
	int32_t tgid;               /* process of that task; FSL_SCHED_ID_NONE: not told */
	struct fsl_sched_text comm; /* of that task, as known when the trace was read */
	bool is_in_interrupt;       /* the event was written by an interrupt */
	/* SWITCH: the task that leaves. FORK: the parent. Else the task that the event is about. */
	struct fsl_sched_task task;
	/* SWITCH: the task that comes. FORK: the child. */
	struct fsl_sched_task other;
	/* Priorities of task and other in the kernel, 120 for most; 0 also if not told. SWITCH,
	 * WAKEUP, WAKING. */
	int32_t prio, other_prio;
	char state;     /* SWITCH: why the task leaves, a letter of the kernel: R, S, D, I, T, X */
	int32_t to_cpu; /* WAKEUP, WAKING: target. MIGRATE: destination */
	int64_t value;  /* RUNTIME: ns. IRQ, SOFTIRQ: number. LOST: events, 0 if not told */
	/* IRQ_ENTRY, SOFTIRQ_ENTRY: name. MARK: what was written. EXEC: file. Else empty. */
	struct fsl_sched_text text;
};

#endif

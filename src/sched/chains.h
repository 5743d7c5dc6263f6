/*
 * Who woke whom in the worst step of each rank, backwards from its end: the main thread worked
 * since it was woken, its waker worked since that one was woken, and so on. Before a thread that an
 * interrupt woke comes the same thread, up to its sleep. So the chain tells whose work the step was
 * made of.
 */
#ifndef FSL_SCHED_CHAINS_H
#define FSL_SCHED_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FSL_SCHED_LINKS_MAX = 8 };

/* Woken by something else than a thread. */
enum {
	FSL_SCHED_WAKER_NONE = -1,      /* it was awake from the step's begin on */
	FSL_SCHED_WAKER_INTERRUPT = -2, /* a timer or a device */
	FSL_SCHED_WAKER_UNKNOWN = -3,   /* the trace does not tell */
};

/* One thread of a chain. */
struct fsl_sched_link {
	int32_t thread;
	int32_t waker;     /* thread, or FSL_SCHED_WAKER_* */
	int32_t interrupt; /* that woke it (index); -1: none that the trace names */
	int64_t awake_ns;  /* from its wake, or the step's begin, to the end of the link */
	int64_t queued_ns; /* of it: waited for a CPU */
	int64_t slept_ns;  /* before its wake, within the step, and shortly in between */
};

struct fsl_sched_chain {
	int32_t step;                                     /* index; -1: there is none */
	struct fsl_sched_link links[FSL_SCHED_LINKS_MAX]; /* the main thread first */
	size_t n_links;
	bool is_cut; /* the step began before what is kept, or there are more links */
};

/* A wake behind a sleep, or the end of a wait for a CPU. */
struct fsl_sched_note {
	int64_t time_ns, ns; /* its end and its length */
	int32_t thread;
	int32_t waker;     /* thread, FSL_SCHED_WAKER_*; a wait for a CPU: FSL_SCHED_NOTE_QUEUE */
	int32_t interrupt; /* as in a link */
};
enum { FSL_SCHED_NOTE_QUEUE = -4 };

/* Notes of the last time: a ring. Start as {0}. */
struct fsl_sched_notes {
	struct fsl_sched_note *items; /* [FSL_SCHED_NOTES_MAX]; NULL: none yet */
	uint64_t n;                   /* noted ever */
	int64_t due_ns;               /* end of the first step that is not judged */
};

#endif

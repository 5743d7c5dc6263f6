/* Pictures of a kernel trace show, beside its verdict, who held each CPU in the worst step, and the
 * states of the thread of each rank that waits. */
#ifndef FSL_ENGINE_HOSTBOUND_PICTURE_H
#define FSL_ENGINE_HOSTBOUND_PICTURE_H

#include "engine/hostbound.h"

enum {
	FSL_HOST_CELLS_N = 480,  /* parts of the worst step: about one for each pixel of a lane */
	FSL_HOST_LANES_MAX = 16, /* CPUs that are kept: more do not fit one screen */
};

/* Who held a CPU, as seen by the told rank. */
enum fsl_host_class {
	FSL_HOST_TOLD,    /* the told rank */
	FSL_HOST_CULPRIT, /* its main holder */
	FSL_HOST_LIKELY,  /* the same by the ends of a gap in the trace */
	FSL_HOST_RANK,    /* another rank */
	FSL_HOST_PROCESS, /* another process */
	FSL_HOST_KERNEL,
	FSL_HOST_INTERRUPT,
	FSL_HOST_IDLE,
	FSL_HOST_UNKNOWN,
	FSL_HOST_CLASSES_N
};

/* One part of the step on one CPU. */
struct fsl_host_cell {
	uint32_t ns[FSL_HOST_CLASSES_N];
	uint32_t wait_ns; /* the told thread waits for this CPU */
};

/* One CPU in the step. Sums are exact; interrupts are inside the others. */
struct fsl_host_lane {
	int32_t cpu;
	int64_t in_ns[FSL_HOST_CLASSES_N];
	int64_t wait_ns;
	struct fsl_host_cell *cells; /* [FSL_HOST_CELLS_N] */
};

/* Times of one thread. */
struct fsl_host_times {
	int64_t in_ns[FSL_SCHED_STATES_N]; /* RUN with interrupts */
	int64_t irq_ns;                    /* interrupts while it ran */
};

/* The thread that stands for a rank: the one that waits most often, else its main thread. */
struct fsl_host_rank_times {
	int32_t thread; /* index in the model; -1: the trace does not have it */
	size_t n_steps; /* that are judged, of the stretch of the told rank if it has one */
	struct fsl_host_times sum; /* over them */
};

/* Start as {0}. */
struct fsl_host_picture {
	int64_t begin_ns,
		end_ns; /* the worst step of the told rank; else the window of the trace */
	size_t step;    /* index of the step; SIZE_MAX: none */
	int32_t waiter; /* thread (index) that waits longest in it; -1: none */
	struct fsl_host_lane *lanes; /* [n_lanes], by CPU */
	size_t n_lanes;
	size_t n_left_out; /* CPUs beyond LANES_MAX: those with the least waits and work of ranks */
	struct fsl_host_rank_times *ranks; /* [judged.n_ranks] */
	struct fsl_host_times *steps;      /* [n_steps of the told rank]: of its thread */
	size_t n_steps;
};

/*
 * Reads the files of a judged trace once more. The told rank is the first one of the judgement.
 * Memory is bounded by CPUs, threads and steps. A trace of records tells no CPUs: it has no lanes,
 * and its times are those of main threads. FSL_ERR_MEMORY, and what reading fails with; release
 * with fsl_host_picture_fini in any case.
 */
enum fsl_status fsl_host_picture_make(struct fsl_host_picture *out,
				      const struct fsl_host_trace *trace, struct fsl_error *err);
void fsl_host_picture_fini(struct fsl_host_picture *picture);
/* Makes the pictures of all traces, which fsl_host_traces_fini() releases. */
enum fsl_status fsl_host_traces_picture(struct fsl_host_traces *traces, struct fsl_error *err);

#endif

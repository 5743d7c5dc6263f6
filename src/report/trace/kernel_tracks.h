/*
 * A kernel trace as tracks: for each CPU who held it, interrupts, wakeups and the number of threads
 * that wait for it; for each thread its states, beside the lanes of its rank if it has one; arrows
 * from who wakes to who is woken.
 */
#ifndef FSL_REPORT_TRACE_KERNEL_TRACKS_H
#define FSL_REPORT_TRACE_KERNEL_TRACKS_H

#include "report/trace/track_plan.h"
#include "source/ftrace/intervals.h"

enum {
	FSL_TRACK_PID_KERNEL = (1 << 20) + 16, /* of the first host; two for each */
	FSL_KERNEL_CPUS_MAX = 240,             /* CPUs of one host that are drawn: 4 tracks each */
	FSL_KERNEL_THREADS_MAX = 256, /* threads of one host without a rank, and of a rank */
};

/* How the times of a trace became those of the timeline. */
struct fsl_kernel_clock {
	const char *name;  /* "mono_raw"; "" if nothing names it */
	bool is_known;     /* false: the trace stands at its own times */
	bool is_estimated; /* by the calls of the job, as nothing told it */
	bool is_profile;   /* a profile of Ascend told it */
	double score;      /* share of calls of the job at which the ranks run; NaN: not known */
	int64_t shift_ns;  /* taken off to put all hosts on one clock */
};

/* All borrowed as long as the plan lives. */
struct fsl_kernel_tracks {
	const struct fsl_ftrace_intervals *intervals;
	const char *host;              /* name for people; "" */
	uint32_t number;               /* of the host, from 0 */
	int64_t offset_ns;             /* to be added to all times */
	struct fsl_kernel_clock clock; /* for people */
	const int64_t *cpus;           /* [n_cpus]: CPUs that are drawn; n_cpus 0: all */
	size_t n_cpus;
	bool (*is_wanted)(const void *context, int64_t rank); /* whether a rank is drawn */
	const void *context;
	/* To read the events again, for forms that have them. */
	const char *const *paths; /* [n_paths]: files of the host */
	size_t n_paths;
	bool sorts;               /* some events come late in the files */
	int64_t begin_ns, end_ns; /* times that are shown, on the clock of the trace */
	/* Results. */
	uint64_t n_left_out; /* slices that found no lane */
	size_t n_threads,
		n_threads_left_out; /* drawn; with the least time of running and waiting */
	size_t n_cpus_left_out;
};

/* Whether the CPU is among those that are drawn, if it is seen. */
bool fsl_kernel_tracks_draw(const struct fsl_kernel_tracks *source, int32_t cpu);

/* Adds the tracks. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_kernel_tracks_add(struct fsl_track_plan *plan, struct fsl_kernel_tracks *source,
				      struct fsl_error *err);

#endif

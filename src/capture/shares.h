/*
 * The time of the device, in parts that sum to a window: computing, communication and
 * copies that nothing above them overlaps, idle. One sweep over its work in the order of begins.
 */
#ifndef FSL_CAPTURE_SHARES_H
#define FSL_CAPTURE_SHARES_H

#include "capture/capture.h"

/* Kinds of work; the first one that runs counts. */
enum fsl_device_work {
	FSL_DEVICE_COMPUTE,
	FSL_DEVICE_COMMUNICATION,
	FSL_DEVICE_MEMORY, /* copies and fills */
	FSL_DEVICE_WORK_N
};

/* The window of a trace lasts from the begin of its first work to the end of its last; that of a
 * step from its first work to the first of the next step, with work of steps alone. */
struct fsl_profile_shares {
	int64_t step; /* FSL_STEP_ABSENT: the whole trace */
	int64_t window_ns;
	int64_t compute_ns, exposed_comm_ns, exposed_memory_ns, idle_ns; /* sum to the window */
	int64_t comm_ns;                                                 /* exposed or not */
	int64_t overlapped_ns; /* communication beside computing */
};

/* Time in which each set of kinds of work runs; bit k of the index: kind k. Start as {0}. */
struct fsl_shares_sweep {
	bool has_begun;
	int64_t now_ns;
	int64_t until_ns[FSL_DEVICE_WORK_N];
	int64_t sums_ns[1 << FSL_DEVICE_WORK_N];
};

/* Goes on to a time that does not lie before the last one. */
void fsl_shares_advance(struct fsl_shares_sweep *sweep, int64_t to_ns);
/* Adds work that does not begin before the last one. */
void fsl_shares_add(struct fsl_shares_sweep *sweep, int64_t begin_ns, int64_t dur_ns,
		    enum fsl_device_work kind);
/* Ends with the last work, and tells the parts since the first one or since the last telling. */
struct fsl_profile_shares fsl_shares_tell(struct fsl_shares_sweep *sweep, bool is_last);

#endif

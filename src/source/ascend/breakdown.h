/*
 * Where the time of each step went, from the tasks of the device: what step_trace_time.csv tells,
 * where it is missing, and a check of it where it is not. Like the profiler, tasks are made one
 * union of computing and one of communication over the whole capture, and what these leave are
 * slices: computing, communication, communication that nothing overlaps, free. Each slice counts as
 * a whole for the step that holds its begin. Tasks that only touch are slices of their own.
 *
 * A step is held to last until the next one's first task. The profiler ends it with its last task,
 * or with the host's part of it where that ends later: what is free between steps counts for the
 * first of them here, and there only in the second case. Host times are not in the tables.
 */
#ifndef FSL_SOURCE_ASCEND_BREAKDOWN_H
#define FSL_SOURCE_ASCEND_BREAKDOWN_H

#include "source/ascend/files.h"

enum {
	/* Tasks that may come before their turn: of a file that is sorted but for that many, no
	   more is held at a time. */
	FSL_BREAKDOWN_WINDOW = 16384,
	FSL_BREAKDOWN_STEPS_MAX = 4096, /* a capture has some tens */
};

enum fsl_task_kind {
	FSL_TASK_COMPUTE,
	FSL_TASK_COMMUNICATION,
	FSL_TASK_RECEIVE, /* communication that the profiler counts as bubble */
};

struct fsl_task {
	int64_t begin_ns, end_ns; /* 0 <= begin <= end */
	int64_t step;
	uint32_t name_id;
	enum fsl_task_kind kind;
};

struct fsl_breakdown; /* opaque */

/* @window: FSL_BREAKDOWN_WINDOW, or SIZE_MAX to hold all tasks. NULL when out of memory. */
struct fsl_breakdown *fsl_breakdown_create(size_t window);
void fsl_breakdown_destroy(struct fsl_breakdown *breakdown);

/*
 * In any order, on any number of streams. *is_late when the task begins before others that are
 * counted already: the sums are then of no use, and all has to be added anew to one that holds all
 * tasks. Fails when memory is short.
 */
enum fsl_status fsl_breakdown_add(struct fsl_breakdown *breakdown, const struct fsl_task *task,
				  bool *is_late, struct fsl_error *err);

/*
 * Sums of the wanted steps to rank->rebuilt, sorted by step, and the largest gaps of each to
 * rank->gaps, sorted by step, longest first. Where some tasks have a step, those outside of all
 * steps are left out, as the profiler does. Nothing can be added any more. *is_whole false when
 * there were more than FSL_BREAKDOWN_STEPS_MAX steps: tasks of further ones were left out.
 */
enum fsl_status fsl_breakdown_finish(struct fsl_breakdown *breakdown, struct fsl_profile_rank *rank,
				     const struct fsl_profile_input *input, int64_t device_id,
				     bool *is_whole, struct fsl_error *err);

#endif

/*
 * Step breakdown from the tasks of the device: it replaces a missing step_trace_time.csv and checks
 * an existing one. Like the profiler, it makes one union of all computing and one of all
 * communication over the whole capture. Their edges cut time into slices: computing, communication,
 * communication that nothing overlaps, free. A slice counts as a whole for the step that holds its
 * begin. Tasks that only touch are slices of their own. What kernels that communicate change in
 * that is summed beside it (moved_ns, found_ns).
 *
 * A step lasts until the first task of the next step. For the profiler it ends with its last task,
 * or with the host's part of the step if that ends later. So free time between two steps always
 * counts for the first of them here, and for the profiler only in the second case. The tables have
 * no host times.
 */
#ifndef FSL_CAPTURE_BREAKDOWN_H
#define FSL_CAPTURE_BREAKDOWN_H

#include "capture/capture_files.h"

enum {
	/* Number of tasks that are held for sorting: a file that is sorted but for so many tasks is
	 * read without holding more. */
	FSL_BREAKDOWN_WINDOW = 16384,
	FSL_BREAKDOWN_STEPS_MAX = 4096, /* most steps of a capture; usual are some tens */
};

enum fsl_task_kind {
	FSL_TASK_COMPUTE,
	FSL_TASK_COMMUNICATION,
	FSL_TASK_RECEIVE, /* communication that the profiler counts as bubble */
	/* Kernels that communicate, for the profiler computing: see capture/comm_kernels.h. */
	FSL_TASK_FUSED,
	FSL_TASK_ON_CPU,
};

struct fsl_task {
	int64_t begin_ns, end_ns; /* 0 <= begin <= end */
	int64_t step;
	uint32_t name_id;
	enum fsl_task_kind kind;
	uint32_t call; /* of fused kernels: place in rank->calls; FSL_STR_NONE: not kept */
};

struct fsl_breakdown; /* opaque */

/* @window: FSL_BREAKDOWN_WINDOW, or SIZE_MAX to hold all tasks. NULL if out of memory. */
struct fsl_breakdown *fsl_breakdown_create(size_t window);
void fsl_breakdown_destroy(struct fsl_breakdown *breakdown);

/*
 * Adds a task, in any order, from any number of streams. *is_late is set if the task begins before
 * tasks that are counted already. The sums are then useless; all tasks must be added to a new
 * breakdown that holds them all. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_breakdown_add(struct fsl_breakdown *breakdown, const struct fsl_task *task,
				  bool *is_late, struct fsl_error *err);

/*
 * Writes the sums of the wanted steps to rank->rebuilt, sorted by step, and the largest gaps of
 * each to rank->gaps, sorted by step, longest first. Sets alone_ns of rank->calls. If some tasks
 * have a step, tasks outside all steps are dropped, as the profiler does. No task may be added
 * afterwards. *is_whole is false if there were more than FSL_BREAKDOWN_STEPS_MAX steps and the
 * tasks of further steps were dropped. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_breakdown_finish(struct fsl_breakdown *breakdown, struct fsl_profile_rank *rank,
				     const struct fsl_profile_input *input, int64_t device_id,
				     bool *is_whole, struct fsl_error *err);

#endif

/* The kernels of a trace, which has neither their types nor their shapes: what stands in for
 * op_statistic.csv if no other file tells which operators take the time. */
#ifndef FSL_SOURCE_ASCEND_TRACE_KERNELS_H
#define FSL_SOURCE_ASCEND_TRACE_KERNELS_H

#include "capture/capture.h"
#include "chrome/trace_event.h"

/* Start as {.rank = rank}; @keys NULL: nobody asks for kernels. */
struct fsl_trace_kernels {
	struct fsl_profile_rank *rank;
	struct fsl_strpool *keys; /* of rank->op_statistics, in their order */
};

/* Counts a task of the device in rank->op_statistics, if it is a kernel. Kernels that communicate
 * are no work, and rows beyond some thousands are left out. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_trace_kernels_add(struct fsl_trace_kernels *kernels,
				      const struct fsl_trace_event *event, struct fsl_error *err);

#endif

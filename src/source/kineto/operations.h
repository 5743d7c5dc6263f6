/* Operations and bytes of kernels, as far as a trace tells them. */
#ifndef FSL_SOURCE_KINETO_OPERATIONS_H
#define FSL_SOURCE_KINETO_OPERATIONS_H

#include "source/kineto/events.h"

/* Adds those of one kernel to the sums of its name and shape; nothing if the event lacks one of
 * them. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_kineto_add_operations(struct fsl_kineto_events *events,
					  const struct fsl_trace_event *event,
					  const struct fsl_kineto_work *work,
					  struct fsl_error *err);
/* Gives functions that were found their operations and bytes of one call. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_tell_operations(const struct fsl_kineto_events *events,
					   struct fsl_function_times *times, struct fsl_error *err);

#endif

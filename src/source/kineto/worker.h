/* How the host feeds the device: launches, streams, copies, the critical path. Nothing is
 * filled unless functions are wanted. */
#ifndef FSL_SOURCE_KINETO_WORKER_H
#define FSL_SOURCE_KINETO_WORKER_H

#include "source/kineto/events.h"

/* Keeps what a copy or fill moved, *at: its place in events->copies; other work is left alone.
 * FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_add_copy(struct fsl_kineto_events *events,
				    const struct fsl_trace_event *event, uint32_t *at,
				    struct fsl_error *err);
/* Keeps what a call or a stream waits for. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_add_sync(struct fsl_kineto_events *events,
				    const struct fsl_trace_event *event, struct fsl_error *err);
/* Fills rank->figures, from work and calls that are sorted by begin. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kineto_tell_worker(struct fsl_kineto_events *events,
				       const struct fsl_profile_input *input,
				       struct fsl_error *err);

#endif

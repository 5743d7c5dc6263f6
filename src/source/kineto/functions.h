/* Functions of a trace: kernels, copies, collectives, calls, and frames of the host. */
#ifndef FSL_SOURCE_KINETO_FUNCTIONS_H
#define FSL_SOURCE_KINETO_FUNCTIONS_H

#include "source/kineto/events.h"

/* Keeps a frame of the host: a function of Python, or an operator. FSL_ERR_MEMORY, FSL_ERR_LIMIT.
 */
enum fsl_status fsl_kineto_add_frame(struct fsl_kineto_events *events,
				     const struct fsl_trace_event *event, struct fsl_error *err);
/* Takes the time of an event into the window of the trace. */
void fsl_kineto_widen(struct fsl_kineto_events *events, const struct fsl_trace_event *event);
/* Fills rank->functions if they are wanted, from work and calls that are sorted by begin.
 * FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_kineto_tell_functions(struct fsl_kineto_events *events, struct fsl_error *err);

#endif

/* Functions of a trace: kernels, copies, collectives, calls, and frames of the host. */
#ifndef FSL_SOURCE_KINETO_FUNCTIONS_H
#define FSL_SOURCE_KINETO_FUNCTIONS_H

#include "source/kineto/events.h"

/* Threads with calls or frames: a trace has hundreds, and each takes 1.7 KB. */
enum { FSL_KINETO_THREADS_MAX = 1 << 14 };

/* Number of the event's thread; 0 if functions are not wanted. FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_kineto_thread(struct fsl_kineto_events *events,
				  const struct fsl_trace_event *event, uint32_t *thread,
				  struct fsl_error *err);
/* Keeps a frame of the host: a function of Python, an operator, or the loading of data.
 * FSL_ERR_MEMORY, FSL_ERR_LIMIT.
 */
enum fsl_status fsl_kineto_add_frame(struct fsl_kineto_events *events,
				     const struct fsl_trace_event *event, struct fsl_error *err);
/* Takes the time of an event into the window of the trace. */
void fsl_kineto_widen(struct fsl_kineto_events *events, const struct fsl_trace_event *event);
/* Fills rank->functions if they are wanted, from work and calls that are sorted by begin.
 * FSL_ERR_MEMORY, FSL_ERR_LIMIT. */
enum fsl_status fsl_kineto_tell_functions(struct fsl_kineto_events *events, struct fsl_error *err);

#endif

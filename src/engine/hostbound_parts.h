/* Parts of loading traces of hosts that its files share. */
#ifndef FSL_ENGINE_HOSTBOUND_PARTS_H
#define FSL_ENGINE_HOSTBOUND_PARTS_H

#include "engine/hostbound.h"

/* Adds processes of ranks, and their steps on the clock of the trace, from the job of its hosts. */
enum fsl_status fsl_host_trace_join(struct fsl_host_trace *trace, const struct fsl_job *job,
				    struct fsl_error *err);
/* The same from a capture: steps of the framework's thread, whose process the capture's name tells.
 * Ranks that have steps keep them. */
enum fsl_status fsl_host_trace_join_capture(struct fsl_host_trace *trace,
					    const struct fsl_profile *capture,
					    struct fsl_error *err);

/* Takes @status of reading the last trace: a failure, told by @why, leaves this trace out.
 * FSL_ERR_MEMORY is passed on. */
enum fsl_status fsl_host_traces_settle(struct fsl_host_traces *traces, enum fsl_status status,
				       const struct fsl_error *why, bool is_brief,
				       struct fsl_error *err);
/* Ranks of the trace's host by the processes that their marker files tell. */
enum fsl_status fsl_host_trace_add_pids(struct fsl_host_trace *trace, const struct fsl_job *job,
					struct fsl_error *err);

#endif

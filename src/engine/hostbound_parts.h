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
/* Something that tells the process of a rank: a marker file, or a capture. */
struct fsl_rank_teller {
	const char *path;
	const char *host; /* name or address of the rank's host, not terminated */
	size_t n_host;    /* 0: not told */
	int32_t rank;
	int32_t pid; /* 0: the first records of the marker file @path tell it */
};

/* Adds the ranks of the trace's host with their processes. Tellers of other hosts are left out, and
 * so are processes that several ranks claim, with a warning. FSL_ERR_MEMORY. */
enum fsl_status fsl_host_trace_add_pids(struct fsl_host_trace *trace,
					const struct fsl_rank_teller *tellers, size_t n_tellers,
					struct fsl_error *err);

#endif

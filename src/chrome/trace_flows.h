/*
 * Flows of a Chrome trace: a begin and an end of the same kind and id, however far apart, in
 * bounded memory. The lags between them are counted in classes of 1/128 of their size, which gives
 * the same quantiles for any order of the file.
 */
#ifndef FSL_CHROME_TRACE_FLOWS_H
#define FSL_CHROME_TRACE_FLOWS_H

#include "chrome/trace_event.h"

struct fsl_trace_flows; /* opaque */

enum { FSL_TRACE_FLOW_KINDS_MAX = 8 };

/* Lags of one kind of flow. */
struct fsl_trace_lag {
	uint64_t n; /* pairs found; 0: the fields below mean nothing */
	int64_t median_ns, p95_ns /* to 0.4 % */, max_ns;
};

/* For kinds 0 to @n_kinds - 1, at most FSL_TRACE_FLOW_KINDS_MAX; the caller says what they are.
 * NULL: out of memory. */
struct fsl_trace_flows *fsl_trace_flows_create(size_t n_kinds);
void fsl_trace_flows_destroy(struct fsl_trace_flows *flows);

/*
 * Adds one end of a flow of @kind; @event->phase is 's' or 'f'. True if it completes a pair:
 * *end_ns is the time at which the flow ends, *lag_ns its length; 0 if it ends before it begins
 * (two clocks). If too many flows are open, the oldest are forgotten.
 */
bool fsl_trace_flows_add(struct fsl_trace_flows *flows, size_t kind,
			 const struct fsl_trace_event *event, int64_t *end_ns, int64_t *lag_ns);
/* True when memory was short, so that some pairs were not counted. */
bool fsl_trace_flows_is_short(const struct fsl_trace_flows *flows);
/* Over all pairs of @kind. */
struct fsl_trace_lag fsl_trace_flows_lag(const struct fsl_trace_flows *flows, size_t kind);

#endif

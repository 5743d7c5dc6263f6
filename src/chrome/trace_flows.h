/*
 * Flows of trace_view.json: a begin and an end of the same category and id, however far apart, in
 * bounded memory. The lags between them are counted in classes of 1/128 of their size, which gives
 * the same quantiles for any order of the file.
 */
#ifndef FSL_CHROME_TRACE_FLOWS_H
#define FSL_CHROME_TRACE_FLOWS_H

#include "chrome/trace_event.h"

struct fsl_trace_flows; /* opaque */

struct fsl_trace_flows *fsl_trace_flows_create(void); /* NULL: out of memory */
void fsl_trace_flows_destroy(struct fsl_trace_flows *flows);

/*
 * One end of a flow, @event->phase 's' or 'f'. True when it completes a pair: *end_ns is where the
 * flow ends, *lag_ns its length, 0 when it ends before it begins (two clocks). Of too many open
 * ones the oldest are forgotten.
 */
bool fsl_trace_flows_add(struct fsl_trace_flows *flows, const struct fsl_trace_event *event,
			 int64_t *end_ns, int64_t *lag_ns);
/* True when memory was short, so that some pairs were not counted. */
bool fsl_trace_flows_is_short(const struct fsl_trace_flows *flows);
/* Over all pairs of the category; none for categories of no flows. */
struct fsl_profile_lag fsl_trace_flows_lag(const struct fsl_trace_flows *flows,
					   enum fsl_trace_category category);

#endif

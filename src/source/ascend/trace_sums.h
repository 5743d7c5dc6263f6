/* Sums over the events of one rank's trace_view.json, and its open events. A trace in several files
 * (slices of msprof) is summed up as one. */
#ifndef FSL_SOURCE_ASCEND_TRACE_SUMS_H
#define FSL_SOURCE_ASCEND_TRACE_SUMS_H

#include "chrome/trace_event.h"
#include "source/ascend/files.h"

struct fsl_trace_sums; /* opaque; 2 MB */

/* Makes sums for @rank, which must not move; NULL: out of memory. */
struct fsl_trace_sums *fsl_trace_sums_create(struct fsl_profile_rank *rank);
void fsl_trace_sums_destroy(struct fsl_trace_sums *sums);

/* An event without fault (fsl_trace_names_fault). Fails only when memory is short. */
enum fsl_status fsl_trace_sums_add(struct fsl_trace_sums *sums, const struct fsl_trace_event *event,
				   struct fsl_error *err);
/* Writes the sums so far to rank->trace and its steps to rank->rebuilt or, if kernel_details.csv
 * gave these, to rank->traced, as long as they hold no less. More events may follow. */
enum fsl_status fsl_trace_sums_tell(struct fsl_trace_sums *sums,
				    const struct fsl_profile_input *input, struct fsl_error *err);

#endif

/*
 * A long run as tracks, window by window in order of time: of each window the slices that begin in
 * it. Lanes, launches and collectives go on over windows. A collective is joined in the window in
 * which its first member begins.
 */
#ifndef FSL_REPORT_TRACE_RUN_WINDOWS_H
#define FSL_REPORT_TRACE_RUN_WINDOWS_H

#include "report/trace/run_tracks.h"

struct fsl_run_windows; /* opaque */

/*
 * Begins with the ranks of @source->run, which gets no further ranks, and with the clocks of
 * @source->match. @plan, @source and @run are borrowed; @run is source->run, and loses the
 * operators that go into a window. End *out with fsl_run_windows_destroy(), after the plan.
 */
enum fsl_status fsl_run_windows_create(struct fsl_run_windows **out, struct fsl_track_plan *plan,
				       struct fsl_run_tracks *source, struct fsl_run *run,
				       struct fsl_error *err);

/*
 * Adds to the plan all that begins before @until_ns, on the clock that is shown, and was not added
 * before; INT64_MAX: all that is left. source->topology and source->match are those of the
 * operators that the run has now. Write the plan up to @until_ns, then call
 * fsl_run_windows_forget().
 */
enum fsl_status fsl_run_windows_add(struct fsl_run_windows *windows, int64_t until_ns,
				    struct fsl_error *err);
/* Frees what was written. */
void fsl_run_windows_forget(struct fsl_run_windows *windows);

/* Time that is taken from the times of a rank, ns. */
int64_t fsl_run_windows_shift_ns(const struct fsl_run_windows *windows, size_t rank_idx);
/* True if the rank is wanted and had any events so far. */
bool fsl_run_windows_has_events(const struct fsl_run_windows *windows, size_t rank_idx);

void fsl_run_windows_destroy(struct fsl_run_windows *windows); /* NULL is fine */

#endif

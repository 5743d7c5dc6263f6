/* A kernel trace in Perfetto's own form, beside its tracks: Perfetto then shows its tracks of CPUs
 * and of states of threads, and has the tables sched and thread_state. */
#ifndef FSL_REPORT_TRACE_FTRACE_BUNDLES_H
#define FSL_REPORT_TRACE_FTRACE_BUNDLES_H

#include "report/trace/kernel_tracks.h"

/*
 * Reads the files of the trace again and appends their switches, wakeups and interrupts to a file
 * that fsl_track_writer_pftrace_with_kernel writes, then names and processes of the threads. Memory
 * grows with CPUs. CPUs, times and clock are those of the tracks. Hosts behind the first one are
 * machines of their own. Errors: as of reading, FSL_ERR_MEMORY.
 */
enum fsl_status fsl_ftrace_bundles_add(struct fsl_track_file *file,
				       const struct fsl_kernel_tracks *source,
				       struct fsl_error *err);

#endif

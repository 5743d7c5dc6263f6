/*
 * A trace.dat of trace-cmd as lines of text. libtracecmd reads the file, in a process of its own:
 * the library trusts what files say, and may crash or never end if a file is damaged.
 */
#ifndef FSL_SOURCE_FTRACE_TRACE_DAT_H
#define FSL_SOURCE_FTRACE_TRACE_DAT_H

#include <stdbool.h>

#include <failslow/error.h>

#include "base/file.h"

/* True if libtracecmd and libtraceevent are there. */
bool fsl_trace_dat_is_supported(void);
/* Version of libtracecmd; "no": it is not there. Static. */
const char *fsl_trace_dat_version(void);

struct fsl_trace_dat; /* opaque: the process */

/*
 * Begins to read the file at @path. Its events come out of *lines in the form of `trace-cmd report
 * -t -N`, with comments that tell the clock and what was overwritten; only the buffer that has
 * switches is read. *out and *lines are owned by the caller: fsl_trace_dat_close,
 * fsl_reader_close. FSL_ERR_FORMAT: the library is not there.
 */
enum fsl_status fsl_trace_dat_open(struct fsl_trace_dat **out, struct fsl_reader **lines,
				   const char *path, struct fsl_error *err);
/* Call after the last line. FSL_ERR_FORMAT: the library gave up on the file. */
enum fsl_status fsl_trace_dat_finish(struct fsl_trace_dat *dat, struct fsl_error *err);
/* Ends the process if it runs still. NULL is fine. */
void fsl_trace_dat_close(struct fsl_trace_dat *dat);

#endif

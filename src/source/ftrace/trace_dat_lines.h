/* Libtracecmd's records of a trace.dat to lines of text, in a process of its own. */
#ifndef FSL_SOURCE_FTRACE_TRACE_DAT_LINES_H
#define FSL_SOURCE_FTRACE_TRACE_DAT_LINES_H

#include <stdbool.h>

/* Loads the libraries; false: they are not there, or the program was built without them. */
bool fsl_trace_dat_load(void);

enum fsl_trace_dat_end {
	FSL_TRACE_DAT_DONE,
	FSL_TRACE_DAT_REFUSED,  /* the library does not take the file */
	FSL_TRACE_DAT_UNWANTED, /* nobody reads the lines any more */
};

/* Writes the lines to @fd. Only for a process that ends afterwards: it leaves much behind. */
enum fsl_trace_dat_end fsl_trace_dat_write(const char *path, int fd);

#endif

/* Which file a kernel trace is, and why a trace cannot be read. */
#ifndef FSL_SOURCE_FTRACE_FORM_H
#define FSL_SOURCE_FTRACE_FORM_H

#include <stddef.h>

enum fsl_ftrace_form {
	FSL_FTRACE_NO_TRACE,  /* something else */
	FSL_FTRACE_DAMAGED,   /* the same, although its name is that of a trace */
	FSL_FTRACE_TEXT,      /* lines of events with task, CPU and time */
	FSL_FTRACE_RAW,       /* trace option raw */
	FSL_FTRACE_HEX,       /* trace option hex */
	FSL_FTRACE_BIN,       /* trace option bin */
	FSL_FTRACE_NOCONTEXT, /* trace option nocontext-info */
	FSL_FTRACE_DAT,       /* trace.dat of trace-cmd */
	FSL_FTRACE_PERF_DATA, /* perf.data */
	FSL_FTRACE_FORMS_N
};

/* Tells a file by its first bytes. */
enum fsl_ftrace_form fsl_ftrace_form_of(const char *head, size_t length);

/* Why such a file is not read and what to do instead; NULL: it is read. Static
 * text. */
const char *fsl_ftrace_refusal(enum fsl_ftrace_form form);

#endif

/* The clock of a kernel trace by what ran when: nothing else tells it. */
#ifndef FSL_SOURCE_FTRACE_CLOCK_FIT_H
#define FSL_SOURCE_FTRACE_CLOCK_FIT_H

#include "source/ftrace/marks.h"

struct fsl_clock_fit {
	bool is_found;     /* one offset is good enough, and no other one nearly as good */
	int64_t offset_ns; /* UTC minus the clock of the trace */
	double score;      /* share of calls at which the rank's thread runs, with this offset */
	double second;     /* the same of the best offset that is more than 2 ms away */
};

/*
 * Finds the offset with which the main threads of @ranks run at their calls (calls_ns, in UTC).
 * Steps are alike, so that a shift by one step may look as good: nothing is found then. Reads the
 * files once.
 */
enum fsl_status fsl_ftrace_fit_clock(struct fsl_clock_fit *out, const char *const *paths,
				     size_t n_paths, const struct fsl_ftrace_ranks *ranks,
				     struct fsl_error *err);

#endif

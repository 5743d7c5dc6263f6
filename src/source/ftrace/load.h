/* Kernel traces of one host into the model of its threads: as many passes as they need. */
#ifndef FSL_SOURCE_FTRACE_LOAD_H
#define FSL_SOURCE_FTRACE_LOAD_H

#include "source/ftrace/marks.h"
#include "source/ftrace/merge.h"

/* Facts about the files that were read, beside the model. */
struct fsl_ftrace_loaded {
	struct fsl_ftrace_facts facts;
	uint64_t n_late;      /* events out of order in the files; they were sorted */
	uint64_t n_misplaced; /* events that came too late to be sorted */
	bool is_lossy;        /* events are overwritten or lost */
	bool has_window;      /* of a lossy trace only the part that all CPUs have is counted */
	size_t n_marks;       /* of steps */
};

/*
 * Reads the files of one host into @sched, which fsl_sched_fini() releases even after a failure.
 * Ranks of @ranks are known before; marks of steps in the trace add to them. @ranks must live as
 * long as @sched. A trace with events out of order or with losses is read twice.
 */
enum fsl_status fsl_ftrace_load(struct fsl_sched *sched, struct fsl_ftrace_ranks *ranks,
				const char *const *paths, size_t n_paths,
				struct fsl_ftrace_loaded *loaded, struct fsl_error *err);

#endif

/* Steps that training programs write into a kernel trace: "failslow step_begin rank=0 step=43". */
#ifndef FSL_SOURCE_FTRACE_MARKS_H
#define FSL_SOURCE_FTRACE_MARKS_H

#include "base/mem.h"
#include "sched/sched.h"

enum { FSL_FTRACE_MARKS_MAX = 1 << 20 };

struct fsl_ftrace_mark {
	int32_t rank, pid;
	int64_t step;
	int64_t time_ns;
	size_t number; /* order of arrival */
	bool is_end;   /* step_end */
};

/* Start as {0}. */
struct fsl_ftrace_marks {
	struct fsl_ftrace_mark *items;
	size_t n_items, items_capacity;
};

/* Keeps the mark if it is one of a step; others are ignored. */
enum fsl_status fsl_ftrace_marks_add(struct fsl_ftrace_marks *marks,
				     const struct fsl_sched_event *event, struct fsl_error *err);
void fsl_ftrace_marks_fini(struct fsl_ftrace_marks *marks);

/* A rank of this host: its process and its steps on the clock of the trace. */
struct fsl_ftrace_rank {
	int32_t rank, pid;
	bool is_resolved;             /* the pid is that of the host */
	struct fsl_sched_step *steps; /* owned */
	size_t n_steps, steps_capacity;
	int64_t *calls_ns; /* begins of calls of its main thread, sorted; owned */
	size_t n_calls, calls_ns_capacity;
};

/* A process with its number in the container that it runs in; both are one outside of containers.
 */
struct fsl_ftrace_inner {
	int32_t pid, inner;
};

/* Start as {0}. */
struct fsl_ftrace_ranks {
	struct fsl_ftrace_rank *items; /* by rank */
	size_t n_items, items_capacity;
	struct fsl_sched_told *told; /* processes of threads, by tid; owned */
	size_t n_told, told_capacity;
	struct fsl_ftrace_inner *inner; /* processes by what their containers call them; owned */
	size_t n_inner, inner_capacity;
	const struct fsl_sched_topology *topology; /* of the host; borrowed; NULL: not told */
};

/* Finds or adds a rank. NULL: memory is short. */
struct fsl_ftrace_rank *fsl_ftrace_ranks_get(struct fsl_ftrace_ranks *ranks, int32_t rank,
					     int32_t pid, struct fsl_error *err);
/* Gives ranks whose pid is one of a container that of the host. A pid that several containers have
 * stays, with a warning. Call again if ranks were added. */
void fsl_ftrace_ranks_resolve(struct fsl_ftrace_ranks *ranks);
void fsl_ftrace_ranks_fini(struct fsl_ftrace_ranks *ranks);

/* Ranks and steps of the marks, which it sorts by time: a step ends at its own end or at the begin
 * of the next one. Ranks that are there already keep their process; ranks with steps keep them. */
enum fsl_status fsl_ftrace_marks_rank(struct fsl_ftrace_marks *marks,
				      struct fsl_ftrace_ranks *ranks, struct fsl_error *err);

#endif

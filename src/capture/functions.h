/*
 * Functions of one rank: kernels, copies, collectives, calls of the runtime, and functions of
 * Python by call path, each with the share of the trace in which it holds the job up. A function
 * counts only while no function of a higher class runs, as in PerfTracker (arXiv 2506.08528). The
 * work of a rank becomes some thousand functions; the rest is summed.
 */
#ifndef FSL_CAPTURE_FUNCTIONS_H
#define FSL_CAPTURE_FUNCTIONS_H

#include "capture/capture.h"
#include "capture/link_samples.h"

enum fsl_function_class {
	FSL_FUNCTION_COMPUTE, /* kernels, by name and shape of the grid */
	FSL_FUNCTION_MEMORY,  /* copies and fills of the device's memory */
	FSL_FUNCTION_COLLECTIVE,
	FSL_FUNCTION_RUNTIME, /* calls that launch, copy or wait */
	FSL_FUNCTION_PYTHON,  /* functions and operators, by call path; their own time */
	FSL_FUNCTION_CLASSES_N
};
/* "compute", "memory", "communication", "runtime", "python"; NULL-terminated. */
extern const char *const fsl_function_class_texts[];

enum {
	FSL_FUNCTIONS_KEPT_MAX = 1024,   /* of a class; those that take most time */
	FSL_FUNCTION_NAME_MAX = 4096,    /* bytes of a call path, and of one frame more */
	FSL_FUNCTION_PATHS_MAX = 1 << 18 /* call paths of a rank; deeper ones count for callers */
};

struct fsl_function {
	enum fsl_function_class class;
	const char *name;  /* of a kernel without its shape; "a.py: f|b.py: g"; rank's arena */
	const char *shape; /* "132_1_1|256_1_1"; "": not told, or no kernel */
	int64_t count;
	int64_t total_ns;          /* sum of all; of Python own time, without callees */
	int64_t wall_ns;           /* in which it runs, overlaps counted once */
	int64_t exclusive_ns;      /* of these, while no higher class runs */
	int64_t syscall_ns;        /* of @total_ns, in system calls; of Python only */
	double mean_ns, spread_ns; /* of one call; population standard deviation */
	double median_ns;          /* of one call; NaN: of Python */
	double flops, bytes;       /* of one call, as the trace tells them; 0: it does not */
	/* The counter of cores or links that is highest while it runs, with mean and spread;
	 * FSL_SAMPLED_N and NaN: no samples. */
	enum fsl_sampled sampled;
	double level, level_spread;
};

/* Kernels of one name, whatever their shapes, over the whole trace or in one step: for scores. */
struct fsl_kernel_level {
	int64_t step;     /* FSL_STEP_ABSENT: the whole trace */
	uint32_t name_id; /* whole name, in rank->names */
	int64_t count, total_ns;
	double median_ns;
};

struct fsl_functions_rest {
	size_t n; /* functions that are not kept */
	int64_t count, total_ns, exclusive_ns;
};

/* All samples of a counter. */
struct fsl_function_sampled {
	size_t n;
	bool is_percent;
	double max;
};

struct fsl_functions {
	int64_t window_ns;  /* from the first event of the trace to the end of the last one */
	int64_t n_syscalls; /* that the trace has */
	int64_t compute_ns, busy_ns; /* in which the device computes, or works at all */
	struct fsl_function *items;  /* by class, then the longest exclusive time first */
	size_t n_items, items_capacity;
	struct fsl_functions_rest rest[FSL_FUNCTION_CLASSES_N];
	struct fsl_function_sampled sampled[FSL_SAMPLED_N];
	struct fsl_kernel_level *levels; /* sorted by step, then by id of the name */
	size_t n_levels, levels_capacity;
};
/* NULL is fine. Names belong to the rank. */
void fsl_functions_destroy(struct fsl_functions *functions);

/* Stretches of time without overlaps, and how much of them lies before each. Start as {0}. */
struct fsl_busy_span {
	int64_t begin_ns, end_ns, before_ns;
};
struct fsl_busy {
	struct fsl_busy_span *spans;
	size_t n_spans, spans_capacity;
};
/* Adds a stretch that does not begin before the last one. FSL_ERR_MEMORY only. */
enum fsl_status fsl_busy_add(struct fsl_busy *busy, int64_t begin_ns, int64_t end_ns,
			     struct fsl_error *err);
/* Sum of all stretches before a time. */
int64_t fsl_busy_until(const struct fsl_busy *busy, int64_t time_ns);
/* The same for times that do not fall: *from, at first 0, is where the next search begins. */
int64_t fsl_busy_next(const struct fsl_busy *busy, size_t *from, int64_t time_ns);

/* Functions while they are summed. */
struct fsl_function_built {
	struct fsl_function function; /* without name and shape */
	uint32_t name_id, shape_id;   /* in rank->names; FSL_STR_NONE: none */
	uint32_t caller;              /* of a call path; FSL_STR_NONE: none */
	double squares;               /* sum of squared distances from the mean */
	uint32_t thread;              /* of its first call, of a call path */
	bool has_thread, is_shared;   /* with another thread */
	int64_t until_ns;             /* end of the stretches so far; INT64_MIN: none yet */
	size_t above_at;              /* where the time above them was looked for last */
};
struct fsl_function_times {
	struct fsl_strpool *keys;
	struct fsl_function_built *built;
	size_t n_built, built_capacity;
	int64_t *durations; /* of single calls, for medians: those of each function together */
	size_t *ends;       /* of each function: end of its durations so far */
};

enum fsl_status fsl_function_times_init(struct fsl_function_times *times, struct fsl_error *err);
void fsl_function_times_fini(struct fsl_function_times *times);
/* The function with these names, which is added if it is new. @caller: FSL_STR_NONE, or the one
 * that called it; then also *id is @caller if there are FSL_FUNCTION_PATHS_MAX functions. */
enum fsl_status fsl_function_find(struct fsl_function_times *times, enum fsl_function_class class,
				  uint32_t name_id, uint32_t shape_id, uint32_t caller,
				  uint32_t *id, struct fsl_error *err);
/* Adds a stretch in which the function runs, which does not begin before the last one of the
 * function; overlaps count once. @above: the time that higher classes take; NULL: none. */
void fsl_function_add_time(struct fsl_function_times *times, uint32_t function, int64_t begin_ns,
			   int64_t end_ns, const struct fsl_busy *above);
/* Counts one call. */
void fsl_function_count(struct fsl_function_times *times, uint32_t function, int64_t dur_ns);
/* Medians: begin once all calls were counted, add the duration of each of these calls again but for
 * those of Python, and tell. FSL_ERR_MEMORY only. */
enum fsl_status fsl_function_medians_begin(struct fsl_function_times *times, struct fsl_error *err);
void fsl_function_medians_add(struct fsl_function_times *times, uint32_t function, int64_t dur_ns);
void fsl_function_medians_tell(struct fsl_function_times *times);
/* Fills items and rest of rank->functions. FSL_ERR_MEMORY only. */
enum fsl_status fsl_functions_settle(struct fsl_function_times *times,
				     struct fsl_profile_rank *rank, struct fsl_error *err);

#endif

/*
 * Single rows of a capture, for timelines: kernels as the device ran them, calls and functions of
 * the host, and what components of memory held over time. Only kept if they are wanted; judges work
 * with sums.
 */
#ifndef FSL_CAPTURE_KEPT_ROWS_H
#define FSL_CAPTURE_KEPT_ROWS_H

#include "capture/capture.h"

enum {
	FSL_KEPT_KERNELS_MAX = 1 << 24, /* of a rank: 640 MB */
	FSL_KEPT_LEVELS_MAX = 1 << 23,  /* of a rank */
};

/* The lane of a row. */
enum fsl_kept_kind {
	FSL_KEPT_KERNEL,   /* work of the device */
	FSL_KEPT_CALL,     /* of the runtime, by the host */
	FSL_KEPT_FUNCTION, /* of the host: Python, or an operator of the framework */
	FSL_KEPT_KINDS_N
};

struct fsl_kept_kernel {
	int64_t begin_ns, end_ns;
	int64_t step;              /* FSL_STEP_ABSENT: not known */
	uint32_t name_id, core_id; /* in rank->names; FSL_STR_NONE: not told */
	enum fsl_kept_kind kind;
};

/* Memory of a component at one moment. */
struct fsl_kept_level {
	int64_t time_ns;
	int64_t allocated_bytes, reserved_bytes; /* -1: not told */
	uint32_t component_id;                   /* in rank->names */
	bool is_of_operator; /* told by the allocation of an operator, not by a record of its own */
};

struct fsl_kept_rows {
	struct fsl_kept_kernel *kernels; /* in the order of the file */
	size_t n_kernels, kernels_capacity;
	bool has_text; /* the kernels are those of text files: a database has the same ones */
	struct fsl_kept_level *levels;
	size_t n_levels, levels_capacity;
	uint64_t n_left_out; /* rows beyond the limits */
};

/* Adds a row if rows are kept, else does nothing. FSL_ERR_MEMORY. */
enum fsl_status fsl_keep_kernel(struct fsl_profile_rank *rank, const struct fsl_kept_kernel *kernel,
				struct fsl_error *err);
enum fsl_status fsl_keep_level(struct fsl_profile_rank *rank, const struct fsl_kept_level *level,
			       struct fsl_error *err);
/* Forgets kernels, as their file is read again. */
void fsl_forget_kernels(struct fsl_profile_rank *rank);
/* NULL is fine. */
void fsl_kept_rows_destroy(struct fsl_kept_rows *kept);

#endif

/* Counts the kernels of a rank by the properties that matter for their duration. */
#ifndef FSL_CAPTURE_KERNEL_CLASSES_H
#define FSL_CAPTURE_KERNEL_CLASSES_H

#include "capture/capture.h"

enum {
	FSL_KERNEL_CLASSES_MAX = 1 << 18, /* beyond this number shapes are no longer told apart */
	FSL_KERNEL_SAMPLES_MAX = 8,       /* calls of a class that are kept */
	FSL_KERNEL_SAMPLES_OF_RANK_MAX = 2048,
	FSL_KERNEL_SHAPE_BYTES_MAX = 1024, /* longer ones are kept as their beginning and a hash */
};

/* Index over rank->kernels; start as {.rank = rank}. */
struct fsl_kernel_classes {
	struct fsl_profile_rank *rank;
	struct fsl_strpool *keys; /* of rank->kernels, in their order */
	char *text;               /* shapes and types, joined */
	size_t text_capacity;
	bool is_full; /* some kernels were counted without their shapes, or not at all */
};

/* One kernel; texts may be empty. */
struct fsl_kernel {
	int64_t step, begin_ns, dur_ns;
	int64_t n_blocks; /* 0: not told */
	uint32_t type_id, core_id;
	const char *shapes, *types; /* no NUL needed at the end */
	size_t n_shapes, n_types;
};
/* Counts the kernel in rank->kernels, and keeps it in rank->samples if it is one of the first of
 * its class. *at is its place there; FSL_STR_NONE if there are too many. FSL_ERR_MEMORY,
 * FSL_ERR_LIMIT. */
enum fsl_status fsl_kernel_classes_add(struct fsl_kernel_classes *classes,
				       const struct fsl_kernel *kernel, uint32_t *at,
				       struct fsl_error *err);
void fsl_kernel_classes_fini(struct fsl_kernel_classes *classes);

#endif

/* Communication of single operators that no kernel hides: the replay of a capture knows operators
 * alone, and this is what they cost the device. */
#ifndef FSL_CAPTURE_EXPOSED_H
#define FSL_CAPTURE_EXPOSED_H

#include "capture/capture.h"
#include "capture/copies.h"

/* Adds the time of a kernel that computes. Kernels come in the order of their begins.
 * FSL_ERR_MEMORY only. */
enum fsl_status fsl_exposed_add_kernel(struct fsl_spans *kernels, int64_t begin_ns, int64_t end_ns,
				       struct fsl_error *err);

/*
 * Sets exposed_ns of rank->comms, and rank->tells_exposed: time without kernels that ended because
 * the operator did. Each stretch without kernels belongs to the operators that end in it; if
 * several run at a time, to the one that ends last. A stretch that ends while operators go on did
 * not wait for them. @kernels: all of the rank. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_exposed_tell(struct fsl_profile_rank *rank, const struct fsl_spans *kernels,
				 struct fsl_error *err);

#endif

/* Copies of memory on the device, and what of them nothing else overlaps: their part of the slices
 * that the profiler calls free. Both come in any order. */
#ifndef FSL_CAPTURE_COPIES_H
#define FSL_CAPTURE_COPIES_H

#include "capture/capture.h"

struct fsl_span {
	int64_t begin_ns, end_ns;
	int64_t step; /* of a free slice */
};

/* Start as {0}. */
struct fsl_spans {
	struct fsl_span *items;
	size_t n_items, items_capacity;
	bool is_full; /* further ones are left out, so nothing is told */
};

/* FSL_ERR_MEMORY only. */
enum fsl_status fsl_spans_add(struct fsl_spans *spans, int64_t begin_ns, int64_t end_ns,
			      int64_t step, struct fsl_error *err);
void fsl_spans_fini(struct fsl_spans *spans);

/* Sets rank->copies. Sorts the copies, and makes one of those that overlap. FSL_ERR_MEMORY only. */
enum fsl_status fsl_copies_tell(struct fsl_spans *copies, const struct fsl_spans *free,
				struct fsl_profile_rank *rank, struct fsl_error *err);

#endif

/* Files that are in memory at the same time, each with its own names and texts. */
#ifndef FSL_SOURCE_BATCH_H
#define FSL_SOURCE_BATCH_H

#include "source/load.h"

enum {
	/* Files in memory at the same time. This bounds the memory that 100,000 small files take,
	 * and is far more than there are threads. */
	FSL_BATCH_FILES = 512,
};

/* Fills @order[n_loads] with the positions of @loads, the largest file first. Files of equal size
 * keep their order. */
void fsl_batch_order(const struct fsl_load *loads, size_t n_loads, size_t *order);

/* Reads the inputs of all @loads that have place 0 (this process), on @n_threads threads. @n_loads:
 * at most FSL_BATCH_FILES. Times are in ns. Fails only when out of memory. */
enum fsl_status fsl_batch_read(struct fsl_load *loads, size_t n_loads, int64_t from_ns,
			       int64_t to_ns, int n_threads, struct fsl_error *err);

#endif

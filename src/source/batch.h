/* Files that are in memory at the same time, each with its own names and texts. */
#ifndef FSL_SOURCE_BATCH_H
#define FSL_SOURCE_BATCH_H

#include "source/load.h"

enum {
	/* Bounds what 100,000 small files need, and is far more than there are threads. */
	FSL_BATCH_FILES = 512,
};

/* Positions of @loads, the largest file first, equal ones as they stand; @order has room for all.
 */
void fsl_batch_order(const struct fsl_load *loads, size_t n_loads, size_t *order);

/* As fsl_batch_order, but what a thread has to read alone in front of the files of which others can
 * scan parts, so that nobody is idle in the end. */
void fsl_batch_order_to_read(const struct fsl_load *loads, size_t n_loads, size_t *order);

/* Reads the inputs of those @loads that have place 0, on @n_threads threads. Fails only when out
 * of memory. At most FSL_BATCH_FILES. */
enum fsl_status fsl_batch_read(struct fsl_load *loads, size_t n_loads, int64_t from_ns,
			       int64_t to_ns, int n_threads, struct fsl_error *err);

#endif

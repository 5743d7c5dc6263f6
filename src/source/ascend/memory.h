/* Peak memory by component; shared by the readers of memory files. */
#ifndef FSL_SOURCE_ASCEND_MEMORY_H
#define FSL_SOURCE_ASCEND_MEMORY_H

#include "source/ascend/table.h"

/* The units of the tables are binary. */
enum { FSL_BYTES_PER_KB = 1024, FSL_BYTES_PER_MB = 1024 * 1024 };

/*
 * The component of rank->memory, added if new; borrowed until the next call. The driver
 * (@is_module) and the allocators both have a component APP; these stay two. *out is NULL for
 * FSL_STR_NONE, and (reported) if there are too many.
 */
enum fsl_status fsl_memory_component(struct fsl_table *table, uint32_t component_id, bool is_module,
				     struct fsl_profile_memory **out, struct fsl_error *err);

/* The same without a text table; *out is NULL if there are too many. */
enum fsl_status fsl_memory_of(struct fsl_profile_rank *rank, uint32_t component_id, bool is_module,
			      struct fsl_profile_memory **out, struct fsl_error *err);

/* Raises *most_bytes to the column's MB if that is a greater number. */
void fsl_memory_raise(const struct fsl_table *table, size_t column, int64_t *most_bytes);

#endif

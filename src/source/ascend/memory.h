/* Greatest amounts of memory, by component: what the readers of memory files share. */
#ifndef FSL_SOURCE_ASCEND_MEMORY_H
#define FSL_SOURCE_ASCEND_MEMORY_H

#include "source/ascend/table.h"

/* The tables' units are binary. */
enum { FSL_BYTES_PER_KB = 1024, FSL_BYTES_PER_MB = 1024 * 1024 };

/*
 * The component of rank->memory, added when new; borrowed until the next call. Both tell of one
 * named APP, of the driver (@is_module) and of the allocators: these stay two. *out NULL for
 * FSL_STR_NONE, and (told) when there are too many.
 */
enum fsl_status fsl_memory_component(struct fsl_table *table, uint32_t component_id, bool is_module,
				     struct fsl_profile_memory **out, struct fsl_error *err);

/* The same for what is no table of text; *out NULL when there are too many. */
enum fsl_status fsl_memory_of(struct fsl_profile_rank *rank, uint32_t component_id, bool is_module,
			      struct fsl_profile_memory **out, struct fsl_error *err);

/* Raises *most to the column's MB when these are told and more. */
void fsl_memory_raise(const struct fsl_table *table, size_t column, int64_t *most_bytes);

#endif

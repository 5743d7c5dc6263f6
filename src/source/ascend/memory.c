/* Peak memory. */
#include "source/ascend/memory.h"

#include "base/try.h"

enum { COMPONENTS_MAX = 1024 }; /* the driver has about eighty */

enum fsl_status fsl_memory_of(struct fsl_profile_rank *rank, uint32_t component_id, bool is_module,
			      struct fsl_profile_memory **out, struct fsl_error *err)
{
	*out = NULL;
	/* Rows of a component come together, so the search starts at the newest component. */
	for (size_t i = rank->n_memory; i-- > 0;) {
		if (rank->memory[i].component_id == component_id &&
		    rank->memory[i].is_module == is_module) {
			*out = &rank->memory[i];
			return FSL_OK;
		}
	}
	if (rank->n_memory == COMPONENTS_MAX) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(rank->memory, rank->memory_capacity, rank->n_memory + 1, err));
	*out = &rank->memory[rank->n_memory++];
	**out = (struct fsl_profile_memory){.component_id = component_id,
					    .is_module = is_module,
					    .allocated_bytes = -1,
					    .reserved_bytes = -1,
					    .active_bytes = -1,
					    .largest_bytes = -1,
					    .largest_name_id = FSL_STR_NONE};
	return FSL_OK;
}

enum fsl_status fsl_memory_component(struct fsl_table *table, uint32_t component_id, bool is_module,
				     struct fsl_profile_memory **out, struct fsl_error *err)
{
	*out = NULL;
	if (component_id == FSL_STR_NONE) {
		fsl_table_drop(table, "a row without its component");
		return FSL_OK;
	}
	FSL_TRY(fsl_memory_of(table->rank, component_id, is_module, out, err));
	if (*out == NULL) {
		fsl_table_tell(table, "more than 1024 components; further ones are left out");
	}
	return FSL_OK;
}

void fsl_memory_raise(const struct fsl_table *table, size_t column, int64_t *most_bytes)
{
	int64_t n_bytes = fsl_table_amount(table, column, FSL_BYTES_PER_MB, -1);
	if (n_bytes > *most_bytes) {
		*most_bytes = n_bytes;
	}
}

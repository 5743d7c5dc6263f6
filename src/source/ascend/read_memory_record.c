/* memory_record.csv: memory of the allocators (PTA, GE, both together) and of the process (APP, for
 * which only the reserved memory is known); one row per change. */
#include "source/ascend/memory.h"

enum column { COMPONENT, ALLOCATED, RESERVED, ACTIVE, COLUMNS_N };

static const struct fsl_table_column columns[COLUMNS_N] = {
	[COMPONENT] = {{"Component"}, true},
	[ALLOCATED] = {{"Total Allocated(MB)"}, false},
	[RESERVED] = {{"Total Reserved(MB)"}, true},
	[ACTIVE] = {{"Total Active(MB)"}, false},
};

static enum fsl_status add(struct fsl_table *table, void *context, struct fsl_error *err)
{
	(void)context;
	uint32_t component_id = FSL_STR_NONE;
	struct fsl_profile_memory *memory = NULL;
	enum fsl_status status = fsl_table_intern(table, COMPONENT, &component_id, err);
	if (status == FSL_OK) {
		status = fsl_memory_component(table, component_id, false, &memory, err);
	}
	if (memory != NULL) {
		fsl_memory_raise(table, ALLOCATED, &memory->allocated_bytes);
		fsl_memory_raise(table, RESERVED, &memory->reserved_bytes);
		fsl_memory_raise(table, ACTIVE, &memory->active_bytes);
	}
	return status;
}

enum fsl_status fsl_profile_read_memory_record(struct fsl_profile_rank *rank,
					       const struct fsl_profile_input *input,
					       struct fsl_error *err)
{
	return fsl_table_read(rank, input, columns, COLUMNS_N, add, NULL, err);
}

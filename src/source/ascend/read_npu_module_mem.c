/* npu_module_mem.csv: device memory held by modules of the driver and the runtime. */
#include "source/ascend/memory.h"

enum column { COMPONENT, RESERVED, COLUMNS_N };

static const struct fsl_table_column columns[COLUMNS_N] = {
	[COMPONENT] = {{"Component"}, true},
	[RESERVED] = {{"Total Reserved(MB)"}, true},
};

static enum fsl_status add(struct fsl_table *table, void *context, struct fsl_error *err)
{
	(void)context;
	uint32_t component_id = FSL_STR_NONE;
	struct fsl_profile_memory *memory = NULL;
	enum fsl_status status = fsl_table_intern(table, COMPONENT, &component_id, err);
	if (status == FSL_OK) {
		status = fsl_memory_component(table, component_id, true, &memory, err);
	}
	if (memory != NULL) {
		fsl_memory_raise(table, RESERVED, &memory->reserved_bytes);
	}
	return status;
}

enum fsl_status fsl_profile_read_npu_module_mem(struct fsl_profile_rank *rank,
						const struct fsl_profile_input *input,
						struct fsl_error *err)
{
	return fsl_table_read(rank, input, columns, COLUMNS_N, add, NULL, err);
}

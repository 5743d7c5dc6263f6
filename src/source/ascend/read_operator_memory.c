/*
 * operator_memory.csv: allocations by operators, with the memory that their allocator held at begin
 * and end. The release time is blank for memory that was never released. Operators of the graph
 * engine are named "cann::".
 */
#include <string.h>

#include "source/ascend/memory.h"

enum column {
	NAME,
	SIZE,
	BEGIN_ALLOCATED,
	BEGIN_RESERVED,
	BEGIN_ACTIVE,
	END_ALLOCATED,
	END_RESERVED,
	END_ACTIVE,
	COLUMNS_N
};

static const struct fsl_table_column columns[COLUMNS_N] = {
	[NAME] = {{"Name"}, true},
	[SIZE] = {{"Size(KB)"}, true},
	[BEGIN_ALLOCATED] = {{"Allocation Total Allocated(MB)"}, false},
	[BEGIN_RESERVED] = {{"Allocation Total Reserved(MB)"}, false},
	[BEGIN_ACTIVE] = {{"Allocation Total Active(MB)"}, false},
	[END_ALLOCATED] = {{"Release Total Allocated(MB)"}, false},
	[END_RESERVED] = {{"Release Total Reserved(MB)"}, false},
	[END_ACTIVE] = {{"Release Total Active(MB)"}, false},
};

static enum fsl_status intern_component(const struct fsl_table *table, uint32_t *id,
					struct fsl_error *err)
{
	static const char head[] = "cann::";
	const struct fsl_csv_field name = fsl_table_field(table, NAME);
	bool is_graph =
		name.length >= sizeof(head) - 1 && memcmp(name.text, head, sizeof(head) - 1) == 0;
	const struct fsl_csv_field component =
		is_graph ? (struct fsl_csv_field){"GE", 2} : (struct fsl_csv_field){"PTA", 3};
	return fsl_table_intern_text(table, component, id, err);
}

static enum fsl_status add(struct fsl_table *table, void *context, struct fsl_error *err)
{
	(void)context;
	uint32_t component_id = FSL_STR_NONE;
	struct fsl_profile_memory *memory = NULL;
	enum fsl_status status = intern_component(table, &component_id, err);
	if (status == FSL_OK) {
		status = fsl_memory_component(table, component_id, false, &memory, err);
	}
	if (memory == NULL) {
		return status;
	}
	fsl_memory_raise(table, BEGIN_ALLOCATED, &memory->allocated_bytes);
	fsl_memory_raise(table, END_ALLOCATED, &memory->allocated_bytes);
	fsl_memory_raise(table, BEGIN_RESERVED, &memory->reserved_bytes);
	fsl_memory_raise(table, END_RESERVED, &memory->reserved_bytes);
	fsl_memory_raise(table, BEGIN_ACTIVE, &memory->active_bytes);
	fsl_memory_raise(table, END_ACTIVE, &memory->active_bytes);
	int64_t n_bytes = fsl_table_amount(table, SIZE, FSL_BYTES_PER_KB, -1);
	if (n_bytes > memory->largest_bytes) {
		memory->largest_bytes = n_bytes;
		status = fsl_table_intern(table, NAME, &memory->largest_name_id, err);
	}
	return status;
}

enum fsl_status fsl_profile_read_operator_memory(struct fsl_profile_rank *rank,
						 const struct fsl_profile_input *input,
						 struct fsl_error *err)
{
	return fsl_table_read(rank, input, columns, COLUMNS_N, add, NULL, err);
}

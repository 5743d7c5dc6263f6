/*
 * Peak memory by component.
 * memory_record.csv: memory of the allocators (PTA, GE, both together) and of the process (APP, for
 * which only the reserved memory is known); one row per change.
 * npu_module_mem.csv: device memory held by modules of the driver and the runtime.
 * operator_memory.csv: allocations by operators, with the memory that their allocator held at begin
 * and end. The release time is blank for memory that was never released. Operators of the graph
 * engine are named "cann::".
 */
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "capture/kept_rows.h"
#include "source/ascend/table.h"

/* The units of the tables are binary. */
enum { BYTES_PER_KB = 1024, BYTES_PER_MB = 1024 * 1024 };

enum column {
	NAME,
	SIZE,
	ALLOCATED,
	RESERVED,
	ACTIVE,
	END_ALLOCATED,
	END_RESERVED,
	END_ACTIVE,
	TIME,
	END_TIME,
	COLUMNS_N
};

static const struct fsl_table_column record_columns[COLUMNS_N] = {
	[NAME] = {{"Component"}, true},
	[ALLOCATED] = {{"Total Allocated(MB)"}, false},
	[RESERVED] = {{"Total Reserved(MB)"}, true},
	[ACTIVE] = {{"Total Active(MB)"}, false},
	[TIME] = {{"Timestamp(us)"}, false},
};

static const struct fsl_table_column module_columns[COLUMNS_N] = {
	[NAME] = {{"Component"}, true},
	[RESERVED] = {{"Total Reserved(MB)"}, true},
};

static const struct fsl_table_column operator_columns[COLUMNS_N] = {
	[NAME] = {{"Name"}, true},
	[SIZE] = {{"Size(KB)"}, true},
	[ALLOCATED] = {{"Allocation Total Allocated(MB)"}, false},
	[RESERVED] = {{"Allocation Total Reserved(MB)"}, false},
	[ACTIVE] = {{"Allocation Total Active(MB)"}, false},
	[END_ALLOCATED] = {{"Release Total Allocated(MB)"}, false},
	[END_RESERVED] = {{"Release Total Reserved(MB)"}, false},
	[END_ACTIVE] = {{"Release Total Active(MB)"}, false},
	[TIME] = {{"Allocation Time(us)"}, false},
	[END_TIME] = {{"Release Time(us)"}, false},
};

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

/* Raises *most_bytes to the column's MB if that is a greater number. */
static void raise_to(const struct fsl_table *table, size_t column, int64_t *most_bytes)
{
	int64_t n_bytes = fsl_table_amount(table, column, BYTES_PER_MB, -1);
	if (n_bytes > *most_bytes) {
		*most_bytes = n_bytes;
	}
}

/* Raises the peaks of the row's component, added if new. *out is NULL for FSL_STR_NONE, and
 * (reported) if there are too many. */
static enum fsl_status add_to(struct fsl_table *table, uint32_t component_id, bool is_module,
			      struct fsl_profile_memory **out, struct fsl_error *err)
{
	*out = NULL;
	if (component_id == FSL_STR_NONE) {
		fsl_table_drop(table, "a row without its component");
		return FSL_OK;
	}
	FSL_TRY(fsl_memory_of(table->rank, component_id, is_module, out, err));
	struct fsl_profile_memory *memory = *out;
	if (memory == NULL) {
		fsl_table_tell(table, "more than 1024 components; further ones are left out");
		return FSL_OK;
	}
	raise_to(table, ALLOCATED, &memory->allocated_bytes);
	raise_to(table, END_ALLOCATED, &memory->allocated_bytes);
	raise_to(table, RESERVED, &memory->reserved_bytes);
	raise_to(table, END_RESERVED, &memory->reserved_bytes);
	raise_to(table, ACTIVE, &memory->active_bytes);
	raise_to(table, END_ACTIVE, &memory->active_bytes);
	return FSL_OK;
}

/* Keeps what the component held at the time in column @time, if it is there. */
static enum fsl_status keep(struct fsl_table *table, uint32_t component_id, enum column time,
			    enum column allocated, enum column reserved, struct fsl_error *err)
{
	struct fsl_kept_level level = {
		.component_id = component_id,
		.is_of_operator = table->at[SIZE] != SIZE_MAX,
		.allocated_bytes = fsl_table_amount(table, allocated, BYTES_PER_MB, -1),
		.reserved_bytes = fsl_table_amount(table, reserved, BYTES_PER_MB, -1)};
	if (table->rank->kept == NULL || component_id == FSL_STR_NONE ||
	    !fsl_table_scaled(table, time, FSL_NS_PER_US, &level.time_ns) || level.time_ns <= 0) {
		return FSL_OK;
	}
	return fsl_keep_level(table->rank, &level, err);
}

/* A row of memory_record.csv, or (*@context) of npu_module_mem.csv. */
static enum fsl_status add_component(struct fsl_table *table, void *context, struct fsl_error *err)
{
	const bool *is_module = context;
	uint32_t component_id = FSL_STR_NONE;
	struct fsl_profile_memory *memory = NULL;
	FSL_TRY(fsl_table_intern(table, NAME, &component_id, err));
	if (!*is_module) {
		FSL_TRY(keep(table, component_id, TIME, ALLOCATED, RESERVED, err));
	}
	return add_to(table, component_id, *is_module, &memory, err);
}

static enum fsl_status add_operator(struct fsl_table *table, void *context, struct fsl_error *err)
{
	(void)context;
	static const char head[] = "cann::";
	const struct fsl_csv_field name = fsl_table_field(table, NAME);
	bool is_graph =
		name.length >= sizeof(head) - 1 && memcmp(name.text, head, sizeof(head) - 1) == 0;
	const struct fsl_csv_field component =
		is_graph ? (struct fsl_csv_field){"GE", 2} : (struct fsl_csv_field){"PTA", 3};
	uint32_t component_id = FSL_STR_NONE;
	struct fsl_profile_memory *memory = NULL;
	FSL_TRY(fsl_table_intern_text(table, component, &component_id, err));
	FSL_TRY(keep(table, component_id, TIME, ALLOCATED, RESERVED, err));
	FSL_TRY(keep(table, component_id, END_TIME, END_ALLOCATED, END_RESERVED, err));
	FSL_TRY(add_to(table, component_id, false, &memory, err));
	int64_t n_bytes = fsl_table_amount(table, SIZE, BYTES_PER_KB, -1);
	if (memory == NULL || n_bytes <= memory->largest_bytes) {
		return FSL_OK;
	}
	memory->largest_bytes = n_bytes;
	return fsl_table_intern(table, NAME, &memory->largest_name_id, err);
}

enum fsl_status fsl_profile_read_memory_record(struct fsl_profile_rank *rank,
					       const struct fsl_profile_input *input,
					       struct fsl_error *err)
{
	bool is_module = false;
	return fsl_table_read(rank, input, record_columns, COLUMNS_N, add_component, &is_module,
			      err);
}

enum fsl_status fsl_profile_read_npu_module_mem(struct fsl_profile_rank *rank,
						const struct fsl_profile_input *input,
						struct fsl_error *err)
{
	bool is_module = true;
	return fsl_table_read(rank, input, module_columns, COLUMNS_N, add_component, &is_module,
			      err);
}

enum fsl_status fsl_profile_read_operator_memory(struct fsl_profile_rank *rank,
						 const struct fsl_profile_input *input,
						 struct fsl_error *err)
{
	return fsl_table_read(rank, input, operator_columns, COLUMNS_N, add_operator, NULL, err);
}

/* MEMORY_RECORD, OP_MEMORY and NPU_MEM: the content of memory_record.csv and operator_memory.csv,
 * in bytes. The memory of the process is type "app" of NPU_MEM there, and component APP here. */
#include "base/number.h"
#include "base/try.h"
#include "capture/kept_rows.h"
#include "source/ascend/read_profiler_parts.h"

#include <string.h>

#include "source/ascend/files.h"

enum { NAME, SIZE, DEVICE, ALLOCATED, RESERVED, ACTIVE, TIME, COLUMNS_N };

static const struct fsl_db_column record_columns[COLUMNS_N] = {
	[NAME] = {{"component"}, true, 0},         [SIZE] = {{"totalReserved"}, true, 0},
	[DEVICE] = {{"deviceId"}, false, 0},       [ALLOCATED] = {{"totalAllocated"}, false, 0},
	[RESERVED] = {{"totalReserved"}, true, 0}, [ACTIVE] = {{"totalActive"}, false, 0},
	[TIME] = {{"timestamp"}, false, 0},
};

static const struct fsl_db_column operator_columns[COLUMNS_N] = {
	[NAME] = {{"name"}, true, 0},
	[SIZE] = {{"size"}, true, 0},
	[DEVICE] = {{"deviceId"}, false, 0},
	[ALLOCATED] = {{"allocationTotalAllocated"}, false, 0},
	[RESERVED] = {{"allocationTotalReserved"}, false, 0},
	[ACTIVE] = {{"allocationTotalActive"}, false, 0},
	[TIME] = {{"allocationTime"}, false, 0},
};

static const struct fsl_db_column process_columns[COLUMNS_N] = {
	[NAME] = {{"type"}, true, 0},         [SIZE] = {{"hbm"}, true, 0},
	[DEVICE] = {{"deviceId"}, false, 0},  [ALLOCATED] = {{"totalAllocated"}, false, 0},
	[RESERVED] = {{"hbm"}, true, 0},      [ACTIVE] = {{"totalAllocated"}, false, 0},
	[TIME] = {{"timestampNs"}, false, 0},
};

static void raise_to(const struct fsl_db_rows *rows, size_t column, int64_t *most_bytes)
{
	int64_t n_bytes = -1;
	if (fsl_db_i64(rows, column, &n_bytes) && n_bytes > *most_bytes) {
		*most_bytes = n_bytes;
	}
}

static enum fsl_status add_to(struct fsl_profiler *profiler, const char *component,
			      struct fsl_profile_memory **out, struct fsl_error *err)
{
	uint32_t id = FSL_STR_NONE;
	FSL_TRY(fsl_strpool_intern(profiler->rank->names, component, strlen(component), &id, err));
	return fsl_memory_of(profiler->rank, id, false, out, err);
}

/* Keeps what the component held at the time of the row. */
static enum fsl_status keep(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
			    const struct fsl_profile_memory *memory, bool is_of_operator,
			    struct fsl_error *err)
{
	struct fsl_kept_level level = {.component_id = memory->component_id,
				       .is_of_operator = is_of_operator,
				       .allocated_bytes = -1,
				       .reserved_bytes = -1};
	(void)fsl_db_i64(rows, ALLOCATED, &level.allocated_bytes);
	(void)fsl_db_i64(rows, RESERVED, &level.reserved_bytes);
	return fsl_db_i64(rows, TIME, &level.time_ns) && level.time_ns > 0
		       ? fsl_keep_level(profiler->rank, &level, err)
		       : FSL_OK;
}

static enum fsl_status add_record(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
				  uint32_t name_id, struct fsl_error *err)
{
	struct fsl_profile_memory *memory = NULL;
	enum fsl_status status = fsl_memory_of(profiler->rank, name_id, false, &memory, err);
	if (memory != NULL) {
		raise_to(rows, ALLOCATED, &memory->allocated_bytes);
		raise_to(rows, RESERVED, &memory->reserved_bytes);
		raise_to(rows, ACTIVE, &memory->active_bytes);
		status = keep(profiler, rows, memory, false, err);
	}
	return status;
}

/* Operators of the graph engine are named "cann::". */
static enum fsl_status add_operator(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
				    uint32_t name_id, struct fsl_error *err)
{
	struct fsl_profile_memory *memory = NULL;
	const char *name = fsl_strpool_text(profiler->rank->names, name_id);
	enum fsl_status status =
		add_to(profiler, strncmp(name, "cann::", 6) == 0 ? "GE" : "PTA", &memory, err);
	int64_t n_bytes = -1;
	if (memory == NULL) {
		return status;
	}
	raise_to(rows, ALLOCATED, &memory->allocated_bytes);
	raise_to(rows, RESERVED, &memory->reserved_bytes);
	raise_to(rows, ACTIVE, &memory->active_bytes);
	if (fsl_db_i64(rows, SIZE, &n_bytes) && n_bytes > memory->largest_bytes) {
		memory->largest_bytes = n_bytes;
		memory->largest_name_id = name_id;
	}
	return keep(profiler, rows, memory, true, err);
}

static enum fsl_status add_process(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
				   uint32_t name_id, struct fsl_error *err)
{
	struct fsl_profile_memory *memory = NULL;
	if (strcmp(fsl_strpool_text(profiler->rank->names, name_id), "app") != 0) {
		return FSL_OK;
	}
	enum fsl_status status = add_to(profiler, "APP", &memory, err);
	if (memory != NULL) {
		raise_to(rows, RESERVED, &memory->reserved_bytes);
		status = keep(profiler, rows, memory, false, err);
	}
	return status;
}

typedef enum fsl_status (*adder)(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
				 uint32_t name_id, struct fsl_error *err);

/* Reading of one table. */
struct reading {
	struct fsl_profiler *profiler;
	adder add;
};

static enum fsl_status add_row(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	const struct reading *reading = context;
	uint32_t name_id = FSL_STR_NONE;
	if (fsl_profiler_is_own(reading->profiler, rows, DEVICE)) {
		FSL_TRY(fsl_profiler_column_name(reading->profiler, rows, NAME, &name_id, err));
	}
	return name_id != FSL_STR_NONE ? reading->add(reading->profiler, rows, name_id, err)
				       : FSL_OK;
}

enum fsl_status fsl_profiler_read_memory(struct fsl_profiler *profiler, struct fsl_error *err)
{
	static const struct {
		struct fsl_db_select select;
		adder add;
	} tables[] = {
		{{{"MEMORY_RECORD"}, NULL, record_columns, COLUMNS_N, ""}, add_record},
		{{{"OP_MEMORY"}, NULL, operator_columns, COLUMNS_N, ""}, add_operator},
		{{{"NPU_MEM"}, NULL, process_columns, COLUMNS_N, ""}, add_process},
	};
	if (profiler->rank->n_memory > 0) {
		return FSL_OK; /* text files have it already */
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct reading reading = {profiler, tables[i].add};
		FSL_TRY(fsl_db_read(profiler->db, &tables[i].select, add_row, &reading, err));
	}
	return FSL_OK;
}

/* Names, steps and devices of the profiler's own databases. */
#include "base/try.h"
#include "source/ascend/read_profiler_parts.h"

#include <string.h>

#include "capture/cluster.h"
#include "source/ascend/trace_steps.h"

static enum fsl_status look_up(struct fsl_profiler *profiler, int64_t id, uint32_t *name_id,
			       struct fsl_error *err)
{
	struct fsl_db_rows *lookup = profiler->names.lookup;
	bool has_row = false;
	size_t length = 0;
	*name_id = FSL_STR_NONE;
	enum fsl_status status = lookup != NULL ? fsl_db_find(lookup, id, &has_row, err) : FSL_OK;
	const char *text = has_row ? fsl_db_text(lookup, 0, &length) : NULL;
	if (text != NULL && (length != 3 || memcmp(text, "N/A", 3) != 0)) {
		status = fsl_strpool_intern(profiler->rank->names, text, length, name_id, err);
	}
	return status;
}

enum fsl_status fsl_profiler_name(struct fsl_profiler *profiler, int64_t id, uint32_t *name_id,
				  struct fsl_error *err)
{
	struct fsl_profiler_names *names = &profiler->names;
	uint32_t at = 0, found = FSL_STR_NONE;
	FSL_TRY(fsl_strpool_intern(names->numbers, (const char *)&id, sizeof(id), &at, err));
	if (at == names->n_ids) {
		FSL_TRY(FSL_GROW(names->ids, names->capacity, names->n_ids + 1, err));
		FSL_TRY(look_up(profiler, id, &found, err));
		names->ids[names->n_ids++] = found;
	}
	*name_id = names->ids[at];
	return FSL_OK;
}

enum fsl_status fsl_profiler_column_name(struct fsl_profiler *profiler,
					 const struct fsl_db_rows *rows, size_t column,
					 uint32_t *name_id, struct fsl_error *err)
{
	int64_t id = 0;
	*name_id = FSL_STR_NONE;
	return fsl_db_i64(rows, column, &id) ? fsl_profiler_name(profiler, id, name_id, err)
					     : FSL_OK;
}

enum fsl_status fsl_profiler_group(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
				   size_t column, uint32_t *group_id, struct fsl_error *err)
{
	char hash[24];
	struct fsl_strpool *names = profiler->rank->names;
	FSL_TRY(fsl_profiler_column_name(profiler, rows, column, group_id, err));
	if (*group_id == FSL_STR_NONE) {
		return FSL_OK;
	}
	const char *text = fsl_strpool_text(names, *group_id);
	if (strspn(text, "0123456789") == strlen(text)) {
		return FSL_OK; /* older profilers lack the table */
	}
	fsl_profile_group_hash(text, hash);
	return fsl_strpool_intern(names, hash, strlen(hash), group_id, err);
}

void fsl_profiler_names_fini(struct fsl_profiler_names *names)
{
	fsl_db_rows_close(names->lookup);
	fsl_strpool_destroy(names->numbers);
	fsl_free(names->ids);
	*names = (struct fsl_profiler_names){0};
}

bool fsl_profiler_step_at(const struct fsl_profiler *profiler, int64_t time_ns, int64_t *step)
{
	*step = fsl_range_at(profiler->steps, profiler->n_steps, time_ns);
	return *step != FSL_STEP_ABSENT || profiler->n_steps == 0;
}

bool fsl_profiler_times(const struct fsl_db_rows *rows, size_t begin, size_t end, int64_t *begin_ns,
			int64_t *end_ns)
{
	return fsl_db_i64(rows, begin, begin_ns) && fsl_db_i64(rows, end, end_ns) &&
	       *begin_ns >= 0 && *end_ns >= *begin_ns;
}

bool fsl_profiler_is_own(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
			 size_t column)
{
	int64_t device_id = -1;
	if (!fsl_db_i64(rows, column, &device_id) || device_id < 0) {
		return true; /* older tables lack the column */
	}
	if (profiler->device_id < 0) {
		profiler->device_id = device_id;
	}
	return profiler->device_id == device_id;
}

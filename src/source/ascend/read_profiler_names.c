/* Names, steps and devices of the profiler's own databases. */
#include "base/try.h"
#include "source/ascend/read_profiler_parts.h"

#include <string.h>

#include "capture/cluster.h"

enum { SLOTS_FIRST = 1024 };

struct fsl_profiler_name {
	int64_t id;
	uint32_t name_id;
	bool is_used;
};

static struct fsl_profiler_name *find_slot(const struct fsl_profiler_names *names, int64_t id)
{
	uint64_t at = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 20;
	for (;; at++) {
		struct fsl_profiler_name *slot = &names->slots[at & (names->n_slots - 1)];
		if (!slot->is_used || slot->id == id) {
			return slot;
		}
	}
}

static enum fsl_status grow(struct fsl_profiler_names *names, struct fsl_error *err)
{
	struct fsl_profiler_names wider = *names;
	wider.n_slots = names->n_slots > 0 ? names->n_slots * 2 : SLOTS_FIRST;
	wider.slots = fsl_calloc(wider.n_slots, sizeof(*wider.slots));
	if (wider.slots == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", names->n_used);
	}
	for (size_t i = 0; i < names->n_slots; i++) {
		if (names->slots[i].is_used) {
			*find_slot(&wider, names->slots[i].id) = names->slots[i];
		}
	}
	fsl_free(names->slots);
	*names = wider;
	return FSL_OK;
}

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
	if (names->n_used * 2 >= names->n_slots) {
		FSL_TRY(grow(names, err));
	}
	struct fsl_profiler_name *slot = find_slot(names, id);
	if (!slot->is_used) {
		uint32_t found = FSL_STR_NONE;
		FSL_TRY(look_up(profiler, id, &found, err));
		*slot = (struct fsl_profiler_name){id, found, true};
		names->n_used++;
	}
	*name_id = slot->name_id;
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
	fsl_free(names->slots);
	*names = (struct fsl_profiler_names){0};
}

bool fsl_profiler_step_at(const struct fsl_profiler *profiler, int64_t time_ns, int64_t *step)
{
	size_t low = 0, high = profiler->n_steps;
	*step = FSL_STEP_ABSENT;
	if (high == 0) {
		return true;
	}
	while (low < high) { /* finds the first step that begins later */
		size_t middle = low + (high - low) / 2;
		if (profiler->steps[middle].begin_ns <= time_ns) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == 0 || time_ns >= profiler->steps[low - 1].end_ns) {
		return false;
	}
	*step = profiler->steps[low - 1].step;
	return true;
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

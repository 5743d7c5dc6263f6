/* ascend_pytorch_profiler_<N>.db, ascend_mindspore_profiler_<N>.db, msprof_<time>.db: the
 * profiler's own databases, in ns, with texts by number. */
#include "source/ascend/read_profiler_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/try.h"
#include "capture/cluster.h"
#include "source/ascend/info.h"
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

enum fsl_status fsl_profiler_column_name(struct fsl_profiler *profiler,
					 const struct fsl_db_rows *rows, size_t column,
					 uint32_t *name_id, struct fsl_error *err)
{
	struct fsl_profiler_names *names = &profiler->names;
	int64_t id = 0;
	uint32_t at = 0;
	*name_id = FSL_STR_NONE;
	if (!fsl_db_i64(rows, column, &id)) {
		return FSL_OK;
	}
	FSL_TRY(fsl_strpool_intern(names->numbers, (const char *)&id, sizeof(id), &at, err));
	if (at == names->n_ids) {
		FSL_TRY(FSL_GROW(names->ids, names->capacity, names->n_ids + 1, err));
		names->n_ids++;
		FSL_TRY(look_up(profiler, id, &names->ids[at], err));
	}
	*name_id = names->ids[at];
	return FSL_OK;
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

enum { STEPS_MAX = 1 << 20 };

enum step_column { BEGIN, END, NUMBER, STEP_COLUMNS_N };

static const struct fsl_db_column step_columns[STEP_COLUMNS_N] = {
	[BEGIN] = {{"startNs"}, true, 0},
	[END] = {{"endNs"}, true, 0},
	[NUMBER] = {{"id"}, true, 0},
};

static const struct fsl_db_select step_select = {
	{"STEP_TIME"}, NULL, step_columns, STEP_COLUMNS_N, "ORDER BY 1, 2, 3"};

static enum fsl_status add_step(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct fsl_profiler *profiler = context;
	struct fsl_profile_range step;
	if (!fsl_profiler_times(rows, BEGIN, END, &step.begin_ns, &step.end_ns) ||
	    !fsl_db_i64(rows, NUMBER, &step.step) || step.step < 0) {
		fsl_db_drop(rows, "a step without number or times");
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(profiler->steps, profiler->steps_capacity, profiler->n_steps + 1, err));
	profiler->steps[profiler->n_steps++] = step;
	if (profiler->n_steps == STEPS_MAX) {
		fsl_db_stop(rows);
	}
	return FSL_OK;
}

static int compare_steps(const void *left, const void *right)
{
	const struct fsl_profile_range *a = left, *b = right;
	return FSL_ORDER(a->begin_ns, b->begin_ns);
}

static enum fsl_status read_steps(struct fsl_profiler *profiler, struct fsl_error *err)
{
	FSL_TRY(fsl_db_read(profiler->db, &step_select, add_step, profiler, err));
	if (profiler->n_steps > 0) { /* sort again: numbers stored as text sort differently */
		qsort(profiler->steps, profiler->n_steps, sizeof(*profiler->steps), compare_steps);
	}
	return FSL_OK;
}

/* The device of the rank, or the only device if the rank is not listed. */
struct device_search {
	struct fsl_profiler *profiler;
	size_t n_rows;
	bool is_found;
};

static enum fsl_status add_device(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	(void)err;
	struct device_search *search = context;
	int64_t rank = -1, device_id = -1;
	if (fsl_db_i64(rows, 1, &device_id) && device_id >= 0) {
		search->profiler->device_id = device_id;
		search->n_rows++;
		search->is_found =
			fsl_db_i64(rows, 0, &rank) && rank == search->profiler->rank->rank;
	}
	if (search->is_found) {
		fsl_db_stop(rows);
	}
	return FSL_OK;
}

static enum fsl_status read_device(struct fsl_profiler *profiler, struct fsl_error *err)
{
	static const struct fsl_db_column columns[] = {{{"rankId"}, true, 0},
						       {{"deviceId"}, true, 0}};
	static const struct fsl_db_select select_all = {{"RANK_DEVICE_MAP"}, NULL, columns, 2, ""};
	struct device_search search = {.profiler = profiler};
	FSL_TRY(fsl_db_read(profiler->db, &select_all, add_device, &search, err));
	if (!search.is_found && search.n_rows > 1) {
		profiler->device_id = -1;
	}
	return FSL_OK;
}

/* Copies a text of the row to *@to, if that is not known yet. */
static enum fsl_status take_text(struct fsl_profiler *profiler, const struct fsl_db_rows *rows,
				 size_t column, const char **to, struct fsl_error *err)
{
	size_t length = 0;
	const char *text = fsl_db_text(rows, column, &length);
	if (text == NULL || (*to != NULL && (*to)[0] != '\0')) {
		return FSL_OK;
	}
	const char *kept = fsl_arena_strndup(&profiler->rank->arena, text, length);
	if (kept == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
				(int)profiler->rank->rank);
	}
	*to = kept;
	return FSL_OK;
}

/* A host without an id is known by its name. */
static enum fsl_status add_host(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	enum { UID, NAME };
	struct fsl_profiler *profiler = context;
	struct fsl_profile_info *info = &profiler->rank->info;
	fsl_db_stop(rows);
	FSL_TRY(take_text(profiler, rows, UID, &info->host_uid, err));
	FSL_TRY(take_text(profiler, rows, NAME, &info->host_uid, err));
	return take_text(profiler, rows, NAME, &info->host_name, err);
}

/* True if the rank's text files lack this entry. */
static bool is_wanted(const struct fsl_profile_info *info, const char *name, size_t length)
{
	static const char sizes[] = "distributed_args", groups[] = "parallel_group_info";
	bool has_sizes = info->tensor_size > 0 || info->pipeline_size > 0 || info->data_size > 0 ||
			 info->world_size > 0;
	return (!has_sizes && length == sizeof(sizes) - 1 && memcmp(name, sizes, length) == 0) ||
	       (info->n_groups == 0 && length == sizeof(groups) - 1 &&
		memcmp(name, groups, length) == 0);
}

struct metadata {
	struct fsl_profiler *profiler;
	cJSON *root;
};

/* Adds the JSON document in the row to the root under its name. */
static enum fsl_status add_document(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	const struct metadata *metadata = context;
	struct fsl_profiler *profiler = metadata->profiler;
	size_t n_name = 0, n_value = 0;
	char key[32];
	const char *name = fsl_db_text(rows, 0, &n_name);
	const char *value = fsl_db_text(rows, 1, &n_value);
	if (name == NULL || value == NULL || !is_wanted(&profiler->rank->info, name, n_name)) {
		return FSL_OK;
	}
	memcpy(key, name, n_name);
	key[n_name] = '\0';
	cJSON *document = cJSON_ParseWithLength(value, n_value);
	if (!cJSON_IsObject(document) || !cJSON_AddItemToObject(metadata->root, key, document)) {
		cJSON_Delete(document);
		return fsl_db_tell(profiler->db, FSL_FILE_PARTIAL, err,
				   "a document of META_DATA is no JSON object: name=\"%s\"", key);
	}
	return FSL_OK;
}

static enum fsl_status read_metadata(struct fsl_profiler *profiler, struct fsl_error *err)
{
	static const struct fsl_db_column columns[] = {{{"name"}, true, 0}, {{"value"}, true, 0}};
	static const struct fsl_db_select select_all = {{"META_DATA"}, NULL, columns, 2, ""};
	cJSON *root = cJSON_CreateObject();
	struct metadata metadata = {profiler, root};
	enum fsl_status status =
		root != NULL ? fsl_db_read(profiler->db, &select_all, add_document, &metadata, err)
			     : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
					(int)profiler->rank->rank);
	if (status == FSL_OK && root->child != NULL) {
		struct fsl_file *file = profiler->input->file;
		uint64_t n_records = file->n_records;
		status = fsl_profile_take_metadata(profiler->rank, file, root, err);
		file->n_records = n_records;
	}
	cJSON_Delete(root);
	return status;
}

/* HOST_INFO and META_DATA: the fields of rank->info that no other file has. */
static enum fsl_status read_info(struct fsl_profiler *profiler, struct fsl_error *err)
{
	static const struct fsl_db_column columns[] = {{{"hostUid"}, false, 0},
						       {{"hostName"}, false, 0}};
	static const struct fsl_db_select select_all = {{"HOST_INFO"}, NULL, columns, 2, ""};
	FSL_TRY(fsl_db_read(profiler->db, &select_all, add_host, profiler, err));
	return read_metadata(profiler, err);
}

enum fsl_status fsl_profile_read_profiler_db(struct fsl_profile_rank *rank, struct fsl_db *db,
					     const struct fsl_profile_input *input,
					     struct fsl_error *err)
{
	static enum fsl_status (*const parts[])(struct fsl_profiler *, struct fsl_error *) = {
		read_steps,
		read_device,
		read_info,
		fsl_profiler_read_tasks,
		fsl_profiler_read_pmu,
		fsl_profiler_read_links,
		fsl_profiler_read_overlap,
		fsl_profiler_read_calls,
		fsl_profiler_read_freqs,
		fsl_profiler_read_memory,
		fsl_profiler_read_launches,
	};
	struct fsl_profiler profiler = {.rank = rank, .db = db, .input = input, .device_id = -1};
	profiler.names.numbers = fsl_strpool_create();
	if (profiler.names.numbers == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	enum fsl_status status =
		fsl_db_lookup(&profiler.names.lookup, db, "STRING_IDS", "id", "value", err);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && status == FSL_OK; i++) {
		status = parts[i](&profiler, err);
	}
	fsl_db_rows_close(profiler.names.lookup);
	fsl_strpool_destroy(profiler.names.numbers);
	fsl_free(profiler.names.ids);
	fsl_free(profiler.tasks);
	fsl_free(profiler.steps);
	return status;
}

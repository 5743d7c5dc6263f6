/* HOST_INFO and META_DATA: the host and the layout of the job, if no other file has them. */
#include "base/try.h"
#include "source/ascend/read_profiler_parts.h"

#include <string.h>

#include "source/ascend/info.h"

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

enum fsl_status fsl_profiler_read_info(struct fsl_profiler *profiler, struct fsl_error *err)
{
	static const struct fsl_db_column columns[] = {{{"hostUid"}, false, 0},
						       {{"hostName"}, false, 0}};
	static const struct fsl_db_select select_all = {{"HOST_INFO"}, NULL, columns, 2, ""};
	FSL_TRY(fsl_db_read(profiler->db, &select_all, add_host, profiler, err));
	return read_metadata(profiler, err);
}

/* profiler_info_<N>.json, profiler_metadata.json and PROF_<n>/device_<N>/info.json of a rank. */
#include "source/ascend/info.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/try.h"
#include "capture/cluster.h"
#include "source/ascend/files.h"
#include "source/ascend/find/listing.h"
#include "source/ascend/find/prof_device.h"
#include "text/small_json.h"

enum { SIZE_MAX_TOLD = 1 << 20 }; /* greatest size of a parallel dimension */

static enum fsl_status short_of_memory(const struct fsl_profile_rank *rank, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
}

static const cJSON *member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* "Level1" from any way to write it: "ProfilerLevel.Level1", "level1". */
static const char *level_text(struct fsl_profile_rank *rank, const char *text)
{
	for (const char *at = text; *at != '\0'; at++) {
		if (strncasecmp(at, "level", 5) == 0 && isdigit((unsigned char)at[5]) != 0) {
			return fsl_arena_printf(&rank->arena, "Level%c", at[5]);
		}
	}
	return fsl_arena_strdup(&rank->arena, text);
}

/* Reads how many steps of a round were recorded; older writers begin the names with "_". */
static void take_schedule(struct fsl_profile_info *info, const cJSON *schedule)
{
	int64_t n_steps = 0;
	info->has_schedule = cJSON_IsObject(schedule);
	bool is_told = fsl_small_json_i64(member(schedule, "active"), &n_steps) ||
		       fsl_small_json_i64(member(schedule, "_active"), &n_steps);
	info->n_active_steps = is_told && n_steps >= 0 ? n_steps : -1;
}

static enum fsl_status take_info(struct fsl_profile_rank *rank, struct fsl_file *file,
				 const cJSON *root, struct fsl_error *err)
{
	struct fsl_profile_info *info = &rank->info;
	const cJSON *config = member(root, "config");
	const cJSON *experimental = member(config, "experimental_config");
	info->level = level_text(rank, fsl_small_json_text(experimental, "_profiler_level"));
	info->torch_version =
		fsl_arena_strdup(&rank->arena, fsl_small_json_text(root, "torch_npu_version"));
	info->cann_version =
		fsl_arena_strdup(&rank->arena, fsl_small_json_text(root, "cann_version"));
	take_schedule(info, member(member(config, "common_config"), "schedule"));
	file->n_records = 1;
	if (info->level == NULL || info->torch_version == NULL || info->cann_version == NULL) {
		return short_of_memory(rank, err);
	}
	return FSL_OK;
}

static int64_t size_of(const cJSON *args, const char *key)
{
	int64_t size = 0;
	bool is_told = fsl_small_json_i64(member(args, key), &size);
	return is_told && size > 0 && size <= SIZE_MAX_TOLD ? size : 0;
}

static void take_sizes(struct fsl_profile_info *info, const cJSON *args)
{
	info->tensor_size = size_of(args, "tensor_model_parallel_size");
	info->pipeline_size = size_of(args, "pipeline_model_parallel_size");
	info->data_size = size_of(args, "data_parallel_size");
	info->context_size = size_of(args, "context_parallel_size");
	info->expert_size = size_of(args, "expert_model_parallel_size");
	info->world_size = size_of(args, "world_size");
	const cJSON *is_parallel = member(args, "sequence_parallel");
	if (cJSON_IsBool(is_parallel)) {
		info->sequence_parallel = cJSON_IsTrue(is_parallel) ? 1 : -1;
	}
}

/*
 * Reads a list of ranks. *ranks stays NULL if it is no list, is empty, or holds anything but ranks.
 */
static enum fsl_status take_members(const cJSON *list, int32_t **ranks, size_t *n_ranks,
				    struct fsl_error *err)
{
	size_t n = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0, i = 0;
	*ranks = NULL;
	if (n == 0) {
		return FSL_OK;
	}
	int32_t *taken = fsl_calloc(n, sizeof(*taken));
	if (taken == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", n);
	}
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
	{
		int64_t rank = -1;
		if (!fsl_small_json_i64(item, &rank) || rank < 0 || rank >= FSL_RANKS_MAX) {
			fsl_free(taken);
			return FSL_OK;
		}
		taken[i++] = (int32_t)rank;
	}
	*ranks = taken;
	*n_ranks = n;
	return FSL_OK;
}

static enum fsl_status take_group(struct fsl_profile_rank *rank, struct fsl_file *file,
				  const cJSON *item, struct fsl_error *err)
{
	struct fsl_profile_info *info = &rank->info;
	struct fsl_profile_parallel_group group = {0};
	enum fsl_status status =
		FSL_GROW(info->groups, info->groups_capacity, info->n_groups + 1, err);
	if (status == FSL_OK) {
		status = take_members(member(item, "global_ranks"), &group.ranks, &group.n_ranks,
				      err);
	}
	file->n_records++;
	if (status != FSL_OK || group.ranks == NULL) {
		file->n_dropped[FSL_DROP_MALFORMED]++;
		return status;
	}
	group.id = fsl_arena_strdup(&rank->arena, item->string);
	group.name = fsl_arena_strdup(&rank->arena, fsl_small_json_text(item, "group_name"));
	fsl_profile_group_hash(item->string, group.hash);
	info->groups[info->n_groups++] = group; /* the group owns the ranks from here on */
	return group.id != NULL && group.name != NULL ? FSL_OK : short_of_memory(rank, err);
}

/* Variables that judges ask for. */
static const char *const variables[] = {"TASK_QUEUE_ENABLE", "CPU_AFFINITY_CONF",
					"ASCEND_LAUNCH_BLOCKING", "PYTORCH_NPU_ALLOC_CONF",
					"LD_PRELOAD"};

static enum fsl_status take_settings(struct fsl_profile_rank *rank, const cJSON *values,
				     struct fsl_error *err)
{
	struct fsl_profile_info *info = &rank->info;
	for (size_t v = 0; v < sizeof(variables) / sizeof(variables[0]); v++) {
		const cJSON *value = member(values, variables[v]);
		if (!cJSON_IsString(value)) {
			continue;
		}
		struct fsl_profile_setting setting = {
			variables[v], fsl_arena_strdup(&rank->arena, value->valuestring)};
		if (setting.value == NULL) {
			return short_of_memory(rank, err);
		}
		FSL_TRY(FSL_GROW(info->settings, info->settings_capacity, info->n_settings + 1,
				 err));
		info->settings[info->n_settings++] = setting;
	}
	return FSL_OK;
}

enum fsl_status fsl_profile_take_metadata(struct fsl_profile_rank *rank, struct fsl_file *file,
					  const cJSON *root, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	file->n_records = 1;
	const cJSON *args = member(root, "distributed_args");
	if (args != NULL) {
		take_sizes(&rank->info, args);
	}
	FSL_TRY(take_settings(rank, member(root, "ENV_VARIABLES"), err));
	const cJSON *groups = member(root, "parallel_group_info"), *item;
	if (!cJSON_IsObject(groups)) {
		return FSL_OK;
	}
	cJSON_ArrayForEach(item, groups)
	{
		status = status == FSL_OK ? take_group(rank, file, item, err) : status;
	}
	uint64_t n_dropped = file->n_dropped[FSL_DROP_MALFORMED];
	if (status == FSL_OK && n_dropped > 0) {
		file->state = FSL_FILE_PARTIAL;
		file->message = fsl_arena_printf(
			&rank->arena,
			"%llu entries of parallel_group_info have no list of ranks in global_ranks: "
			"these groups keep their numbers for names",
			(unsigned long long)n_dropped);
		status = file->message != NULL ? FSL_OK : short_of_memory(rank, err);
	}
	return status;
}

/* Adds the content of a document to the rank. */
typedef enum fsl_status (*taker)(struct fsl_profile_rank *rank, struct fsl_file *file,
				 const cJSON *root, struct fsl_error *err);

static enum fsl_status read_document(struct fsl_profile_rank *rank, const char *format,
				     const char *name, taker take, const char *missed,
				     struct fsl_error *err)
{
	char fault[FSL_SMALL_JSON_FAULT_BYTES] = "";
	struct fsl_file *file = NULL;
	cJSON *root = NULL;
	enum fsl_status status =
		fsl_profile_add_file(rank, rank->folder.path, name, format, &file, err);
	if (status == FSL_OK) {
		status = fsl_small_json_read(file->path, &root, fault, err);
	}
	if (status != FSL_OK) {
		return status;
	}
	struct stat facts;
	file->n_bytes = stat(file->path, &facts) == 0 ? (uint64_t)facts.st_size : 0;
	if (root != NULL) {
		status = take(rank, file, root, err);
	} else {
		file->state = FSL_FILE_UNUSABLE;
		file->message = fsl_arena_printf(&rank->arena, "%s: %s", fault, missed);
		status = file->message != NULL ? FSL_OK : short_of_memory(rank, err);
	}
	cJSON_Delete(root);
	return status;
}

/* The profiler_info with the rank's own number, else the first; NULL if there is none. */
static const char *find_info(const struct fsl_profile_rank *rank, const struct fsl_listing *listing)
{
	char own[64];
	(void)snprintf(own, sizeof(own), "profiler_info_%d.json", (int)rank->rank);
	if (fsl_listing_has(listing, own)) {
		return listing->names[fsl_listing_first(listing, own)];
	}
	size_t i = fsl_listing_first(listing, "profiler_info");
	for (; i < listing->n_names && fsl_text_begins(listing->names[i], "profiler_info"); i++) {
		if (fsl_text_ends(listing->names[i], ".json")) {
			return listing->names[i];
		}
	}
	return NULL;
}

/* Reads the host from the PROF_* folder of the rank: the folder itself, or the first inside it. */
static enum fsl_status read_host(struct fsl_profile_rank *rank, const struct fsl_listing *listing,
				 struct fsl_error *err)
{
	const char *path = NULL;
	size_t i = fsl_listing_first(listing, "PROF_");
	if (rank->folder.writer == FSL_PROFILE_MSPROF) {
		path = rank->folder.path;
	} else if (i < listing->n_names && fsl_text_begins(listing->names[i], "PROF_")) {
		path = fsl_arena_printf(&rank->arena, "%s/%s", listing->path, listing->names[i]);
		if (path == NULL) {
			return short_of_memory(rank, err);
		}
	}
	if (path == NULL) {
		return FSL_OK;
	}
	struct fsl_prof_device device;
	FSL_TRY(fsl_prof_device_read(&device, path, &rank->arena, err));
	rank->info.host_uid = device.host_uid;
	return FSL_OK;
}

enum fsl_status fsl_profile_read_info(struct fsl_profile_rank *rank, struct fsl_error *err)
{
	struct fsl_listing listing;
	struct fsl_error own = {0};
	enum fsl_status status = fsl_listing_read(&listing, rank->folder.path, &own);
	if (status != FSL_OK) {
		return status == FSL_ERR_MEMORY
			       ? short_of_memory(rank, err)
			       : fsl_profile_add_unlisted(rank, rank->folder.path, &own, err);
	}
	const char *info = find_info(rank, &listing);
	if (info != NULL) {
		status = read_document(rank, "profiler_info.json", info, take_info,
				       "level, versions and schedule are not known", err);
	}
	if (status == FSL_OK && fsl_listing_has(&listing, "profiler_metadata.json")) {
		status =
			read_document(rank, "profiler_metadata.json", "profiler_metadata.json",
				      fsl_profile_take_metadata,
				      "names of groups and the parallel layout are not known", err);
	}
	if (status == FSL_OK) {
		status = read_host(rank, &listing, err);
	}
	fsl_free(listing.names);
	return status;
}

void fsl_profile_info_fini(struct fsl_profile_info *info)
{
	for (size_t g = 0; g < info->n_groups; g++) {
		fsl_free(info->groups[g].ranks);
	}
	fsl_free(info->groups);
	fsl_free(info->settings);
}

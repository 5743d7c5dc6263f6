/* The rank of a folder, from its files and its name, in the order of trust. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "source/ascend/find/discover_parts.h"
#include "source/ascend/find/prof_device.h"
#include "text/small_json.h"

/* Rank by each source; -1: none, -2: a number that can be no rank. */
struct told {
	int64_t ranks[FSL_PROFILE_RANK_NONE];
};

enum { NOT_TOLD = -1, TOLD_BADLY = -2 };

static const char *const source_texts[] = {
	[FSL_PROFILE_RANK_INFO_NAME] = "the name of profiler_info",
	[FSL_PROFILE_RANK_INFO_CONTENT] = "rank_id",
	[FSL_PROFILE_RANK_DB_NAME] = "the name of the database",
	[FSL_PROFILE_RANK_METADATA] = "profiler_metadata.json",
	[FSL_PROFILE_RANK_FOLDER_NAME] = "the folder's name",
};

/* Notes a source's rank. The profiler writes -1 if it knows none. */
static void tell(struct told *told, enum fsl_profile_rank_source source, int64_t rank)
{
	if (rank >= FSL_PROFILE_RANKS_MAX) {
		rank = TOLD_BADLY;
	} else if (rank < 0) {
		rank = NOT_TOLD;
	}
	if (told->ranks[source] == NOT_TOLD) {
		told->ranks[source] = rank;
	}
}

/* Reads the object in a file, NULL if there is none; a fault becomes a remark. */
static enum fsl_status read_object(struct fsl_search *search, const char *path, cJSON **root,
				   struct fsl_error *err)
{
	char fault[FSL_SMALL_JSON_FAULT_BYTES] = "";
	FSL_TRY(fsl_small_json_read(path, root, fault, err));
	if (*root == NULL) {
		return fsl_search_remark(search, FSL_DISCOVER_BAD_INFO, err,
					 "\"%s\" is not used: %s", fsl_search_shown(search, path),
					 fault);
	}
	return FSL_OK;
}

/* Reads rank_id, or distributed_args.rank. */
static enum fsl_status tell_content(struct fsl_search *search, const struct fsl_listing *listing,
				    const char *name, enum fsl_profile_rank_source source,
				    struct told *told, struct fsl_error *err)
{
	char path[PATH_MAX];
	cJSON *root = NULL;
	int64_t rank = 0;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", listing->path, name) >= sizeof(path)) {
		return FSL_OK; /* the path is too long to be opened */
	}
	bool is_metadata = source == FSL_PROFILE_RANK_METADATA, is_told = false;
	if (is_metadata && fsl_small_json_scan(path, "distributed_args", "rank", &rank, &is_told)) {
		if (is_told) {
			tell(told, source, rank);
		}
		return FSL_OK;
	}
	enum fsl_status status = read_object(search, path, &root, err);
	const cJSON *holder =
		is_metadata ? cJSON_GetObjectItemCaseSensitive(root, "distributed_args") : root;
	const char *key = is_metadata ? "rank" : "rank_id";
	if (fsl_small_json_i64(cJSON_GetObjectItemCaseSensitive(holder, key), &rank)) {
		tell(told, source, rank);
	}
	cJSON_Delete(root);
	return status;
}

/*
 * Reads profiler_info_<N>.json, or the same without a number; of several numbers the lowest counts.
 */
static enum fsl_status tell_info(struct fsl_search *search, const struct fsl_listing *listing,
				 struct told *told, struct fsl_error *err)
{
	const char *info = NULL;
	size_t n_infos = 0;
	int64_t rank = 0, lowest = INT64_MAX;
	size_t i = fsl_listing_first(listing, "profiler_info");
	for (; i < listing->n_names && fsl_text_begins(listing->names[i], "profiler_info"); i++) {
		const char *name = listing->names[i];
		bool is_numbered = fsl_name_number(name, "profiler_info_", ".json", &rank);
		if ((is_numbered && (n_infos == 0 || rank < lowest)) ||
		    (info == NULL && fsl_text_ends(name, ".json"))) {
			info = name;
			lowest = is_numbered ? rank : lowest;
		}
		n_infos += is_numbered ? 1 : 0;
	}
	if (n_infos > 0) {
		tell(told, FSL_PROFILE_RANK_INFO_NAME, lowest);
	}
	if (n_infos > 1) {
		FSL_TRY(fsl_search_remark(search, FSL_DISCOVER_CONFLICT, err,
					  "\"%s\" has %zu files profiler_info_<N>.json: the lowest "
					  "number is used",
					  fsl_search_shown(search, listing->path), n_infos));
	}
	return info != NULL ? tell_content(search, listing, info, FSL_PROFILE_RANK_INFO_CONTENT,
					   told, err)
			    : FSL_OK;
}

static void tell_databases(struct fsl_candidate *item, const struct fsl_listing *output,
			   struct told *told)
{
	static const struct {
		const char *prefix;
		enum fsl_profile_writer writer;
	} kinds[] = {{"ascend_pytorch_profiler", FSL_PROFILE_PYTORCH},
		     {"ascend_mindspore_profiler", FSL_PROFILE_MINDSPORE}};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		size_t n_prefix = strlen(kinds[k].prefix);
		size_t i = fsl_listing_first(output, kinds[k].prefix);
		for (; i < output->n_names && fsl_text_begins(output->names[i], kinds[k].prefix);
		     i++) {
			int64_t rank = 0;
			if (fsl_name_number(output->names[i] + n_prefix, "_", ".db", &rank)) {
				tell(told, FSL_PROFILE_RANK_DB_NAME, rank);
			}
			if (item->folder.writer == FSL_PROFILE_UNKNOWN) {
				item->folder.writer = kinds[k].writer;
			}
		}
	}
}

/* Rank in a name such as "rank0_ascend_pt", "test_rank_1" or "rank-2": a word that begins with
 * "rank", digits behind it, and no letter after them. -1 if there is no such word. */
static int64_t rank_in_name(const char *name)
{
	for (const char *at = strstr(name, "rank"); at != NULL; at = strstr(at + 1, "rank")) {
		const char *digits = at + 4;
		digits += *digits == '_' || *digits == '-' ? 1 : 0;
		size_t n = strspn(digits, "0123456789");
		bool is_word = at == name || isalpha((unsigned char)at[-1]) == 0;
		if (n > 0 && is_word && isalpha((unsigned char)digits[n]) == 0) {
			int64_t rank = 0;
			for (size_t i = 0; i < n && rank < FSL_PROFILE_RANKS_MAX; i++) {
				rank = rank * 10 + (digits[i] - '0');
			}
			return rank;
		}
	}
	return NOT_TOLD;
}

/* Reads the device whose data a PROF_* folder holds. */
static enum fsl_status tell_device(struct fsl_search *search, struct fsl_candidate *item,
				   struct told *told, struct fsl_error *err)
{
	struct fsl_prof_device device;
	FSL_TRY(fsl_prof_device_read(&device, item->folder.path, &search->profile->arena, err));
	item->host_uid = device.host_uid;
	item->device = device.device;
	tell(told, FSL_PROFILE_RANK_INFO_CONTENT, device.rank);
	if (device.n_devices > 1) {
		FSL_TRY(fsl_search_remark(search, FSL_DISCOVER_CONFLICT, err,
					  "\"%s\" holds %zu devices and counts as one rank: export "
					  "them apart",
					  fsl_search_shown(search, item->folder.path),
					  device.n_devices));
	}
	return FSL_OK;
}

/* Lists a folder; the listing is empty if the folder cannot be read. */
static enum fsl_status list(struct fsl_search *search, struct fsl_listing *listing,
			    const char *path, struct fsl_error *err)
{
	struct fsl_error own = {0};
	enum fsl_status status = fsl_listing_read(listing, path, &own);
	if (status == FSL_ERR_IO) {
		return fsl_search_remark(search, FSL_DISCOVER_UNREADABLE, err, "%s",
					 fsl_error_root(&own));
	}
	return status == FSL_OK ? status : FSL_FAIL(err, status, "%s", fsl_error_root(&own));
}

/* Takes the most trusted number; remarks on sources that differ. */
static enum fsl_status decide(struct fsl_search *search, struct fsl_candidate *item,
			      const struct told *told, struct fsl_error *err)
{
	for (int s = 0; s < FSL_PROFILE_RANK_NONE; s++) {
		int64_t rank = told->ranks[s];
		enum fsl_profile_rank_source used = item->folder.rank_source;
		if (rank == TOLD_BADLY) {
			FSL_TRY(fsl_search_remark(search, FSL_DISCOVER_BAD_RANK, err,
						  "%s of \"%s\" tells a rank above %d, ignored",
						  source_texts[s],
						  fsl_search_shown(search, item->folder.path),
						  FSL_PROFILE_RANKS_MAX - 1));
		} else if (rank >= 0 && used == FSL_PROFILE_RANK_NONE) {
			item->folder.rank = (int32_t)rank;
			item->folder.rank_source = (enum fsl_profile_rank_source)s;
		} else if (rank >= 0 && rank != item->folder.rank) {
			FSL_TRY(fsl_search_remark(
				search, FSL_DISCOVER_CONFLICT, err,
				"\"%s\" is rank %d by %s and rank %d by %s: %d is used",
				fsl_search_shown(search, item->folder.path), (int)item->folder.rank,
				source_texts[used], (int)rank, source_texts[s],
				(int)item->folder.rank));
		}
	}
	return FSL_OK;
}

/* Notes ranks in the names of the folder and its parent, since some users name either by rank. */
static void tell_names(const struct fsl_candidate *item, struct told *told)
{
	tell(told, FSL_PROFILE_RANK_FOLDER_NAME, rank_in_name(item->name));
	tell(told, FSL_PROFILE_RANK_FOLDER_NAME, rank_in_name(item->parent_name));
}

enum fsl_status fsl_search_tell_rank(struct fsl_search *search, struct fsl_candidate *item,
				     struct fsl_error *err)
{
	struct told told;
	struct fsl_listing folder = {.path = item->folder.path}, output = {0};
	for (int s = 0; s < FSL_PROFILE_RANK_NONE; s++) {
		told.ranks[s] = NOT_TOLD;
	}
	enum fsl_status status = list(search, &folder, item->folder.path, err);
	if (status == FSL_OK) {
		status = list(search, &output, item->folder.output_path, err);
	}
	if (status == FSL_OK) {
		item->is_finished = fsl_listing_has(&output, "analyse.done");
		status = tell_info(search, &folder, &told, err);
	}
	if (status == FSL_OK && fsl_listing_has(&folder, "profiler_metadata.json")) {
		status = tell_content(search, &folder, "profiler_metadata.json",
				      FSL_PROFILE_RANK_METADATA, &told, err);
	}
	if (status == FSL_OK && item->folder.writer == FSL_PROFILE_MSPROF) {
		status = tell_device(search, item, &told, err);
	}
	if (status == FSL_OK) {
		tell_databases(item, &output, &told);
		tell_names(item, &told);
		item->folder.stamp = fsl_name_stamp(item->name);
		status = decide(search, item, &told, err);
	}
	fsl_free(output.names);
	fsl_free(folder.names);
	return status;
}

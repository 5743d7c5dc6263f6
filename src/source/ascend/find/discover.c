/* Finds the rank folders of a tree: walks it, tells each folder's rank, and resolves conflicts. */
#include "source/ascend/find/discover.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/try.h"
#include "source/ascend/find/discover_parts.h"
#include "source/ascend/find/prof_device.h"
#include "source/kineto/find.h"
#include "text/small_json.h"

enum { TOLD_MAX = 8 }; /* greatest number of remarks of one kind */

static const char *const kind_texts[] = {
	[FSL_DISCOVER_UNREADABLE] = "folders that cannot be read",
	[FSL_DISCOVER_NOT_PARSED] = "captures that were not parsed",
	[FSL_DISCOVER_STRANGERS] = "folders with files that are not read",
	[FSL_DISCOVER_BAD_INFO] = "info files that cannot be used",
	[FSL_DISCOVER_BAD_RANK] = "numbers that can be no rank",
	[FSL_DISCOVER_CONFLICT] = "folders whose rank is told in two ways",
	[FSL_DISCOVER_MIXED] = "mixed sets",
	[FSL_DISCOVER_PASSES] = "passes over runs that are there already",
	[FSL_DISCOVER_DUPLICATE] = "folders of ranks that are there more than once",
	[FSL_DISCOVER_ROUNDS] = "mixtures of captures",
	[FSL_DISCOVER_NO_RANK] = "folders without a rank",
	[FSL_DISCOVER_LOOSE] = "folders with files that tell no rank",
	[FSL_DISCOVER_UNFINISHED] = "ranks without analyse.done",
	[FSL_DISCOVER_WORKERS] = "reports of several ranks",
	[FSL_DISCOVER_TOO_MANY] = "limits",
};

enum fsl_status fsl_search_remark(struct fsl_search *search, enum fsl_discover_kind kind,
				  struct fsl_error *err, const char *format, ...)
{
	char text[1024];
	if (search->n_told[kind]++ >= TOLD_MAX) {
		return FSL_OK;
	}
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fsl_profile_remark(search->profile, err, "%s", text);
}

static enum fsl_status remark_rest(const struct fsl_search *search, struct fsl_error *err)
{
	for (int k = 0; k < FSL_DISCOVER_KINDS_N; k++) {
		if (search->n_told[k] > TOLD_MAX) {
			FSL_TRY(fsl_profile_remark(search->profile, err, "%zu more %s",
						   search->n_told[k] - TOLD_MAX, kind_texts[k]));
		}
	}
	return FSL_OK;
}

const char *fsl_search_shown(const struct fsl_search *search, const char *path)
{
	size_t n_root = strlen(search->root);
	if (n_root == 0 || strncmp(path, search->root, n_root) != 0) {
		return path;
	}
	const char *below = path + n_root;
	bool is_below = *below == '/' || search->root[n_root - 1] == '/';
	below += strspn(below, "/");
	return is_below && *below != '\0' ? below : path;
}

/* A capture as remarks show it: its folder, or the file if it is a trace of Kineto, since a folder
 * has many of those. */
static const char *shown_capture(const struct fsl_search *search,
				 const struct fsl_profile_folder *folder)
{
	const char *path = fsl_search_shown(search, folder->path);
	const char *file = NULL;
	if (folder->file != NULL) {
		file = path == folder->path ? folder->file
					    : fsl_arena_printf(&search->profile->arena, "%s/%s",
							       path, folder->file);
	}
	return file != NULL ? file : path;
}

/* strverscmp() tells "a01" and "a1" apart, and is a total order. */
int fsl_search_compare_paths(const char *a, const char *b)
{
	return strverscmp(a, b);
}

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

static const char *source_text(const struct fsl_candidate *item, int source)
{
	if (item->folder.file != NULL && source == FSL_PROFILE_RANK_METADATA) {
		return "its content";
	}
	return item->folder.file != NULL && source == FSL_PROFILE_RANK_FOLDER_NAME
		       ? "the file's name"
		       : source_texts[source];
}

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
			FSL_TRY(fsl_search_remark(
				search, FSL_DISCOVER_BAD_RANK, err,
				"%s of \"%s\" tells a rank above %d, ignored", source_text(item, s),
				shown_capture(search, &item->folder), FSL_PROFILE_RANKS_MAX - 1));
		} else if (rank >= 0 && used == FSL_PROFILE_RANK_NONE) {
			item->folder.rank = (int32_t)rank;
			item->folder.rank_source = (enum fsl_profile_rank_source)s;
		} else if (rank >= 0 && rank != item->folder.rank) {
			FSL_TRY(fsl_search_remark(
				search, FSL_DISCOVER_CONFLICT, err,
				"\"%s\" is rank %d by %s and rank %d by %s: %d is used",
				shown_capture(search, &item->folder), (int)item->folder.rank,
				source_text(item, (int)used), (int)rank, source_text(item, s),
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

static size_t count_files(const struct fsl_listing *output)
{
	static const char *const endings[] = {".csv", ".json", ".db"};
	size_t n = 0;
	for (size_t i = 0; i < output->n_names; i++) {
		for (size_t e = 0; e < sizeof(endings) / sizeof(endings[0]); e++) {
			n += fsl_text_ends(output->names[i], endings[e]) ? 1 : 0;
		}
	}
	return n;
}

/* Tells the rank of a trace of Kineto. Its content is looked at first: names are the users'. */
static enum fsl_status tell_trace_rank(struct fsl_search *search, struct fsl_candidate *item,
				       struct fsl_error *err)
{
	struct told told;
	char path[PATH_MAX];
	int64_t rank = NOT_TOLD;
	for (int s = 0; s < FSL_PROFILE_RANK_NONE; s++) {
		told.ranks[s] = NOT_TOLD;
	}
	if (item->n_workers > 1) {
		tell(&told, FSL_PROFILE_RANK_METADATA, item->mpi_rank);
		tell(&told, FSL_PROFILE_RANK_FOLDER_NAME,
		     item->mpi_rank < 0 ? fsl_search_rank_in_report(search, item) : NOT_TOLD);
		return decide(search, item, &told, err);
	}
	int length = snprintf(path, sizeof(path), "%s/%s", item->folder.path, item->folder.file);
	if (length > 0 && (size_t)length < sizeof(path)) {
		FSL_TRY(fsl_kineto_rank_of_content(path, &rank, err));
	}
	tell(&told, FSL_PROFILE_RANK_METADATA, rank);
	tell(&told, FSL_PROFILE_RANK_FOLDER_NAME, fsl_kineto_rank_of_name(item->folder.file));
	return decide(search, item, &told, err);
}

/* Tells the rank of one folder, from its files and its name, in the order of trust. */
static enum fsl_status tell_rank(struct fsl_search *search, struct fsl_candidate *item,
				 struct fsl_error *err)
{
	struct told told;
	struct fsl_listing folder = {.path = item->folder.path}, output = {0};
	if (item->folder.writer == FSL_PROFILE_KINETO) {
		return tell_trace_rank(search, item, err);
	}
	for (int s = 0; s < FSL_PROFILE_RANK_NONE; s++) {
		told.ranks[s] = NOT_TOLD;
	}
	enum fsl_status status = list(search, &folder, item->folder.path, err);
	if (status == FSL_OK) {
		status = list(search, &output, item->folder.output_path, err);
	}
	if (status == FSL_OK) {
		item->is_finished = fsl_listing_has(&output, "analyse.done");
		item->n_files = count_files(&output);
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

static bool is_unnumbered(const struct fsl_candidate *item)
{
	return item->folder.rank_source == FSL_PROFILE_RANK_NONE;
}

static size_t count_writer(const struct fsl_search *search, enum fsl_profile_writer writer)
{
	size_t n = 0;
	for (size_t i = 0; i < search->n_items; i++) {
		n += search->items[i].folder.writer == writer ? 1 : 0;
	}
	return n;
}

/* Drops the folders of the rarer framework. No job has two, and their figures differ in meaning. */
static enum fsl_status settle_mixed(struct fsl_search *search, struct fsl_error *err)
{
	size_t n_pytorch = count_writer(search, FSL_PROFILE_PYTORCH);
	size_t n_mindspore = count_writer(search, FSL_PROFILE_MINDSPORE);
	if (n_pytorch == 0 || n_mindspore == 0) {
		return FSL_OK;
	}
	bool is_pytorch = n_pytorch >= n_mindspore;
	enum fsl_profile_writer other = is_pytorch ? FSL_PROFILE_MINDSPORE : FSL_PROFILE_PYTORCH;
	size_t n_kept = 0;
	for (size_t i = 0; i < search->n_items; i++) {
		if (search->items[i].folder.writer != other) {
			search->items[n_kept++] = search->items[i];
		}
	}
	search->n_items = n_kept;
	return fsl_search_remark(
		search, FSL_DISCOVER_MIXED, err,
		"captures of PyTorch (%zu) and MindSpore (%zu) are no one job: those "
		"of %s are left out, give a folder of theirs to look at them",
		n_pytorch, n_mindspore, is_pytorch ? "MindSpore" : "PyTorch");
}

/* Drops loose files beside rank folders: they are copies or notes of a user. */
static enum fsl_status settle_loose(struct fsl_search *search, struct fsl_error *err)
{
	size_t n_kept = 0, n_sure = 0;
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < search->n_items; i++) {
		n_sure += !is_unnumbered(&search->items[i]) || !search->items[i].is_loose ? 1 : 0;
	}
	for (size_t i = 0; i < search->n_items && status == FSL_OK; i++) {
		const struct fsl_candidate *item = &search->items[i];
		if (n_sure > 0 && item->is_loose && is_unnumbered(item)) {
			status =
				fsl_search_remark(search, FSL_DISCOVER_LOOSE, err,
						  "the files in \"%s\" tell no rank and lie beside "
						  "folders of ranks: left out",
						  fsl_search_shown(search, item->folder.path));
		} else {
			search->items[n_kept++] = *item;
		}
	}
	search->n_items = status == FSL_OK ? n_kept : search->n_items;
	return status;
}

/* Orders by rank; of one rank the best folder first: one that is certainly a rank's, then a
 * framework's folder before the PROF_* that may have been in it, then the newest, then the one that
 * holds most: captures of several levels lie side by side. */
static int compare_ranks(const void *left, const void *right)
{
	const struct fsl_candidate *a = left, *b = right;
	int order = FSL_ORDER(a->folder.rank, b->folder.rank);
	bool is_prof_a = a->folder.writer == FSL_PROFILE_MSPROF;
	bool is_prof_b = b->folder.writer == FSL_PROFILE_MSPROF;
	order = order != 0 ? order : FSL_ORDER(a->is_loose, b->is_loose);
	order = order != 0 ? order : FSL_ORDER(is_prof_a, is_prof_b);
	order = order != 0 ? order : FSL_ORDER(b->folder.stamp, a->folder.stamp);
	order = order != 0 ? order : FSL_ORDER(b->n_files, a->n_files);
	return order != 0 ? order : fsl_search_compare_paths(a->folder.path, b->folder.path);
}

/* Remarks on mixed rounds: if a rank has fewer captures than others, the newest folders of all
 * ranks are not of one round. */
static enum fsl_status remark_rounds(struct fsl_search *search, struct fsl_error *err)
{
	size_t n_older = 0;
	const struct fsl_profile_folder *first = NULL;
	for (size_t i = 0; i < search->n_items; i++) {
		const struct fsl_profile_folder *folder = &search->items[i].folder;
		if (folder->stamp > 0 && folder->stamp <= search->newest_left_out) {
			first = n_older == 0 ? folder : first;
			n_older++;
		}
	}
	if (n_older == 0) {
		return FSL_OK;
	}
	return fsl_search_remark(
		search, FSL_DISCOVER_ROUNDS, err,
		"the folders may be of several captures: %zu are no newer than one "
		"that was left out of another rank, \"%s\" of rank %d is the first "
		"of them; give the folder of one capture",
		n_older, shown_capture(search, first), (int)first->rank);
}

enum fsl_status fsl_search_remark_duplicate(struct fsl_search *search,
					    const struct fsl_candidate *item,
					    const struct fsl_candidate *kept, struct fsl_error *err)
{
	int64_t stamp = item->folder.stamp, kept_stamp = kept->folder.stamp;
	/* With an equal stamp it is a copy, not another round. */
	if (stamp < kept_stamp && stamp > search->newest_left_out) {
		search->newest_left_out = stamp;
	}
	const char *why = kept_stamp > stamp              ? "is newer"
			  : kept->n_files > item->n_files ? "holds more files"
							  : "is used";
	return fsl_search_remark(search, FSL_DISCOVER_DUPLICATE, err,
				 "rank %d is there more than once: \"%s\" is left out, \"%s\" %s",
				 (int)item->folder.rank, shown_capture(search, &item->folder),
				 shown_capture(search, &kept->folder), why);
}

/* Drops duplicates. Folders without number come first, with rank -1, and stay. */
static enum fsl_status settle_duplicates(struct fsl_search *search, struct fsl_error *err)
{
	size_t n_kept = 0;
	qsort(search->items, search->n_items, sizeof(*search->items), compare_ranks);
	for (size_t i = 0; i < search->n_items; i++) {
		const struct fsl_candidate *item = &search->items[i];
		const struct fsl_candidate *kept = n_kept > 0 ? &search->items[n_kept - 1] : item;
		if (n_kept == 0 || is_unnumbered(item) || kept->folder.rank != item->folder.rank) {
			search->items[n_kept++] = *item;
			continue;
		}
		FSL_TRY(fsl_search_remark_duplicate(search, item, kept, err));
	}
	search->n_items = n_kept;
	return remark_rounds(search, err);
}

/* Orders folders without a number first: by host and device if known, else by path. */
static int compare_unnumbered(const void *left, const void *right)
{
	const struct fsl_candidate *a = left, *b = right;
	int order = FSL_ORDER(is_unnumbered(b), is_unnumbered(a));
	order = order != 0 ? order : strcmp(a->host_uid, b->host_uid);
	order = order != 0 ? order : FSL_ORDER(a->device, b->device);
	order = order != 0 ? order : fsl_search_compare_paths(a->folder.path, b->folder.path);
	if (order == 0 && a->folder.file != NULL && b->folder.file != NULL) {
		order = fsl_search_compare_paths(a->folder.file, b->folder.file);
	}
	return order != 0 ? order : FSL_ORDER(a->worker, b->worker);
}

/* Gives free numbers, in order, to folders without one; drops those for which none is left. */
static void give_numbers(struct fsl_search *search, bool *is_taken)
{
	size_t n_kept = 0;
	int32_t next = 0;
	for (size_t i = 0; i < search->n_items; i++) {
		if (!is_unnumbered(&search->items[i])) {
			is_taken[search->items[i].folder.rank] = true;
		}
	}
	for (size_t i = 0; i < search->n_items; i++) {
		struct fsl_candidate *item = &search->items[i];
		while (next < FSL_PROFILE_RANKS_MAX && is_taken[next]) {
			next++;
		}
		if (is_unnumbered(item) && next < FSL_PROFILE_RANKS_MAX) {
			item->folder.rank = next++;
		}
		if (item->folder.rank >= 0) {
			search->items[n_kept++] = *item;
		}
	}
	search->n_items = n_kept;
}

static enum fsl_status settle_unnumbered(struct fsl_search *search, struct fsl_error *err)
{
	size_t n = 0, n_before = search->n_items;
	for (size_t i = 0; i < n_before; i++) {
		n += is_unnumbered(&search->items[i]) ? 1 : 0;
	}
	if (n == 0) {
		return FSL_OK;
	}
	bool *is_taken = fsl_calloc(FSL_PROFILE_RANKS_MAX, sizeof(*is_taken));
	if (is_taken == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%d",
				FSL_PROFILE_RANKS_MAX);
	}
	qsort(search->items, n_before, sizeof(*search->items), compare_unnumbered);
	give_numbers(search, is_taken);
	fsl_free(is_taken);
	size_t n_left_out = n_before - search->n_items;
	enum fsl_status status = FSL_OK;
	if (n_left_out > 0) {
		status = fsl_search_remark(search, FSL_DISCOVER_TOO_MANY, err,
					   "more than %d ranks: %zu folders are left out",
					   FSL_PROFILE_RANKS_MAX, n_left_out);
	}
	if (status == FSL_OK && n > n_left_out) {
		const struct fsl_profile_folder *first = &search->items[0].folder;
		status = fsl_search_remark(
			search, FSL_DISCOVER_NO_RANK, err,
			"%zu of %zu folders tell no rank: numbered in the order of "
			"their paths, \"%s\" is rank %d",
			n - n_left_out, search->n_items, fsl_search_shown(search, first->path),
			(int)first->rank);
	}
	return status;
}

/* Remarks on folders that were not parsed to the end. Only newer profilers mark parsed folders, so
 * a missing mark means something only if other folders have it. */
static enum fsl_status settle_unfinished(struct fsl_search *search, struct fsl_error *err)
{
	size_t n_finished = 0;
	for (size_t i = 0; i < search->n_items; i++) {
		n_finished += search->items[i].is_finished ? 1 : 0;
	}
	for (size_t i = 0; i < search->n_items && n_finished > 0; i++) {
		const struct fsl_profile_folder *folder = &search->items[i].folder;
		if (!search->items[i].is_finished) {
			FSL_TRY(fsl_search_remark(
				search, FSL_DISCOVER_UNFINISHED, err,
				"rank %d may not be parsed to its end: \"%s\" has "
				"no analyse.done, %zu others have",
				(int)folder->rank, fsl_search_shown(search, folder->output_path),
				n_finished));
		}
	}
	return FSL_OK;
}

typedef enum fsl_status (*settler)(struct fsl_search *search, struct fsl_error *err);
static const settler settlers[] = {fsl_search_settle_passes, settle_mixed,      settle_loose,
				   fsl_search_settle_sets,   settle_duplicates, settle_unnumbered,
				   settle_unfinished};

/* Leaves one folder per rank, each with a number. */
static enum fsl_status settle(struct fsl_search *search, struct fsl_error *err)
{
	if (search->n_items == 0) {
		return FSL_OK;
	}
	for (size_t s = 0; s < sizeof(settlers) / sizeof(settlers[0]); s++) {
		FSL_TRY(settlers[s](search, err));
	}
	qsort(search->items, search->n_items, sizeof(*search->items), compare_ranks);
	return FSL_OK;
}

static enum fsl_status take(struct fsl_search *search, struct fsl_error *err)
{
	struct fsl_profile *profile = search->profile;
	FSL_TRY(FSL_GROW(profile->folders, profile->folders_capacity, search->n_items, err));
	for (size_t i = 0; i < search->n_items; i++) {
		profile->folders[i] = search->items[i].folder;
	}
	profile->n_folders = search->n_items;
	return FSL_OK;
}

/* Reports that nothing was found, with the skipped folders, which may be what the user means. */
static enum fsl_status nothing_found(const struct fsl_search *search, const char *path,
				     struct fsl_error *err)
{
	const char *first = search->profile->n_remarks > 0 ? search->profile->remarks[0] : NULL;
	if (first != NULL) {
		(void)FSL_FAIL(err, FSL_ERR_INPUT, "%s", first);
	} else if (search->stranger != NULL) {
		(void)fsl_search_fail_stranger(search->stranger, err);
	}
	return FSL_CAUSE(
		err, FSL_ERR_INPUT,
		"no output of a profiler, looked for *_ascend_pt, *_ascend_ms, PROF_*, "
		"ASCEND_PROFILER_OUTPUT, step_trace_time.csv, kernel_details.csv, "
		"communication.json, analysis.db and traces of Kineto (*.json), 10 folders "
		"deep: path=\"%s\"",
		path);
}

enum fsl_status fsl_profile_discover(struct fsl_profile *profile, const char *path,
				     struct fsl_error *err)
{
	return fsl_profile_discover_all(profile, path, NULL, 0, err);
}

enum fsl_status fsl_profile_discover_all(struct fsl_profile *profile, const char *path,
					 const char *const *more_paths, size_t n_more_paths,
					 struct fsl_error *err)
{
	struct fsl_search search = {.profile = profile, .root = path};
	enum fsl_status status = fsl_search_walk(&search, path, err);
	for (size_t i = 0; i < n_more_paths && status == FSL_OK; i++) {
		status = fsl_search_walk(&search, more_paths[i], err);
	}
	for (size_t i = 0; i < search.n_items && status == FSL_OK; i++) {
		status = tell_rank(&search, &search.items[i], err);
	}
	if (status == FSL_OK) {
		status = settle(&search, err);
	}
	if (status == FSL_OK) {
		status = remark_rest(&search, err);
	}
	if (status == FSL_OK) {
		status =
			search.n_items > 0 ? take(&search, err) : nothing_found(&search, path, err);
	}
	fsl_free(search.items);
	return status;
}

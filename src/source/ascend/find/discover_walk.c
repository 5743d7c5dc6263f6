/* Walks a tree to the folders with output of the profiler, and tells what a folder is from its name
 * and the names in it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os_error.h"
#include "base/strpool.h"
#include "base/try.h"
#include "source/ascend/find/discover.h"
#include "source/ascend/find/discover_parts.h"
#include "source/kineto/find.h"

enum {
	DEPTH_MAX = 10,        /* levels below the given folder: root/job/node/... */
	ENTRIES_MAX = 1 << 20, /* names that are examined, so that a wrong path ends soon */
};

/* Any of these files makes a folder one of the profiler's. */
static const char *const loose_files[] = {
	"step_trace_time.csv", "kernel_details.csv",        "communication.json",
	"trace_view.json",     "communication_matrix.json", "analysis.db",
	"op_statistic.csv",    "api_statistic.csv",         "operator_details.csv",
};
/* The same for names with numbers in them. */
static const char *const loose_kinds[][2] = {
	{"ascend_pytorch_profiler", ".db"},
	{"ascend_mindspore_profiler", ".db"},
	{"msprof_", ".db"},
	{"op_summary", ".csv"},
	{"op_statistic_", ".csv"},
	{"api_statistic_", ".csv"},
	{"msprof_", ".json"},
};

/* Files that make no folder one of the profiler's, but may be given by themselves. */
static const char *const other_kinds[][2] = {
	{"step_trace_", ".csv"},    {"memory_record", ".csv"}, {"operator_memory", ".csv"},
	{"npu_module_mem", ".csv"}, {"op_statistic", ".csv"},  {"communication_analyzer", ".db"},
	{"l2_cache", ".csv"},       {"nic.", "csv"},           {"nic_", ".csv"},
	{"roce.", "csv"},           {"roce_", ".csv"},         {"hccs.", "csv"},
	{"hccs_", ".csv"},          {"pcie.", "csv"},          {"pcie_", ".csv"},
};

static bool has_loose_files(const struct fsl_listing *listing)
{
	static const char *const packings[] = {"", ".gz", ".zst"};
	char name[64];
	for (size_t f = 0; f < sizeof(loose_files) / sizeof(loose_files[0]); f++) {
		for (size_t p = 0; p < sizeof(packings) / sizeof(packings[0]); p++) {
			(void)snprintf(name, sizeof(name), "%s%s", loose_files[f], packings[p]);
			if (fsl_listing_has(listing, name)) {
				return true;
			}
		}
	}
	for (size_t k = 0; k < sizeof(loose_kinds) / sizeof(loose_kinds[0]); k++) {
		if (fsl_listing_has_any(listing, loose_kinds[k][0], loose_kinds[k][1])) {
			return true;
		}
	}
	return false;
}

static enum fsl_profile_writer writer_of(const char *name)
{
	if (fsl_text_ends(name, "_ascend_pt")) {
		return FSL_PROFILE_PYTORCH;
	}
	if (fsl_text_ends(name, "_ascend_ms")) {
		return FSL_PROFILE_MINDSPORE;
	}
	return fsl_text_begins(name, "PROF_") ? FSL_PROFILE_MSPROF : FSL_PROFILE_UNKNOWN;
}

/* Kind of a folder, from its name and the names in it. */
struct look {
	const char *output; /* folder below it, "" for itself, NULL: no output */
	enum fsl_profile_writer writer;
	bool is_rank; /* certainly a rank's: no folder below is another rank's */
	bool is_raw;  /* recorded, but not parsed */
};

/* Folder of tables that msprof of CANN 5 and 6 left in the folder of a device, relative to the
 * PROF_* folder; "" if there is none. Of several devices the first. */
static enum fsl_status find_old_output(char *output, size_t size, const char *path,
				       const struct fsl_listing *listing, struct fsl_error *err)
{
	int64_t number = 0;
	output[0] = '\0';
	for (size_t i = fsl_listing_first(listing, "device_"); i < listing->n_names; i++) {
		struct stat facts;
		const char *name = listing->names[i];
		if (!fsl_name_number(name, "device_", "", &number)) {
			continue;
		}
		int length = snprintf(output, size, "%s/summary", name);
		char *whole = fsl_path_join(path, output);
		if (whole == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
		}
		bool is_there = length > 0 && (size_t)length < size && stat(whole, &facts) == 0 &&
				S_ISDIR(facts.st_mode);
		fsl_free(whole);
		if (is_there) {
			return FSL_OK;
		}
		output[0] = '\0';
	}
	return FSL_OK;
}

static struct look look_at(const char *name, const struct fsl_listing *listing)
{
	struct look look = {.writer = writer_of(name)};
	bool is_raw_prof = fsl_listing_has_any(listing, "device_", "") ||
			   fsl_listing_has_folder(listing, "host");
	if (fsl_listing_has_folder(listing, "ASCEND_PROFILER_OUTPUT")) {
		look.output = "ASCEND_PROFILER_OUTPUT";
	} else if (fsl_listing_has_folder(listing, "mindstudio_profiler_output")) {
		look.output = "mindstudio_profiler_output";
		look.writer = FSL_PROFILE_MSPROF;
	} else if (look.writer == FSL_PROFILE_MSPROF &&
		   fsl_listing_has_folder(listing, "summary")) {
		look.output = "summary"; /* CANN 5 and 6 */
	} else if (has_loose_files(listing)) {
		look.output = "";
	}
	bool has_info = fsl_listing_has_any(listing, "profiler_info", ".json");
	bool is_told = look.writer != FSL_PROFILE_UNKNOWN || has_info;
	look.is_rank = look.output != NULL && is_told;
	if (look.output == NULL && look.writer == FSL_PROFILE_MSPROF) {
		look.is_raw = is_raw_prof;
	} else if (look.output == NULL) {
		look.is_raw =
			is_told && (has_info || fsl_listing_has_any(listing, "PROF_", "") ||
				    fsl_listing_has(listing, "FRAMEWORK") ||
				    fsl_listing_has(listing, "logs") || listing->n_names == 0);
	}
	return look;
}

/* Folders without ranks: the profiler's own, and results that were made from ranks. */
static const char *const passed_over[] = {"cluster_analysis_output", "FRAMEWORK", "logs",
					  "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output"};

/* A folder to examine; its texts live in the walk's arena. */
struct place {
	const char *path, *name, *parent_name;
	int depth;
};

struct walk {
	struct fsl_search *search;
	struct fsl_arena arena;
	struct place *places; /* breadth first: taken from the front */
	size_t n_places, capacity;
	size_t n_entries;
	int depth_max;
	struct fsl_strpool *seen; /* folders seen so far by identity: links may form circles */
};

/* *is_new is false if the folder was reached before, by another path. */
static enum fsl_status mark_seen(struct walk *walk, const struct stat *facts, bool *is_new,
				 struct fsl_error *err)
{
	const uint64_t identity[] = {(uint64_t)facts->st_dev, (uint64_t)facts->st_ino};
	size_t n_before = fsl_strpool_size(walk->seen);
	uint32_t id = 0;
	FSL_TRY(fsl_strpool_intern(walk->seen, (const char *)identity, sizeof(identity), &id, err));
	*is_new = id == n_before;
	return FSL_OK;
}

static enum fsl_status push(struct walk *walk, struct place place, struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(walk->places, walk->capacity, walk->n_places + 1, err));
	place.path = fsl_arena_strdup(&walk->arena, place.path);
	place.name = fsl_arena_strdup(&walk->arena, place.name);
	if (place.path == NULL || place.name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: folders=%zu", walk->n_places);
	}
	walk->places[walk->n_places++] = place;
	return FSL_OK;
}

static bool is_passed_over(const char *name)
{
	for (size_t i = 0; i < sizeof(passed_over) / sizeof(passed_over[0]); i++) {
		if (strcmp(name, passed_over[i]) == 0) {
			return true;
		}
	}
	return name[0] == '.';
}

static enum fsl_status visit(struct walk *walk, const struct place *place, const char *name,
			     struct fsl_error *err)
{
	struct stat facts;
	bool is_new = false;
	char *path = fsl_path_join(place->path, name);
	if (path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", place->path);
	}
	enum fsl_status status = FSL_OK;
	walk->n_entries++;
	if (stat(path, &facts) != 0) {
		/* Dangling links and vanished names are ignored. */
		if (errno == EACCES) {
			status = fsl_search_remark(walk->search, FSL_DISCOVER_UNREADABLE, err,
						   "\"%s\" cannot be looked at, check the "
						   "permissions",
						   fsl_search_shown(walk->search, path));
		}
	} else if (S_ISDIR(facts.st_mode)) {
		status = mark_seen(walk, &facts, &is_new, err);
		if (status == FSL_OK && is_new) {
			/* The name of the whole set is no rank's name. */
			const char *parent_name = place->depth > 0 ? place->name : "";
			status = push(walk,
				      (struct place){path, name, parent_name, place->depth + 1},
				      err);
		}
	}
	fsl_free(path);
	return status;
}

static enum fsl_status descend(struct walk *walk, struct place place,
			       const struct fsl_listing *listing, struct fsl_error *err)
{
	if (place.depth >= walk->depth_max) {
		return FSL_OK;
	}
	for (size_t i = 0; i < listing->n_names; i++) {
		const char *name = listing->names[i];
		if (walk->n_entries >= ENTRIES_MAX) {
			return fsl_search_remark(walk->search, FSL_DISCOVER_TOO_MANY, err,
						 "more than %d files and folders: what lies behind "
						 "\"%s\" was not looked at, give the folder of one "
						 "job",
						 ENTRIES_MAX,
						 fsl_search_shown(walk->search, place.path));
		}
		if (!is_passed_over(name)) {
			FSL_TRY(visit(walk, &place, name, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status remark_raw(struct fsl_search *search, const struct place *place,
				  enum fsl_profile_writer writer, struct fsl_error *err)
{
	const char *remedy = "run analyse() of the framework's profiler on it";
	if (writer == FSL_PROFILE_MSPROF) {
		remedy = "run msprof --export=on --output=DIR on it";
	}
	return fsl_search_remark(search, FSL_DISCOVER_NOT_PARSED, err,
				 "\"%s\" was recorded but not parsed, left out: %s",
				 fsl_search_shown(search, place->path), remedy);
}

static enum fsl_status add_candidate(struct fsl_search *search, const struct place *place,
				     const struct look *look, struct fsl_error *err)
{
	struct fsl_arena *arena = &search->profile->arena;
	struct fsl_candidate item = {
		.folder = {.writer = look->writer,
			   .rank = -1,
			   .rank_source = FSL_PROFILE_RANK_NONE},
		.is_loose = !look->is_rank && look->output[0] == '\0',
		.host_uid = "",
		.device = -1,
		.mpi_rank = -1,
	};
	item.folder.path = fsl_arena_strdup(arena, place->path);
	item.folder.output_path =
		look->output[0] == '\0'
			? item.folder.path
			: fsl_arena_printf(arena, "%s/%s", place->path, look->output);
	item.name = fsl_arena_strdup(arena, place->name);
	item.parent_name = fsl_arena_strdup(arena, place->parent_name);
	if (item.folder.path == NULL || item.folder.output_path == NULL || item.name == NULL ||
	    item.parent_name == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: folders=%zu", search->n_items);
	}
	FSL_TRY(FSL_GROW(search->items, search->capacity, search->n_items + 1, err));
	search->items[search->n_items++] = item;
	return FSL_OK;
}

/* Takes a trace of Kineto: the file is all that there is of its rank. */
static enum fsl_status add_trace(struct fsl_search *search, const struct place *place,
				 const char *name, struct fsl_error *err)
{
	const struct look look = {.writer = FSL_PROFILE_KINETO, .output = "", .is_rank = true};
	FSL_TRY(add_candidate(search, place, &look, err));
	struct fsl_candidate *item = &search->items[search->n_items - 1];
	item->folder.file = fsl_arena_strdup(&search->profile->arena, name);
	item->name = item->folder.file;
	return item->folder.file != NULL ? FSL_OK
					 : FSL_FAIL(err, FSL_ERR_MEMORY,
						    "out of memory: folders=%zu", search->n_items);
}

/* False: the file cannot be opened or unpacked, which @own tells. */
static bool can_be_read(const char *path, struct fsl_error *own)
{
	struct fsl_reader *reader = NULL;
	const char *data = NULL;
	size_t n_bytes = 0;
	enum fsl_status status = fsl_reader_open(&reader, path, own);
	FSL_THEN(status, fsl_reader_peek(reader, 1, &data, &n_bytes, own));
	fsl_reader_close(reader);
	return status != FSL_ERR_IO && status != FSL_ERR_FORMAT;
}

/* Tells of a file that should be the trace of a rank. */
static enum fsl_status remark_no_trace(struct fsl_search *search, const char *path,
				       const char *name, struct fsl_error *err)
{
	struct fsl_profile *profile = search->profile;
	struct fsl_error own = {0};
	size_t n_before = profile->n_remarks;
	if (!can_be_read(path, &own)) {
		FSL_TRY(fsl_search_remark(search, FSL_DISCOVER_UNREADABLE, err, "%s",
					  fsl_error_root(&own)));
	} else {
		FSL_TRY(fsl_search_remark(search, FSL_DISCOVER_STRANGERS, err,
					  "\"%s\" has the name of a trace and is none: left out, "
					  "copy it again",
					  name));
	}
	profile->n_left_out++;
	if (profile->left_out == NULL && profile->n_remarks > n_before) {
		profile->left_out = profile->remarks[n_before];
	}
	return FSL_OK;
}

enum fsl_status fsl_search_fail_stranger(const char *path, struct fsl_error *err)
{
	struct fsl_error own = {0};
	return !can_be_read(path, &own)
		       ? FSL_FAIL(err, FSL_ERR_INPUT, "%s", fsl_error_root(&own))
		       : FSL_FAIL(err, FSL_ERR_INPUT,
				  "a file has the name of a trace and is none that is known, copy "
				  "it again, or tell with --lane what its lanes are: path=\"%s\"",
				  path);
}

/* Takes a file that has the name of a trace; *is_trace: it is one. */
static enum fsl_status add_named(struct fsl_search *search, const struct place *place,
				 const char *name, bool *is_trace, struct fsl_error *err)
{
	char *path = fsl_path_join(place->path, name);
	enum fsl_status status = FSL_OK;
	if (path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", place->path);
	}
	*is_trace = fsl_kineto_is_trace(path, search->profile->takes_any_trace);
	if (*is_trace) {
		status = add_trace(search, place, name, err);
		FSL_THEN(status, fsl_search_split_report(search, path, err));
	}
	fsl_free(path);
	return status;
}

/* Tells of the names that @are_strangers has. In a folder without traces the first of them is kept
 * alone, in case that nothing is found. */
static enum fsl_status remark_no_traces(struct fsl_search *search, const struct place *place,
					const struct fsl_listing *listing,
					const bool *are_strangers, bool has_traces,
					struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < listing->n_names && status == FSL_OK; i++) {
		if (!are_strangers[i] || (!has_traces && search->stranger != NULL)) {
			continue;
		}
		if (!has_traces) {
			search->stranger = fsl_arena_printf(&search->profile->arena, "%s/%s",
							    place->path, listing->names[i]);
			status = FSL_MADE(search->stranger, 1, "names", err);
			continue;
		}
		char *path = fsl_path_join(place->path, listing->names[i]);
		status = path != NULL ? remark_no_trace(search, path, listing->names[i], err)
				      : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
						 place->path);
		fsl_free(path);
	}
	return status;
}

/* Takes the traces among the names of a folder. */
static enum fsl_status add_traces(struct fsl_search *search, const struct place *place,
				  const struct fsl_listing *listing, struct fsl_error *err)
{
	bool *are_strangers = NULL;
	size_t n_traces = 0;
	enum fsl_status status = FSL_OK;
	FSL_TRY(FSL_NEW(are_strangers, listing->n_names + 1, "names", err));
	for (size_t i = 0; i < listing->n_names && status == FSL_OK; i++) {
		bool is_trace = false;
		if (fsl_kineto_is_name(listing->names[i])) {
			status = add_named(search, place, listing->names[i], &is_trace, err);
			are_strangers[i] =
				!is_trace && fsl_kineto_rank_of_name(listing->names[i]) >= 0;
			n_traces += is_trace ? 1 : 0;
		}
	}
	FSL_THEN(status,
		 remark_no_traces(search, place, listing, are_strangers, n_traces > 0, err));
	fsl_free(are_strangers);
	return status;
}

/* Files that look like captures and are none, or are of a kind that is not read. */
static const char peer_result[] =
	"results of msprof-analyze are not read, give the captures they were made of";
static const char no_times[] = "it describes a capture and has no times, give the folder around it";
static const struct {
	const char *begin, *end, *what;
	bool is_part; /* may lie beside captures, which are read: no remark */
} strangers[] = {
	{"msmonitor_", ".db", "databases of msMonitor are not read", false},
	{"step_trace_raw_", ".csv",
	 "captures of MindSpore before 2.3 are not read; their PROF_* folders are, after msprof "
	 "--export=on --output=DIR on each",
	 false},
	{"cluster_step_trace_time", ".csv", peer_result, false},
	{"cluster_communication", ".json", peer_result, true},
	{"communication_group", ".json", peer_result, true},
	{"cluster_analysis", ".db", peer_result, false},
	{"profiler_info", ".json", no_times, true},
	{"profiler_metadata", ".json", no_times, true},
};

static enum fsl_status remark_strangers(struct fsl_search *search, const struct place *place,
					const struct fsl_listing *listing, struct fsl_error *err)
{
	const char *told = NULL;
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
		if (!strangers[i].is_part && strangers[i].what != told &&
		    fsl_listing_has_any(listing, strangers[i].begin, strangers[i].end)) {
			told = strangers[i].what;
			FSL_TRY(fsl_search_remark(search, FSL_DISCOVER_STRANGERS, err, "\"%s\": %s",
						  fsl_search_shown(search, place->path),
						  strangers[i].what));
		}
	}
	return FSL_OK;
}

/* Takes a folder, remarks on it, or descends into it. */
static enum fsl_status look_into(struct walk *walk, struct place place, struct fsl_error *err)
{
	struct fsl_listing listing;
	struct fsl_error own = {0};
	enum fsl_status status = fsl_listing_read(&listing, place.path, &own);
	if (status == FSL_ERR_IO && place.depth > 0) {
		return fsl_search_remark(walk->search, FSL_DISCOVER_UNREADABLE, err, "%s",
					 fsl_error_root(&own));
	}
	if (status != FSL_OK) {
		return FSL_FAIL(err, status == FSL_ERR_IO ? FSL_ERR_INPUT : status, "%s",
				fsl_error_root(&own));
	}
	char old_output[64] = "";
	struct look look = look_at(place.name, &listing);
	if (look.is_raw && look.writer == FSL_PROFILE_MSPROF) {
		status = find_old_output(old_output, sizeof(old_output), place.path, &listing, err);
	}
	if (old_output[0] != '\0') {
		look.output = old_output;
		look.is_raw = false;
		look.is_rank = true;
	}
	if (status == FSL_OK) {
		status = remark_strangers(walk->search, &place, &listing, err);
	}
	if (status == FSL_OK && look.output != NULL) {
		status = add_candidate(walk->search, &place, &look, err);
	} else if (status == FSL_OK && !look.is_raw) {
		status = add_traces(walk->search, &place, &listing, err);
	}
	if (status == FSL_OK && look.is_raw) {
		status = remark_raw(walk->search, &place, look.writer, err);
	} else if (status == FSL_OK && !look.is_rank) {
		status = descend(walk, place, &listing, err);
	}
	fsl_free(listing.names);
	return status;
}

bool fsl_profile_is_output_name(const char *name)
{
	return strcmp(name, "ASCEND_PROFILER_OUTPUT") == 0 ||
	       strcmp(name, "mindstudio_profiler_output") == 0;
}

/* Real name of a path that may end in "." or be a link; "" if it is unknown. */
static const char *true_name(const char *path, char *room)
{
	const char *slash = realpath(path, room) != NULL ? strrchr(room, '/') : NULL;
	return slash != NULL ? slash + 1 : "";
}

/* Path of the folder around @path, which is called @name: heap, NULL if out of memory. */
static char *around(const char *path, const char *name)
{
	char *copy = fsl_path_join("", path);
	size_t length = copy != NULL ? strlen(copy) : 0, n_name = strlen(name);
	while (length > 1 && copy[length - 1] == '/') {
		copy[--length] = '\0';
	}
	bool is_spelled_out = length > n_name && copy[length - n_name - 1] == '/' &&
			      strcmp(copy + length - n_name, name) == 0;
	if (copy == NULL || is_spelled_out) {
		if (copy != NULL) {
			copy[length == n_name + 1 ? 1 : length - n_name - 1] = '\0';
		}
		return copy;
	}
	fsl_free(copy);
	return fsl_path_join(path, "..");
}

/* Chooses the start of the walk. The files around an output folder tell its rank, so for an output
 * folder the walk examines its parent and nothing else. */
static enum fsl_status begin(struct walk *walk, const char *root, struct fsl_error *err)
{
	char room[PATH_MAX];
	struct place place = {.path = root, .name = true_name(root, room), .parent_name = ""};
	char *outer = NULL;
	walk->depth_max = DEPTH_MAX;
	if (fsl_profile_is_output_name(place.name)) {
		outer = around(root, place.name);
		if (outer == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", root);
		}
		if (access(outer, R_OK | X_OK) == 0) {
			place.path = outer;
			place.name = true_name(outer, room);
			walk->depth_max = 0;
		}
	}
	enum fsl_status status = push(walk, place, err);
	fsl_free(outer);
	return status;
}

static int compare_candidates(const void *left, const void *right)
{
	const struct fsl_candidate *a = left, *b = right;
	return fsl_search_compare_paths(a->folder.path, b->folder.path);
}

/* The reason why a file of this name is not read; NULL: it has no such name. */
static const char *why_strange(char *name)
{
	const struct fsl_listing listing = {.path = "", .names = &name, .n_names = 1};
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
		if (fsl_listing_has_any(&listing, strangers[i].begin, strangers[i].end)) {
			return strangers[i].what;
		}
	}
	return NULL;
}

/* True for the name of a file that is read as a part of a capture. */
static bool is_capture_file(char *name)
{
	const struct fsl_listing listing = {.path = "", .names = &name, .n_names = 1};
	bool is_one = has_loose_files(&listing);
	if (why_strange(name) != NULL) {
		return false;
	}
	for (size_t k = 0; k < sizeof(other_kinds) / sizeof(other_kinds[0]); k++) {
		is_one |= fsl_listing_has_any(&listing, other_kinds[k][0], other_kinds[k][1]);
	}
	return is_one;
}

/* Takes one file as all that is there of a rank. The folder around it may tell the rank. *is_taken
 * stays false if the name is that of no such file. */
static enum fsl_status take_file(struct fsl_search *search, const char *path, bool *is_taken,
				 struct fsl_error *err)
{
	struct fsl_arena *arena = &search->profile->arena;
	char room[PATH_MAX];
	const char *slash = strrchr(path, '/');
	char *name = fsl_arena_strdup(arena, slash != NULL ? slash + 1 : path);
	size_t n_folder = slash != NULL ? (size_t)(slash - path) : 0;
	const char *folder = slash == path   ? "/"
			     : slash != NULL ? fsl_arena_printf(arena, "%.*s", (int)n_folder, path)
					     : ".";
	if (name == NULL || folder == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	*is_taken = is_capture_file(name);
	if (!*is_taken && why_strange(name) == NULL &&
	    fsl_kineto_is_trace(path, search->profile->takes_any_trace)) {
		char folder_room[PATH_MAX];
		const struct place around = {
			.path = folder, .name = true_name(folder, folder_room), .parent_name = ""};
		*is_taken = true;
		return add_trace(search, &around, name, err);
	}
	for (size_t i = 0; i < search->n_items && *is_taken; i++) {
		struct fsl_profile_folder *other = &search->items[i].folder;
		if (strcmp(other->output_path, folder) == 0) {
			other->file =
				NULL; /* of several files of a rank, all that it has is read */
			return FSL_OK;
		}
	}
	if (!*is_taken) {
		const char *why = why_strange(name);
		return why == NULL ? FSL_OK : FSL_FAIL(err, FSL_ERR_INPUT, "\"%s\": %s", path, why);
	}
	char *outer = fsl_profile_is_output_name(true_name(folder, room))
			      ? around(folder, true_name(folder, room))
			      : NULL;
	struct place place = {.path = outer != NULL ? outer : folder, .parent_name = ""};
	place.name = true_name(place.path, room);
	const struct look look = {.writer = writer_of(place.name), .output = "", .is_rank = true};
	enum fsl_status status = add_candidate(search, &place, &look, err);
	fsl_free(outer);
	if (status == FSL_OK) {
		struct fsl_profile_folder *taken = &search->items[search->n_items - 1].folder;
		taken->output_path = folder;
		taken->file = name;
	}
	return status;
}

enum fsl_status fsl_search_walk(struct fsl_search *search, const char *root, struct fsl_error *err)
{
	struct walk walk = {.search = search};
	struct stat facts;
	bool is_new = false;
	int reason = stat(root, &facts) != 0 ? errno : S_ISDIR(facts.st_mode) ? 0 : ENOTDIR;
	if (reason == ENOTDIR) {
		bool is_taken = false;
		enum fsl_status status = take_file(search, root, &is_taken, err);
		if (is_taken || status == FSL_ERR_MEMORY) {
			return status;
		}
	}
	if (reason != 0) {
		const char *slash = strrchr(root, '/');
		if (fsl_kineto_is_name(slash != NULL ? slash + 1 : root)) {
			(void)fsl_search_fail_stranger(root, err);
		}
		return FSL_CAUSE(err, FSL_ERR_INPUT,
				 "no folder that can be read and no file of a capture, give the "
				 "one with the captures: "
				 "path=\"%s\", reason=\"%s\"",
				 root, fsl_os_error(reason).text);
	}
	walk.seen = fsl_strpool_create();
	enum fsl_status status = walk.seen != NULL ? mark_seen(&walk, &facts, &is_new, err)
						   : FSL_FAIL(err, FSL_ERR_MEMORY,
							      "out of memory: path=\"%s\"", root);
	if (status == FSL_OK) {
		status = begin(&walk, root, err);
	}
	for (size_t i = 0; i < walk.n_places && status == FSL_OK; i++) {
		status = look_into(&walk, walk.places[i], err);
	}
	if (status == FSL_OK && search->n_items > 0) {
		qsort(search->items, search->n_items, sizeof(*search->items), compare_candidates);
	}
	fsl_strpool_destroy(walk.seen);
	fsl_free(walk.places);
	fsl_arena_fini(&walk.arena);
	return status;
}

/* Finds the files of a rank's folder for each reader, and reads them. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/try.h"
#include "source/ascend/files.h"
#include "source/ascend/find/listing.h"

enum { FOLDERS_MAX = 3, SLICE_NONE = -1 };
#define STAMP_NONE INT64_MAX

static const struct {
	const char *file_name;
	fsl_profile_reader read;
} readers[] = {
#define PROFILE_FILE(name, file_name) {file_name, fsl_profile_read_##name},
#include "source/ascend/files.def"
#undef PROFILE_FILE
	{NULL, NULL},
};

/* Folders that hold a rank's files. */
struct places {
	struct fsl_listing folders[FOLDERS_MAX];
	size_t n_folders;
};

/* A file for a reader, such as kernel_details.csv, op_statistic_20251127064120.csv,
 * op_summary_slice_0_20251127064120.csv.gz, or, of old exports, op_summary_0_1_1.csv. */
struct match {
	const char *folder, *name;
	int64_t stamp; /* YYYYMMDDhhmmss; STAMP_NONE: the plain name */
	int64_t slice; /* SLICE_NONE: no slice number */
	int packing;   /* 0 plain, 1 gzip, 2 zstd */
	bool is_used;
};

struct matches {
	struct match *items;
	size_t n_items, capacity;
};

static enum fsl_status short_of_memory(const struct fsl_profile_rank *rank, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
}

static const char unlisted[] = "folder"; /* format of folders in the list of files */

const char *fsl_profile_first_unlisted(const struct fsl_profile_rank *rank)
{
	for (size_t i = 0; i < rank->n_files; i++) {
		if (rank->files[i].format == unlisted) {
			return rank->files[i].message;
		}
	}
	return NULL;
}

static bool is_listed(const struct fsl_profile_rank *rank, const char *path)
{
	for (size_t i = 0; i < rank->n_files; i++) {
		if (strcmp(rank->files[i].path, path) == 0) {
			return true;
		}
	}
	return false;
}

enum fsl_status fsl_profile_add_unlisted(struct fsl_profile_rank *rank, const char *folder,
					 const struct fsl_error *cause, struct fsl_error *err)
{
	if (access(folder, F_OK) != 0 || is_listed(rank, folder)) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(rank->files, rank->files_capacity, rank->n_files + 1, err));
	struct fsl_file file = {.path = fsl_arena_strdup(&rank->arena, folder),
				.format = unlisted,
				.rank = rank->rank,
				.state = FSL_FILE_UNUSABLE,
				.message = fsl_arena_strdup(&rank->arena, fsl_error_root(cause))};
	if (file.path == NULL || file.message == NULL) {
		return short_of_memory(rank, err);
	}
	rank->files[rank->n_files++] = file;
	return FSL_OK;
}

enum { STAMP_DIGITS = 14, SLICE_DIGITS_MAX = 9 };

/* Numbers of old exports: device, model and iteration. The last of several is like a slice: a model
 * that runs often has a file for each of its iterations. */
static const char *parse_numbers(const char *at, struct match *match)
{
	enum { NUMBERS_MAX = 3, DEVICE_DIGITS_MAX = 3, NUMBER_DIGITS_MAX = 10 };
	int64_t last = SLICE_NONE;
	int n_numbers = 0;
	for (; at[0] == '_' && n_numbers < NUMBERS_MAX; n_numbers++) {
		size_t n = strspn(at + 1, "0123456789");
		if (n == 0 || n > (n_numbers == 0 ? DEVICE_DIGITS_MAX : NUMBER_DIGITS_MAX)) {
			break;
		}
		last = strtoll(at + 1, NULL, 10);
		at += 1 + n;
	}
	match->slice = n_numbers > 1 ? last : SLICE_NONE;
	return at;
}

/* Parses a name behind the stem: slices and stamps, in msprof's order. */
static const char *parse_tail(const char *at, struct match *match)
{
	if (fsl_text_begins(at, "_slice_")) {
		size_t n = strspn(at + 7, "0123456789");
		if (n == 0 || n > SLICE_DIGITS_MAX) {
			return NULL;
		}
		match->slice = strtoll(at + 7, NULL, 10);
		at += 7 + n;
	} else {
		at = parse_numbers(at, match);
	}
	if (at[0] == '_' && strspn(at + 1, "0123456789") == STAMP_DIGITS) {
		match->stamp = strtoll(at + 1, NULL, 10);
		at += 1 + STAMP_DIGITS;
	}
	return at;
}

static bool parse_name(const char *name, const char *wanted, struct match *match)
{
	static const char *const packings[] = {"", ".gz", ".zst"};
	const char *dot = strrchr(wanted, '.');
	size_t n_stem = (size_t)(dot - wanted), n_ending = strlen(dot);
	*match = (struct match){.name = name, .stamp = STAMP_NONE, .slice = SLICE_NONE};
	if (strncmp(name, wanted, n_stem) != 0) {
		return false;
	}
	const char *at = parse_tail(name + n_stem, match);
	if (at == NULL || strncmp(at, dot, n_ending) != 0) {
		return false;
	}
	for (int p = 0; p < (int)(sizeof(packings) / sizeof(packings[0])); p++) {
		if (strcmp(at + n_ending, packings[p]) == 0) {
			match->packing = p;
			return true;
		}
	}
	return false;
}

/*
 * Orders slices from last to first, then whole files; of each the newest first, then plain files.
 */
static int compare_slices(const void *left, const void *right)
{
	const struct match *a = left, *b = right;
	int order = FSL_ORDER(b->slice, a->slice);
	order = order != 0 ? order : FSL_ORDER(b->stamp, a->stamp);
	order = order != 0 ? order : FSL_ORDER(a->packing, b->packing);
	return order != 0 ? order : strcmp(a->name, b->name); /* differs for slices 1 and 01 */
}

/* Orders used files first, their slices ascending; then the rest, newest first. */
static int compare_matches(const void *left, const void *right)
{
	const struct match *a = left, *b = right;
	int order = FSL_ORDER(b->is_used, a->is_used);
	order = order != 0 || !a->is_used ? order : FSL_ORDER(a->slice, b->slice);
	order = order != 0 ? order : FSL_ORDER(b->stamp, a->stamp);
	order = order != 0 ? order : FSL_ORDER(a->slice, b->slice);
	order = order != 0 ? order : FSL_ORDER(a->packing, b->packing);
	return order != 0 ? order : strcmp(a->name, b->name);
}

/* True if @a was written after @b. A whole file holds all data of slices of the same time. */
static bool is_later(const struct match *a, const struct match *b)
{
	if (a->stamp != b->stamp) {
		return a->stamp > b->stamp;
	}
	return b->slice != SLICE_NONE && (a->slice == SLICE_NONE || a->slice > b->slice);
}

/*
 * Chooses the newest of several exports. Some msprof writers give every slice the time at which
 * that slice was written. So a slice may be older than the last one, but none is newer than the
 * slice behind it. They also leave out the number of slice 0.
 */
static void choose(struct matches *matches)
{
	struct match *items = matches->items;
	struct match last = items[0];
	for (size_t i = 1; i < matches->n_items; i++) {
		last = is_later(&items[i], &last) ? items[i] : last;
	}
	bool is_whole = last.slice == SLICE_NONE;
	int64_t behind = last.slice + 1, stamp = last.stamp; /* of the slice that was chosen last */
	qsort(items, matches->n_items, sizeof(*items), compare_slices);
	for (size_t i = 0; i < matches->n_items; i++) {
		struct match *item = &items[i];
		bool is_next = item->slice < behind && item->stamp <= stamp;
		bool is_first = item->slice == SLICE_NONE;
		item->is_used = is_next && (!is_first || is_whole || behind == 1);
		if (item->is_used) {
			behind = item->slice;
			stamp = item->stamp;
		}
	}
	qsort(items, matches->n_items, sizeof(*items), compare_matches);
}

/* Finds all files of a kind, in the first folder that has any. */
static enum fsl_status find_matches(struct matches *out, const struct places *places,
				    const char *wanted, struct fsl_error *err)
{
	char stem[64];
	size_t n_stem = (size_t)(strrchr(wanted, '.') - wanted);
	memcpy(stem, wanted, n_stem);
	stem[n_stem] = '\0';
	out->n_items = 0;
	for (size_t f = 0; f < places->n_folders && out->n_items == 0; f++) {
		const struct fsl_listing *listing = &places->folders[f];
		for (size_t i = fsl_listing_first(listing, stem);
		     i < listing->n_names && fsl_text_begins(listing->names[i], stem); i++) {
			struct match match;
			if (!parse_name(listing->names[i], wanted, &match)) {
				continue;
			}
			FSL_TRY(FSL_GROW(out->items, out->capacity, out->n_items + 1, err));
			match.folder = listing->path;
			out->items[out->n_items++] = match;
		}
	}
	if (out->n_items > 0) {
		choose(out);
	}
	return FSL_OK;
}

/* True if a later slice than item @i can be opened. The last slice that is read writes all sums. */
static bool has_next(const struct matches *matches, size_t i)
{
	bool is_there = false;
	while (++i < matches->n_items && matches->items[i].is_used && !is_there) {
		char path[PATH_MAX];
		struct fsl_reader *reader = NULL;
		const struct match *next = &matches->items[i];
		int length = snprintf(path, sizeof(path), "%s/%s", next->folder, next->name);
		is_there = length > 0 && (size_t)length < sizeof(path) &&
			   fsl_reader_open(&reader, path, NULL) == FSL_OK;
		fsl_reader_close(reader);
	}
	return is_there;
}

static enum fsl_status read_match(struct fsl_profile_rank *rank, size_t r,
				  const struct matches *matches, size_t i,
				  const struct fsl_profile_options *options, struct fsl_error *err)
{
	const struct match *match = &matches->items[i];
	struct fsl_file *file = NULL;
	struct fsl_reader *reader = NULL;
	struct fsl_error own = {0};
	enum fsl_status status = fsl_profile_add_file(rank, match->folder, match->name,
						      readers[r].file_name, &file, err);
	if (status != FSL_OK) {
		return status;
	}
	size_t at = rank->n_files - 1;
	status = fsl_reader_open(&reader, file->path, &own);
	if (status != FSL_OK) {
		file->state = FSL_FILE_UNUSABLE;
		file->message = fsl_arena_strdup(&rank->arena, fsl_error_root(&own));
		return status != FSL_ERR_MEMORY && file->message != NULL
			       ? FSL_OK
			       : short_of_memory(rank, err);
	}
	file->n_bytes = fsl_reader_disk_bytes(reader);
	const struct fsl_profile_input input = {.reader = reader,
						.path = file->path,
						.file = file,
						.steps = options->steps,
						.n_steps = options->n_steps,
						.has_next = has_next(matches, i)};
	status = readers[r].read(rank, &input, err);
	fsl_reader_close(reader);
	rank->has_text |=
		rank->files[at].state == FSL_FILE_READ || rank->files[at].state == FSL_FILE_PARTIAL;
	return status;
}

/* Lists a file as unused: an older export, a slice of a whole file, or the same file packed. */
static enum fsl_status leave_out(struct fsl_profile_rank *rank, const char *format,
				 const struct match *match, struct fsl_error *err)
{
	struct fsl_file *file = NULL;
	FSL_TRY(fsl_profile_add_file(rank, match->folder, match->name, format, &file, err));
	file->state = FSL_FILE_DUPLICATE;
	file->message = "left out: another file holds the same, or a newer export";
	return FSL_OK;
}

/* msprof's name of the same file; NULL: it has the usual name. */
static const char *other_name(const char *wanted)
{
	static const char *const names[][2] = {
		{"kernel_details.csv", "op_summary.csv"},
		{"trace_view.json", "msprof.json"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(wanted, names[i][0]) == 0) {
			return names[i][1];
		}
	}
	return NULL;
}

/* Reads the files of one kind. A missing file is no fault here; judges tell what they miss. */
static enum fsl_status read_kind(struct fsl_profile_rank *rank, size_t r,
				 const struct places *places, struct matches *matches,
				 const struct fsl_profile_options *options, struct fsl_error *err)
{
	const char *other = other_name(readers[r].file_name);
	FSL_TRY(find_matches(matches, places, readers[r].file_name, err));
	if (matches->n_items == 0 && other != NULL) {
		FSL_TRY(find_matches(matches, places, other, err));
	}
	for (size_t i = 0; i < matches->n_items; i++) {
		FSL_TRY(matches->items[i].is_used
				? read_match(rank, r, matches, i, options, err)
				: leave_out(rank, readers[r].file_name, &matches->items[i], err));
	}
	return FSL_OK;
}

/* The folder beside that of the tables in which old exports keep the trace; the folder
 * of the tables itself for others; NULL if memory is short. */
static const char *timeline_of(struct fsl_profile_rank *rank)
{
	static const char summary[] = "/summary";
	const char *output = rank->folder.output_path;
	size_t n = strlen(output), n_end = sizeof(summary) - 1;
	bool is_old = n > n_end && strcmp(output + n - n_end, summary) == 0;
	return is_old ? fsl_arena_printf(&rank->arena, "%.*s/timeline", (int)(n - n_end), output)
		      : output;
}

/* Lists the folders. In msprof captures communication lies beside the folder of the tables. */
static enum fsl_status list_places(struct fsl_profile_rank *rank, struct places *places,
				   struct fsl_error *err)
{
	const char *paths[FOLDERS_MAX] = {rank->folder.output_path};
	size_t n_paths = 1;
	if (rank->folder.writer == FSL_PROFILE_MSPROF && rank->folder.file == NULL) {
		paths[n_paths] = fsl_arena_printf(&rank->arena, "%s/analyze", rank->folder.path);
		paths[n_paths + 1] = timeline_of(rank);
		if (paths[n_paths] == NULL || paths[n_paths + 1] == NULL) {
			return short_of_memory(rank, err);
		}
		n_paths += strcmp(paths[n_paths + 1], paths[0]) == 0 ? 1 : 2;
	}
	for (size_t i = 0; i < n_paths; i++) {
		struct fsl_error own = {0};
		struct fsl_listing *listing = &places->folders[places->n_folders];
		enum fsl_status status = fsl_listing_read(listing, paths[i], &own);
		if (status == FSL_ERR_MEMORY) {
			return short_of_memory(rank, err);
		}
		if (status != FSL_OK) {
			FSL_TRY(fsl_profile_add_unlisted(rank, paths[i], &own, err));
			continue;
		}
		fsl_listing_keep(listing, rank->folder.file);
		places->n_folders++;
	}
	return FSL_OK;
}

enum fsl_status fsl_profile_read_files(struct fsl_profile_rank *rank,
				       const struct fsl_profile_options *options,
				       struct fsl_error *err)
{
	struct places places = {0};
	struct matches matches = {0};
	enum fsl_status status = list_places(rank, &places, err);
	for (size_t r = 0; readers[r].read != NULL && status == FSL_OK; r++) {
		status = read_kind(rank, r, &places, &matches, options, err);
	}
	fsl_free(matches.items);
	for (size_t i = 0; i < places.n_folders; i++) {
		fsl_free(places.folders[i].names);
	}
	return status;
}

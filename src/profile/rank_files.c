/* The files of a rank's folder: which there are for each reader, and reading them. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "profile/files.h"
#include "profile/listing.h"

enum { FOLDERS_MAX = 3, SLICE_NONE = -1 };
#define STAMP_NONE INT64_MAX

static const struct {
	const char *file_name;
	fsl_profile_reader read;
} readers[] = {
#define PROFILE_FILE(name, file_name) {file_name, fsl_profile_read_##name},
#include "profile/files.def"
#undef PROFILE_FILE
	{NULL, NULL},
};

/* Where a rank's files lie. */
struct places {
	struct fsl_listing folders[FOLDERS_MAX];
	size_t n_folders;
};

/* A file for a reader: kernel_details.csv, op_statistic_20251127064120.csv,
 * op_summary_slice_0_20251127064120.csv.gz. */
struct match {
	const char *folder, *name;
	int64_t stamp; /* YYYYMMDDhhmmss; STAMP_NONE: the plain name */
	int64_t slice; /* SLICE_NONE: whole */
	int packing;   /* 0 plain, 1 gzip, 2 zstd */
};

struct matches {
	struct match *items;
	size_t n_items, capacity;
};

static enum fsl_status short_of_memory(const struct fsl_profile_rank *rank, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
}

enum fsl_status fsl_profile_add_file(struct fsl_profile_rank *rank, const char *folder,
				     const char *name, const char *format, struct fsl_file **out,
				     struct fsl_error *err)
{
	enum fsl_status status =
		FSL_GROW(rank->files, rank->files_capacity, rank->n_files + 1, err);
	if (status != FSL_OK) {
		return status;
	}
	const char *path = fsl_arena_printf(&rank->arena, "%s/%s", folder, name);
	if (path == NULL) {
		return short_of_memory(rank, err);
	}
	*out = &rank->files[rank->n_files++];
	**out = (struct fsl_file){
		.path = path, .format = format, .rank = rank->rank, .message = ""};
	return FSL_OK;
}

/* The rest of a name behind the stem: slices and stamps, in the order in which msprof has them. */
static const char *parse_tail(const char *at, struct match *match)
{
	enum { STAMP_DIGITS = 14, SLICE_DIGITS_MAX = 9 };
	if (fsl_text_begins(at, "_slice_")) {
		size_t n = strspn(at + 7, "0123456789");
		if (n == 0 || n > SLICE_DIGITS_MAX) {
			return NULL;
		}
		match->slice = strtoll(at + 7, NULL, 10);
		at += 7 + n;
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

/* The newest first; of one stamp the whole before its slices, these in order, plain before packed.
 */
static int compare_matches(const void *left, const void *right)
{
	const struct match *a = left, *b = right;
	int order = FSL_ORDER(b->stamp, a->stamp);
	order = order != 0 ? order : FSL_ORDER(a->slice, b->slice);
	order = order != 0 ? order : FSL_ORDER(a->packing, b->packing);
	return order != 0 ? order : strcmp(a->name, b->name); /* slices 1 and 01 */
}

/* All files of a kind, from the first folder that has any. */
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
			enum fsl_status status =
				FSL_GROW(out->items, out->capacity, out->n_items + 1, err);
			if (status != FSL_OK) {
				return status;
			}
			match.folder = listing->path;
			out->items[out->n_items++] = match;
		}
	}
	if (out->n_items > 1) {
		qsort(out->items, out->n_items, sizeof(*out->items), compare_matches);
	}
	return FSL_OK;
}

/* True when the file repeats one that is read: an older export, a part of what is there as a whole,
 * or the same packed. */
static bool repeats(const struct matches *matches, size_t i)
{
	const struct match *first = &matches->items[0], *item = &matches->items[i];
	return i > 0 && (item->stamp != first->stamp || first->slice == SLICE_NONE ||
			 item->slice == matches->items[i - 1].slice);
}

/* True when a slice that is read comes behind item @i. */
static bool has_next(const struct matches *matches, size_t i)
{
	size_t next = i + 1;
	while (next < matches->n_items && repeats(matches, next)) {
		next++;
	}
	return next < matches->n_items;
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

static enum fsl_status leave_out(struct fsl_profile_rank *rank, const char *format,
				 const struct match *match, enum fsl_file_state state,
				 const char *message, struct fsl_error *err)
{
	struct fsl_file *file = NULL;
	enum fsl_status status =
		fsl_profile_add_file(rank, match->folder, match->name, format, &file, err);
	if (status == FSL_OK) {
		file->state = state;
		file->message = message;
	}
	return status;
}

/* What msprof calls the same file. */
static const char *other_name(const char *wanted)
{
	return strcmp(wanted, "trace_view.json") == 0 ? "msprof.json" : NULL;
}

/* A file that is not there is no fault: what is missing for what is told by the judges. */
static enum fsl_status read_kind(struct fsl_profile_rank *rank, size_t r,
				 const struct places *places, struct matches *matches,
				 const struct fsl_profile_options *options, struct fsl_error *err)
{
	const char *other = other_name(readers[r].file_name);
	enum fsl_status status = find_matches(matches, places, readers[r].file_name, err);
	if (status == FSL_OK && matches->n_items == 0 && other != NULL) {
		status = find_matches(matches, places, other, err);
	}
	for (size_t i = 0; i < matches->n_items && status == FSL_OK; i++) {
		const struct match *match = &matches->items[i];
		if (repeats(matches, i)) {
			status = leave_out(
				rank, readers[r].file_name, match, FSL_FILE_DUPLICATE,
				"left out: another file holds the same, or a newer export", err);
		} else {
			status = read_match(rank, r, matches, i, options, err);
		}
	}
	return status;
}

/* msprof alone writes the kernels with other columns, which nothing here reads. */
static enum fsl_status tell_unread(struct fsl_profile_rank *rank, const struct places *places,
				   struct matches *matches, struct fsl_error *err)
{
	enum fsl_status status = find_matches(matches, places, "kernel_details.csv", err);
	if (status != FSL_OK || matches->n_items > 0) {
		return status;
	}
	status = find_matches(matches, places, "op_summary.csv", err);
	for (size_t i = 0; i < matches->n_items && status == FSL_OK; i++) {
		status = leave_out(rank, "op_summary.csv", &matches->items[i], FSL_FILE_UNUSABLE,
				   "holds kernels in the form of msprof, which is not read: run "
				   "analyse() of the framework's profiler, it writes "
				   "kernel_details.csv",
				   err);
	}
	return status;
}

/* Of msprof, communication lies beside the tables. */
static enum fsl_status list_places(struct fsl_profile_rank *rank, struct places *places,
				   struct fsl_error *err)
{
	const char *paths[FOLDERS_MAX] = {rank->folder.output_path};
	size_t n_paths = 1;
	if (rank->folder.writer == FSL_PROFILE_MSPROF) {
		paths[n_paths] = fsl_arena_printf(&rank->arena, "%s/analyze", rank->folder.path);
		if (paths[n_paths++] == NULL) {
			return short_of_memory(rank, err);
		}
	}
	for (size_t i = 0; i < n_paths; i++) {
		struct fsl_error own = {0};
		struct fsl_listing *listing = &places->folders[places->n_folders];
		enum fsl_status status = fsl_listing_read(listing, paths[i], &own);
		if (status == FSL_ERR_MEMORY) {
			return short_of_memory(rank, err);
		}
		places->n_folders += status == FSL_OK ? 1 : 0;
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
	if (status == FSL_OK) {
		status = tell_unread(rank, &places, &matches, err);
	}
	fsl_free(matches.items);
	for (size_t i = 0; i < places.n_folders; i++) {
		fsl_free(places.folders[i].names);
	}
	return status;
}

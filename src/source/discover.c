/* Walks the folders of a run two levels deep; a file that is reached twice is taken once. */
#include "source/discover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/try.h"

enum {
	DEPTH_MAX = 2,        /* folders below the root: root/node/mspti */
	INPUTS_MAX = 1 << 22, /* four files for each of the most ranks */
	KINDS_ALL = (1 << FSL_INPUT_MARKERS) | (1 << FSL_INPUT_TIMELINE) | (1 << FSL_INPUT_STEPS) |
		    (1 << FSL_INPUT_LOG),
	KINDS_STEPS = KINDS_ALL & ~(1 << FSL_INPUT_MARKERS),
	KINDS_TIMELINE = 1 << FSL_INPUT_TIMELINE,
};

/* A folder still to be listed. */
struct folder {
	char *path; /* heap */
	int depth;
};

struct walk {
	struct fsl_inputs *inputs;
	struct folder *folders;
	size_t n_folders, capacity;
	uint32_t kinds;
	int depth_max;
	bool is_log; /* every file that is nothing else is read as a log */
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

/* Adds one input. FSL_ERR_LIMIT if there are too many. */
static enum fsl_status add_input(struct fsl_inputs *inputs, const char *path, uint32_t kinds,
				 struct fsl_input **out, struct fsl_error *err)
{
	if (inputs->n_items >= INPUTS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"too many files below root_path, point it at one job: max=%d",
				INPUTS_MAX);
	}
	char *copy = fsl_arena_strdup(&inputs->arena, path);
	if (copy == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	FSL_TRY(FSL_GROW(inputs->items, inputs->capacity, inputs->n_items + 1, err));
	struct fsl_input *input = &inputs->items[inputs->n_items++];
	*input = (struct fsl_input){.path = copy, .name = last_part(copy), .kinds = kinds};
	input->told = fsl_file_name_parse(input->name);
	const char *end = input->name > copy ? input->name - 1 : copy;
	const char *slash = memrchr(copy, '/', (size_t)(end - copy));
	const char *folder = slash != NULL ? slash + 1 : copy;
	fsl_file_name_take_folder(&input->told, folder, (size_t)(end - folder));
	*out = input;
	return FSL_OK;
}

static void set_facts(struct fsl_input *input, const struct stat *facts)
{
	input->n_bytes = facts->st_size > 0 ? (uint64_t)facts->st_size : 0;
	input->device = facts->st_dev;
	input->inode = facts->st_ino;
}

static enum fsl_status add_file(const struct walk *walk, const char *path, const struct stat *facts,
				struct fsl_error *err)
{
	struct fsl_inputs *inputs = walk->inputs;
	struct fsl_input *input = NULL;
	FSL_TRY(add_input(inputs, path, walk->kinds, &input, err));
	if (input->told.kind == FSL_NAME_RESULT) {
		fsl_log(FSL_LOG_DEBUG, "ingest",
			"result of an earlier analysis skipped: path=\"%s\"", path);
		inputs->n_items--;
		return FSL_OK;
	}
	set_facts(input, facts);
	input->is_log = walk->is_log;
	return FSL_OK;
}

/* Something that the user should know although it cannot be read. */
static enum fsl_status add_fault(struct fsl_inputs *inputs, const char *path, const char *what,
				 const char *why, struct fsl_error *err)
{
	struct fsl_input *input = NULL;
	FSL_TRY(add_input(inputs, path, KINDS_ALL, &input, err));
	input->is_explicit = true;
	input->fault = fsl_arena_printf(&inputs->arena, "%s: reason=\"%s\"", what, why);
	return input->fault != NULL
		       ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
}

static enum fsl_status push_folder(struct walk *walk, const char *path, int depth,
				   struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(walk->folders, walk->capacity, walk->n_folders + 1, err));
	char *copy = fsl_path_join("", path);
	if (copy == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	walk->folders[walk->n_folders++] = (struct folder){copy, depth};
	return FSL_OK;
}

/* One entry of a folder: adds a file, remembers a folder, ignores everything else. */
static enum fsl_status visit(struct walk *walk, const char *path, int depth, struct fsl_error *err)
{
	struct stat facts;
	if (stat(path, &facts) != 0) {
		int reason = errno;
		bool is_gone = reason == ENOENT || reason == ELOOP;
		if (is_gone && fsl_file_name_parse(last_part(path)).kind == FSL_NAME_UNKNOWN) {
			return FSL_OK; /* a link to nowhere that was no input */
		}
		if (is_gone) {
			return add_fault(
				walk->inputs, path,
				"file vanished or its link leads nowhere, look for it on the "
				"host that writes it",
				strerrordesc_np(reason), err);
		}
		return add_fault(walk->inputs, path, "cannot be looked at, check its permissions",
				 strerrordesc_np(reason), err);
	}
	if (S_ISREG(facts.st_mode)) {
		return add_file(walk, path, &facts, err);
	}
	struct fsl_file_name told = fsl_file_name_parse(last_part(path));
	bool is_folder = S_ISDIR(facts.st_mode);
	if (told.kind == FSL_NAME_MARKERS && (!is_folder || told.rank_state == FSL_NAME_HAS_RANK)) {
		return add_fault(walk->inputs, path,
				 "no file but has the name of one with markers, move it away",
				 is_folder ? "folder" : "pipe, socket or device", err);
	}
	if (is_folder && depth < walk->depth_max) {
		return push_folder(walk, path, depth + 1, err);
	}
	return FSL_OK;
}

static enum fsl_status list_folder(struct walk *walk, const struct folder *folder,
				   struct fsl_error *err)
{
	char **names = NULL;
	size_t n_names = 0;
	struct fsl_error cause = {0};
	enum fsl_status status = fsl_dir_list(folder->path, &names, &n_names, &cause);
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "out of memory: path=\"%s\"", folder->path);
	}
	if (status != FSL_OK) {
		return add_fault(walk->inputs, folder->path,
				 "folder cannot be listed, check its permissions",
				 fsl_error_root(&cause), err);
	}
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		if (names[i][0] == '.') {
			continue;
		}
		char *path = fsl_path_join(folder->path, names[i]);
		status = path != NULL ? visit(walk, path, folder->depth, err)
				      : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"",
						 folder->path);
		fsl_free(path);
	}
	fsl_free(names);
	return status;
}

/* Everything below @path; @walk holds what to take from it and how deep to go. */
static enum fsl_status walk_folder(struct walk walk, const char *path, struct fsl_error *err)
{
	enum fsl_status status = push_folder(&walk, path, 0, err);
	while (status == FSL_OK && walk.n_folders > 0) {
		struct folder folder = walk.folders[--walk.n_folders];
		status = list_folder(&walk, &folder, err);
		fsl_free(folder.path);
	}
	while (walk.n_folders > 0) {
		fsl_free(walk.folders[--walk.n_folders].path);
	}
	fsl_free(walk.folders);
	return status;
}

static enum fsl_status find_root(struct fsl_inputs *inputs, const char *root, struct fsl_error *err)
{
	struct stat facts;
	bool is_stdin = strcmp(root, FSL_STDIN) == 0;
	if ((is_stdin ? fstat(STDIN_FILENO, &facts) : stat(root, &facts)) != 0) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"the input cannot be used, correct DIR or root_path: "
				"path=\"%s\", reason=\"%s\"",
				root, strerrordesc_np(errno));
	}
	if (S_ISDIR(facts.st_mode) && !is_stdin) {
		const struct walk walk = {
			.inputs = inputs, .kinds = KINDS_ALL, .depth_max = DEPTH_MAX};
		return walk_folder(walk, root, err);
	}
	struct fsl_input *input = NULL;
	FSL_TRY(add_input(inputs, root, KINDS_ALL, &input, err));
	input->is_explicit = true;
	set_facts(input, &facts);
	return FSL_OK;
}

/* The folder that a path lies in; inputs->arena, NULL when out of memory. */
static const char *folder_of(struct fsl_inputs *inputs, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (slash == NULL) {
		return ".";
	}
	size_t length = slash == path ? 1 : (size_t)(slash - path);
	return fsl_arena_strndup(&inputs->arena, path, length);
}

/*
 * The timeline of one rank, a log, or a folder of either. If the user names one timeline, the
 * timelines of the other ranks beside it are used, too: without them ranks cannot be compared.
 */
static enum fsl_status find_training_log(struct fsl_inputs *inputs,
					 const struct fsl_ingest_options *options,
					 struct fsl_error *err)
{
	const char *path = options->training_log;
	struct stat facts;
	if (stat(path, &facts) != 0) {
		return add_fault(inputs, path,
				 "training_log cannot be used, correct it in the configuration",
				 strerrordesc_np(errno), err);
	}
	if (S_ISDIR(facts.st_mode)) {
		const struct walk walk = {.inputs = inputs,
					  .kinds = KINDS_STEPS,
					  .depth_max = 1,
					  .is_log = options->log_type_is_log};
		return walk_folder(walk, path, err);
	}
	struct fsl_input *input = NULL;
	FSL_TRY(add_input(inputs, path, KINDS_STEPS, &input, err));
	input->is_explicit = true;
	input->is_log = options->log_type_is_log;
	set_facts(input, &facts);
	bool is_timeline = input->told.kind == FSL_NAME_TIMELINE ||
			   (input->told.kind == FSL_NAME_UNKNOWN &&
			    input->told.rank_state == FSL_NAME_HAS_RANK); /* its JSON build */
	if (!is_timeline || options->log_type_is_log) {
		return FSL_OK;
	}
	const char *folder = folder_of(inputs, path);
	if (folder == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	const struct walk walk = {.inputs = inputs, .kinds = KINDS_TIMELINE};
	return walk_folder(walk, folder, err);
}

static int compare_paths(const void *left, const void *right)
{
	const struct fsl_input *a = left, *b = right;
	return strcmp(a->path, b->path);
}

/* Same file together; faults (no inode) by path. */
static int compare_files(const void *left, const void *right)
{
	const struct fsl_input *a = left, *b = right;
	int order = (a->device > b->device) - (a->device < b->device);
	order = order != 0 ? order : (a->inode > b->inode) - (a->inode < b->inode);
	return order != 0 ? order : strcmp(a->path, b->path);
}

static bool is_same_file(const struct fsl_input *a, const struct fsl_input *b)
{
	if (a->inode == 0 && b->inode == 0) {
		return strcmp(a->path, b->path) == 0;
	}
	return a->device == b->device && a->inode == b->inode;
}

/* Links and overlapping folders may reach a file twice. The two inputs become one, which is wanted
 * for all that either was wanted for. */
static void merge_same(struct fsl_inputs *inputs)
{
	size_t n_kept = 0;
	qsort(inputs->items, inputs->n_items, sizeof(*inputs->items), compare_files);
	for (size_t i = 0; i < inputs->n_items; i++) {
		struct fsl_input *input = &inputs->items[i];
		if (n_kept > 0 && is_same_file(&inputs->items[n_kept - 1], input)) {
			struct fsl_input *kept = &inputs->items[n_kept - 1];
			kept->kinds |= input->kinds;
			kept->is_explicit |= input->is_explicit;
			kept->is_log |= input->is_log;
		} else {
			inputs->items[n_kept++] = *input;
		}
	}
	inputs->n_items = n_kept;
	qsort(inputs->items, inputs->n_items, sizeof(*inputs->items), compare_paths);
}

enum fsl_status fsl_inputs_find(struct fsl_inputs *inputs, const struct fsl_ingest_options *options,
				struct fsl_error *err)
{
	if (options->root_path != NULL && options->root_path[0] != '\0') {
		FSL_TRY(find_root(inputs, options->root_path, err));
	}
	for (size_t i = 0; i < options->n_more_paths; i++) {
		FSL_TRY(find_root(inputs, options->more_paths[i], err));
	}
	if (options->training_log != NULL && options->training_log[0] != '\0') {
		FSL_TRY(find_training_log(inputs, options, err));
	}
	if (inputs->n_items > 0) {
		merge_same(inputs);
	}
	return FSL_OK;
}

void fsl_inputs_fini(struct fsl_inputs *inputs)
{
	fsl_free(inputs->items);
	fsl_arena_fini(&inputs->arena);
	*inputs = (struct fsl_inputs){0};
}

static bool is_packed(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot != NULL && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0);
}

uint64_t fsl_input_bytes(const struct fsl_input *input)
{
	enum { PACKED = 8 }; /* marker rows get that much shorter */
	return (is_packed(input->name) ? PACKED : 1) * input->n_bytes;
}

uint64_t fsl_inputs_bytes(const struct fsl_inputs *inputs)
{
	enum { OPEN_BYTES = 1 << 14 }; /* finding out what a file is takes as long */
	uint64_t sum = inputs->n_items * (uint64_t)OPEN_BYTES;
	for (size_t i = 0; i < inputs->n_items; i++) {
		sum += fsl_input_bytes(&inputs->items[i]);
	}
	return sum;
}

/* Looking for traces below folders. */
#include "source/ftrace/find.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/ftrace/form.h"

enum { DEPTH_MAX = 10, FOLDERS_MAX = 100000 };

struct folder {
	char *path; /* owned */
	int depth;
};

struct walk {
	struct fsl_ftrace_traces *traces;
	bool is_brief;
	struct folder *folders;
	size_t n_folders, folders_capacity;
	size_t n_visited;
};

static bool ends(const char *name, size_t length, const char *end)
{
	size_t n = strlen(end);
	return length >= n && memcmp(name + length - n, end, n) == 0;
}

static bool is_name(const char *name, size_t length, const char *text)
{
	return length == strlen(text) && memcmp(name, text, length) == 0;
}

/* Names that traces have; the content decides. */
static bool is_trace_name(const char *name)
{
	static const char *const suffixes[] = {".txt", ".ftrace", ".trace", ".dat", ".data"};
	static const char *const names[] = {"trace", "trace_pipe", "ftrace"};
	size_t length = strlen(name);
	length -= ends(name, length, ".gz") ? 3 : ends(name, length, ".zst") ? 4 : 0;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (ends(name, length, suffixes[i])) {
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (is_name(name, length, names[i])) {
			return true;
		}
	}
	return false;
}

/* In a brief look the name of the file, or of its folder, must speak of the kernel. */
static bool is_brief_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	if (strstr(name, "ftrace") != NULL || strstr(name, "sched") != NULL) {
		return true;
	}
	while (slash != NULL && slash > path && slash[-1] != '/') {
		slash--;
	}
	return slash != NULL && strncmp(slash, "ftrace", 6) == 0;
}

/* A file that is empty, binary, or cannot be read is damaged if its name is that of a trace, else
 * no trace. One that cannot be read counts as text: whoever reads it tells why. FSL_ERR_MEMORY
 * only. */
static enum fsl_status find_form(enum fsl_ftrace_form *form, const char *path,
				 struct fsl_error *err)
{
	struct fsl_reader *reader = NULL;
	const char *head = NULL;
	size_t length = 0;
	*form = FSL_FTRACE_NO_TRACE;
	enum fsl_status status = fsl_reader_open(&reader, path, NULL);
	FSL_THEN(status, fsl_reader_peek(reader, FSL_FILE_HEAD_BYTES, &head, &length, NULL));
	if (status == FSL_OK) {
		length = length < FSL_FILE_HEAD_BYTES ? length : FSL_FILE_HEAD_BYTES;
		*form = fsl_ftrace_form_of(head, length);
		bool is_binary = length == 0 || memchr(head, '\0', length) != NULL;
		if (*form == FSL_FTRACE_NO_TRACE && is_binary && is_brief_name(path)) {
			*form = FSL_FTRACE_DAMAGED;
		}
	} else if (is_brief_name(path)) {
		*form = FSL_FTRACE_TEXT;
	}
	fsl_reader_close(reader);
	return status == FSL_ERR_MEMORY
		       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", path)
		       : FSL_OK;
}

/* Length of the path up to a folder per_cpu; 0: it has none. */
static size_t per_cpu_length(const char *path)
{
	const char *at = strstr(path, "/per_cpu/");
	return at != NULL ? (size_t)(at - path) + 1 : 0;
}

static enum fsl_status add_path(struct fsl_ftrace_traces *traces, const char *path,
				enum fsl_ftrace_form form, struct fsl_error *err)
{
	size_t shared = per_cpu_length(path);
	char *copy = fsl_arena_strdup(&traces->arena, path);
	struct fsl_ftrace_trace *same = NULL;
	for (size_t i = 0; shared > 0 && i < traces->n_items; i++) {
		if (per_cpu_length(traces->items[i].paths[0]) == shared &&
		    memcmp(traces->items[i].paths[0], path, shared) == 0) {
			same = &traces->items[i];
		}
	}
	if (copy == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: paths");
	}
	size_t n = same != NULL ? same->n_paths : 0;
	const char **paths = fsl_arena_calloc(&traces->arena, n + 1, sizeof(*paths));
	if (paths == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: paths");
	}
	for (size_t i = 0; i < n; i++) {
		paths[i] = same->paths[i];
	}
	paths[n] = copy;
	if (same != NULL) {
		same->paths = paths;
		same->n_paths = n + 1;
		return FSL_OK;
	}
	const struct fsl_ftrace_trace fresh = {paths, 1, fsl_ftrace_refusal(form)};
	return traces->n_items < FSL_FTRACE_TRACES_MAX
		       ? FSL_APPEND(traces, items, &fresh, err)
		       : FSL_FAIL(err, FSL_ERR_LIMIT, "too many kernel traces: traces=%zu",
				  traces->n_items);
}

static enum fsl_status push(struct walk *walk, const char *path, int depth, struct fsl_error *err)
{
	struct folder folder = {fsl_path_join("", path), depth};
	if (folder.path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	enum fsl_status status = FSL_APPEND(walk, folders, &folder, err);
	if (status != FSL_OK) {
		fsl_free(folder.path);
	}
	return status;
}

static enum fsl_status visit(struct walk *walk, const char *path, const char *name, int depth,
			     struct fsl_error *err)
{
	struct stat facts;
	if (stat(path, &facts) != 0) {
		return FSL_OK;
	}
	if (S_ISDIR(facts.st_mode)) {
		return depth < DEPTH_MAX && name[0] != '.' ? push(walk, path, depth + 1, err)
							   : FSL_OK;
	}
	if (!S_ISREG(facts.st_mode) || !is_trace_name(name) ||
	    (walk->is_brief && !is_brief_name(path))) {
		return FSL_OK;
	}
	enum fsl_ftrace_form form = FSL_FTRACE_NO_TRACE;
	FSL_TRY(find_form(&form, path, err));
	return form == FSL_FTRACE_NO_TRACE ? FSL_OK : add_path(walk->traces, path, form, err);
}

static enum fsl_status list_folder(struct walk *walk, const struct folder *folder,
				   struct fsl_error *err)
{
	char **names = NULL;
	size_t n_names = 0;
	enum fsl_status status = fsl_dir_list(folder->path, &names, &n_names, NULL);
	if (status != FSL_OK) {
		return status == FSL_ERR_MEMORY
			       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names")
			       : FSL_OK;
	}
	for (size_t i = 0; status == FSL_OK && i < n_names; i++) {
		char *path = fsl_path_join(folder->path, names[i]);
		status = path == NULL ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: paths")
				      : visit(walk, path, names[i], folder->depth, err);
		fsl_free(path);
	}
	fsl_free(names);
	return status;
}

static int compare_traces(const void *left, const void *right)
{
	const struct fsl_ftrace_trace *a = left, *b = right;
	return strcmp(a->paths[0], b->paths[0]);
}

static enum fsl_status walk_all(struct walk *walk, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	while (status == FSL_OK && walk->n_folders > 0 && walk->n_visited++ < FOLDERS_MAX) {
		struct folder folder = walk->folders[--walk->n_folders];
		status = list_folder(walk, &folder, err);
		fsl_free(folder.path);
	}
	return status;
}

enum fsl_status fsl_ftrace_find(struct fsl_ftrace_traces *traces, const char *const *paths,
				size_t n_paths, bool is_brief, struct fsl_error *err)
{
	struct walk walk = {.traces = traces, .is_brief = is_brief};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; status == FSL_OK && i < n_paths; i++) {
		struct stat facts;
		bool is_there = stat(paths[i], &facts) == 0;
		if (is_there && S_ISDIR(facts.st_mode)) {
			status = push(&walk, paths[i], 0, err);
		} else if (!is_brief || (is_there && is_brief_name(paths[i]))) {
			enum fsl_ftrace_form form = FSL_FTRACE_NO_TRACE;
			status = find_form(&form, paths[i], err);
			bool is_told = !is_brief || form != FSL_FTRACE_NO_TRACE;
			if (status == FSL_OK && is_told) {
				status = add_path(traces, paths[i], form, err);
			}
		}
		FSL_THEN(status, walk_all(&walk, err));
	}
	while (walk.n_folders > 0) {
		fsl_free(walk.folders[--walk.n_folders].path);
	}
	fsl_free(walk.folders);
	if (traces->n_items > 1) {
		qsort(traces->items, traces->n_items, sizeof(*traces->items), compare_traces);
	}
	return status;
}

void fsl_ftrace_traces_fini(struct fsl_ftrace_traces *traces)
{
	fsl_free(traces->items);
	fsl_arena_fini(&traces->arena);
	*traces = (struct fsl_ftrace_traces){0};
}

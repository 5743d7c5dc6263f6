/* Finds the rank folders of a tree: walks it, tells each folder's rank, and resolves conflicts. */
#include "source/ascend/find/discover.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "source/ascend/find/discover_parts.h"

enum { TOLD_MAX = 8 }; /* greatest number of remarks of one kind */

static const char *const kind_texts[] = {
	[FSL_DISCOVER_UNREADABLE] = "folders that cannot be read",
	[FSL_DISCOVER_NOT_PARSED] = "captures that were not parsed",
	[FSL_DISCOVER_STRANGERS] = "folders with files that are not read",
	[FSL_DISCOVER_BAD_INFO] = "info files that cannot be used",
	[FSL_DISCOVER_BAD_RANK] = "numbers that can be no rank",
	[FSL_DISCOVER_CONFLICT] = "folders whose rank is told in two ways",
	[FSL_DISCOVER_MIXED] = "mixed sets",
	[FSL_DISCOVER_DUPLICATE] = "folders of ranks that are there more than once",
	[FSL_DISCOVER_ROUNDS] = "mixtures of captures",
	[FSL_DISCOVER_NO_RANK] = "folders without a rank",
	[FSL_DISCOVER_LOOSE] = "folders with files that tell no rank",
	[FSL_DISCOVER_UNFINISHED] = "ranks without analyse.done",
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

/* strverscmp() tells "a01" and "a1" apart, and is a total order. */
int fsl_search_compare_paths(const char *a, const char *b)
{
	return strverscmp(a, b);
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
	}
	return FSL_CAUSE(err, FSL_ERR_INPUT,
			 "no output of the Ascend profiler, looked for *_ascend_pt, *_ascend_ms, "
			 "PROF_*, ASCEND_PROFILER_OUTPUT, step_trace_time.csv, kernel_details.csv, "
			 "communication.json and analysis.db, 10 folders deep: path=\"%s\"",
			 path);
}

enum fsl_status fsl_profile_discover(struct fsl_profile *profile, const char *path,
				     struct fsl_error *err)
{
	struct fsl_search search = {.profile = profile, .root = path};
	enum fsl_status status = fsl_search_walk(&search, path, err);
	for (size_t i = 0; i < search.n_items && status == FSL_OK; i++) {
		status = fsl_search_tell_rank(&search, &search.items[i], err);
	}
	if (status == FSL_OK) {
		status = fsl_search_settle(&search, err);
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

/* Reduces the folders to one per rank: mixed sets, numbers, duplicates. */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/try.h"
#include "source/ascend/find/discover_parts.h"

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
 * framework's folder before the PROF_* that may have been in it, then the newest. */
static int compare_ranks(const void *left, const void *right)
{
	const struct fsl_candidate *a = left, *b = right;
	int order = FSL_ORDER(a->folder.rank, b->folder.rank);
	bool is_prof_a = a->folder.writer == FSL_PROFILE_MSPROF;
	bool is_prof_b = b->folder.writer == FSL_PROFILE_MSPROF;
	order = order != 0 ? order : FSL_ORDER(a->is_loose, b->is_loose);
	order = order != 0 ? order : FSL_ORDER(is_prof_a, is_prof_b);
	order = order != 0 ? order : FSL_ORDER(b->folder.stamp, a->folder.stamp);
	return order != 0 ? order : fsl_search_compare_paths(a->folder.path, b->folder.path);
}

/* Remarks on mixed rounds: if a rank has fewer captures than others, the newest folders of all
 * ranks are not of one round. */
static enum fsl_status remark_rounds(struct fsl_search *search, int64_t newest_left_out,
				     struct fsl_error *err)
{
	size_t n_older = 0;
	const struct fsl_profile_folder *first = NULL;
	for (size_t i = 0; i < search->n_items; i++) {
		const struct fsl_profile_folder *folder = &search->items[i].folder;
		if (folder->stamp > 0 && folder->stamp <= newest_left_out) {
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
		n_older, fsl_search_shown(search, first->path), (int)first->rank);
}

/* Drops duplicates. Folders without number come first, with rank -1, and stay. */
static enum fsl_status settle_duplicates(struct fsl_search *search, struct fsl_error *err)
{
	size_t n_kept = 0;
	int64_t newest_left_out = 0;
	qsort(search->items, search->n_items, sizeof(*search->items), compare_ranks);
	for (size_t i = 0; i < search->n_items; i++) {
		const struct fsl_candidate *item = &search->items[i];
		const struct fsl_candidate *kept = n_kept > 0 ? &search->items[n_kept - 1] : item;
		if (n_kept == 0 || is_unnumbered(item) || kept->folder.rank != item->folder.rank) {
			search->items[n_kept++] = *item;
			continue;
		}
		int64_t kept_stamp = kept->folder.stamp;
		const char *why = kept_stamp > item->folder.stamp ? "newer" : "used";
		FSL_TRY(fsl_search_remark(
			search, FSL_DISCOVER_DUPLICATE, err,
			"rank %d is there more than once: \"%s\" is left out, \"%s\" is %s",
			(int)item->folder.rank, fsl_search_shown(search, item->folder.path),
			fsl_search_shown(search, kept->folder.path), why));
		/* With an equal stamp it is a copy, not another round. */
		if (item->folder.stamp < kept_stamp && item->folder.stamp > newest_left_out) {
			newest_left_out = item->folder.stamp;
		}
	}
	search->n_items = n_kept;
	return remark_rounds(search, newest_left_out, err);
}

/* Orders folders without a number first: by host and device if known, else by path. */
static int compare_unnumbered(const void *left, const void *right)
{
	const struct fsl_candidate *a = left, *b = right;
	int order = FSL_ORDER(is_unnumbered(b), is_unnumbered(a));
	order = order != 0 ? order : strcmp(a->host_uid, b->host_uid);
	order = order != 0 ? order : FSL_ORDER(a->device, b->device);
	return order != 0 ? order : fsl_search_compare_paths(a->folder.path, b->folder.path);
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
static const settler settlers[] = {settle_mixed, settle_loose, settle_duplicates, settle_unnumbered,
				   settle_unfinished};

enum fsl_status fsl_search_settle(struct fsl_search *search, struct fsl_error *err)
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

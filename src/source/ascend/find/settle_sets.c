/* Folders that are no further ranks of a job: passes over one run, and other captures of ranks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/try.h"
#include "source/ascend/find/discover_parts.h"

/* With several groups of counters (--aic-metrics) msprof runs the program once for each, and writes
 * PROF_GROUP_<time>/PROF_<counters>/PROF_<number>... The first tells what bounds a kernel. */
static const char *const passes[] = {"PROF_PipeUtilization",
				     "PROF_PipelineExecuteUtilization",
				     "PROF_ArithmeticUtilization",
				     "PROF_Memory",
				     "PROF_MemoryL0",
				     "PROF_MemoryUB",
				     "PROF_MemoryAccess",
				     "PROF_L2Cache",
				     "PROF_ResourceConflictRatio"};
enum { PASSES_N = sizeof(passes) / sizeof(passes[0]) };

/* Place of the pass in the table; PASSES_N: the folder is of no pass. */
static size_t pass_of(const struct fsl_candidate *item)
{
	size_t p = 0;
	while (p < PASSES_N && strcmp(item->parent_name, passes[p]) != 0) {
		p++;
	}
	return p;
}

/* Length of the path before its last @n_tail bytes; 0 if it has no more: the path "." has the name
 * of the folder that it stands for. */
static size_t length_without(const struct fsl_candidate *item, size_t n_tail)
{
	size_t n_path = strlen(item->folder.path);
	return n_path > n_tail ? n_path - n_tail : 0;
}

/* Both lie in passes of one group of passes. */
static bool is_of_group(const struct fsl_candidate *a, const struct fsl_candidate *b)
{
	size_t n_a = length_without(a, strlen(a->name) + strlen(a->parent_name) + 1);
	size_t n_b = length_without(b, strlen(b->name) + strlen(b->parent_name) + 1);
	return n_a == n_b && memcmp(a->folder.path, b->folder.path, n_a) == 0;
}

/* The first pass of the table over the same run is used; NULL: it is this one, or the folder is of
 * no pass. */
static const struct fsl_candidate *better_pass(const struct fsl_search *search, size_t i)
{
	const struct fsl_candidate *item = &search->items[i], *best = item;
	for (size_t k = 0; k < search->n_items && pass_of(item) < PASSES_N; k++) {
		const struct fsl_candidate *other = &search->items[k];
		best = pass_of(other) < pass_of(best) && is_of_group(item, other) ? other : best;
	}
	return best != item ? best : NULL;
}

enum fsl_status fsl_search_settle_passes(struct fsl_search *search, struct fsl_error *err)
{
	size_t n_kept = 0;
	bool *is_left_out = fsl_calloc(search->n_items + 1, sizeof(*is_left_out));
	enum fsl_status status = is_left_out != NULL
					 ? FSL_OK
					 : FSL_FAIL(err, FSL_ERR_MEMORY,
						    "out of memory: folders=%zu", search->n_items);
	for (size_t i = 0; i < search->n_items && status == FSL_OK; i++) {
		const struct fsl_candidate *item = &search->items[i];
		const struct fsl_candidate *best = better_pass(search, i);
		is_left_out[i] = best != NULL;
		if (best != NULL) {
			status = fsl_search_remark(
				search, FSL_DISCOVER_PASSES, err,
				"\"%s\" is a pass of the profiler over the run of %s, no rank or "
				"step of its own: left out",
				fsl_search_shown(search, item->folder.path), best->parent_name);
		}
	}
	for (size_t i = 0; i < search->n_items && status == FSL_OK; i++) {
		if (!is_left_out[i]) {
			search->items[n_kept++] = search->items[i];
		}
	}
	search->n_items = status == FSL_OK ? n_kept : search->n_items;
	fsl_free(is_left_out);
	return status;
}

/* The captures in one folder. */
struct set {
	size_t first, n; /* items, which are neighbours */
	size_t n_files;
	int64_t stamp; /* the newest */
	bool is_prof;  /* of msprof, not of a framework */
};

static size_t parent_length(const struct fsl_candidate *item)
{
	return length_without(item, strlen(item->name));
}

static bool is_beside(const struct fsl_candidate *a, const struct fsl_candidate *b)
{
	size_t n = parent_length(a);
	return n == parent_length(b) && memcmp(a->folder.path, b->folder.path, n) == 0;
}

static struct set set_of(const struct fsl_search *search, size_t first)
{
	struct set set = {.first = first, .is_prof = true};
	size_t i = first;
	for (; i < search->n_items && is_beside(&search->items[first], &search->items[i]); i++) {
		const struct fsl_candidate *item = &search->items[i];
		set.n_files += item->n_files;
		set.stamp = item->folder.stamp > set.stamp ? item->folder.stamp : set.stamp;
		set.is_prof &= item->folder.writer == FSL_PROFILE_MSPROF;
	}
	set.n = i - first;
	return set;
}

/* The best first: of a framework, then of most ranks, then the newest, then the one that holds
 * most. */
static int compare_sets(const void *left, const void *right)
{
	const struct set *a = left, *b = right;
	int order = FSL_ORDER(a->is_prof, b->is_prof);
	order = order != 0 ? order : FSL_ORDER(b->n, a->n);
	order = order != 0 ? order : FSL_ORDER(b->stamp, a->stamp);
	order = order != 0 ? order : FSL_ORDER(b->n_files, a->n_files);
	return order != 0 ? order : FSL_ORDER(a->first, b->first);
}

/* Takes the ranks of a set. @taken: per rank, an item of a better set; NULL: none. Returns an item
 * of this set whose rank is taken already: then the set is another capture, and takes nothing. */
static const struct fsl_candidate *take_ranks(const struct fsl_search *search,
					      const struct set *set,
					      const struct fsl_candidate **taken)
{
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = set->first; i < set->first + set->n; i++) {
			const struct fsl_candidate *item = &search->items[i];
			int32_t rank = item->folder.rank;
			bool is_other =
				rank >= 0 && taken[rank] != NULL && !is_beside(taken[rank], item);
			if (is_other) {
				return item;
			}
			if (pass > 0 && rank >= 0) {
				taken[rank] = item;
			}
		}
	}
	return NULL;
}

static enum fsl_status leave_out(struct fsl_search *search, const struct set *set,
				 const struct fsl_candidate **taken,
				 const struct fsl_candidate *other, struct fsl_error *err)
{
	for (size_t i = set->first; i < set->first + set->n; i++) {
		const struct fsl_candidate *item = &search->items[i];
		int32_t rank = item->folder.rank;
		if (rank >= 0 && taken[rank] != NULL) {
			FSL_TRY(fsl_search_remark_duplicate(search, item, taken[rank], err));
		} else {
			FSL_TRY(fsl_search_remark(search, FSL_DISCOVER_DUPLICATE, err,
						  "\"%s\" is left out: beside it lies rank %d of "
						  "another capture",
						  fsl_search_shown(search, item->folder.path),
						  (int)other->folder.rank));
		}
	}
	return FSL_OK;
}

static enum fsl_status choose_sets(struct fsl_search *search, struct set *sets,
				   const struct fsl_candidate **taken, bool *is_left_out,
				   struct fsl_error *err)
{
	size_t n = 0;
	for (size_t i = 0; i < search->n_items; i += sets[n++].n) {
		sets[n] = set_of(search, i);
	}
	qsort(sets, n, sizeof(*sets), compare_sets);
	for (size_t s = 0; s < n; s++) {
		const struct fsl_candidate *other = take_ranks(search, &sets[s], taken);
		if (other != NULL) {
			FSL_TRY(leave_out(search, &sets[s], taken, other, err));
			memset(is_left_out + sets[s].first, true, sets[s].n);
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_search_settle_sets(struct fsl_search *search, struct fsl_error *err)
{
	size_t n = search->n_items, n_kept = 0;
	struct set *sets = fsl_calloc(n + 1, sizeof(*sets));
	bool *is_left_out = fsl_calloc(n + 1, sizeof(*is_left_out));
	const struct fsl_candidate **taken = fsl_calloc(FSL_PROFILE_RANKS_MAX, sizeof(*taken));
	enum fsl_status status =
		sets != NULL && is_left_out != NULL && taken != NULL
			? choose_sets(search, sets, taken, is_left_out, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: folders=%zu", n);
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		if (!is_left_out[i]) {
			search->items[n_kept++] = search->items[i];
		}
	}
	search->n_items = status == FSL_OK ? n_kept : n;
	fsl_free(taken);
	fsl_free(is_left_out);
	fsl_free(sets);
	return status;
}

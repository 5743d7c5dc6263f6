/* Runs of ids: sorted, then merged with those that are there. */
#include "source/systrace/id_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

void fsl_id_set_fini(struct fsl_id_set *set)
{
	fsl_free(set->runs);
	*set = (struct fsl_id_set){0};
}

bool fsl_id_runs_have(const struct fsl_id_run *runs, size_t n, uint64_t id)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (runs[middle].last < id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < n && runs[low].first <= id;
}

static int compare_runs(const void *left, const void *right)
{
	const struct fsl_id_run *a = left, *b = right;
	return FSL_ORDER(a->first, b->first);
}

static void sort_runs(struct fsl_id_run *runs, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (runs[i].first < runs[i - 1].first) {
			qsort(runs, n, sizeof(*runs), compare_runs);
			return;
		}
	}
}

enum fsl_status fsl_id_set_add(struct fsl_id_set *set, struct fsl_id_run *runs, size_t n,
			       bool *is_again, struct fsl_error *err)
{
	struct fsl_id_run *merged = fsl_calloc(set->n + n, sizeof(*merged));
	if (merged == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: runs=%zu", set->n + n);
	}
	*is_again = false;
	sort_runs(runs, n);
	size_t n_merged = 0, old = 0, new = 0;
	while (old < set->n || new < n) {
		bool is_old = new == n || (old < set->n && set->runs[old].first <= runs[new].first);
		struct fsl_id_run run = is_old ? set->runs[old++] : runs[new ++];
		struct fsl_id_run *last = n_merged > 0 ? &merged[n_merged - 1] : NULL;
		if (last == NULL || (run.first > last->last && run.first - last->last > 1)) {
			merged[n_merged++] = run;
			continue;
		}
		*is_again |= run.first <= last->last;
		last->last = run.last > last->last ? run.last : last->last;
	}
	fsl_free(set->runs);
	*set = (struct fsl_id_set){merged, n_merged, set->n + n};
	return FSL_OK;
}

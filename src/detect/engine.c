/* Runs one detector over one unit and brings its findings into a fixed order. */
#include "detect/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "model/verdict.h"

/* NaN after the numbers. */
static int compare_reals(double a, double b)
{
	return a != a || b != b ? (a != a) - (b != b) : FSL_ORDER(a, b);
}

/* Compares all fields, so that the order does not depend on the order of reporting. */
static int compare_findings(const void *left, const void *right)
{
	const struct fsl_finding *a = left;
	const struct fsl_finding *b = right;
	FSL_ORDER_BY(a->rank, b->rank);
	FSL_ORDER_BY(a->window_begin, b->window_begin);
	FSL_ORDER_BY(a->window_end, b->window_end);
	FSL_ORDER_BY(a->peer, b->peer);
	int order = compare_reals(a->slow_ratio, b->slow_ratio);
	order = order != 0 ? order : compare_reals(a->effect_ms, b->effect_ms);
	return order != 0 ? order : compare_reals(a->confidence, b->confidence);
}

/* Sorted copy of the members' ranks: a group may have as many members as findings. */
static const int32_t *sorted_ranks(const struct fsl_windows *windows, struct fsl_arena *scratch)
{
	int32_t *ranks = fsl_ranks_copy(scratch, windows->ranks, windows->n_members);
	if (ranks != NULL) {
		qsort(ranks, windows->n_members, sizeof(*ranks), fsl_rank_compare);
	}
	return ranks;
}

/* A finding outside its unit is a fault of the detector, which may be a foreign shared object. */
static enum fsl_status check_findings(const struct fsl_finding *findings, size_t n,
				      const struct fsl_windows *windows, struct fsl_arena *scratch,
				      struct fsl_error *err)
{
	const int32_t *ranks = sorted_ranks(windows, scratch);
	if (ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu",
				windows->n_members);
	}
	for (size_t i = 0; i < n; i++) {
		const struct fsl_finding *finding = &findings[i];
		bool is_member =
			finding->rank == -1 || bsearch(&finding->rank, ranks, windows->n_members,
						       sizeof(*ranks), fsl_rank_compare) != NULL;
		bool is_inside = finding->window_begin < finding->window_end &&
				 finding->window_end <= windows->n_windows && is_member;
		if (!is_inside) {
			return FSL_FAIL(err, FSL_ERR_PLUGIN,
					"finding lies outside its unit: rank=%d, begin=%zu, "
					"end=%zu, windows=%zu",
					(int)finding->rank, finding->window_begin,
					finding->window_end, windows->n_windows);
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_engine_scan(const struct fsl_detector_config *config,
				const struct fsl_windows *windows, struct fsl_findings *out,
				bool *skipped, struct fsl_error *err)
{
	const struct fsl_detector *detector = config->detector;
	*skipped = detector == NULL || (detector->needs & FSL_NEED(windows->metric)) == 0;
	if (*skipped) {
		return FSL_OK;
	}
	struct fsl_arena scratch = {0};
	struct fsl_view view = {windows, &scratch};
	size_t n_before = out->n_items;
	enum fsl_status status = detector->scan(&view, config->params, out, err);
	size_t n_new = out->n_items - n_before;
	if (status == FSL_OK && n_new > 0) {
		status = check_findings(out->items + n_before, n_new, windows, &scratch, err);
	}
	fsl_arena_fini(&scratch);
	if (status != FSL_OK) {
		out->n_items = n_before;
		return FSL_CAUSE(err, status, "detector failed: detector=\"%s\", members=%zu",
				 detector->name, windows->n_members);
	}
	if (n_new > 1) {
		qsort(out->items + n_before, n_new, sizeof(*out->items), compare_findings);
	}
	return FSL_OK;
}

static void label_window_range(const struct fsl_finding *finding, size_t n_windows, uint8_t *labels)
{
	FSL_REQUIRE(finding->window_begin <= finding->window_end &&
		    finding->window_end <= n_windows);
	memset(labels + finding->window_begin, 1, finding->window_end - finding->window_begin);
}

void fsl_findings_to_labels(const struct fsl_findings *findings, const struct fsl_windows *windows,
			    uint8_t *labels)
{
	size_t n_windows = windows->n_windows;
	memset(labels, 0, windows->n_members * n_windows);
	for (size_t m = 0; m < windows->n_members; m++) {
		int32_t rank = windows->ranks[m];
		size_t i = 0;
		FSL_BISECT(i, findings->n_items, middle, findings->items[middle].rank < rank);
		for (; i < findings->n_items && findings->items[i].rank == rank; i++) {
			label_window_range(&findings->items[i], n_windows, labels + m * n_windows);
		}
	}
}

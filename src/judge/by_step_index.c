/* The index over findings: one entry for each rank that one is about, sorted. */
#include "judge/by_step_index.h"

#include <stdlib.h>

#include "base/sort.h"

static int compare_subjects(const void *left, const void *right)
{
	const struct fsl_subject *a = left, *b = right;
	int order = FSL_ORDER(a->family, b->family);
	order = order != 0 ? order : FSL_ORDER(a->rank, b->rank);
	return order != 0 ? order : FSL_ORDER(a->finding_idx, b->finding_idx);
}

enum fsl_status fsl_subjects_init(struct fsl_subjects *out,
				  const struct fsl_profile_findings *findings,
				  struct fsl_error *err)
{
	*out = (struct fsl_subjects){.findings = findings};
	out->items = fsl_calloc(findings->n_items + 1, 2 * sizeof(*out->items));
	if (out->items == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: findings=%zu",
				findings->n_items);
	}
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct fsl_profile_finding *finding = &findings->items[i];
		enum fsl_step_family family = fsl_by_step_family(finding);
		if (family == FSL_FAMILY_NONE) {
			continue;
		}
		out->items[out->n_items++] =
			(struct fsl_subject){family, finding->rank, (uint32_t)i};
		if (finding->rank >= 0 && finding->peer >= 0) {
			out->items[out->n_items++] =
				(struct fsl_subject){family, finding->peer, (uint32_t)i};
		}
	}
	qsort(out->items, out->n_items, sizeof(*out->items), compare_subjects);
	return FSL_OK;
}

void fsl_subjects_fini(struct fsl_subjects *subjects)
{
	fsl_free(subjects->items);
	*subjects = (struct fsl_subjects){0};
}

/* First entry that does not come before @wanted. */
static size_t place_of(const struct fsl_subjects *subjects, struct fsl_subject wanted)
{
	size_t low = 0, high = subjects->n_items;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (compare_subjects(&subjects->items[mid], &wanted) < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* Ranges of the index to search for one finding: entries about everybody, about its rank and about
 * its far end; or its whole family if the finding is about everybody. */
struct ranges {
	size_t begin[3], end[3];
	size_t n;
};

static void add_range(struct ranges *ranges, const struct fsl_subjects *subjects,
		      enum fsl_step_family family, int32_t first, int32_t last)
{
	size_t k = ranges->n++;
	ranges->begin[k] = place_of(subjects, (struct fsl_subject){family, first, 0});
	ranges->end[k] = place_of(subjects, (struct fsl_subject){family, last, UINT32_MAX});
}

static struct ranges ranges_of(const struct fsl_subjects *subjects,
			       const struct fsl_profile_finding *finding)
{
	struct ranges ranges = {.n = 0};
	enum fsl_step_family family = fsl_by_step_family(finding);
	const int32_t ranks[] = {-1, finding->rank, finding->peer};
	if (family == FSL_FAMILY_NONE) {
		return ranges;
	}
	if (finding->rank < 0) {
		add_range(&ranges, subjects, family, -1, INT32_MAX);
		return ranges;
	}
	for (size_t k = 0; k < 2 || (k < 3 && finding->peer >= 0); k++) {
		add_range(&ranges, subjects, family, ranks[k], ranks[k]);
	}
	return ranges;
}

static bool is_hit(const struct fsl_subjects *subjects, size_t i,
		   const struct fsl_profile_finding *finding)
{
	return fsl_by_step_is_same(&subjects->findings->items[subjects->items[i].finding_idx],
				   finding);
}

bool fsl_subjects_has(const struct fsl_subjects *subjects,
		      const struct fsl_profile_finding *finding)
{
	struct ranges ranges = ranges_of(subjects, finding);
	for (size_t k = 0; k < ranges.n; k++) {
		for (size_t i = ranges.begin[k]; i < ranges.end[k]; i++) {
			if (is_hit(subjects, i, finding)) {
				return true;
			}
		}
	}
	return false;
}

/* A link is found at either end. */
static void keep_one_of_each(struct fsl_subject_hits *hits)
{
	size_t n = 0;
	qsort(hits->items, hits->n_items, sizeof(*hits->items), fsl_compare_u32);
	for (size_t i = 0; i < hits->n_items; i++) {
		if (n == 0 || hits->items[n - 1] != hits->items[i]) {
			hits->items[n++] = hits->items[i];
		}
	}
	hits->n_items = n;
}

enum fsl_status fsl_subjects_find(struct fsl_subject_hits *hits,
				  const struct fsl_subjects *subjects,
				  const struct fsl_profile_finding *finding, struct fsl_error *err)
{
	struct ranges ranges = ranges_of(subjects, finding);
	size_t n_most = 0;
	hits->n_items = 0;
	for (size_t k = 0; k < ranges.n; k++) {
		n_most += ranges.end[k] - ranges.begin[k];
	}
	enum fsl_status status = FSL_GROW(hits->items, hits->capacity, n_most, err);
	for (size_t k = 0; k < ranges.n && status == FSL_OK; k++) {
		for (size_t i = ranges.begin[k]; i < ranges.end[k]; i++) {
			if (is_hit(subjects, i, finding)) {
				hits->items[hits->n_items++] = subjects->items[i].finding_idx;
			}
		}
	}
	if (hits->n_items > 1) {
		keep_one_of_each(hits);
	}
	return status;
}

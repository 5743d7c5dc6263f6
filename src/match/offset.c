/* The most common difference between the ends of two ranks. */
#include "match/offset.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sort.h"
#include "match/limits.h"

/* First end at or after @time_ns. */
static size_t first_at(struct fsl_ends ends, int64_t time_ns)
{
	size_t low = 0;
	FSL_BISECT(low, ends.n, mid, ends.ns[mid] < time_ns);
	return low;
}

bool fsl_ends_ascend(struct fsl_ends ends)
{
	for (size_t i = 1; i < ends.n; i++) {
		if (ends.ns[i - 1] > ends.ns[i]) {
			return false;
		}
	}
	return true;
}

void fsl_differences_add(struct fsl_differences *out, struct fsl_ends a, struct fsl_ends b,
			 struct fsl_offset_range range, size_t n_samples)
{
	if (b.n == 0) {
		return;
	}
	size_t begin = first_at(a, b.ns[0] - range.around_ns - range.reach_ns);
	size_t end = first_at(a, b.ns[b.n - 1] - range.around_ns + range.reach_ns + 1);
	size_t stride = end > begin ? (end - begin + n_samples - 1) / n_samples : 1;
	for (size_t i = begin; i < end; i += stride) {
		int64_t from_ns = a.ns[i] + range.around_ns - range.reach_ns;
		int64_t to_ns = a.ns[i] + range.around_ns + range.reach_ns;
		out->n_asked++;
		for (size_t k = first_at(b, from_ns); k < b.n && b.ns[k] <= to_ns; k++) {
			if (out->n == out->n_max) {
				return;
			}
			out->items[out->n++] =
				(struct fsl_difference){b.ns[k] - a.ns[i], (uint32_t)i};
		}
	}
}

/* A range of sorted differences. */
struct peak {
	size_t begin, end;
};

static int compare_by_time(const void *left, const void *right)
{
	const struct fsl_difference *a = left, *b = right;
	return a->asked != b->asked ? FSL_ORDER(a->asked, b->asked) : FSL_ORDER(a->ns, b->ns);
}

static int compare_by_ns(const void *left, const void *right)
{
	const struct fsl_difference *a = left, *b = right;
	return a->ns != b->ns ? FSL_ORDER(a->ns, b->ns) : FSL_ORDER(a->asked, b->asked);
}

static bool overlaps(const struct peak *peaks, size_t n_peaks, size_t begin, size_t end)
{
	for (size_t p = 0; p < n_peaks; p++) {
		if (begin < peaks[p].end && peaks[p].begin < end) {
			return true;
		}
	}
	return false;
}

/* Narrowest ranges of @n_wanted differences that share none, narrowest first. */
static size_t find_peaks(struct peak *peaks, const struct fsl_difference *items, size_t n,
			 size_t n_wanted)
{
	size_t n_peaks = 0;
	for (bool is_new = true; is_new && n_peaks < FSL_OFFSET_PEAKS_MAX;) {
		int64_t best_ns = INT64_MAX;
		struct peak best = {0, 0};
		for (size_t i = 0; i + n_wanted <= n; i++) {
			int64_t width_ns = items[i + n_wanted - 1].ns - items[i].ns;
			if (width_ns < best_ns && !overlaps(peaks, n_peaks, i, i + n_wanted)) {
				best_ns = width_ns;
				best = (struct peak){i, i + n_wanted};
			}
		}
		is_new = best.end > best.begin;
		if (is_new) {
			peaks[n_peaks++] = best;
		}
	}
	return n_peaks;
}

/* Median change from one difference to the next in time, over the range and as far again on either
 * side, as drift spreads the differences. */
static int64_t jitter_of(const struct fsl_differences *differences, const struct peak *peak,
			 struct fsl_difference *hits, int64_t *work)
{
	const struct fsl_difference *items = differences->items;
	int64_t first_ns = items[peak->begin].ns, last_ns = items[peak->end - 1].ns;
	int64_t width_ns = last_ns - first_ns;
	size_t begin = peak->begin, end = peak->end, n = 0;
	while (begin > 0 && items[begin - 1].ns >= first_ns - width_ns) {
		begin--;
	}
	while (end < differences->n && items[end].ns <= last_ns + width_ns) {
		end++;
	}
	memcpy(hits, items + begin, (end - begin) * sizeof(*hits));
	qsort(hits, end - begin, sizeof(*hits), compare_by_time);
	for (size_t i = 1; i < end - begin; i++) {
		work[n++] = llabs(hits[i].ns - hits[i - 1].ns);
	}
	return n > 0 ? fsl_select_i64(work, n, n / 2) : 0;
}

bool fsl_offset_find(struct fsl_offset *out, struct fsl_differences *differences, size_t n_wanted,
		     struct fsl_difference *hits, int64_t *work)
{
	struct peak peaks[FSL_OFFSET_PEAKS_MAX];
	const struct fsl_difference *items = differences->items;
	if (n_wanted == 0 || differences->n < n_wanted) {
		return false;
	}
	qsort(differences->items, differences->n, sizeof(*items), compare_by_ns);
	size_t n_peaks = find_peaks(peaks, items, differences->n, n_wanted);
	FSL_ASSERT(n_peaks > 0);
	for (size_t p = 0; p < n_peaks; p++) {
		const struct peak *peak = &peaks[p];
		FSL_ASSERT(peak->end <= differences->n && peak->end - peak->begin == n_wanted);
		int64_t jitter_ns = jitter_of(differences, peak, hits, work);
		if (p == 0 || jitter_ns < out->jitter_ns) {
			*out = (struct fsl_offset){items[peak->begin + n_wanted / 2].ns,
						   items[peak->end - 1].ns - items[peak->begin].ns,
						   jitter_ns};
		}
	}
	return true;
}

int64_t fsl_usual_interval_ns(struct fsl_ends ends, int64_t *work)
{
	size_t n = 0, stride = ends.n / FSL_ENDS_COMPARED_MAX + 1;
	for (size_t i = 1; i < ends.n; i += stride) {
		work[n++] = ends.ns[i] - ends.ns[i - 1];
	}
	return n > 0 ? fsl_select_i64(work, n, n / 2) : 0;
}

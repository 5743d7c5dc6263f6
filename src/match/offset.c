/* The most common difference between the ends of two ranks. */
#include "match/offset.h"

#include <stdlib.h>

#include "base/sort.h"

/* First end at or after @time_ns. */
static size_t first_at(struct fsl_ends ends, int64_t time_ns)
{
	size_t low = 0, high = ends.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (ends.ns[mid] < time_ns) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
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
			out->ns[out->n++] = b.ns[k] - a.ns[i];
		}
	}
}

bool fsl_offset_find(struct fsl_offset *out, struct fsl_differences *differences, size_t n_wanted)
{
	const int64_t *ns = differences->ns;
	if (n_wanted == 0 || differences->n < n_wanted) {
		return false;
	}
	qsort(differences->ns, differences->n, sizeof(*differences->ns), fsl_compare_i64);
	size_t best = 0;
	for (size_t i = 1; i + n_wanted <= differences->n; i++) {
		if (ns[i + n_wanted - 1] - ns[i] < ns[best + n_wanted - 1] - ns[best]) {
			best = i;
		}
	}
	*out = (struct fsl_offset){ns[best + n_wanted / 2], ns[best + n_wanted - 1] - ns[best]};
	return true;
}

int64_t fsl_usual_interval_ns(struct fsl_ends ends, int64_t *work)
{
	size_t n = 0, stride = ends.n / FSL_INTERVAL_SAMPLES + 1;
	for (size_t i = 1; i < ends.n; i += stride) {
		work[n++] = ends.ns[i] - ends.ns[i - 1];
	}
	qsort(work, n, sizeof(*work), fsl_compare_i64);
	return n > 0 ? work[n / 2] : 0;
}

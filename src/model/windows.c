/* Windows and findings: storage behind <failslow/view.h> and <failslow/finding.h>. */
#include "model/windows.h"

#include <math.h>
#include <omp.h>

#include "base/log.h"
#include "base/try.h"
#include "model/run.h"

enum fsl_status fsl_windows_init_values(struct fsl_windows *windows, enum fsl_metric metric,
					enum fsl_window_kind kind, size_t n_members,
					size_t n_windows, struct fsl_error *err)
{
	struct fsl_windows made = {
		.metric = metric, .kind = kind, .n_members = n_members, .n_windows = n_windows};
	size_t n = 0, capacity = 0;
	if (!fsl_mul_size(n_members, n_windows, &n) || n == SIZE_MAX) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "too many windows: members=%zu, windows=%zu",
				n_members, n_windows);
	}
	made.ranks = fsl_calloc(n_members, sizeof(*made.ranks));
	(void)FSL_GROW(made.values, capacity, n + 1, NULL); /* not zeroed: the caller fills it */
	if (made.ranks == NULL || made.values == NULL) {
		fsl_windows_fini(&made);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu, windows=%zu",
				n_members, n_windows);
	}
	*windows = made;
	return FSL_OK;
}

enum fsl_status fsl_windows_init(struct fsl_windows *windows, enum fsl_metric metric,
				 enum fsl_window_kind kind, size_t n_members, size_t n_windows,
				 struct fsl_error *err)
{
	struct fsl_windows made;
	FSL_TRY(fsl_windows_init_values(&made, metric, kind, n_members, n_windows, err));
	size_t n = n_members * n_windows, capacity = 0;
	made.n_samples = fsl_calloc(n, sizeof(*made.n_samples));
	(void)FSL_GROW(made.first_ns, capacity, n + 1, NULL);
	if (made.n_samples == NULL || made.first_ns == NULL) {
		fsl_windows_fini(&made);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu, windows=%zu",
				n_members, n_windows);
	}
	for (size_t i = 0; i < n; i++) {
		made.values[i] = (double)NAN;
		made.first_ns[i] = FSL_NS_ABSENT;
	}
	*windows = made;
	return FSL_OK;
}

void fsl_windows_fini(struct fsl_windows *windows)
{
	fsl_free(windows->first_ns);
	fsl_free(windows->n_samples);
	fsl_free(windows->values);
	fsl_free(windows->ranks);
	*windows = (struct fsl_windows){0};
}

enum fsl_metric fsl_view_metric(const struct fsl_view *view)
{
	return view->windows->metric;
}

enum fsl_window_kind fsl_view_window_kind(const struct fsl_view *view)
{
	return view->windows->kind;
}

size_t fsl_view_n_members(const struct fsl_view *view)
{
	return view->windows->n_members;
}

size_t fsl_view_n_windows(const struct fsl_view *view)
{
	return view->windows->n_windows;
}

int32_t fsl_view_rank(const struct fsl_view *view, size_t member)
{
	FSL_REQUIRE(member < view->windows->n_members);
	return view->windows->ranks[member];
}

struct fsl_column fsl_view_column(const struct fsl_view *view, size_t member)
{
	const struct fsl_windows *windows = view->windows;
	FSL_REQUIRE(member < windows->n_members);
	size_t first = member * windows->n_windows;
	return (struct fsl_column){windows->values + first,
				   windows->n_samples != NULL ? windows->n_samples + first : NULL,
				   windows->n_windows};
}

int64_t fsl_view_window_ns(const struct fsl_view *view, size_t member, size_t window)
{
	const struct fsl_windows *windows = view->windows;
	FSL_REQUIRE(member < windows->n_members && window < windows->n_windows);
	if (windows->first_ns == NULL) {
		return windows->source.first_ns(&windows->source, member, window);
	}
	return windows->first_ns[member * windows->n_windows + window];
}

void *fsl_view_scratch(const struct fsl_view *view, size_t size_bytes)
{
	return fsl_arena_alloc(view->scratch, size_bytes);
}

void *fsl_view_take(const struct fsl_view *view, size_t size_bytes)
{
	return fsl_arena_take(view->scratch, size_bytes);
}

/* Parts for each thread: enough of them that one slow part delays the others only a little. */
enum { PARTS_PER_THREAD = 8 };

enum fsl_status fsl_view_each(const struct fsl_view *view, size_t n, size_t bench_bytes,
			      void (*work)(void *opaque, size_t begin, size_t end, void *bench),
			      void *opaque, struct fsl_error *err)
{
	enum { CELLS_WORTH_THREADS = 1 << 14 };
	size_t n_cells = view->windows->n_members * view->windows->n_windows;
	bool is_alone = omp_in_parallel() || n_cells < CELLS_WORTH_THREADS, is_short = false;
	size_t n_parts = is_alone ? 1 : PARTS_PER_THREAD * (size_t)omp_get_max_threads();
	n_parts = n_parts < n ? n_parts : n;
#pragma omp parallel reduction(|| : is_short) if (!is_alone)
	{
		void *bench = NULL;
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t k = 0; k < n_parts; k++) {
			bench = bench != NULL ? bench : fsl_calloc(bench_bytes + 1, 1);
			is_short = is_short || bench == NULL;
			if (bench != NULL) {
				work(opaque, n * k / n_parts, n * (k + 1) / n_parts, bench);
			}
		}
		fsl_free(bench);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: items=%zu", n) : FSL_OK;
}

enum fsl_status fsl_findings_add(struct fsl_findings *out, const struct fsl_finding *finding,
				 struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(out->items, out->capacity, out->n_items + 1, err));
	out->items[out->n_items++] = *finding;
	return FSL_OK;
}

static struct fsl_finding run_finding(const struct fsl_labelled *series, size_t begin, size_t end)
{
	double observed = 0.0;
	double expected = 0.0;
	size_t n = 0;
	for (size_t w = begin; w < end; w++) {
		if (!isnan(series->observed[w]) && !isnan(series->expected[w])) {
			observed += series->observed[w];
			expected += series->expected[w];
			n++;
		}
	}
	return (struct fsl_finding){
		.rank = series->rank,
		.peer = -1,
		.window_begin = begin,
		.window_end = end,
		.slow_ratio = n > 0 && expected > 0.0 ? observed / expected : (double)NAN,
		.effect_ms = n > 0 ? (observed - expected) / (double)n : (double)NAN,
		.confidence = 1.0 - pow(2.0, -(double)n),
	};
}

enum fsl_status fsl_findings_add_runs(struct fsl_findings *out, const struct fsl_labelled *series,
				      struct fsl_error *err)
{
	size_t n = series->n_windows;
	for (size_t begin = 0; begin < n;) {
		if (series->labels[begin] == 0) {
			begin++;
			continue;
		}
		size_t end = begin;
		while (end < n && series->labels[end] != 0) {
			end++;
		}
		struct fsl_finding finding = run_finding(series, begin, end);
		FSL_TRY(fsl_findings_add(out, &finding, err));
		begin = end;
	}
	return FSL_OK;
}

void fsl_findings_fini(struct fsl_findings *findings)
{
	fsl_free(findings->items);
	*findings = (struct fsl_findings){0};
}

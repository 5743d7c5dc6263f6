/*
 * Read-only access to one unit of work: one metric as a matrix, windows x members of a group.
 * Windows are time windows, steps or instances of a collective; the matrix is indexed by real
 * position and holds NaN where nothing was measured.
 */
#ifndef FAILSLOW_VIEW_H
#define FAILSLOW_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

enum fsl_metric {
#define METRIC(id, name, unit, help) FSL_METRIC_##id,
#include <failslow/metrics.def>
#undef METRIC
	FSL_METRICS_N
};

/* What one row of the matrix is. */
enum fsl_window_kind {
	FSL_WINDOW_TIME,     /* a span of fixed length */
	FSL_WINDOW_STEP,     /* one training step */
	FSL_WINDOW_INSTANCE, /* one use of one communicator */
};

struct fsl_view; /* borrowed by a detector until scan() returns */

/* One member's series; borrowed until scan() returns. */
struct fsl_column {
	const double *values;      /* n_windows values in the metric's unit (ms); NaN: no sample */
	const uint32_t *n_samples; /* operators behind each value; may be NULL */
	size_t n_windows;
};

enum fsl_metric fsl_view_metric(const struct fsl_view *view);
enum fsl_window_kind fsl_view_window_kind(const struct fsl_view *view);
size_t fsl_view_n_members(const struct fsl_view *view);
size_t fsl_view_n_windows(const struct fsl_view *view);

/* Rank number of a member, or -1 for a series that belongs to the whole job. */
int32_t fsl_view_rank(const struct fsl_view *view, size_t member);

struct fsl_column fsl_view_column(const struct fsl_view *view, size_t member);

/* Nanoseconds since 1970 of the first sample of a window, -1 when unknown. */
int64_t fsl_view_window_ns(const struct fsl_view *view, size_t member, size_t window);

/* Zeroed scratch memory, freed after scan(); NULL when exhausted. */
void *fsl_view_scratch(const struct fsl_view *view, size_t size_bytes);
/* The same, not zeroed: for large arrays that are filled anyway. */
void *fsl_view_take(const struct fsl_view *view, size_t size_bytes);

/*
 * Calls @work for consecutive parts [begin, end) of [0, n), which cover it once: in any order, on
 * several threads where scan() itself is not one of several. What @work writes must depend on its
 * items alone. @bench: @bench_bytes of memory of the calling thread, with anything in it.
 * FSL_ERR_MEMORY when that is short; some parts are left out then.
 */
enum fsl_status fsl_view_each(const struct fsl_view *view, size_t n, size_t bench_bytes,
			      void (*work)(void *opaque, size_t begin, size_t end, void *bench),
			      void *opaque, struct fsl_error *err);

#endif

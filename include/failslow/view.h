/*
 * Read-only access to one unit of work: one metric as a matrix, windows x members of a group. A
 * window is a span of time, a step or an instance of a collective. The matrix is indexed by real
 * position and holds NaN if nothing was measured.
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

/* Meaning of one row of the matrix. */
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

/* Metric of the matrix, kind of its rows, and its size. */
enum fsl_metric fsl_view_metric(const struct fsl_view *view);
enum fsl_window_kind fsl_view_window_kind(const struct fsl_view *view);
size_t fsl_view_n_members(const struct fsl_view *view);
size_t fsl_view_n_windows(const struct fsl_view *view);

/* Rank number of a member, or -1 for a series that belongs to the whole job. */
int32_t fsl_view_rank(const struct fsl_view *view, size_t member);

struct fsl_column fsl_view_column(const struct fsl_view *view, size_t member);

/* Nanoseconds since 1970 of the first sample of a window, -1 when unknown. */
int64_t fsl_view_window_ns(const struct fsl_view *view, size_t member, size_t window);

/* Zeroed scratch memory. It is freed after scan(). NULL if memory is short. */
void *fsl_view_scratch(const struct fsl_view *view, size_t size_bytes);
/* The same memory, but not zeroed: for large arrays that the detector fills anyway. */
void *fsl_view_take(const struct fsl_view *view, size_t size_bytes);

/*
 * Calls @work for consecutive parts [begin, end) that cover [0, n) once. The calls come in any
 * order, and on several threads unless scan() itself runs on several. The results of @work must
 * depend on its items alone. @bench: @bench_bytes of memory of the calling thread with undefined
 * content. FSL_ERR_MEMORY if memory is short; some parts are left out then.
 */
enum fsl_status fsl_view_each(const struct fsl_view *view, size_t n, size_t bench_bytes,
			      void (*work)(void *opaque, size_t begin, size_t end, void *bench),
			      void *opaque, struct fsl_error *err);

#endif

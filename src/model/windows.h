/* Windows: one metric of one group as a matrix, windows x members, NaN if nothing was measured. */
#ifndef FSL_MODEL_WINDOWS_H
#define FSL_MODEL_WINDOWS_H

#include <failslow/error.h>
#include <failslow/finding.h>
#include <failslow/view.h>

#include "base/mem.h"

/* Looks up the time of the first sample of a window. The data behind it is borrowed. */
struct fsl_window_source {
	int64_t (*first_ns)(const struct fsl_window_source *source, size_t member, size_t window);
	const void *channel, *run; /* meaningful to first_ns only */
};

/* Owns its arrays. Element (member m, window w) is at [m * n_windows + w]. */
struct fsl_windows {
	enum fsl_metric metric;
	enum fsl_window_kind kind;
	size_t n_members, n_windows;
	int32_t *ranks;      /* rank number per member; -1: the whole job */
	double *values;      /* in the metric's unit */
	uint32_t *n_samples; /* operators behind each value; NULL: one each, none behind NaN */
	int64_t *first_ns;   /* first sample, FSL_NS_ABSENT: none; NULL: ask @source */
	struct fsl_window_source source;
};

/* Makes windows with all values NaN, counts 0, times absent. Free with fsl_windows_fini.
 * FSL_ERR_MEMORY only. */
enum fsl_status fsl_windows_init(struct fsl_windows *windows, enum fsl_metric metric,
				 enum fsl_window_kind kind, size_t n_members, size_t n_windows,
				 struct fsl_error *err);
/* The same for a third of the memory: n_samples and first_ns stay NULL and the values are not
 * initialised. The caller sets values, ranks and source. */
enum fsl_status fsl_windows_init_values(struct fsl_windows *windows, enum fsl_metric metric,
					enum fsl_window_kind kind, size_t n_members,
					size_t n_windows, struct fsl_error *err);
void fsl_windows_fini(struct fsl_windows *windows);

/* The view that detectors see. @scratch is the arena of fsl_view_scratch. Both are borrowed. */
struct fsl_view {
	const struct fsl_windows *windows;
	struct fsl_arena *scratch;
};

/* Findings that detectors report. Start as {0}. */
struct fsl_findings {
	struct fsl_finding *items;
	size_t n_items, capacity;
};
void fsl_findings_fini(struct fsl_findings *findings);

#endif

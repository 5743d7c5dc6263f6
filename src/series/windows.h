/* Windows: one metric of one group as a matrix, windows x members, NaN where nothing was measured.
 */
#ifndef FSL_SERIES_WINDOWS_H
#define FSL_SERIES_WINDOWS_H

#include <failslow/error.h>
#include <failslow/finding.h>
#include <failslow/view.h>

#include "base/mem.h"

/* Owns its arrays. Element (member m, window w) is at [m * n_windows + w]. */
struct fsl_windows {
	enum fsl_metric metric;
	enum fsl_window_kind kind;
	size_t n_members, n_windows;
	int32_t *ranks;      /* rank number per member; -1: the job */
	double *values;      /* metric's unit */
	uint32_t *n_samples; /* operators behind each value */
	int64_t *first_ns;   /* time of the first sample, FSL_NS_ABSENT when none */
};

/* All values NaN, counts 0, times absent. */
enum fsl_status fsl_windows_init(struct fsl_windows *windows, enum fsl_metric metric,
				 enum fsl_window_kind kind, size_t n_members, size_t n_windows,
				 struct fsl_error *err);
void fsl_windows_fini(struct fsl_windows *windows);

/* The view that detectors see; @scratch holds what fsl_view_scratch hands out. Both borrowed. */
struct fsl_view {
	const struct fsl_windows *windows;
	struct fsl_arena *scratch;
};

/* Where detectors report. Start as {0}. */
struct fsl_findings {
	struct fsl_finding *items;
	size_t n_items, capacity;
};
void fsl_findings_fini(struct fsl_findings *findings);

#endif

/* Windows: one metric of one group as a matrix, windows x members, NaN where nothing was measured.
 */
#ifndef FSL_MODEL_WINDOWS_H
#define FSL_MODEL_WINDOWS_H

#include <failslow/error.h>
#include <failslow/finding.h>
#include <failslow/view.h>

#include "base/mem.h"

/* Looks up when the first sample of a window was; what it reads is borrowed. */
struct fsl_window_source {
	int64_t (*first_ns)(const struct fsl_window_source *source, size_t member, size_t window);
	const void *channel, *run; /* as first_ns knows them */
};

/* Owns its arrays. Element (member m, window w) is at [m * n_windows + w]. */
struct fsl_windows {
	enum fsl_metric metric;
	enum fsl_window_kind kind;
	size_t n_members, n_windows;
	int32_t *ranks;      /* rank number per member; -1: the job */
	double *values;      /* metric's unit */
	uint32_t *n_samples; /* operators behind each value; NULL: one, none behind NaN */
	int64_t *first_ns;   /* time of the first sample, FSL_NS_ABSENT when none; NULL: ask
				@source */
	struct fsl_window_source source;
};

/* All values NaN, counts 0, times absent. */
enum fsl_status fsl_windows_init(struct fsl_windows *windows, enum fsl_metric metric,
				 enum fsl_window_kind kind, size_t n_members, size_t n_windows,
				 struct fsl_error *err);
/* Likewise, but n_samples and first_ns stay NULL and the values are not set: a third of the memory.
 * The caller sets values, ranks and source. */
enum fsl_status fsl_windows_init_values(struct fsl_windows *windows, enum fsl_metric metric,
					enum fsl_window_kind kind, size_t n_members,
					size_t n_windows, struct fsl_error *err);
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

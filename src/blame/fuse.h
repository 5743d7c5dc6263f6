/*
 * Fusion: lateness says that somebody is late, excess of own time over peers that do the same work
 * says who, and the classical points and detectors only propose. Fills the verdict of localisation.
 */
#ifndef FSL_BLAME_FUSE_H
#define FSL_BLAME_FUSE_H

#include "blame/blame.h"
#include "model/verdict.h"

/* Who suspects a rank whose own work speaks against it: the detector of its fsl_suspect. */
#define FSL_OWN_TIME_DETECTOR "own_time"

/*
 * Fills @out (started with fsl_localisation_init) for algorithm "failslow". Too little data gives
 * FSL_VERDICT_INSUFFICIENT_EVIDENCE with the reason, never an error. A detector that could not run
 * is noted in the coverage and never takes away what another found.
 */
enum fsl_status fsl_fuse(struct fsl_localisation *out, const struct fsl_case *facts,
			 struct fsl_error *err);

/* The data that the verdict is based on; also for algorithm "systrace". */
enum fsl_status fsl_fuse_coverage(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err);

/*
 * Bounds the losses of named ranks and hosts by the rise of the steps from @before_ms, their time
 * before the fault (NaN: not known). For the verdict of a chapter that begins at @begin_ns, if all
 * faults go on since before it. See fsl_fuse_bound_loss().
 */
void fsl_fuse_bound_by_past(struct fsl_localisation *out, double before_ms, int64_t begin_ns);

/* The part of it that tells of the files, counted anew. */
void fsl_coverage_count_files(struct fsl_coverage *coverage, const struct fsl_run *run);

#endif

/* Perception: is the job slower, and does it still move? (sysTrace's fail-slow detection) */
#ifndef FSL_DETECT_PERCEIVE_H
#define FSL_DETECT_PERCEIVE_H

#include "config/config.h"
#include "model/progress.h"
#include "model/verdict.h"

/*
 * Fills @out (overwritten; free with fsl_perception_fini) from the progress of the job, which may
 * begin earlier than @run, and from the last events of all ranks. @config->now_ns is the present.
 * With too few steps the kind is INSUFFICIENT_EVIDENCE, or HANG if the last event is too old, and
 * the result is FSL_OK. The steps before a hang are judged as well.
 *
 * Method and limits: docs/users/perception.md. The reference prints the end of a step as its time:
 * begin_ns + step_ms of an anomaly, with step_ms in its whole milliseconds. start_ns and end_ns are
 * its first and last point: the ends of the first and last closed step examined.
 */
enum fsl_status fsl_perceive(struct fsl_perception *out, const struct fsl_run *run,
			     const struct fsl_progress *progress, const struct fsl_config *config,
			     struct fsl_error *err);

#endif

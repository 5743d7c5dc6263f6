#ifndef FSL_CLI_DETECT_TELL_H
#define FSL_CLI_DETECT_TELL_H

#include "cli/detect_options.h"
#include "engine/job.h"
#include "engine/kept.h"

/*
 * Writes both verdicts, prints them as @options say, notes the alarm as raised, and keeps @kept for
 * the next run (NULL: nothing). An alarm that was raised before is marked as known in the verdict.
 * Each is done whatever becomes of the others; the first failure is returned. An alarm counts as
 * raised once its verdict stands, and trouble with the state is only warned of.
 */
enum fsl_status fsl_job_tell(struct fsl_job *job, const struct fsl_config *config,
			     const struct fsl_detect_options *options, struct fsl_kept *kept,
			     struct fsl_error *err);

#endif

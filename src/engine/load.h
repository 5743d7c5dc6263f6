/* Reads the files that the configuration names into the run of a job. */
#ifndef FSL_ENGINE_LOAD_H
#define FSL_ENGINE_LOAD_H

#include "engine/job.h"
#include "engine/time_range.h"

/*
 * Fills job->run and job->until_ns from the files, in @range. If the capture has enough operators
 * for chapters, it sets job->feed instead, from which fsl_job_judge() reads. Inputs are never
 * modified. Files that cannot be used are recorded in job->run. FSL_ERR_INPUT if no file can be
 * used.
 */
enum fsl_status fsl_job_load(struct fsl_job *job, const struct fsl_config *config,
			     const struct fsl_time_range *range, struct fsl_error *err);

#endif

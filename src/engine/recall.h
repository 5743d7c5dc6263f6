/*
 * What runs remember of the chapters of long captures, so that a later one reads and judges the
 * open ones alone, and tells what it would tell had it read everything (state/cache.h).
 */
#ifndef FSL_ENGINE_RECALL_H
#define FSL_ENGINE_RECALL_H

#include "engine/job.h"

/*
 * Fills job->chapters with those that are over, and job->feed with where its files go on, if an
 * earlier run judged them by the same rules and the files have only grown since. @span: from when
 * to when the capture goes now. Never fails: what does not fit is not there.
 */
void fsl_recall_load(struct fsl_job *job, const struct fsl_config *config,
		     const struct fsl_span *span);

/* Remembers the chapters of @job that are over. Says in the log when that fails. */
void fsl_recall_save(const struct fsl_job *job, const struct fsl_config *config);

#endif

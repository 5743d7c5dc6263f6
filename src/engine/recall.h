/*
 * Keeps the judged chapters of long captures for later runs (state/cache.h). A later run reads and
 * judges only the open chapters. Its verdict is the same as if it had read everything.
 */
#ifndef FSL_ENGINE_RECALL_H
#define FSL_ENGINE_RECALL_H

#include "engine/job.h"

/*
 * Fills job->chapters with the chapters that are over, and job->feed with the places at which its
 * files go on. It does so if an earlier run judged the chapters by the same rules and the files
 * have only grown since. @span: the present time span of the capture. Never fails: kept chapters
 * that do not fit are ignored.
 */
void fsl_recall_load(struct fsl_job *job, const struct fsl_config *config,
		     const struct fsl_span *span);

/* Keeps the chapters of @job that are over. A failure is only logged. */
void fsl_recall_save(const struct fsl_job *job, const struct fsl_config *config);

#endif

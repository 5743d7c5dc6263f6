/* What the small files around a rank's output tell of the capture and of the job. */
#ifndef FSL_SOURCE_ASCEND_INFO_H
#define FSL_SOURCE_ASCEND_INFO_H

#include <cJSON.h>

#include "capture/capture.h"

/*
 * Fills rank->info from profiler_info, profiler_metadata.json and info.json of the folder. A file
 * that cannot be used is told in rank->files; one that is not there is no fault. Fails only when
 * memory is short.
 */
enum fsl_status fsl_profile_read_info(struct fsl_profile_rank *rank, struct fsl_error *err);
/* What distributed_args and parallel_group_info of @root tell; faults are told in @file. */
enum fsl_status fsl_profile_take_metadata(struct fsl_profile_rank *rank, struct fsl_file *file,
					  const cJSON *root, struct fsl_error *err);
/* Frees what it holds outside the rank's arena. */
void fsl_profile_info_fini(struct fsl_profile_info *info);

#endif

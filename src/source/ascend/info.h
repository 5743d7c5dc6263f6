/* The small files around a rank's output, which describe the capture and the job. */
#ifndef FSL_SOURCE_ASCEND_INFO_H
#define FSL_SOURCE_ASCEND_INFO_H

#include <cJSON.h>

#include "capture/capture.h"

/*
 * Fills rank->info from profiler_info, profiler_metadata.json and info.json of the folder. A file
 * that cannot be used is reported in rank->files; a missing file is no fault. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_profile_read_info(struct fsl_profile_rank *rank, struct fsl_error *err);
/* Reads distributed_args and parallel_group_info of @root; reports faults in @file. */
enum fsl_status fsl_profile_take_metadata(struct fsl_profile_rank *rank, struct fsl_file *file,
					  const cJSON *root, struct fsl_error *err);
/* Frees the memory outside the rank's arena. */
void fsl_profile_info_fini(struct fsl_profile_info *info);

#endif

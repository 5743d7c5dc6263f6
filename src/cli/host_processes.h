/* The process behind a culprit whose cause is the host, from kernel traces beside the job. */
#ifndef FSL_CLI_HOST_PROCESSES_H
#define FSL_CLI_HOST_PROCESSES_H

#include "engine/job.h"

/*
 * If the verdict of @job names a rank whose cause is the host, reads the kernel traces below @paths
 * and sets the process of each such culprit that they show waiting. A trace that cannot be read is
 * told as a warning and changes nothing. FSL_ERR_MEMORY.
 */
enum fsl_status fsl_host_processes_name(struct fsl_job *job, const char *const *paths,
					size_t n_paths, struct fsl_error *err);

#endif

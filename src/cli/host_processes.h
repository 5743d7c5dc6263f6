/* The process behind a culprit whose cause is the host, from kernel traces beside the job. */
#ifndef FSL_CLI_HOST_PROCESSES_H
#define FSL_CLI_HOST_PROCESSES_H

#include "engine/job.h"

/*
 * If the verdict of @job names a rank whose cause is the host, reads the kernel traces and
 * sysTrace's records of hosts below @paths, and the traces in a folder ftrace beside each of
 * @paths. Sets the process of each such culprit that they show waiting. A trace that cannot be read
 * is told as a warning and changes nothing; one beside @paths must have the clock of the job, as it
 * may be of another job. FSL_ERR_MEMORY.
 */
enum fsl_status fsl_host_processes_name(struct fsl_job *job, const char *const *paths,
					size_t n_paths, struct fsl_error *err);

/* The folder ftrace beside @path; NULL: there is none. @buffer: PATH_MAX bytes, that it is in. */
const char *fsl_host_processes_beside(const char *path, char *buffer);

#endif

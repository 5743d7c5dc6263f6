/* The process behind a culprit whose cause is the host, from kernel traces beside the job. */
#ifndef FSL_CLI_HOST_PROCESSES_H
#define FSL_CLI_HOST_PROCESSES_H

#include "engine/job.h"

/* Whose processes are asked for. All borrowed. */
struct fsl_host_question {
	struct fsl_localisation *verdict;
	const struct fsl_job *job;         /* that it is about; NULL: a capture */
	const struct fsl_profile *capture; /* that it is about; NULL: a job */
	const char *const *paths;          /* [n_paths]: files and folders of either */
	size_t n_paths;
};

/*
 * If the verdict names a rank whose cause is the host, reads the kernel traces below the paths (and
 * sysTrace's records of hosts, if it is about a job), and the traces in a folder ftrace beside each
 * path. Sets the process of each such culprit that they show waiting. A trace that cannot be read
 * is told as a warning and changes nothing; one beside the paths must have the clock of the job, as
 * it may be of another job. FSL_ERR_MEMORY.
 */
enum fsl_status fsl_host_processes_name(const struct fsl_host_question *question,
					struct fsl_error *err);

/* The folder ftrace beside @path; NULL: there is none. @buffer: PATH_MAX bytes, that it is in. */
const char *fsl_host_processes_beside(const char *path, char *buffer);

#endif

/* Reads a trace of Kineto (PyTorch's profiler) into a rank of a capture. */
#ifndef FSL_SOURCE_KINETO_READ_H
#define FSL_SOURCE_KINETO_READ_H

#include "capture/capture_files.h"

/* Reads a trace from input->reader, in one pass: as fsl_profile_reader does. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_kineto_read_file(struct fsl_profile_rank *rank,
				     const struct fsl_profile_input *input, struct fsl_error *err);

/*
 * Reads the file of rank->folder, in one pass. Times become ns since 1970 (baseTimeNanoseconds,
 * which may stand behind the events). Faults of the file are told in rank->files.
 * FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_kineto_read_rank(struct fsl_profile_rank *rank,
				     const struct fsl_profile_options *options,
				     struct fsl_error *err);

#endif

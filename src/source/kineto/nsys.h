/* Exports of Nsight Systems as SQLite: kernels, copies, calls of the runtime and ranges of NVTX. */
#ifndef FSL_SOURCE_KINETO_NSYS_H
#define FSL_SOURCE_KINETO_NSYS_H

#include "source/kineto/events.h"

/* True if the bytes begin a database that has names of tables of such an export. */
bool fsl_nsys_is(const char *data, size_t n_bytes);

/*
 * Adds all events of the database input->path, as those of a trace; the base of their times is the
 * begin of the session. Of several processes that ran kernels one is read, that of input->folder or
 * else the first; if the others are no ranks of their own, the file's
 * message tells. FSL_ERR_MEMORY, FSL_ERR_LIMIT.
 */
enum fsl_status fsl_nsys_read(struct fsl_kineto_events *events,
			      const struct fsl_trace_vocabulary *vocabulary,
			      const struct fsl_profile_input *input, struct fsl_error *err);

#endif

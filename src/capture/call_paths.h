/* Call paths from frames that hold each other: the frame that begins last owns the time. */
#ifndef FSL_CAPTURE_CALL_PATHS_H
#define FSL_CAPTURE_CALL_PATHS_H

#include "capture/functions.h"

enum { FSL_CALL_DEPTH_MAX = 1024 }; /* Python's limit; deeper frames count for their callers */

enum fsl_frame_kind {
	FSL_FRAME_PYTHON,
	FSL_FRAME_OPERATOR, /* of the framework */
	FSL_FRAME_LOADING,  /* of data; an annotation, which is on no call path */
	FSL_FRAME_SYSCALL,  /* no function: time that the function around it spends in the system */
};

/* A function or operator on a thread of the host. */
struct fsl_frame {
	int64_t begin_ns, dur_ns;
	uint32_t name_id;     /* in rank->names */
	uint32_t thread : 30; /* any number that is the thread's own */
	enum fsl_frame_kind kind : 2;
};

/*
 * Adds functions, their own time and their calls, and how much of it system calls take. Sorts the
 * frames. @above: the time that higher classes take, as fsl_functions_settle() is told; NULL: none.
 * FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_call_paths_add(struct fsl_function_times *times, struct fsl_frame *frames,
				   size_t n, const struct fsl_busy *above, struct fsl_error *err);

#endif

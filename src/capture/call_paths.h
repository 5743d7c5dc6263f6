/* Call paths from frames that hold each other: the frame that begins last owns the time. */
#ifndef FSL_CAPTURE_CALL_PATHS_H
#define FSL_CAPTURE_CALL_PATHS_H

#include "capture/frames.h"
#include "capture/functions.h"

enum { FSL_CALL_DEPTH_MAX = 1024 }; /* Python's limit; deeper frames count for their callers */

/*
 * Adds functions, their own time and their calls, and how much of it system calls take. The frames
 * are settled. @above: the time that higher classes take; NULL: none. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_call_paths_add(struct fsl_function_times *times,
				   const struct fsl_frames *frames, const struct fsl_busy *above,
				   struct fsl_error *err);

#endif

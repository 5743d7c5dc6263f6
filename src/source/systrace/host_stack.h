/* Call paths of sysTrace's records as texts: frames joined by ';', the outermost first. */
#ifndef FSL_SOURCE_SYSTRACE_HOST_STACK_H
#define FSL_SOURCE_SYSTRACE_HOST_STACK_H

#include "base/strpool.h"
#include "host.pb-c.h"

enum {
	FSL_STACK_FRAMES_MAX = 64,  /* of one path, the innermost ones; the recorder keeps 32 */
	FSL_STACK_LIBRARY_MAX = 64, /* bytes of the name of a library */
	/* A frame is "<library>+0x<address>" and ';'. */
	FSL_STACK_FRAME_BYTES =
		FSL_STACK_LIBRARY_MAX + 24, /* a frame, its address and a separator */
	FSL_STACK_BYTES_MAX = FSL_STACK_FRAMES_MAX * FSL_STACK_FRAME_BYTES,
	FSL_STACK_PATHS_MAX = 1 << 16, /* different paths; programs that allocate have thousands */
};

/*
 * Id of the path in @paths, which is added if it is new. Of later ones than FSL_STACK_PATHS_MAX
 * only the innermost frame is kept, "(further call paths);libc.so+0x10"; a record without frames
 * has "(no call path)". FSL_ERR_MEMORY.
 */
enum fsl_status fsl_host_stack_add(struct fsl_strpool *paths, HostStackFrame *const *frames,
				   size_t n_frames, uint32_t *id, struct fsl_error *err);

/* The same for the innermost frame alone. */
enum fsl_status fsl_host_frame_add(struct fsl_strpool *paths, HostStackFrame *const *frames,
				   size_t n_frames, uint32_t *id, struct fsl_error *err);

#endif

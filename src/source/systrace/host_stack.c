/* Frames become texts that hold neither the separator of paths nor control bytes. */
#include "source/systrace/host_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Writes "<library>+0x<address>"; returns its length, below FSL_STACK_FRAME_BYTES. */
static size_t put_frame(char out[FSL_STACK_FRAME_BYTES], const HostStackFrame *frame)
{
	size_t n = frame->library.len;
	n = n < FSL_STACK_LIBRARY_MAX ? n : FSL_STACK_LIBRARY_MAX;
	for (size_t i = 0; i < n; i++) {
		uint8_t byte = frame->library.data[i];
		out[i] = byte < ' ' || byte == 0x7f ? '?' : byte == ';' ? ':' : (char)byte;
	}
	if (n == 0) {
		out[n++] = '?';
	}
	/* The digits always have room. */
	return n +
	       (size_t)snprintf(out + n, FSL_STACK_FRAME_BYTES - n, "+0x%" PRIx64, frame->address);
}

/* A path beyond the limit is told by its innermost frame, as long as there are not too many. */
static enum fsl_status add_further(struct fsl_strpool *paths, const HostStackFrame *innermost,
				   uint32_t *id, struct fsl_error *err)
{
	static const char further[] = "(further call paths)";
	char text[sizeof(further) + 1 + FSL_STACK_FRAME_BYTES];
	size_t n = sizeof(further) - 1;
	memcpy(text, further, n);
	text[n] = ';';
	size_t length = n + 1 + put_frame(text + n + 1, innermost);
	*id = fsl_strpool_find(paths, text, length);
	if (*id != FSL_STR_NONE) {
		return FSL_OK;
	}
	return fsl_strpool_size(paths) < 2 * FSL_STACK_PATHS_MAX
		       ? fsl_strpool_intern(paths, text, length, id, err)
		       : fsl_strpool_intern(paths, further, n, id, err);
}

static enum fsl_status add(struct fsl_strpool *paths, HostStackFrame *const *frames,
			   size_t n_frames, uint32_t *id, struct fsl_error *err)
{
	static const char none[] = "(no call path)";
	char text[FSL_STACK_BYTES_MAX];
	size_t length = 0;
	for (size_t i = n_frames; i-- > 0;) {
		length += put_frame(text + length, frames[i]);
		text[length++] = ';';
	}
	if (n_frames == 0) {
		return fsl_strpool_intern(paths, none, strlen(none), id, err);
	}
	length--; /* the last separator */
	*id = fsl_strpool_find(paths, text, length);
	if (*id != FSL_STR_NONE) {
		return FSL_OK;
	}
	return fsl_strpool_size(paths) < FSL_STACK_PATHS_MAX
		       ? fsl_strpool_intern(paths, text, length, id, err)
		       : add_further(paths, frames[0], id, err);
}

enum fsl_status fsl_host_stack_add(struct fsl_strpool *paths, HostStackFrame *const *frames,
				   size_t n_frames, uint32_t *id, struct fsl_error *err)
{
	size_t n = n_frames < FSL_STACK_FRAMES_MAX ? n_frames : FSL_STACK_FRAMES_MAX;
	return add(paths, frames, n, id, err);
}

enum fsl_status fsl_host_frame_add(struct fsl_strpool *paths, HostStackFrame *const *frames,
				   size_t n_frames, uint32_t *id, struct fsl_error *err)
{
	return add(paths, frames, n_frames > 0 ? 1 : 0, id, err);
}

/* Bytes on their way to a file: collected in a block, compressed if wanted. */
#ifndef FSL_REPORT_TRACE_TRACK_OUTPUT_H
#define FSL_REPORT_TRACE_TRACK_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <failslow/error.h>

/* After a write error nothing more is written. */
struct fsl_track_output {
	char *block;
	size_t n, capacity;
	FILE *stream;                     /* borrowed */
	struct fsl_track_packing *packed; /* NULL: plain */
	int error;                        /* errno of the first write that failed; 0: none did */
	/* File behind the stream, for a writer that opens it itself and leaves the stream alone.
	 * Borrowed; NULL: there is none. */
	const char *path;
};

/* Fills @output, which the caller ends with fsl_track_output_fini() in any case. FSL_ERR_MEMORY. */
enum fsl_status fsl_track_output_init(struct fsl_track_output *output, FILE *stream, bool is_packed,
				      struct fsl_error *err);
/* Writes all that is left; output->error tells whether everything was written. */
void fsl_track_output_finish(struct fsl_track_output *output);
void fsl_track_output_fini(struct fsl_track_output *output);

/* Empties the block. If @n_bytes are more than a block, it grows; FSL_ERR_MEMORY. */
enum fsl_status fsl_track_output_make_room(struct fsl_track_output *output, size_t n_bytes,
					   struct fsl_error *err);

/* Room for @n_bytes behind output->block + output->n. */
static inline enum fsl_status fsl_track_output_reserve(struct fsl_track_output *output,
						       size_t n_bytes, struct fsl_error *err)
{
	return n_bytes <= output->capacity - output->n
		       ? FSL_OK
		       : fsl_track_output_make_room(output, n_bytes, err);
}

/* Appends bytes for which there is room. */
static inline void fsl_track_output_put(struct fsl_track_output *output, const void *bytes,
					size_t n_bytes)
{
	memcpy(output->block + output->n, bytes, n_bytes);
	output->n += n_bytes;
}

#endif

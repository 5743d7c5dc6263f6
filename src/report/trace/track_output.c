/* Blocks of output, plain or as gzip. */
#include "report/trace/track_output.h"

#include <errno.h>
#include <zlib.h>

#include "base/gunzip.h"
#include "base/mem.h"

enum {
	BLOCK_BYTES = 1 << 17, /* the kernel copies a block while it is in the cache of the core */
	/* Timelines repeat themselves so much that the fastest level already makes a tenth of
	 * them. */
	LEVEL = Z_BEST_SPEED,
	GZIP_WINDOW_BITS = 15 + 16, /* largest window, and the header of gzip */
	MEMORY_LEVEL = 8,           /* the default of zlib */
};

struct fsl_track_packing {
	z_stream z;
	unsigned char bytes[BLOCK_BYTES];
};

static enum fsl_status start_packing(struct fsl_track_output *output, struct fsl_error *err)
{
	struct fsl_track_packing *packed = fsl_calloc(1, sizeof(*packed));
	if (packed == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"compressed output\"");
	}
	fsl_gunzip_own_memory(&packed->z);
	if (deflateInit2(&packed->z, LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		fsl_free(packed);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"compressed output\"");
	}
	output->packed = packed;
	return FSL_OK;
}

enum fsl_status fsl_track_output_init(struct fsl_track_output *output, FILE *stream, bool is_packed,
				      struct fsl_error *err)
{
	*output = (struct fsl_track_output){.stream = stream};
	FSL_TRY(FSL_GROW(output->block, output->capacity, BLOCK_BYTES, err));
	return is_packed ? start_packing(output, err) : FSL_OK;
}

static void write_out(struct fsl_track_output *output, const void *bytes, size_t n_bytes)
{
	if (output->error != 0 || n_bytes == 0) {
		return;
	}
	errno = 0;
	if (fwrite(bytes, 1, n_bytes, output->stream) != n_bytes) {
		output->error = errno != 0 ? errno : EIO;
	}
}

/* @flush: Z_NO_FLUSH, or Z_FINISH at the end. */
static void pack(struct fsl_track_output *output, int flush)
{
	struct fsl_track_packing *packed = output->packed;
	packed->z.next_in = (unsigned char *)output->block;
	packed->z.avail_in = (unsigned)output->n;
	do {
		packed->z.next_out = packed->bytes;
		packed->z.avail_out = sizeof(packed->bytes);
		(void)deflate(&packed->z, flush); /* fails only if it is called in a wrong way */
		write_out(output, packed->bytes, sizeof(packed->bytes) - packed->z.avail_out);
	} while (packed->z.avail_out == 0 && output->error == 0);
}

static void empty(struct fsl_track_output *output, int flush)
{
	if (output->packed != NULL) {
		pack(output, flush);
	} else {
		write_out(output, output->block, output->n);
	}
	output->n = 0;
}

enum fsl_status fsl_track_output_make_room(struct fsl_track_output *output, size_t n_bytes,
					   struct fsl_error *err)
{
	empty(output, Z_NO_FLUSH);
	return FSL_GROW(output->block, output->capacity, n_bytes, err);
}

void fsl_track_output_finish(struct fsl_track_output *output)
{
	empty(output, Z_FINISH);
}

void fsl_track_output_fini(struct fsl_track_output *output)
{
	if (output->packed != NULL) {
		(void)deflateEnd(&output->packed->z);
	}
	fsl_free(output->packed);
	fsl_free(output->block);
	*output = (struct fsl_track_output){0};
}

/* zlib, with room that doubles as long as the block goes on. */
#include "chrome/inflate.h"

#include <zlib.h>

#include "base/gunzip.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/try.h"

enum {
	FIRST_BYTES = 64 * 1024,
	ZLIB_OR_GZIP = 32 + MAX_WBITS, /* zlib looks which of the two it is */
};

/* Runs zlib up to the end of the block. */
static enum fsl_status run(struct fsl_inflated *block, z_stream *zlib, size_t max,
			   struct fsl_error *err)
{
	size_t room = FIRST_BYTES < max ? FIRST_BYTES : max;
	for (;;) {
		FSL_TRY(FSL_GROW(block->data, block->data_capacity, room + 1, err));
		zlib->next_out = (Bytef *)block->data + block->n_data;
		zlib->avail_out = (uInt)(room + 1 - block->n_data); /* one more tells a bomb */
		int code = inflate(zlib, Z_NO_FLUSH);
		block->n_data = room + 1 - zlib->avail_out;
		if (block->n_data > max) {
			return FSL_FAIL(err, FSL_ERR_LIMIT, "the block is too large: at_most=%zu",
					max);
		}
		if (code == Z_STREAM_END) {
			return zlib->avail_in == 0 ? FSL_OK
						   : FSL_FAIL(err, FSL_ERR_FORMAT,
							      "bytes follow the block: bytes=%u",
							      zlib->avail_in);
		}
		if (code == Z_MEM_ERROR) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", room);
		}
		if (code != Z_OK || zlib->avail_out > 0) {
			return FSL_FAIL(err, FSL_ERR_FORMAT, "the block is broken or cut");
		}
		room = room < max / 2 ? 2 * room : max;
	}
}

enum fsl_status fsl_inflate(struct fsl_inflated *block, const char *packed, size_t n_packed,
			    size_t max, struct fsl_error *err)
{
	z_stream zlib = {.next_in = (Bytef *)packed, .avail_in = (uInt)n_packed};
	FSL_REQUIRE(n_packed <= UINT32_MAX && max < UINT32_MAX);
	fsl_gunzip_own_memory(&zlib);
	block->n_data = 0;
	if (inflateInit2(&zlib, ZLIB_OR_GZIP) != Z_OK) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", n_packed);
	}
	enum fsl_status status = run(block, &zlib, max, err);
	(void)inflateEnd(&zlib);
	return status;
}

void fsl_inflated_fini(struct fsl_inflated *block)
{
	fsl_free(block->data);
	*block = (struct fsl_inflated){0};
}

/* Appends blocks of text to a file: plain, as gzip members or as zstd frames. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "sim/rows.h"

enum { GZIP_BYTES_MAX = 1 << 20, ZSTD_LEVEL = 9 };

static bool append_plain(const char *path, const char *text, size_t n_bytes)
{
	FILE *file = fopen(path, "ab");
	bool is_written = file != NULL && fwrite(text, 1, n_bytes, file) == n_bytes;
	if (file != NULL) {
		is_written = fclose(file) == 0 && is_written;
	}
	return is_written;
}

static bool append_gzip(const char *path, const char *text, size_t n_bytes)
{
	gzFile file = gzopen(path, "ab9");
	bool is_written = file != NULL;
	while (n_bytes > 0 && is_written) {
		unsigned n_part = n_bytes < GZIP_BYTES_MAX ? (unsigned)n_bytes : GZIP_BYTES_MAX;
		is_written = gzwrite(file, text, n_part) > 0;
		text += n_part;
		n_bytes -= n_part;
	}
	if (file != NULL) {
		is_written = gzclose(file) == Z_OK && is_written;
	}
	return is_written;
}

static bool append_zstd(const char *path, const char *text, size_t n_bytes)
{
	size_t n_most = ZSTD_compressBound(n_bytes);
	char *packed = fsl_calloc(n_most, 1);
	if (packed == NULL) {
		errno = ENOMEM;
		return false;
	}
	size_t n_packed = ZSTD_compress(packed, n_most, text, n_bytes, ZSTD_LEVEL);
	bool is_written = ZSTD_isError(n_packed) == 0 && append_plain(path, packed, n_packed);
	fsl_free(packed);
	return is_written;
}

enum fsl_status fsl_sim_append(const char *path, enum fsl_sim_compression compression,
			       const char *text, size_t n_bytes, struct fsl_error *err)
{
	static bool (*const appenders[])(const char *, const char *,
					 size_t) = {[FSL_SIM_PLAIN] = append_plain,
						    [FSL_SIM_GZIP] = append_gzip,
						    [FSL_SIM_ZSTD] = append_zstd};
	errno = 0;
	if (appenders[compression](path, text, n_bytes)) {
		return FSL_OK;
	}
	return FSL_FAIL(err, errno == ENOMEM ? FSL_ERR_MEMORY : FSL_ERR_IO,
			"cannot write, is the disk full? path=\"%s\", reason=\"%s\"", path,
			errno != 0 ? strerror(errno) : "the packing failed");
}

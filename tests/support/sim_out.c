/* Output files of the job simulator: plain, gzip or zstd behind one writer. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "support/sim_internal.h"

enum { BLOCK_BYTES = 16 * 1024, ZSTD_LEVEL = 9 };

struct sim_out {
	FILE *file; /* plain and zstd */
	gzFile gz;
	ZSTD_CCtx *zstd;
	int first_errno; /* 0: no failure so far */
	size_t n_text;
	char text[BLOCK_BYTES];
	char packed[BLOCK_BYTES];
};

enum fsl_status sim_out_open(struct sim_out **out, const char *path,
			     enum sim_compression compression, struct fsl_error *err)
{
	struct sim_out *self = fsl_calloc(1, sizeof(*self));
	if (self == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	if (compression == SIM_COMPRESSION_GZ) {
		self->gz = gzopen(path, "wb9");
	} else {
		self->file = fopen(path, "wb");
	}
	if (compression == SIM_COMPRESSION_ZST && self->file != NULL) {
		self->zstd = ZSTD_createCCtx();
		(void)ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	}
	if (self->file == NULL && self->gz == NULL) {
		int reason = errno;
		fsl_free(self);
		return FSL_FAIL(err, FSL_ERR_IO, "cannot write: path=\"%s\", reason=\"%s\"", path,
				strerror(reason));
	}
	*out = self;
	return FSL_OK;
}

static void note_failure(struct sim_out *out)
{
	if (out->first_errno == 0) {
		out->first_errno = errno != 0 ? errno : EIO;
	}
}

/* Hands @n_bytes to zstd and its output to the file. */
static void put_zstd(struct sim_out *out, const char *data, size_t n_bytes,
		     ZSTD_EndDirective directive)
{
	ZSTD_inBuffer input = {data, n_bytes, 0};
	size_t left = 1;
	while (input.pos < input.size || (directive == ZSTD_e_end && left != 0)) {
		ZSTD_outBuffer output = {out->packed, sizeof(out->packed), 0};
		left = ZSTD_compressStream2(out->zstd, &output, &input, directive);
		if (ZSTD_isError(left)) {
			errno = EIO;
			note_failure(out);
			return;
		}
		if (fwrite(out->packed, 1, output.pos, out->file) != output.pos) {
			note_failure(out);
			return;
		}
	}
}

static void flush_text(struct sim_out *out)
{
	if (out->zstd != NULL) {
		put_zstd(out, out->text, out->n_text, ZSTD_e_continue);
	} else if (out->gz != NULL) {
		if (out->n_text > 0 && gzwrite(out->gz, out->text, (unsigned)out->n_text) <= 0) {
			note_failure(out);
		}
	} else if (fwrite(out->text, 1, out->n_text, out->file) != out->n_text) {
		note_failure(out);
	}
	out->n_text = 0;
}

void sim_out_bytes(struct sim_out *out, const void *data, size_t n_bytes)
{
	const char *bytes = data;
	while (n_bytes > 0) {
		size_t n_part = sizeof(out->text) - out->n_text;
		n_part = n_part < n_bytes ? n_part : n_bytes;
		memcpy(out->text + out->n_text, bytes, n_part);
		out->n_text += n_part;
		bytes += n_part;
		n_bytes -= n_part;
		if (out->n_text == sizeof(out->text)) {
			flush_text(out);
		}
	}
}

void sim_out_printf(struct sim_out *out, const char *format, ...)
{
	char line[1024];
	va_list arguments;
	va_start(arguments, format);
	int n_bytes = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (n_bytes < 0 || (size_t)n_bytes >= sizeof(line)) {
		errno = EOVERFLOW;
		note_failure(out);
		return;
	}
	sim_out_bytes(out, line, (size_t)n_bytes);
}

enum fsl_status sim_out_close(struct sim_out *out, struct fsl_error *err)
{
	if (out == NULL) {
		return FSL_OK;
	}
	flush_text(out);
	if (out->zstd != NULL) {
		put_zstd(out, "", 0, ZSTD_e_end);
		ZSTD_freeCCtx(out->zstd);
	}
	if (out->gz != NULL && gzclose(out->gz) != Z_OK) {
		note_failure(out);
	}
	if (out->file != NULL && fclose(out->file) != 0) {
		note_failure(out);
	}
	int reason = out->first_errno;
	fsl_free(out);
	if (reason != 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot write the whole file: reason=\"%s\"",
				strerror(reason));
	}
	return FSL_OK;
}

/* gzip and zstd of bytes in memory, for tests; include behind cmocka.h. */
#ifndef FSL_TESTS_FUZZ_PACKING_H
#define FSL_TESTS_FUZZ_PACKING_H

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

/* Bytes on the heap. */
struct blob {
	char *data;
	size_t n_bytes;
};

static inline struct blob gzip_of(const char *data, size_t n_bytes)
{
	z_stream stream = {0};
	assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	struct blob packed = {NULL, deflateBound(&stream, n_bytes)};
	packed.data = malloc(packed.n_bytes);
	assert_non_null(packed.data);
	stream.next_in = (Bytef *)(uintptr_t)data;
	stream.avail_in = (uInt)n_bytes;
	stream.next_out = (Bytef *)packed.data;
	stream.avail_out = (uInt)packed.n_bytes;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	packed.n_bytes -= stream.avail_out;
	(void)deflateEnd(&stream);
	return packed;
}

static inline struct blob zstd_of(const char *data, size_t n_bytes)
{
	struct blob packed = {NULL, ZSTD_compressBound(n_bytes)};
	packed.data = malloc(packed.n_bytes);
	assert_non_null(packed.data);
	packed.n_bytes = ZSTD_compress(packed.data, packed.n_bytes, data, n_bytes, 1);
	assert_false(ZSTD_isError(packed.n_bytes));
	return packed;
}

#endif

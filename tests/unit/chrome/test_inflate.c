/* Blocks that zlib packed: whole ones, broken ones, ones without bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <zlib.h>

#include "chrome/inflate.h"

enum { LARGE = 300000, ROOM = 400000, MAX = 1 << 20 };

static char plain[LARGE], packed[ROOM];

/* Packs @n bytes of numbers that do not repeat soon; returns the length. */
static size_t pack(size_t n, int window_bits)
{
	uint32_t number = 1;
	for (size_t i = 0; i < n; i++) {
		number = number * 1664525 + 1013904223;
		plain[i] = (char)(number >> 28);
	}
	z_stream zlib = {.next_in = (Bytef *)plain,
			 .avail_in = (uInt)n,
			 .next_out = (Bytef *)packed,
			 .avail_out = ROOM};
	assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
	size_t n_packed = zlib.total_out;
	assert_int_equal(deflateEnd(&zlib), Z_OK);
	return n_packed;
}

static void blocks_of_any_size_are_unpacked_into_the_same_memory(void **state)
{
	static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 131073, LARGE, 17};
	struct fsl_inflated block = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int gzip = 0; gzip <= 16; gzip += 16) {
			size_t n_packed = pack(sizes[i], MAX_WBITS + gzip);
			assert_int_equal(fsl_inflate(&block, packed, n_packed, MAX, NULL), FSL_OK);
			assert_int_equal(block.n_data, sizes[i]);
			assert_memory_equal(block.data, plain, sizes[i]);
		}
	}
	fsl_inflated_fini(&block);
}

static void blocks_that_are_cut_or_go_on_are_broken(void **state)
{
	struct fsl_inflated block = {0};
	size_t n_packed = pack(70000, MAX_WBITS);
	(void)state;
	for (size_t n = 0; n < n_packed; n += n < 20 || n + 20 > n_packed ? 1 : 997) {
		assert_int_equal(fsl_inflate(&block, packed, n, MAX, NULL), FSL_ERR_FORMAT);
	}
	packed[n_packed] = 'x';
	assert_int_equal(fsl_inflate(&block, packed, n_packed + 1, MAX, NULL), FSL_ERR_FORMAT);
	assert_int_equal(fsl_inflate(&block, packed, n_packed, MAX, NULL), FSL_OK);
	fsl_inflated_fini(&block);
}

static void a_block_may_have_so_many_bytes_and_not_one_more(void **state)
{
	static const size_t sizes[] = {1000, 70000, LARGE};
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct fsl_inflated block = {0};
		size_t n = pack(sizes[i], MAX_WBITS);
		assert_int_equal(fsl_inflate(&block, packed, n, sizes[i], NULL), FSL_OK);
		assert_int_equal(fsl_inflate(&block, packed, n, sizes[i] - 1, NULL), FSL_ERR_LIMIT);
		fsl_inflated_fini(&block);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_any_size_are_unpacked_into_the_same_memory),
		cmocka_unit_test(blocks_that_are_cut_or_go_on_are_broken),
		cmocka_unit_test(a_block_may_have_so_many_bytes_and_not_one_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

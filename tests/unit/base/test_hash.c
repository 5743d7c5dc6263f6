/* Fingerprints of blocks: changes are noticed. */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 4096 };

static void every_changed_bit_is_told(void **state)
{
	(void)state;
	unsigned char bytes[67];
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (unsigned char)(7 * i);
	}
	for (size_t n = 1; n <= sizeof(bytes); n++) {
		uint64_t before = fsl_hash_bytes(FSL_HASH_START, bytes, n);
		for (size_t bit = 0; bit < 8 * n; bit++) {
			bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
			assert_true(fsl_hash_bytes(FSL_HASH_START, bytes, n) != before);
			bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
		}
	}
}

static int compare_hashes(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

static void blocks_of_zeros_differ_by_their_length(void **state)
{
	(void)state;
	static const unsigned char zeros[BYTES];
	static uint64_t hashes[BYTES];
	for (size_t n = 0; n < BYTES; n++) {
		hashes[n] = fsl_hash_bytes(FSL_HASH_START, zeros, n);
	}
	qsort(hashes, BYTES, sizeof(hashes[0]), compare_hashes);
	for (size_t n = 1; n < BYTES; n++) {
		assert_true(hashes[n - 1] != hashes[n]);
	}
}

static void a_block_has_one_hash_wherever_it_lies(void **state)
{
	(void)state;
	unsigned char bytes[48] = "a block that lies anywhere", moved[64];
	for (size_t at = 0; at < 16; at++) {
		memcpy(moved + at, bytes, sizeof(bytes));
		assert_true(fsl_hash_bytes(FSL_HASH_START, moved + at, sizeof(bytes)) ==
			    fsl_hash_bytes(FSL_HASH_START, bytes, sizeof(bytes)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_changed_bit_is_told),
		cmocka_unit_test(blocks_of_zeros_differ_by_their_length),
		cmocka_unit_test(a_block_has_one_hash_wherever_it_lies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The block scanners: the fast form and the portable form see the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/block_scan.h"

static void assert_marks(struct fsl_scan_csv marks, struct fsl_scan_csv wanted)
{
	assert_true(marks.commas == wanted.commas);
	assert_true(marks.stops == wanted.stops);
}

/* Every byte value at every position of a block, over two backgrounds. */
static void every_byte_is_told_apart_at_every_position(void **state)
{
	(void)state;
	char block[FSL_SCAN_CSV_BYTES];
	for (int background = 'a'; background <= '0' + 0x80; background += '0' + 0x80 - 'a') {
		for (int byte = 0; byte < 256; byte++) {
			for (unsigned i = 0; i < FSL_SCAN_CSV_BYTES; i++) {
				memset(block, background, sizeof(block));
				block[i] = (char)byte;
				const struct fsl_scan_csv wanted = {
					(uint64_t)(byte == ',') << i,
					(uint64_t)(byte == '\n' || byte == '"') << i,
				};
				assert_marks(fsl_scan_csv(block), wanted);
				assert_marks(fsl_scan_csv_portable(block), wanted);
			}
			for (unsigned i = 0; i < FSL_SCAN_JSON_BYTES; i++) {
				memset(block, background, sizeof(block));
				block[i] = (char)byte;
				bool json =
					byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
				uint32_t others = background >= 0x80 ? 0xffff & ~(1u << i) : 0;
				uint32_t wanted = (uint32_t)json << i | others;
				assert_int_equal(fsl_scan_json(block), wanted);
				assert_int_equal(fsl_scan_json_portable(block), wanted);
			}
			for (unsigned i = 0; i < FSL_SCAN_DIGITS_BYTES; i++) {
				memset(block, background, sizeof(block));
				block[i] = (char)byte;
				uint32_t wanted = (uint32_t)(byte >= '0' && byte <= '9') << i;
				assert_int_equal(fsl_scan_digit_marks(block), wanted);
				assert_int_equal(fsl_scan_digit_marks_portable(block), wanted);
			}
		}
	}
}

static void random_blocks_are_seen_alike(void **state)
{
	(void)state;
	static const char alphabet[] = ",\n\"\\a0 \x1f\x20\x7f\x80\xff-\x0b+";
	uint32_t random = 12345;
	for (int round = 0; round < 20000; round++) {
		char block[FSL_SCAN_CSV_BYTES];
		for (size_t i = 0; i < sizeof(block); i++) {
			random = random * 1664525 + 1013904223;
			block[i] = alphabet[(random >> 16) % (sizeof(alphabet) - 1)];
		}
		assert_marks(fsl_scan_csv(block), fsl_scan_csv_portable(block));
		assert_int_equal(fsl_scan_json(block), fsl_scan_json_portable(block));
	}
}

static void digits_are_counted_up_to_the_first_other_byte(void **state)
{
	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		for (unsigned i = 0; i < 8; i++) {
			char block[8];
			memset(block, '5', sizeof(block));
			block[i] = (char)byte;
			bool is_digit = byte >= '0' && byte <= '9';
			assert_int_equal(fsl_scan_digits(block), is_digit ? 8 : i);
		}
	}
	assert_int_equal(fsl_scan_digits("12:45678"), 2);
	assert_int_equal(fsl_scan_digits("1\xff/45678"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_is_told_apart_at_every_position),
		cmocka_unit_test(random_blocks_are_seen_alike),
		cmocka_unit_test(digits_are_counted_up_to_the_first_other_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

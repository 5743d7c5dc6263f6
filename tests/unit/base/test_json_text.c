/* UTF-8 and escapes by themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_text.h"

static void check_length(const char *text, size_t n_left, int wanted)
{
	assert_int_equal(fsl_utf8_length((const unsigned char *)text, n_left), wanted);
}

static void utf8_length_knows_good_bad_and_cut_sequences(void **state)
{
	(void)state;
	check_length("a", 1, 1);
	check_length("\xc3\xa9", 2, 2);
	check_length("\xc3\xa9", 1, -1);
	check_length("\xe2\x82\xac", 3, 3);
	check_length("\xe2\x82\xac", 2, -1);
	check_length("\xe2\x82\xac", 1, -1);
	check_length("\xf0\x9f\x98\x80", 4, 4);
	check_length("\xf0\x9f\x98\x80", 3, -1);
	check_length("\xe2(", 2, 0); /* wrong already, whatever follows */
	check_length("\x80", 1, 0);
	check_length("\xc0\x80", 2, 0);
	check_length("\xed\xa0\x80", 3, 0);
	check_length("\xf5\x80\x80\x80", 4, 0);
}

/* Encodes by the definition and not by our own code. */
static int encode(uint32_t code, unsigned char out[4])
{
	static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (int i = length - 1; i > 0; i--) {
		out[i] = (unsigned char)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	out[0] = (unsigned char)(leads[length] | code);
	return length;
}

static void every_code_point_is_accepted_and_escaped_alike(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 0x110000; code++) {
		unsigned char wanted[4];
		char escape[16], got[16];
		size_t n_got = 0;
		int length = encode(code, wanted);
		bool is_surrogate = code >= 0xd800 && code < 0xe000;
		if (fsl_utf8_length(wanted, 4) != (is_surrogate ? 0 : length)) {
			fail_msg("code point U+%04X", code);
		}
		if (is_surrogate || (code > 0x3000 && code % 7 != 0)) {
			continue; /* a sample of the higher ones */
		}
		if (code < 0x10000) {
			(void)snprintf(escape, sizeof(escape), "\\u%04x", code);
		} else {
			uint32_t rest = code - 0x10000;
			(void)snprintf(escape, sizeof(escape), "\\u%04X\\u%04X",
				       0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
		}
		assert_true(fsl_json_unescape(escape, strlen(escape), got, &n_got));
		assert_int_equal(n_got, length);
		assert_memory_equal(got, wanted, n_got);
	}
}

static void unescape_keeps_nul_and_plain_text(void **state)
{
	(void)state;
	char got[32];
	size_t n_got = 99;
	assert_true(fsl_json_unescape("", 0, got, &n_got));
	assert_int_equal(n_got, 0);
	assert_true(fsl_json_unescape("a\\u0000b\\/", 10, got, &n_got));
	assert_int_equal(n_got, 4);
	assert_memory_equal(got, "a\0b/", 4);
	assert_true(fsl_json_unescape("\\ud800\\ud800", 12, got, &n_got));
	assert_int_equal(n_got, 6);
	assert_memory_equal(got, "\xef\xbf\xbd\xef\xbf\xbd", 6);
	assert_false(fsl_json_unescape("\\u12", 4, got, &n_got));
	assert_false(fsl_json_unescape("\\\0", 2, got, &n_got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_length_knows_good_bad_and_cut_sequences),
		cmocka_unit_test(every_code_point_is_accepted_and_escaped_alike),
		cmocka_unit_test(unescape_keeps_nul_and_plain_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

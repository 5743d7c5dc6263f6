/* Digits to numbers, word by word: the same results as digit by digit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digits.h"
#include "base/number.h"
#include "fuzz/random_text.h"

enum { ROUNDS = 20000 };

/* Random digits, and bytes behind them that are none of the number's. */
static void fill(char *text, size_t size, uint64_t *random)
{
	for (size_t i = 0; i < size; i++) {
		text[i] = (char)('0' + random_below(random, 10));
	}
}

static void check(const char *text, size_t length)
{
	uint64_t got = 77, wanted = 77;
	bool is_good = fsl_parse_u64(text, length, &wanted);
	assert_int_equal(fsl_digits_parse_spare(text, length, &got), is_good);
	assert_true(got == wanted);
	got = wanted = 77;
	is_good = length <= 2 && fsl_parse_u64(text, length, &wanted);
	assert_int_equal(fsl_digits_parse_small(text, length, &got), is_good);
	assert_true(got == wanted);
}

static void numbers_of_every_length_are_read(void **state)
{
	(void)state;
	char text[FSL_DIGITS_MAX + 8];
	uint64_t random = 1;
	for (int round = 0; round < ROUNDS; round++) {
		fill(text, sizeof(text), &random);
		check(text, 1 + random_below(&random, FSL_DIGITS_MAX));
	}
	uint64_t got = 77;
	assert_false(fsl_digits_parse_spare("12345678", 0, &got));
	assert_false(fsl_digits_parse_spare("00000000000000000000", 20, &got));
	assert_false(fsl_digits_parse_small("12345678", 0, &got));
	assert_false(fsl_digits_parse_small("12345678", 3, &got));
	assert_true(got == 77);
}

static void every_other_byte_is_refused_at_every_place(void **state)
{
	(void)state;
	char text[FSL_DIGITS_MAX + 8];
	uint64_t random = 2;
	for (size_t length = 1; length <= FSL_DIGITS_MAX; length++) {
		for (size_t at = 0; at < length; at++) {
			for (int byte = 0; byte < 256; byte++) {
				if (strchr("+- \t", byte) != NULL) {
					continue; /* the careful reader takes some of them off */
				}
				fill(text, sizeof(text), &random);
				text[at] = (char)byte;
				check(text, length);
			}
		}
	}
}

static void signs_and_blanks_are_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {"+1345678",  "-1345678",  " 1345678", "1 345678",
					    "\t1345678", "1\t345678", "1+345678"};
	uint64_t got = 77;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(fsl_digits_parse_spare(texts[i], 2, &got));
		assert_false(fsl_digits_parse_small(texts[i], 2, &got));
		assert_false(fsl_digits_parse_spare(texts[i], 8, &got));
	}
	assert_true(got == 77);
}

/* Times that share leading digits with the one before, and some that break somewhere. */
static void times_in_any_order_are_read_as_each_alone(void **state)
{
	(void)state;
	char text[FSL_DIGITS_MAX + 8];
	uint64_t random = 3;
	size_t n_good = 0;
	struct fsl_digits_clock clock = {0};
	fill(text, sizeof(text), &random);
	for (int round = 0; round < 10 * ROUNDS; round++) {
		size_t length = random_below(&random, 10) > 0 ? FSL_DIGITS_MAX
							      : 1 + random_below(&random, 21);
		size_t at = random_below(&random, sizeof(text));
		char old = text[at];
		text[at] = random_below(&random, 10) > 0 ? (char)('0' + random_below(&random, 10))
							 : (char)random_below(&random, 256);
		uint64_t got = 77, wanted = 77;
		bool is_good = fsl_digits_parse_spare(text, length, &wanted);
		assert_int_equal(fsl_digits_parse_clock(&clock, text, length, &got), is_good);
		assert_true(got == wanted);
		n_good += is_good;
		text[at] = text[at] >= '0' && text[at] <= '9' ? text[at] : old;
	}
	assert_true(n_good > 5 * ROUNDS && n_good < 10 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_every_length_are_read),
		cmocka_unit_test(every_other_byte_is_refused_at_every_place),
		cmocka_unit_test(signs_and_blanks_are_refused),
		cmocka_unit_test(times_in_any_order_are_read_as_each_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Numbers, ranks and letters in sentences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "base/utf8.h"
#include "text/phrase.h"

static void ranks_are_told_in_ranges(void **state)
{
	(void)state;
	int32_t ranks[] = {7, 0, 2, 1, 5, 5, 9, 8, 2147483647};
	struct fsl_phrase phrase = {0};
	fsl_phrase_add_unsorted_ranks(&phrase, ranks, 9, 8);
	assert_string_equal(phrase.text, "ranks 0-2, 5, 7-9, 2147483647");
	struct fsl_phrase bounded = {0};
	fsl_phrase_add_ranks(&bounded, ranks, 8, 2);
	assert_string_equal(bounded.text, "ranks 0-2, 5 and 4 more");
	struct fsl_phrase none = {0};
	fsl_phrase_add_ranks(&none, ranks, 0, 2);
	assert_string_equal(none.text, "no rank");
}

static void lengths_of_any_size_are_told(void **state)
{
	(void)state;
	static const struct {
		double s;
		const char *text;
	} cases[] = {
		{0.975, "975 ms"}, {90.0, "90.0 s"}, {1386.0, "23.1 min"}, {17820.0, "4 h 57 min"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_phrase phrase = {0};
		fsl_phrase_add_length(&phrase, (int64_t)(cases[i].s * FSL_NS_PER_S));
		assert_string_equal(phrase.text, cases[i].text);
	}
}

static void numbers_have_units_and_sensible_digits(void **state)
{
	(void)state;
	static const struct {
		double ms;
		const char *text;
	} cases[] = {{0.0, "0.00 ms"},      {0.0049, "0.00 ms"},  {9.994, "9.99 ms"},
		     {9.996, "10.0 ms"},    {99.94, "99.9 ms"},   {99.96, "100 ms"},
		     {9999.0, "9999 ms"},   {9999.6, "10.0 s"},   {-12.34, "-12.3 ms"},
		     {123456.0, "123.5 s"}, {NAN, "unknown time"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_phrase phrase = {0};
		fsl_phrase_add_ms(&phrase, cases[i].ms);
		assert_string_equal(phrase.text, cases[i].text);
	}
	struct fsl_phrase percent = {0};
	fsl_phrase_add_percent(&percent, 0.0416);
	fsl_phrase_add(&percent, ", ");
	fsl_phrase_add_percent(&percent, 0.0996);
	fsl_phrase_add(&percent, ", ");
	fsl_phrase_add_percent(&percent, NAN);
	assert_string_equal(percent.text, "4.2 %, 10 %, unknown share");
}

static void ordinals_end_as_they_are_spoken(void **state)
{
	static const struct {
		int64_t n;
		const char *text;
	} cases[] = {{1, "1st"},   {2, "2nd"},     {3, "3rd"},     {4, "4th"},    {10, "10th"},
		     {11, "11th"}, {12, "12th"},   {13, "13th"},   {20, "20th"},  {21, "21st"},
		     {22, "22nd"}, {111, "111th"}, {112, "112th"}, {123, "123rd"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_phrase phrase = {0};
		fsl_phrase_add_ordinal(&phrase, cases[i].n);
		assert_string_equal(phrase.text, cases[i].text);
	}
}

static void a_phrase_that_is_too_long_ends_in_dots(void **state)
{
	(void)state;
	struct fsl_phrase phrase = {0};
	for (int i = 0; i < FSL_PHRASE_MAX; i++) {
		fsl_phrase_add(&phrase, "word ");
	}
	assert_int_equal(strlen(phrase.text), FSL_PHRASE_MAX - 1);
	assert_string_equal(phrase.text + FSL_PHRASE_MAX - 4, "...");
}

static void wide_letters_count_once(void **state)
{
	(void)state;
	assert_int_equal(fsl_utf8_points("Gr\xc3\xbc\xc3\x9f"
					 "e"),
			 5);
	assert_int_equal(fsl_utf8_points("a\xff"), 2);
	assert_int_equal(fsl_utf8_sequence(""), 0);
	assert_int_equal(fsl_utf8_sequence("\xf0\x9f\x98\x80"), 4);
	assert_int_equal(fsl_utf8_sequence("\xf4\x90\x80\x80"), 0);
	assert_int_equal(fsl_utf8_sequence("\xe2\x82"), 0);
	assert_false(fsl_utf8_is_valid("\xed\xa0\x80"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_told_in_ranges),
		cmocka_unit_test(lengths_of_any_size_are_told),
		cmocka_unit_test(numbers_have_units_and_sensible_digits),
		cmocka_unit_test(ordinals_end_as_they_are_spoken),
		cmocka_unit_test(a_phrase_that_is_too_long_ends_in_dots),
		cmocka_unit_test(wide_letters_count_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

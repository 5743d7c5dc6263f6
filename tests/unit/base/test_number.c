/* Exact integers, scaled decimals and times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"

static void check_i64(const char *text, bool good, int64_t wanted)
{
	int64_t value = 42;
	assert_int_equal(fsl_parse_i64(text, strlen(text), &value), good);
	assert_true(value == (good ? wanted : 42));
}

static void parse_i64_reaches_both_ends_of_the_range(void **state)
{
	(void)state;
	check_i64("0", true, 0);
	check_i64("-0", true, 0);
	check_i64("+7", true, 7);
	check_i64("12345678", true, 12345678);
	check_i64("123456789", true, 123456789);
	check_i64("1743675836123456789", true, INT64_C(1743675836123456789));
	check_i64("9223372036854775807", true, INT64_MAX);
	check_i64("-9223372036854775808", true, INT64_MIN);
	check_i64("000000000000000000000000000000000000042", true, 42);
	check_i64(" \t-5\t ", true, -5);
}

static void parse_i64_refuses_what_is_no_integer(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",
					    " ",
					    "-",
					    "+",
					    "--1",
					    "1-",
					    "1 2",
					    "1.0",
					    "1e3",
					    "0x10",
					    "12345678a",
					    "a2345678",
					    "1234567:",
					    "1234567/8",
					    "9223372036854775808",
					    "-9223372036854775809",
					    "18446744073709551616",
					    "99999999999999999999999999",
					    "1\n",
					    "12\26145678"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		check_i64(wrong[i], false, 0);
	}
}

static void parse_i64_reads_no_byte_behind_the_length(void **state)
{
	(void)state;
	int64_t value = 0;
	assert_true(fsl_parse_i64("123456789999", 9, &value));
	assert_true(value == 123456789);
	char *exact = malloc(8); /* a sanitizer sees a read beyond it */
	assert_non_null(exact);
	memcpy(exact, "12345678", 8);
	assert_true(fsl_parse_i64(exact, 8, &value));
	assert_true(fsl_parse_i64(exact, 7, &value));
	assert_true(value == 1234567);
	free(exact);
}

static void parse_i64_agrees_with_strtoll_on_every_length(void **state)
{
	(void)state;
	uint64_t random = 88172645463325252u;
	for (int i = 0; i < 20000; i++) {
		char text[32];
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		(void)snprintf(text, sizeof(text), "%lld",
			       (long long)((int64_t)random >> (i % 64)));
		check_i64(text, true, strtoll(text, NULL, 10));
	}
}

static void parse_u64_reaches_the_end_of_the_range(void **state)
{
	(void)state;
	uint64_t value = 0;
	assert_true(fsl_parse_u64("18446744073709551615", 20, &value));
	assert_true(value == UINT64_MAX);
	assert_true(fsl_parse_u64("+1", 2, &value));
	assert_true(value == 1);
	assert_false(fsl_parse_u64("18446744073709551616", 20, &value));
	assert_false(fsl_parse_u64("-1", 2, &value));
	assert_false(fsl_parse_u64("-0", 2, &value));
	assert_false(fsl_parse_u64("", 0, &value));
	assert_true(value == 1);
}

static void check_scaled(const char *text, int64_t scale, bool good, int64_t wanted)
{
	int64_t value = 42;
	bool is_good = fsl_parse_scaled(text, strlen(text), scale, &value);
	if (is_good != good || value != (good ? wanted : 42)) {
		fail_msg("\"%s\" * %lld: good=%d, value=%lld", text, (long long)scale, is_good,
			 (long long)value);
	}
}

static void parse_real_reads_decimal_numbers_alone(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",    " ",     "0x10", "inf", "-infinity",
					    "nan", "1e999", "1.5x", " 1",  "1 ",
					    "1e",  "--1",   "1,5",  "."};
	double value = 7.0;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(fsl_parse_real(wrong[i], &value));
		assert_true(value == 7.0);
	}
	assert_true(fsl_parse_real("-1.5e-2", &value) && value == -1.5e-2);
	assert_true(fsl_parse_real("+.5", &value) && value == 0.5);
	assert_true(fsl_parse_real("20", &value) && value == 20.0);
}

static void parse_scaled_keeps_every_digit(void **state)
{
	(void)state;
	check_scaled("1743675836123456.789", 1000, true, INT64_C(1743675836123456789));
	check_scaled("1743675836.123456789", FSL_NS_PER_S, true, INT64_C(1743675836123456789));
	check_scaled("4458676522690.655", 1000, true, INT64_C(4458676522690655));
	check_scaled("9223372036854775.807", 1000, true, INT64_MAX);
	check_scaled("-9223372036854775.808", 1000, true, INT64_MIN);
	check_scaled("9223372036854775.8074", 1000, true, INT64_MAX);
	check_scaled("9223372036854775807", 1, true, INT64_MAX);
	check_scaled("5", 1, true, 5);
	check_scaled(".5", 10, true, 5);
	check_scaled("5.", 10, true, 50);
	check_scaled(" 1.5\t", 2, true, 3);
	check_scaled("0.333333333333333333333333333333333", 3, true, 1);
	check_scaled("1", FSL_SCALE_MAX, true, FSL_SCALE_MAX);
	check_scaled("0.99", FSL_SCALE_MAX, true,
		     913113831648622804); /* 922337203685477580 * 0.99 */
}

static void parse_scaled_rounds_half_away_from_zero(void **state)
{
	(void)state;
	check_scaled("0.5", 1, true, 1);
	check_scaled("-0.5", 1, true, -1);
	check_scaled("0.4999999999999999999999999999999999999999", 1, true, 0);
	check_scaled("0.5000000000000000000000000000000000000001", 1, true, 1);
	check_scaled("1.4999999999999999999999999999999999999999", 1, true, 1);
	check_scaled("2.5", 1, true, 3);
	check_scaled("-2.4", 1, true, -2);
	check_scaled("0.0005", 1000, true, 1);
	check_scaled("0.00049", 1000, true, 0);
}

static void parse_scaled_understands_exponents(void **state)
{
	(void)state;
	check_scaled("1.5e3", 1, true, 1500);
	check_scaled("1.5E+3", 1, true, 1500);
	check_scaled("15000e-3", 1, true, 15);
	check_scaled("1743675836123456.789e-6", FSL_NS_PER_S, true, INT64_C(1743675836123456789));
	check_scaled("1e-30", 1000, true, 0);
	check_scaled("1e-999999999999999999999", 1000, true, 0);
	check_scaled("0e999999999999999999999", 1000, true, 0);
	check_scaled("0.0e5", 1000, true, 0);
	check_scaled("0.000001e6", 1, true, 1);
	check_scaled("0.05e1", 1, true, 1);
	check_scaled("0.005e1", 1, true, 0);
}

static void parse_scaled_refuses_what_is_no_number_or_too_large(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",
					    "-",
					    ".",
					    "-.",
					    "e5",
					    "1e",
					    "1e+",
					    "1e5x",
					    "1.2.3",
					    "1,5",
					    "nan",
					    "inf",
					    "0x1p3",
					    "1 5",
					    "--1",
					    "1e1.5",
					    "1e99",
					    "1e999999999999999999999",
					    "9223372036854775808",
					    "-9223372036854775809",
					    "9223372036854775807.5"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		check_scaled(wrong[i], 1, false, 0);
	}
	check_scaled("9223372036854775.8075", 1000, false, 0);
	check_scaled("9223372036854776", 1000, false, 0);
}

static void check_time(const char *text, bool good, int64_t wanted_ns)
{
	int64_t time_ns = 42;
	bool is_good = fsl_parse_time(text, &time_ns);
	if (is_good != good || time_ns != (good ? wanted_ns : 42)) {
		fail_msg("\"%s\": good=%d, time=%lld", text, is_good, (long long)time_ns);
	}
}

static void parse_time_tells_the_unit_by_size(void **state)
{
	(void)state;
	const int64_t wanted = INT64_C(1749971240) * FSL_NS_PER_S;
	check_time("1749971240", true, wanted);
	check_time("1749971240000", true, wanted);
	check_time("1749971240000000", true, wanted);
	check_time("1749971240000000000", true, wanted);
	check_time("0", true, 0);
	check_time("-1", true, -FSL_NS_PER_S);
	check_time("9223372036", true, INT64_C(9223372036) * FSL_NS_PER_S);
	check_time("9223372037", false, 0); /* beyond the year 2262 */
	check_time("99999999999999999999", false, 0);
	check_time("100000000000", true, INT64_C(100000000000) * FSL_NS_PER_MS);
	check_time("100000000000000", true, INT64_C(100000000000000) * FSL_NS_PER_US);
	check_time("100000000000000000", true, INT64_C(100000000000000000));
}

static void parse_time_understands_iso_8601(void **state)
{
	(void)state;
	const int64_t wanted = INT64_C(1749971240) * FSL_NS_PER_S; /* 2025-06-15T07:07:20Z */
	check_time("2025-06-15T07:07:20Z", true, wanted);
	check_time("2025-06-15 07:07:20z", true, wanted);
	check_time("2025-06-15T15:07:20+08:00", true, wanted);
	check_time("2025-06-15T15:07:20+0800", true, wanted);
	check_time("2025-06-15T15:07:20+08", true, wanted);
	check_time("2025-06-15T01:37:20-05:30", true, wanted);
	check_time("2025-06-15T07:07:20.5Z", true, wanted + 500 * FSL_NS_PER_MS);
	check_time("2025-06-15T07:07:20,123456789Z", true, wanted + 123456789);
	check_time("2025-06-15T07:07:20.1234567899Z", true, wanted + 123456789);
	check_time("2025-06-15T07:07Z", true, wanted - INT64_C(20) * FSL_NS_PER_S);
	check_time("2024-02-29T00:00:00Z", true, INT64_C(1709164800) * FSL_NS_PER_S);
	check_time("1969-12-31T23:59:59.5Z", true, -500 * FSL_NS_PER_MS);
}

static void parse_time_without_zone_is_local(void **state)
{
	(void)state;
	assert_int_equal(setenv("TZ", "UTC-8", 1), 0); /* POSIX sign: east of Greenwich */
	check_time("2025-06-15 15:07:20", true, INT64_C(1749971240) * FSL_NS_PER_S);
	check_time("2025-06-15", true, INT64_C(1749916800) * FSL_NS_PER_S);
	char text[32];
	assert_string_equal(
		fsl_format_local(INT64_C(1749971240) * FSL_NS_PER_S, text, sizeof(text)),
		"2025-06-15 15:07:20");
	assert_int_equal(setenv("TZ", "UTC", 1), 0);
}

static void parse_time_refuses_impossible_times(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",
					    "yesterday",
					    "2025-13-01",
					    "2025-00-01",
					    "2025-02-29",
					    "2025-06-31",
					    "2025-06-00",
					    "2025-6-1",
					    "1900-02-29",
					    "2025-06-15T",
					    "2025-06-15T24:00:00Z",
					    "2025-06-15T07:60:00Z",
					    "2025-06-15T07:07:61Z",
					    "2025-06-15T07:07:20.Z",
					    "2025-06-15T07:07:20+8",
					    "2025-06-15T07:07:20+24:00",
					    "2025-06-15T07:07:20+08:",
					    "2025-06-15T07:07:20Zulu",
					    "2025-06-15Z",
					    "9999-01-01T00:00:00Z",
					    "0001-01-01T00:00:00Z",
					    "12.5",
					    "1e9"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		check_time(wrong[i], false, 0);
	}
}

static void format_utc_shows_milliseconds_also_before_1970(void **state)
{
	(void)state;
	char text[40];
	assert_string_equal(fsl_format_utc(INT64_C(1749971240123999999), text, sizeof(text)),
			    "2025-06-15T07:07:20.123Z");
	assert_string_equal(fsl_format_utc(-1, text, sizeof(text)), "1969-12-31T23:59:59.999Z");
	assert_string_equal(fsl_format_utc(INT64_MIN, text, sizeof(text)),
			    "1677-09-21T00:12:43.145Z");
	assert_string_equal(fsl_format_utc(INT64_MAX, text, sizeof(text)),
			    "2262-04-11T23:47:16.854Z");
}

static void sums_that_do_not_fit_end_at_the_ends_of_the_range(void **state)
{
	(void)state;
	assert_true(fsl_sum_i64(INT64_MAX - 1, 1) == INT64_MAX);
	assert_true(fsl_sum_i64(INT64_MAX, 1) == INT64_MAX);
	assert_true(fsl_sum_i64(INT64_MIN, -1) == INT64_MIN);
	assert_true(fsl_sum_i64(INT64_MIN, INT64_MAX) == -1);
}

static void now_is_a_time_of_this_century(void **state)
{
	(void)state;
	assert_true(fsl_now_ns() > INT64_C(1700000000) * FSL_NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_i64_reaches_both_ends_of_the_range),
		cmocka_unit_test(parse_i64_refuses_what_is_no_integer),
		cmocka_unit_test(parse_i64_reads_no_byte_behind_the_length),
		cmocka_unit_test(parse_i64_agrees_with_strtoll_on_every_length),
		cmocka_unit_test(parse_u64_reaches_the_end_of_the_range),
		cmocka_unit_test(parse_real_reads_decimal_numbers_alone),
		cmocka_unit_test(parse_scaled_keeps_every_digit),
		cmocka_unit_test(parse_scaled_rounds_half_away_from_zero),
		cmocka_unit_test(parse_scaled_understands_exponents),
		cmocka_unit_test(parse_scaled_refuses_what_is_no_number_or_too_large),
		cmocka_unit_test(parse_time_tells_the_unit_by_size),
		cmocka_unit_test(parse_time_understands_iso_8601),
		cmocka_unit_test(parse_time_without_zone_is_local),
		cmocka_unit_test(parse_time_refuses_impossible_times),
		cmocka_unit_test(format_utc_shows_milliseconds_also_before_1970),
		cmocka_unit_test(sums_that_do_not_fit_end_at_the_ends_of_the_range),
		cmocka_unit_test(now_is_a_time_of_this_century),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

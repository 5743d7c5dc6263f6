/* Numbers, texts and failures of a JSON document under construction. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/document.h"
#include "samples.h"

static void assert_text(const cJSON *json, const char *expected)
{
	char *text = fsl_json_text(json, 0);
	assert_non_null(text);
	assert_string_equal(text, expected);
	fsl_free(text);
}

static void python_float_is_the_shortest_text_that_reads_back(void **state)
{
	(void)state;
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0.0, "0.0"},
		{-0.0, "-0.0"},
		{1.0, "1.0"},
		{-2.5, "-2.5"},
		{0.1, "0.1"},
		{100.0, "100.0"},
		{1.0 / 3.0, "0.3333333333333333"},
		{977.1, "977.1"},
		{6840.0 / 7.0, "977.1428571428571"},
		{1750000004672.0, "1750000004672.0"},
		{1750000004672.125, "1750000004672.125"},
		{1e15, "1000000000000000.0"},
		{9999999999999998.0, "9999999999999998.0"},
		{1e16, "1e+16"},
		{1.5e16, "1.5e+16"},
		{1e22, "1e+22"},
		{0.0001, "0.0001"},
		{0.00012, "0.00012"},
		{0.00001, "1e-05"},
		{1.5e-5, "1.5e-05"},
		{1187.453123, "1187.453123"},
		{-0.000123456, "-0.000123456"},
		{999999.999999999, "999999.999999999"},
		{123456789.0001, "123456789.0001"},
		{99999999999.9999, "99999999999.9999"},
		{0.1 + 0.2, "0.30000000000000004"},
		{0.00010000000000000002, "0.00010000000000000002"},
		{1000000.000000001, "1000000.000000001"},
		{12345.0000000001, "12345.0000000001"},
		{1e100, "1e+100"},
		{5e-324, "5e-324"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{NAN, "nan"},
		{INFINITY, "inf"},
		{-INFINITY, "-inf"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[40];
		assert_string_equal(fsl_python_float(cases[i].value, text, sizeof(text)),
				    cases[i].text);
	}
}

static void numbers_are_rounded_and_unknown_ones_null(void **state)
{
	(void)state;
	struct fsl_document document = {0};
	cJSON *list = fsl_document_array(&document, NULL, NULL);
	fsl_document_number(&document, list, NULL, 0.4935, 3);
	fsl_document_number(&document, list, NULL, 2.5, 0);
	fsl_document_number(&document, list, NULL, 194.87654, 3);
	fsl_document_number(&document, list, NULL, -0.0001, 3);
	fsl_document_number(&document, list, NULL, 1e300, 3);
	fsl_document_number(&document, list, NULL, NAN, 3);
	fsl_document_number(&document, list, NULL, -INFINITY, 3);
	fsl_document_significant(&document, list, NULL, 1.23456e-9, 4);
	fsl_document_significant(&document, list, NULL, NAN, 4);
	assert_false(document.has_failed);
	assert_text(list, "[0.493, 2, 194.877, 0, 1e+300, null, null, 1.235e-09, null]");
	cJSON_Delete(fsl_document_finish(&document, list));
}

/* A number of the kind that documents hold, or of any other. */
static double some_number(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	uint64_t bits = *seed >> 11;
	double value = 0.0;
	switch (*seed >> 61) {
	case 0: /* any double */
		memcpy(&value, seed, sizeof(value));
		return value;
	case 1: /* in the middle between two decimal numbers, as near as a double comes */
		return (double)(bits % 2000000) / 1000.0 + 0.0005;
	case 2: /* whole */
		return (double)(bits % 4000) - 2000.0;
	case 3: /* decimals of three digits */
		return (double)(bits % 4000000000) / 1000.0;
	case 4:
		return ldexp((double)bits, -80);
	default:
		return ldexp((double)bits, -40) - 4096.0;
	}
}

static void numbers_are_rounded_as_printf_rounds_them(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (int i = 0; i < 200000; i++) {
		char text[400];
		double value = some_number(&seed);
		int decimals = i % 8;
		(void)snprintf(text, sizeof(text), "%.*f", decimals, value);
		struct fsl_document document = {0};
		cJSON *root = fsl_document_array(&document, NULL, NULL);
		fsl_document_number(&document, root, NULL, value, decimals);
		if (isfinite(value)) {
			assert_true(root->child->valuedouble == strtod(text, NULL));
		} else {
			assert_true(cJSON_IsNull(root->child));
		}
		cJSON_Delete(root);
	}
}

static void text_of_numbers_is_what_printf_makes_of_their_digits(void **state)
{
	(void)state;
	uint64_t seed = 2;
	for (int i = 0; i < 200000; i++) {
		char expected[40];
		double value = some_number(&seed);
		if (!isfinite(value) || value == 0.0) {
			continue;
		}
		(void)snprintf(expected, sizeof(expected), "%.15g", value);
		if (strtod(expected, NULL) != value) {
			(void)snprintf(expected, sizeof(expected), "%.17g", value);
		}
		cJSON *json = cJSON_CreateNumber(value);
		assert_text(json, expected);
		cJSON_Delete(json);
	}
	cJSON *zero = cJSON_CreateNumber(-0.0);
	assert_text(zero, "0");
	cJSON_Delete(zero);
}

/* The text equals cJSON's except for blanks. */
static void text_reads_as_the_document_it_came_from(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"a\":[],\"b\":{},\"c\":[{}]}",
		"[null,true,false,0,-1,1e+300,0.1,1e-07]",
		"{\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\":\"\\u007f \xc3\xa9\"}",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (int indent = 0; indent < 3; indent++) {
			cJSON *json = cJSON_Parse(texts[i]);
			assert_non_null(json);
			char *text = fsl_json_text(json, indent);
			cJSON *again = cJSON_Parse(text);
			char *expected = cJSON_PrintUnformatted(json);
			char *compact = cJSON_PrintUnformatted(again);
			assert_non_null(again);
			assert_string_equal(compact, expected);
			cJSON_free(compact);
			cJSON_free(expected);
			cJSON_Delete(again);
			fsl_free(text);
			cJSON_Delete(json);
		}
	}
}

static void integers_keep_all_their_digits(void **state)
{
	(void)state;
	struct fsl_document document = {0};
	cJSON *list = fsl_document_array(&document, NULL, NULL);
	fsl_document_integer(&document, list, NULL, INT64_C(1750000000000516172));
	fsl_document_integer(&document, list, NULL, INT64_MIN);
	fsl_document_integer(&document, list, NULL, INT64_C(1000000000000000));
	fsl_document_integer(&document, list, NULL, INT64_C(999999999999999));
	fsl_document_integer(&document, list, NULL, -3);
	fsl_document_count(&document, list, NULL, UINT64_MAX);
	fsl_document_index(&document, list, NULL, -1);
	fsl_document_index(&document, list, NULL, 0);
	assert_text(list, "[1750000000000516172, -9223372036854775808, 1000000000000000, "
			  "999999999999999, -3, 9223372036854775807, null, 0]");
	cJSON_Delete(fsl_document_finish(&document, list));
}

static void times_are_utc_or_null(void **state)
{
	(void)state;
	struct fsl_document document = {0};
	cJSON *object = fsl_document_object(&document, NULL, NULL);
	fsl_document_time(&document, object, "a", INT64_C(1750000000123456789));
	fsl_document_time(&document, object, "b", FSL_NS_ABSENT);
	assert_text(object, "{\"a\": \"2025-06-15T15:06:40.123Z\", \"b\": null}");
	cJSON_Delete(fsl_document_finish(&document, object));
}

static void texts_are_escaped_and_broken_utf8_replaced(void **state)
{
	(void)state;
	struct fsl_document document = {0};
	cJSON *list = fsl_document_array(&document, NULL, NULL);
	fsl_document_text(&document, list, NULL, "a\"b\\c\n\x01 {[,:]}");
	fsl_document_text(&document, list, NULL,
			  "Gr\xc3\xbc\xc3\x9f"
			  "e");
	fsl_document_text(&document, list, NULL, "x\xffy\xc3");
	fsl_document_text(&document, list, NULL, "\xc0\xaf\xed\xa0\x80");
	fsl_document_text(&document, list, NULL,
			  "a\xc2\x9b"
			  "b\x7f\xe2\x80\xae\xe5\x8d\xa1");
	fsl_document_text(&document, list, NULL, NULL);
	assert_text(
		list,
		"[\"a\\\"b\\\\c\\n\\u0001 {[,:]}\", \"Gr\xc3\xbc\xc3\x9f"
		"e\", \"x\xef\xbf\xbdy\xef\xbf\xbd\", "
		"\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\", \"a\\u009bb\\u007f\\u202e\xe5\x8d\xa1\", \"\"]");
	cJSON_Delete(fsl_document_finish(&document, list));
}

static void indented_text_is_laid_out_as_python_does(void **state)
{
	(void)state;
	cJSON *json = cJSON_Parse("{\"a\":[],\"b\":{},\"c\":[1,{\"d\":\"x, y: {z}\"}],\"e\":true}");
	char *text = fsl_json_text(json, 4);
	assert_string_equal(text, "{\n"
				  "    \"a\": [],\n"
				  "    \"b\": {},\n"
				  "    \"c\": [\n"
				  "        1,\n"
				  "        {\n"
				  "            \"d\": \"x, y: {z}\"\n"
				  "        }\n"
				  "    ],\n"
				  "    \"e\": true\n"
				  "}");
	fsl_free(text);
	cJSON_Delete(json);
}

static void *failing_malloc(size_t size)
{
	return fsl_calloc(1, size);
}

static void a_failed_allocation_fails_the_document(void **state)
{
	(void)state;
	cJSON_InitHooks(&(cJSON_Hooks){failing_malloc, fsl_free});
	struct fsl_document document = {0};
	cJSON *root = fsl_document_object(&document, NULL, NULL);
	fsl_mem_fail_at(1);
	cJSON *list = fsl_document_array(&document, root, "list");
	fsl_document_integer(&document, list, NULL, 3);
	fsl_mem_fail_at(0);
	assert_null(list);
	cJSON *late = fsl_document_object(&document, list, NULL);
	fsl_document_text(&document, late, "key", "text");
	fsl_document_text(&document, root, "key", "text");
	assert_null(late);
	assert_true(document.has_failed);
	assert_null(fsl_document_finish(&document, root));
	cJSON_InitHooks(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_float_is_the_shortest_text_that_reads_back),
		cmocka_unit_test(numbers_are_rounded_and_unknown_ones_null),
		cmocka_unit_test(numbers_are_rounded_as_printf_rounds_them),
		cmocka_unit_test(text_of_numbers_is_what_printf_makes_of_their_digits),
		cmocka_unit_test(text_reads_as_the_document_it_came_from),
		cmocka_unit_test(integers_keep_all_their_digits),
		cmocka_unit_test(times_are_utc_or_null),
		cmocka_unit_test(texts_are_escaped_and_broken_utf8_replaced),
		cmocka_unit_test(indented_text_is_laid_out_as_python_does),
		cmocka_unit_test(a_failed_allocation_fails_the_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Shapes of JSON records: learning, matching, and records left to the tokenizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "source/systrace/json_shape.h"

static const char *const keys[] = {"Id", "Name"};
static struct fsl_json_shape shape;

static bool learn(const char *text)
{
	return fsl_json_shape_learn(&shape, text, strlen(text), keys, 2);
}

#define SPARE "                " /* what follows in memory */

/* Length of the object that @text begins with, and its values as "Id|Name". */
static size_t match(const char *text, char *values)
{
	char memory[2048];
	struct fsl_json_span spans[2];
	(void)snprintf(memory, sizeof(memory), "%s%s", text, SPARE);
	size_t length = fsl_json_shape_match(&shape, memory, strlen(memory), spans);
	if (length > 0) {
		(void)sprintf(values, "%.*s|%.*s", (int)spans[0].length, spans[0].text,
			      (int)spans[1].length, spans[1].text);
	}
	return length;
}

static void check(const char *text, const char *wanted)
{
	char values[64] = "";
	assert_int_equal(match(text, values), strlen(wanted) > 0 ? strlen(text) : 0);
	assert_string_equal(values, wanted);
}

static void records_of_the_shape_give_their_values(void **state)
{
	(void)state;
	assert_true(learn("{\"Id\":1,\"Name\": \"a\",\n\"p\":{\"x\":[true,-2.5e3,\"\"]}}"));
	assert_int_equal(shape.n_newlines, 1);
	check("{\"Id\":1,\"Name\": \"a\",\n\"p\":{\"x\":[true,2,\"\"]}}", "1|a");
	check("{\"Id\":12345678901234567890123,\"Name\": \"\",\n\"p\":{\"x\":[true,-2,\"b\"]}}",
	      "12345678901234567890123|");
	check("{\"Id\":-0,\"Name\": \"a name of more than sixteen\",\n\"p\":{\"x\":[true,0,\"\"]}}",
	      "-0|a name of more than sixteen");
}

static void all_other_records_do_not_match(void **state)
{
	(void)state;
	char values[64];
	assert_true(learn("{\"Id\":1,\"Name\":\"a\",\"b\":false}"));
	check("{\"Id\":2,\"Name\":\"c\",\"b\":false}", "2|c");
	static const char *const others[] = {
		"{\"Id\":01,\"Name\":\"a\",\"b\":false}",
		"{\"Id\":,\"Name\":\"a\",\"b\":false}",
		"{\"Id\":1.5,\"Name\":\"a\",\"b\":false}",
		"{\"Id\":1e5,\"Name\":\"a\",\"b\":false}",
		"{\"Id\":-,\"Name\":\"a\",\"b\":false}",
		"{\"Id\":-01,\"Name\":\"a\",\"b\":false}",
		"{\"Id\":\"1\",\"Name\":\"a\",\"b\":false}",
		"{\"Id\":1,\"Name\":a,\"b\":false}",
		"{\"Id\":1,\"Name\":\"\\n\",\"b\":false}",
		"{\"Id\":1,\"Name\":\"\x01\",\"b\":false}",
		"{\"Id\":1,\"Name\":\"\xc3\xa9\",\"b\":false}",
		"{\"Id\":1,\"Name\":\"a\",\"b\":true}",
		"{\"Id\":1,\"Name\":\"a\",\"b\":false,\"c\":1}",
		"{\"Id\":1,\"Name\":\"a\",\"b\":false ",
		"{\"Id\": 1,\"Name\":\"a\",\"b\":false}",
		"{\"Name\":\"a\",\"Id\":1,\"b\":false}",
		"{\"Id\":1,\"Name\":\"a\"}",
		"[\"Id\":1,\"Name\":\"a\",\"b\":false}",
	};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (match(others[i], values) != 0) {
			fail_msg("%s matches", others[i]);
		}
	}
}

static void a_record_that_is_not_in_memory_does_not_match(void **state)
{
	(void)state;
	static const char text[] = "{\"Id\":123456789,\"Name\":\"name\",\"b\":0,\"c\":1}" SPARE;
	struct fsl_json_span spans[2];
	assert_true(learn("{\"Id\":1,\"Name\":\"a\",\"b\":0,\"c\":1}"));
	size_t n_text = strlen(text), n_object = n_text - strlen(SPARE);
	for (size_t n = 0; n < n_object; n++) {
		assert_int_equal(fsl_json_shape_match(&shape, text, n, spans), 0);
	}
	assert_int_equal(fsl_json_shape_match(&shape, text, n_text, spans), n_object);
}

static void records_without_a_key_or_with_two_are_not_learnt(void **state)
{
	(void)state;
	char values[64];
	static const char *const texts[] = {
		"{\"Id\":1}",
		"{\"Id\":1,\"Name\":null}",
		"{\"Id\":1,\"Name\":{\"a\":\"b\"}}",
		"{\"Id\":1,\"Name\":[\"b\"]}",
		"{\"Id\":1,\"p\":{\"Name\":\"b\"}}",
		"{\"Id\":1,\"Name\":\"a\",\"Id\":2}",
		"{\"Id\":1,\"N\\u0061me\":\"a\"}",
		"{\"Id\":1,\"Name\":\"a\\n\"}",
		"{\"Id\":1,\"Name\":\"a\",\"b\":[[[[1]]]]}",
		"",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (learn(texts[i])) {
			fail_msg("%s is learnt", texts[i]);
		}
		assert_int_equal(match(texts[i], values), 0);
	}
}

static void records_over_a_limit_are_not_learnt(void **state)
{
	(void)state;
	char text[2 * FSL_JSON_SHAPE_BYTES_MAX] = "{\"Id\":1,\"Name\":\"a\",\"b\":[0";
	for (int i = 3; i < FSL_JSON_SHAPE_SLOTS_MAX; i++) {
		(void)strcat(text, ",0");
	}
	(void)strcat(text, "]}");
	assert_true(learn(text));
	(void)strcpy(text + strlen(text) - 2, ",0]}");
	assert_false(learn(text));
	(void)memset(text, ' ', sizeof(text));
	memcpy(text, "{\"Id\":1,\"Name\":\"a\"", 18);
	(void)strcpy(text + FSL_JSON_SHAPE_BYTES_MAX + 1, "}"); /* two bytes are values */
	assert_true(learn(text));
	(void)strcpy(text + FSL_JSON_SHAPE_BYTES_MAX + 1, " }");
	assert_false(learn(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_the_shape_give_their_values),
		cmocka_unit_test(all_other_records_do_not_match),
		cmocka_unit_test(a_record_that_is_not_in_memory_does_not_match),
		cmocka_unit_test(records_without_a_key_or_with_two_are_not_learnt),
		cmocka_unit_test(records_over_a_limit_are_not_learnt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

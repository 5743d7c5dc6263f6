/* Claims about one integer of a small document: scanning gives the same as the document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "text/small_json.h"

static char path[64];

static void write_text(const char *text)
{
	int fd = 0;
	(void)strcpy(path, "/tmp/fsl_small_json_XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Looks up "a"."b" in the document; false: nothing. */
static bool look_up(int64_t *out)
{
	char fault[FSL_SMALL_JSON_FAULT_BYTES] = "";
	cJSON *root = NULL;
	assert_int_equal(fsl_small_json_read(path, &root, fault, NULL), FSL_OK);
	const cJSON *holder = cJSON_GetObjectItemCaseSensitive(root, "a");
	bool is_told = fsl_small_json_i64(cJSON_GetObjectItemCaseSensitive(holder, "b"), out);
	cJSON_Delete(root);
	return is_told;
}

static void the_number_is_found_wherever_it_stands(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is_told;
		int64_t value;
	} cases[] = {
		{"{\"a\": {\"b\": 3}}", true, 3},
		{"{\"a\": {\"x\": [1, {\"b\": 4}], \"b\": -5, \"c\": {}}, \"d\": [[1], 2]}", true,
		 -5},
		{" {\"\": 1, \"z\": {\"b\": 1}, \"a\": {\"\": {}, \"b\": 7, \"\": 2}, \"\": 3}\n",
		 true, 7},
		{"{\"a\": {\"b\": 1, \"b\": 2}, \"a\": {\"b\": 3}}", true, 1},
		{"{\"\\u0061\": {\"b\": 9007199254740992}}", true, INT64_C(9007199254740992)},
		{"{\"a\": {}}", false, 0},
		{"{\"b\": 1, \"x\": {\"a\": {\"b\": 1}}}", false, 0},
		{"{}", false, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = 0, expected = 0;
		bool is_told = false;
		write_text(cases[i].text);
		assert_true(fsl_small_json_scan(path, "a", "b", &value, &is_told));
		assert_int_equal(is_told, cases[i].is_told);
		assert_int_equal(look_up(&expected), is_told);
		assert_true(!is_told || (value == cases[i].value && value == expected));
		(void)unlink(path);
	}
}

static void what_is_unusual_is_left_to_the_document(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"[]",
		"{",
		"{\"a\": {\"b\": 3}",
		"{\"a\": {\"b\": 3}} x",
		"{\"a\": {\"b\": 3}} {}",
		"{\"a\": {\"b\": 3, \"c\": tru}}",
		"{\"a\": {\"b\": 3}, \"c\": [1,]}",
		"{\"a\": {\"b\": 3.0}}",
		"{\"a\": {\"b\": 9007199254740993}}",
		"{\"a\": {\"b\": -9223372036854775808}}",
		"{\"a\": {\"b\": \"3\"}}",
		"{\"a\": {\"b\": null}}",
		"{\"a\": {\"b\": {\"b\": 3}}}",
		"{\"a\": [{\"b\": 3}]}",
		"{\"a\": 3}",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int64_t value = 0;
		bool is_told = false;
		write_text(texts[i]);
		assert_false(fsl_small_json_scan(path, "a", "b", &value, &is_told));
		(void)unlink(path);
	}
	int64_t value = 0;
	bool is_told = false;
	assert_false(fsl_small_json_scan("/nonexistent/x", "a", "b", &value, &is_told));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_is_found_wherever_it_stands),
		cmocka_unit_test(what_is_unusual_is_left_to_the_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

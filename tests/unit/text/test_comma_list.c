/* Lists in one text: items are found whole, and joining gives them back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/comma_list.h"

static void items_come_in_order_and_end(void **state)
{
	(void)state;
	const char *rest = "a,bb,ccc";
	struct fsl_comma_item item;
	for (size_t n = 1; n <= 3; n++) {
		assert_true(fsl_comma_next(&rest, &item));
		assert_int_equal(item.length, n);
		assert_int_equal(item.text[0], 'a' + (int)n - 1);
	}
	assert_false(fsl_comma_next(&rest, &item));
	rest = "";
	assert_false(fsl_comma_next(&rest, &item));
}

static void an_item_is_found_whole_only(void **state)
{
	(void)state;
	assert_true(fsl_comma_has("10.1.0.1,10.1.0.2", "10.1.0.2", 8));
	assert_true(fsl_comma_has("10.1.0.1,10.1.0.2", "10.1.0.1", 8));
	assert_false(fsl_comma_has("10.1.0.11,10.1.0.2", "10.1.0.1", 8));
	assert_false(fsl_comma_has("10.1.0.1", "10.1.0.11", 9));
	assert_false(fsl_comma_has("", "10.1.0.1", 8));
}

static void joined_texts_are_counted_and_found(void **state)
{
	(void)state;
	struct fsl_arena arena = {0};
	const char *const texts[] = {"x", "yy", "zzz"};
	for (size_t n = 0; n <= 3; n++) {
		char *list = fsl_comma_join(&arena, texts, n);
		assert_non_null(list);
		assert_int_equal(fsl_comma_count(list), n);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(fsl_comma_has(list, texts[i], strlen(texts[i])), i < n);
		}
	}
	fsl_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_in_order_and_end),
		cmocka_unit_test(an_item_is_found_whole_only),
		cmocka_unit_test(joined_texts_are_counted_and_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

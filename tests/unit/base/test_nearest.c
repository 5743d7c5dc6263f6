/* Suggestions for mistyped names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/nearest.h"

static const char *const names[] = {"k_sigma", "window_size", "eps", "window_count"};
enum { N_NAMES = sizeof(names) / sizeof(names[0]) };

static const char *nearest(const char *text)
{
	return fsl_nearest_name(text, strlen(text), names, N_NAMES);
}

static void a_third_of_the_letters_may_be_wrong(void **state)
{
	(void)state;
	assert_string_equal(nearest("k_sigm"), "k_sigma");
	assert_string_equal(nearest("windowsize"), "window_size");
	assert_string_equal(nearest("epz"), "eps");
	assert_null(nearest("xyz"));
	assert_null(nearest("threshold"));
}

static void swapped_neighbours_are_one_edit(void **state)
{
	(void)state;
	assert_string_equal(nearest("esp"), "eps");
	assert_string_equal(nearest("k_sgima"), "k_sigma");
}

static void a_name_that_begins_with_the_text_wins_and_the_first_of_equals(void **state)
{
	(void)state;
	assert_string_equal(nearest("k"), "k_sigma");
	assert_string_equal(nearest("window"), "window_size");
	assert_string_equal(nearest("window_c"), "window_count");
}

static void only_the_given_length_of_the_text_is_read(void **state)
{
	(void)state;
	assert_string_equal(fsl_nearest_name("epz=0.5", 3, names, N_NAMES), "eps");
}

static void empty_and_endless_texts_get_no_suggestion(void **state)
{
	(void)state;
	char endless[300];
	memset(endless, 'x', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	const char *const long_names[] = {endless};
	assert_null(nearest(""));
	assert_null(nearest(endless));
	assert_null(fsl_nearest_name(endless, 95, NULL, 0));
	assert_null(fsl_nearest_name("x", 1, long_names, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_third_of_the_letters_may_be_wrong),
		cmocka_unit_test(swapped_neighbours_are_one_edit),
		cmocka_unit_test(a_name_that_begins_with_the_text_wins_and_the_first_of_equals),
		cmocka_unit_test(only_the_given_length_of_the_text_is_read),
		cmocka_unit_test(empty_and_endless_texts_get_no_suggestion),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Names of communication groups in the profiler's files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "capture/cluster.h"

/* Pairs of id and number that stand side by side in real captures. */
static void test_hash_is_the_number_that_stands_in_captures(void **state)
{
	(void)state;
	char text[24];
	fsl_profile_group_hash("group_name_5", text);
	assert_string_equal(text, "5862276114690318097");
	fsl_profile_group_hash("90.91.105.46%enp189s0f0_60000_0_1736410538306028", text);
	assert_string_equal(text, "17148521525495523210");
}

static void test_hash_of_an_odd_id_is_a_number_too(void **state)
{
	(void)state;
	char text[24];
	fsl_profile_group_hash("", text);
	assert_string_equal(text, "0");
	/* Bytes of UTF-8 count as unsigned. */
	fsl_profile_group_hash("\xff", text);
	assert_string_equal(text, "1095216660735");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_is_the_number_that_stands_in_captures),
		cmocka_unit_test(test_hash_of_an_odd_id_is_a_number_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

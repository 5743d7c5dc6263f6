/* Claims about the identity of a build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/build_id.h"

static void a_program_has_one_that_is_not_all_zero(void **state)
{
	(void)state;
	static const unsigned char none[64] = {0};
	size_t n = 0;
	const void *id = fsl_build_id(&n);
	assert_non_null(id);
	assert_in_range(n, 8, sizeof(none));
	assert_memory_not_equal(id, none, n);
}

static void it_stays_the_same(void **state)
{
	(void)state;
	size_t n = 0, n_again = 0;
	const void *id = fsl_build_id(&n), *again = fsl_build_id(&n_again);
	assert_ptr_equal(id, again);
	assert_int_equal(n, n_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_has_one_that_is_not_all_zero),
		cmocka_unit_test(it_stays_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

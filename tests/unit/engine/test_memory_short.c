/* When a run warns that memory is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "engine/memory_short.h"

/* Gives the warning on stderr for @n_bytes of input and @n_left of memory. */
static void hear(char *text, size_t size, uint64_t n_bytes, uint64_t n_left)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	(void)fflush(stderr);
	int kept_fd = dup(STDERR_FILENO);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	fsl_memory_warn(n_bytes, n_left);
	(void)fflush(stderr);
	assert_true(dup2(kept_fd, STDERR_FILENO) >= 0);
	(void)close(kept_fd);
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	(void)fclose(file);
}

static void a_capture_that_does_not_fit_is_told_with_both_sizes_and_a_remedy(void **state)
{
	char text[1024];
	(void)state;
	hear(text, sizeof(text), UINT64_C(200000000000), UINT64_C(8000000000));
	assert_non_null(strstr(text, "warning: detect: memory is short"));
	assert_non_null(strstr(text, "needed=\"40.00 GB or more\""));
	assert_non_null(strstr(text, "available=\"8.00 GB\""));
	assert_non_null(strstr(text, "remedy="));
}

static void nothing_is_said_where_it_fits_or_where_nobody_knows(void **state)
{
	char text[1024];
	(void)state;
	hear(text, sizeof(text), UINT64_C(40000000000), UINT64_C(8000000000));
	assert_string_equal(text, "");
	hear(text, sizeof(text), UINT64_MAX, UINT64_MAX);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_capture_that_does_not_fit_is_told_with_both_sizes_and_a_remedy),
		cmocka_unit_test(nothing_is_said_where_it_fits_or_where_nobody_knows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

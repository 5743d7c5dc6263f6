/* The chain of causes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <failslow/error.h>

static void add_returns_its_status_and_keeps_the_order(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	assert_int_equal(FSL_FAIL(&err, FSL_ERR_FORMAT, "root: n=%d", 1), FSL_ERR_FORMAT);
	assert_int_equal(FSL_CAUSE(&err, FSL_ERR_INPUT, "top: path=\"%s\"", "a"), FSL_ERR_INPUT);
	assert_int_equal(err.status, FSL_ERR_INPUT);
	assert_int_equal(err.n_causes, 2);
	assert_string_equal(fsl_error_root(&err), "root: n=1");
	assert_string_equal(err.causes[1].message, "top: path=\"a\"");
	assert_non_null(strstr(err.causes[0].file, "test_error.c"));
	assert_true(err.causes[0].line > 0);
}

static void add_without_an_object_only_returns_the_status(void **state)
{
	(void)state;
	assert_int_equal(FSL_FAIL(NULL, FSL_ERR_IO, "unseen"), FSL_ERR_IO);
	fsl_error_clear(NULL);
	assert_string_equal(fsl_error_root(NULL), "");
}

static void a_full_chain_keeps_the_root_and_the_newest(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	for (int i = 0; i < 100; i++) {
		(void)FSL_FAIL(&err, FSL_ERR_IO, "cause %d", i);
	}
	assert_int_equal(err.n_causes, FSL_CAUSES_MAX);
	assert_string_equal(fsl_error_root(&err), "cause 0");
	assert_string_equal(err.causes[FSL_CAUSES_MAX - 1].message, "cause 99");
}

static void a_long_message_is_cut_and_terminated(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	char text[2 * FSL_CAUSE_MESSAGE_MAX];
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	(void)FSL_FAIL(&err, FSL_ERR_IO, "%s", text);
	assert_int_equal(strlen(err.causes[0].message), FSL_CAUSE_MESSAGE_MAX - 1);
}

static void clear_makes_the_object_new(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	(void)FSL_FAIL(&err, FSL_ERR_IO, "old");
	fsl_error_clear(&err);
	assert_int_equal(err.status, FSL_OK);
	assert_string_equal(fsl_error_root(&err), "");
	(void)FSL_FAIL(&err, FSL_ERR_LIMIT, "new");
	assert_string_equal(fsl_error_root(&err), "new");
}

static void every_status_has_its_own_text(void **state)
{
	(void)state;
	for (int a = FSL_ERR_INTERNAL; a <= FSL_OK; a++) {
		assert_string_not_equal(fsl_status_text((enum fsl_status)a), "unknown status");
		for (int b = FSL_ERR_INTERNAL; b < a; b++) {
			assert_string_not_equal(fsl_status_text((enum fsl_status)a),
						fsl_status_text((enum fsl_status)b));
		}
	}
	assert_string_equal(fsl_status_text((enum fsl_status)77), "unknown status");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_returns_its_status_and_keeps_the_order),
		cmocka_unit_test(add_without_an_object_only_returns_the_status),
		cmocka_unit_test(a_full_chain_keeps_the_root_and_the_newest),
		cmocka_unit_test(a_long_message_is_cut_and_terminated),
		cmocka_unit_test(clear_makes_the_object_new),
		cmocka_unit_test(every_status_has_its_own_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Texts that were met before: what was made of them is found again, in bounded memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "source/kineto/seen.h"

static struct fsl_kineto_seen_name *find(struct fsl_kineto_seen *seen, const char *text)
{
	struct fsl_kineto_seen_name *name = NULL;
	const struct fsl_trace_text key = {text, strlen(text)};
	assert_int_equal(fsl_kineto_seen_find(seen, &key, &name, NULL), FSL_OK);
	return name;
}

static void what_was_made_of_a_text_is_found_again(void **state)
{
	struct fsl_kineto_seen seen = {0};
	(void)state;
	assert_int_equal(find(&seen, "gemm")->id, FSL_STR_NONE);
	find(&seen, "gemm")->id = 7;
	assert_int_equal(find(&seen, "gemm<float>")->id, FSL_STR_NONE);
	find(&seen, "gemm<float>")->id = 8;
	find(&seen, "gemm<float>")->is_collective = true;
	assert_int_equal(find(&seen, "gemm")->id, 7);
	assert_false(find(&seen, "gemm")->is_collective);
	assert_int_equal(find(&seen, "gemm<float>")->id, 8);
	assert_true(find(&seen, "gemm<float>")->is_collective);
	fsl_kineto_seen_fini(&seen);
}

/* Names with addresses are as many as a file wants. */
static void more_texts_than_there_is_room_for_are_made_each_time(void **state)
{
	struct fsl_kineto_seen seen = {0};
	(void)state;
	for (uint32_t i = 0; i < 70000; i++) {
		char text[32];
		(void)snprintf(text, sizeof(text), "object at %u", (unsigned)i);
		assert_int_equal(find(&seen, text)->id, FSL_STR_NONE);
		find(&seen, text)->id = i;
	}
	assert_true(seen.n_names < 70000);
	assert_int_equal(find(&seen, "object at 12")->id, 12);
	assert_int_equal(find(&seen, "object at 65000")->id, 65000);
	assert_int_equal(find(&seen, "object at 69999")->id, FSL_STR_NONE);
	fsl_kineto_seen_fini(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_made_of_a_text_is_found_again),
		cmocka_unit_test(more_texts_than_there_is_room_for_are_made_each_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

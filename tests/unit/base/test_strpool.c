/* Interned names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/strpool.h"

static void equal_text_has_equal_id_in_order_of_first_use(void **state)
{
	(void)state;
	struct fsl_strpool *pool = fsl_strpool_create();
	uint32_t id = 99;
	assert_non_null(pool);
	assert_int_equal(fsl_strpool_intern(pool, "allreduce", 9, &id, NULL), FSL_OK);
	assert_int_equal(id, 0);
	assert_int_equal(fsl_strpool_intern(pool, "allgather", 9, &id, NULL), FSL_OK);
	assert_int_equal(id, 1);
	assert_int_equal(fsl_strpool_intern(pool, "allreduce!", 9, &id, NULL), FSL_OK);
	assert_int_equal(id, 0);
	assert_int_equal(fsl_strpool_size(pool), 2);
	assert_string_equal(fsl_strpool_text(pool, 1), "allgather");
	fsl_strpool_destroy(pool);
}

static void bytes_count_not_terminators(void **state)
{
	(void)state;
	struct fsl_strpool *pool = fsl_strpool_create();
	uint32_t with_nul = 0, without = 0, empty = 0;
	assert_int_equal(fsl_strpool_intern(pool, "a\0b", 3, &with_nul, NULL), FSL_OK);
	assert_int_equal(fsl_strpool_intern(pool, "a", 1, &without, NULL), FSL_OK);
	assert_int_equal(fsl_strpool_intern(pool, "", 0, &empty, NULL), FSL_OK);
	assert_int_not_equal(with_nul, without);
	assert_int_not_equal(empty, without);
	assert_int_equal(fsl_strpool_find(pool, "a\0b", 3), with_nul);
	assert_int_equal(fsl_strpool_find(pool, "", 0), empty);
	fsl_strpool_destroy(pool);
}

static void unknown_text_and_id_are_answers_not_errors(void **state)
{
	(void)state;
	struct fsl_strpool *pool = fsl_strpool_create();
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_find(pool, "x", 1), FSL_STR_NONE);
	assert_int_equal(fsl_strpool_intern(pool, "y", 1, &id, NULL), FSL_OK);
	assert_int_equal(fsl_strpool_find(pool, "x", 1), FSL_STR_NONE);
	assert_string_equal(fsl_strpool_text(pool, FSL_STR_NONE), "");
	assert_string_equal(fsl_strpool_text(pool, 1), "");
	fsl_strpool_destroy(pool);
	fsl_strpool_destroy(NULL);
}

static void many_names_stay_found_and_texts_do_not_move(void **state)
{
	(void)state;
	struct fsl_strpool *pool = fsl_strpool_create();
	char text[32];
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(pool, "name_0", 6, &id, NULL), FSL_OK);
	const char *first = fsl_strpool_text(pool, 0);
	for (uint32_t i = 0; i < 50000; i++) {
		int n = snprintf(text, sizeof(text), "name_%u", i);
		assert_int_equal(fsl_strpool_intern(pool, text, (size_t)n, &id, NULL), FSL_OK);
		assert_int_equal(id, i);
	}
	for (uint32_t i = 0; i < 50000; i++) {
		int n = snprintf(text, sizeof(text), "name_%u", i);
		assert_int_equal(fsl_strpool_find(pool, text, (size_t)n), i);
		assert_string_equal(fsl_strpool_text(pool, i), text);
	}
	assert_ptr_equal(fsl_strpool_text(pool, 0), first);
	fsl_strpool_destroy(pool);
}

static void a_failed_allocation_leaves_the_pool_as_it_was(void **state)
{
	(void)state;
	for (uint64_t nth = 1; nth < 400; nth++) {
		struct fsl_error err = {0};
		enum fsl_status status = FSL_OK;
		uint32_t n_good = 0;
		fsl_mem_fail_at(nth);
		struct fsl_strpool *pool = fsl_strpool_create();
		for (uint32_t i = 0; pool != NULL && status == FSL_OK && i < 300; i++) {
			char text[600]; /* long texts, so that the arena needs blocks */
			uint32_t id = 0;
			memset(text, 'n', sizeof(text));
			memcpy(text, &i, sizeof(i));
			status = fsl_strpool_intern(pool, text, sizeof(text), &id, &err);
			n_good += status == FSL_OK;
		}
		fsl_mem_fail_at(0);
		if (pool != NULL) {
			assert_int_equal(fsl_strpool_size(pool), n_good);
			assert_true(n_good == 300 || status == FSL_ERR_MEMORY);
			uint32_t id = 0;
			assert_int_equal(fsl_strpool_intern(pool, "x", 1, &id, &err), FSL_OK);
			assert_int_equal(id, n_good);
		}
		fsl_strpool_destroy(pool);
		if (n_good == 300) {
			assert_true(nth > 5);
			return;
		}
	}
	fail();
}

/* Names of 16 bytes that meet in one slot for every hash that multiplies by this known factor. */
static void make_meeting_name(char *name, uint64_t number, uint64_t target)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t hash = (16 * factor ^ number) * factor;
	uint64_t second = hash ^ hash >> 32 ^ target;
	memcpy(name, &number, 8);
	memcpy(name + 8, &second, 8);
}

static void names_that_were_made_to_meet_do_not(void **state)
{
	(void)state;
	for (uint64_t target = 1; target < 1000; target += 500) {
		struct fsl_strpool *pool = fsl_strpool_create();
		assert_non_null(pool);
		for (uint64_t number = 1; number <= 20000; number++) {
			char name[16];
			uint32_t id = 0;
			make_meeting_name(name, number * UINT64_C(2654435761), target);
			assert_int_equal(fsl_strpool_intern(pool, name, 16, &id, NULL), FSL_OK);
			assert_int_equal(id, number - 1);
		}
		assert_true(fsl_strpool_longest_search(pool) < 200);
		fsl_strpool_destroy(pool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_text_has_equal_id_in_order_of_first_use),
		cmocka_unit_test(bytes_count_not_terminators),
		cmocka_unit_test(unknown_text_and_id_are_answers_not_errors),
		cmocka_unit_test(many_names_stay_found_and_texts_do_not_move),
		cmocka_unit_test(names_that_were_made_to_meet_do_not),
		cmocka_unit_test(a_failed_allocation_leaves_the_pool_as_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a thread keeps of what it frees. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/pocket.h"

enum { MIB = 1 << 20 };

/* Pockets stay shut under a sanitizer: nothing to see there. */
static void open_or_skip(void)
{
	if (!fsl_pocket_open()) {
		skip();
	}
}

static int close_pocket(void **state)
{
	(void)state;
	fsl_pocket_close();
	return 0;
}

static void *from_heap(size_t n_bytes)
{
	void *memory = malloc(n_bytes);
	assert_non_null(memory);
	return memory;
}

static void what_was_freed_is_taken_again_until_the_pocket_is_shut(void **state)
{
	(void)state;
	open_or_skip();
	void *memory = from_heap(100000);
	assert_true(fsl_pocket_keep(memory));
	assert_null(fsl_pocket_find(200000));
	assert_null(fsl_pocket_find(20000)); /* too small a part of it */
	assert_ptr_equal(fsl_pocket_find(90000), memory);
	assert_null(fsl_pocket_find(90000));
	assert_true(fsl_pocket_keep(memory));
	fsl_pocket_close();
	assert_false(fsl_pocket_is_for(90000));
	assert_null(fsl_pocket_find(90000));
}

static void a_shut_pocket_keeps_nothing(void **state)
{
	(void)state;
	void *memory = from_heap(100000);
	assert_false(fsl_pocket_keep(memory));
	assert_int_equal(fsl_pocket_ask_bytes(100001), 100001);
	free(memory);
}

/* Every size around those where the classes begin. */
static void a_block_is_at_least_as_large_as_is_wanted(void **state)
{
	(void)state;
	open_or_skip();
	for (size_t step = 128; step <= 2 * MIB; step *= 2) {
		for (size_t wanted = 4 * step - 1; wanted <= 8 * step + 1; wanted += step / 2 - 1) {
			size_t rounded = fsl_pocket_ask_bytes(wanted);
			assert_true(rounded >= wanted);
			assert_true(!fsl_pocket_is_for(wanted) || rounded <= wanted + wanted / 4);
			assert_int_equal(fsl_pocket_ask_bytes(rounded), rounded);
		}
	}
	void *memory = from_heap(5000); /* in the class of 4096 bytes and more */
	assert_true(fsl_pocket_keep(memory));
	assert_null(fsl_pocket_find(5001));
	assert_ptr_equal(fsl_pocket_find(4096), memory);
	free(memory);
}

static void too_small_and_too_large_blocks_go_to_the_heap(void **state)
{
	(void)state;
	open_or_skip();
	void *small = from_heap(100), *large = from_heap(8 * MIB);
	assert_false(fsl_pocket_is_for(100));
	assert_false(fsl_pocket_keep(small));
	assert_false(fsl_pocket_is_for(8 * MIB));
	assert_false(fsl_pocket_keep(large));
	assert_false(fsl_pocket_keep(NULL));
	free(small);
	free(large);
}

/* What nobody wants would keep its place for good otherwise. */
static void a_full_pocket_begins_anew(void **state)
{
	(void)state;
	enum { N = 4 };
	open_or_skip();
	void *blocks[N];
	for (size_t i = 0; i < N; i++) {
		blocks[i] = from_heap(5 * MIB);
	}
	for (size_t i = 0; i < N; i++) {
		assert_true(fsl_pocket_keep(blocks[i])); /* three of them fill 16 MiB */
	}
	assert_ptr_equal(fsl_pocket_find(5 * MIB - 100), blocks[N - 1]);
	assert_null(fsl_pocket_find(5 * MIB - 100));
	free(blocks[N - 1]);
}

static void what_is_asked_for_is_kept_up_to_the_largest(void **state)
{
	(void)state;
	open_or_skip();
	for (size_t wanted = 512; fsl_pocket_is_for(wanted); wanted += wanted / 9) {
		void *memory = from_heap(fsl_pocket_ask_bytes(wanted));
		assert_true(fsl_pocket_keep(memory));
		assert_ptr_equal(fsl_pocket_find(wanted), memory);
		free(memory);
	}
}

/* A callback of a library that grows its buffer does not know how long that was. */
static void an_array_of_unknown_length_keeps_all_that_it_has(void **state)
{
	(void)state;
	open_or_skip();
	size_t capacity = 0;
	char *array = fsl_calloc(1, 3000);
	assert_non_null(array);
	memset(array, 'x', 3000);
	assert_int_equal(FSL_GROW(array, capacity, 6000, NULL), FSL_OK);
	for (size_t i = 0; i < 3000; i++) {
		assert_int_equal(array[i], 'x');
	}
	fsl_free(array);
}

static void memory_from_the_pocket_is_zeroed_where_that_is_promised(void **state)
{
	(void)state;
	open_or_skip();
	unsigned char *memory = fsl_calloc(1, 3000);
	assert_non_null(memory);
	memset(memory, 0xa5, 3000);
	fsl_free(memory);
	unsigned char *again = fsl_calloc(1, 2900);
	assert_ptr_equal(again, memory);
	for (size_t i = 0; i < 2900; i++) {
		assert_int_equal(again[i], 0);
	}
	fsl_free(again);
}

static void an_array_that_grows_keeps_its_content(void **state)
{
	(void)state;
	open_or_skip();
	uint32_t *array = NULL, *other = NULL;
	size_t capacity = 0, other_capacity = 0;
	for (uint32_t i = 0; i < 3 * MIB; i++) { /* from below the least to beyond the most */
		assert_int_equal(FSL_GROW(array, capacity, i + (size_t)1, NULL), FSL_OK);
		array[i] = i;
		if (i % 1000 == 0) {
			assert_int_equal(FSL_GROW(other, other_capacity, i + (size_t)1, NULL),
					 FSL_OK);
			memset(other, 0xff, other_capacity * sizeof(*other));
		}
	}
	for (uint32_t i = 0; i < 3 * MIB; i++) {
		assert_int_equal(array[i], i);
	}
	FSL_FIT(array, capacity, 0);
	fsl_free(other);
}

/* The blocks that are in use, each full of bytes of its own, while others come and go. */
static void blocks_do_not_overlap(void **state)
{
	(void)state;
	enum { N = 64, ROUNDS = 20000 };
	open_or_skip();
	unsigned char *blocks[N] = {NULL};
	size_t sizes[N] = {0};
	uint64_t random = 1;
	for (size_t round = 0; round < ROUNDS; round++) {
		random = random * 6364136223846793005U + 1442695040888963407U;
		size_t i = (random >> 33) % N;
		if (blocks[i] != NULL) {
			assert_int_equal(blocks[i][0], i);
			assert_memory_equal(blocks[i], blocks[i] + 1, sizes[i] - 1);
			fsl_free(blocks[i]);
		}
		sizes[i] = 2 + (random >> 40) % ((size_t)1 << (2 + random % 15));
		blocks[i] = fsl_calloc(1, sizes[i]);
		assert_non_null(blocks[i]);
		memset(blocks[i], (int)i, sizes[i]);
	}
	for (size_t i = 0; i < N; i++) {
		fsl_free(blocks[i]);
	}
}

static void *free_there(void *memory)
{
	bool is_open = fsl_pocket_open();
	fsl_free(memory);
	void *again = fsl_calloc(1, 10000);
	fsl_pocket_close();
	return is_open && again == memory ? again : NULL;
}

static void another_thread_frees_into_its_own_pocket(void **state)
{
	(void)state;
	open_or_skip();
	void *memory = fsl_calloc(1, 10000), *there = NULL;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, free_there, memory), 0);
	assert_int_equal(pthread_join(thread, &there), 0);
	assert_ptr_equal(there, memory); /* taken there and used here, after that pocket was shut */
	assert_null(fsl_pocket_find(10000));
	fsl_free(there);
	assert_ptr_equal(fsl_pocket_find(10000), memory);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_was_freed_is_taken_again_until_the_pocket_is_shut,
					  close_pocket),
		cmocka_unit_test(a_shut_pocket_keeps_nothing),
		cmocka_unit_test_teardown(a_block_is_at_least_as_large_as_is_wanted, close_pocket),
		cmocka_unit_test_teardown(too_small_and_too_large_blocks_go_to_the_heap,
					  close_pocket),
		cmocka_unit_test_teardown(a_full_pocket_begins_anew, close_pocket),
		cmocka_unit_test_teardown(what_is_asked_for_is_kept_up_to_the_largest,
					  close_pocket),
		cmocka_unit_test_teardown(an_array_of_unknown_length_keeps_all_that_it_has,
					  close_pocket),
		cmocka_unit_test_teardown(memory_from_the_pocket_is_zeroed_where_that_is_promised,
					  close_pocket),
		cmocka_unit_test_teardown(an_array_that_grows_keeps_its_content, close_pocket),
		cmocka_unit_test_teardown(blocks_do_not_overlap, close_pocket),
		cmocka_unit_test_teardown(another_thread_frees_into_its_own_pocket, close_pocket),
	};
	return cmocka_run_group_tests_name("pocket", tests, NULL, NULL);
}

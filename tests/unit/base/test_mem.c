/* Checked growth, the arena and the hook that makes allocations fail. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void calloc_zeroes_and_refuses_overflow(void **state)
{
	(void)state;
	unsigned char *memory = fsl_calloc(3, 5);
	assert_non_null(memory);
	for (size_t i = 0; i < 15; i++) {
		assert_int_equal(memory[i], 0);
	}
	fsl_free(memory);
	/* Hidden from the compiler, which would otherwise warn about the size. */
	volatile size_t huge = SIZE_MAX / 2;
	assert_null(fsl_calloc(huge, 3));
	void *nothing = fsl_calloc(0, 0);
	assert_non_null(nothing);
	fsl_free(nothing);
	fsl_free(NULL);
}

static void grow_keeps_content_and_doubles(void **state)
{
	(void)state;
	int *array = NULL;
	size_t capacity = 0;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(FSL_GROW(array, capacity, (size_t)i + 1, NULL), FSL_OK);
		array[i] = i;
	}
	assert_int_equal(capacity, 1024);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(array[i], i);
	}
	fsl_free(array);
}

/* The next block begins at the end of the array, not at the next power of two. */
static void an_array_without_room_gets_as_much_as_is_wanted(void **state)
{
	(void)state;
	int *array = NULL;
	size_t capacity = 0;
	assert_int_equal(FSL_GROW(array, capacity, 1001, NULL), FSL_OK);
	assert_int_equal(capacity, 1001);
	assert_int_equal(FSL_GROW(array, capacity, 1002, NULL), FSL_OK);
	assert_int_equal(capacity, 2002);
	fsl_free(array);
}

static void fit_keeps_content_and_gives_the_rest_back(void **state)
{
	(void)state;
	int *array = NULL;
	size_t capacity = 0;
	assert_int_equal(FSL_GROW(array, capacity, 1 << 20, NULL), FSL_OK);
	for (int i = 0; i < 100; i++) {
		array[i] = i;
	}
	FSL_FIT(array, capacity, 100);
	assert_int_equal(capacity, 100);
	assert_int_equal(array[99], 99);
	FSL_FIT(array, capacity, 100);
	assert_int_equal(capacity, 100);
	FSL_FIT(array, capacity, 0);
	assert_null(array);
	assert_int_equal(capacity, 0);
}

static void grow_that_overflows_leaves_the_array(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	int *array = NULL;
	size_t capacity = 0;
	assert_int_equal(FSL_GROW(array, capacity, 4, &err), FSL_OK);
	int *before = array;
	assert_int_equal(FSL_GROW(array, capacity, SIZE_MAX, &err), FSL_ERR_MEMORY);
	assert_int_equal(FSL_GROW(array, capacity, SIZE_MAX / 3, &err), FSL_ERR_MEMORY);
	assert_ptr_equal(array, before);
	assert_int_equal(capacity, 8);
	fsl_free(array);
}

static void fail_at_hits_the_nth_allocation_and_all_later_ones(void **state)
{
	(void)state;
	struct fsl_error err = {0};
	int *array = NULL;
	size_t capacity = 0;
	fsl_mem_fail_at(2);
	void *first = fsl_calloc(1, 1);
	assert_non_null(first);
	assert_null(fsl_calloc(1, 1));
	assert_null(fsl_calloc(1, 1));
	assert_int_equal(FSL_GROW(array, capacity, 1, &err), FSL_ERR_MEMORY);
	assert_null(array);
	fsl_mem_fail_at(0);
	fsl_free(first);
	first = fsl_calloc(1, 1);
	assert_non_null(first);
	fsl_free(first);
}

static void size_arithmetic_tells_overflow(void **state)
{
	(void)state;
	size_t out = 0;
	assert_true(fsl_mul_size(SIZE_MAX / 2, 2, &out));
	assert_int_equal(out, SIZE_MAX - 1);
	assert_false(fsl_mul_size(SIZE_MAX / 2 + 1, 2, &out));
	assert_true(fsl_add_size(SIZE_MAX - 1, 1, &out));
	assert_false(fsl_add_size(SIZE_MAX, 1, &out));
}

static void arena_memory_is_aligned_zeroed_and_apart(void **state)
{
	(void)state;
	struct fsl_arena arena = {0};
	unsigned char *parts[500];
	for (size_t i = 0; i < 500; i++) {
		size_t size = i * 7 + (i == 250 ? 300000 : 0);
		parts[i] = fsl_arena_alloc(&arena, size);
		assert_non_null(parts[i]);
		assert_int_equal((uintptr_t)parts[i] % 16, 0);
		for (size_t k = 0; k < size; k++) {
			assert_int_equal(parts[i][k], 0);
		}
		memset(parts[i], (int)(i % 251) + 1, size);
	}
	for (size_t i = 1; i < 500; i++) {
		assert_int_equal(parts[i][0], i % 251 + 1);
		assert_int_equal(parts[i][i * 7 - 1], i % 251 + 1);
	}
	assert_null(fsl_arena_alloc(&arena, SIZE_MAX));
	assert_null(fsl_arena_alloc(&arena, SIZE_MAX - 40));
	fsl_arena_fini(&arena);
	fsl_arena_fini(&arena);
}

static void arena_texts_are_terminated_copies(void **state)
{
	(void)state;
	struct fsl_arena arena = {0};
	assert_string_equal(fsl_arena_strndup(&arena, "abcdef", 3), "abc");
	assert_string_equal(fsl_arena_strndup(&arena, NULL, 0), "");
	assert_string_equal(fsl_arena_strdup(&arena, "name"), "name");
	assert_string_equal(fsl_arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
	const char *padded = fsl_arena_printf(&arena, "%300d|%s", 7, "x"); /* more than usual */
	assert_int_equal(strlen(padded), 302);
	assert_string_equal(padded + 299, "7|x");
	assert_int_equal(strlen(fsl_arena_printf(&arena, "%255d", 7)), 255);
	assert_int_equal(strlen(fsl_arena_printf(&arena, "%256d", 7)), 256);
	assert_null(fsl_arena_strndup(&arena, "x", SIZE_MAX));
	fsl_arena_fini(&arena);
}

static void arena_without_memory_returns_null_and_stays_usable(void **state)
{
	(void)state;
	struct fsl_arena arena = {0};
	fsl_mem_fail_at(1);
	assert_null(fsl_arena_alloc(&arena, 8));
	assert_null(fsl_arena_strdup(&arena, "x"));
	assert_null(fsl_arena_printf(&arena, "x"));
	fsl_mem_fail_at(0);
	assert_string_equal(fsl_arena_strdup(&arena, "x"), "x");
	fsl_arena_fini(&arena);
}

static void neighbours_take_turns_once_each_and_far_apart(void **state)
{
	enum { MOST = 40 };
	(void)state;
	for (size_t n = 1; n <= MOST; n++) {
		for (size_t n_threads = 1; n_threads <= n + 2; n_threads++) {
			bool is_taken[MOST] = {false};
			for (size_t k = 0; k < n; k++) {
				size_t turn = fsl_mem_turn(k, n, n_threads);
				assert_in_range(turn, 0, n - 1);
				assert_false(is_taken[turn]);
				is_taken[turn] = true;
				/* The next in the same stretch when all threads had their turn. */
				if (k >= n_threads && k < n / n_threads * n_threads) {
					assert_int_equal(turn,
							 fsl_mem_turn(k - n_threads, n, n_threads) +
								 1);
				}
			}
		}
	}
	assert_int_equal(fsl_mem_turn(0, 8, 2), 0);
	assert_int_equal(fsl_mem_turn(1, 8, 2), 4);
	assert_int_equal(fsl_mem_turn(1, 9, 2), 5);
	assert_int_equal(fsl_mem_turn(8, 9, 2), 4);
}

enum { BLOCKS = 64, BLOCK_BYTES = 100000 };

static pthread_barrier_t both_are_done; /* the heap of a thread that ended goes to the next */

/* The pages of 2 MB in which blocks of a new thread begin. */
static void *fill_blocks(void *pages)
{
	void *blocks[BLOCKS];
	fsl_mem_begin_thread();
	for (size_t i = 0; i < BLOCKS; i++) {
		blocks[i] = fsl_calloc(1, BLOCK_BYTES);
		((uintptr_t *)pages)[i] = (uintptr_t)blocks[i] >> 21;
	}
	(void)pthread_barrier_wait(&both_are_done);
	for (size_t i = 0; i < BLOCKS; i++) {
		fsl_free(blocks[i]);
	}
	return NULL;
}

static void threads_do_not_meet_in_a_large_page(void **state)
{
	(void)state;
#if !defined(__GLIBC__) || FSL_TEST_COST > 1
	skip(); /* another heap, as sanitizers have it */
#endif
	static uintptr_t pages[2][BLOCKS];
	pthread_t threads[2];
	fsl_mem_keep_freed();
	assert_int_equal(pthread_barrier_init(&both_are_done, NULL, 2), 0);
	for (size_t t = 0; t < 2; t++) {
		assert_int_equal(pthread_create(&threads[t], NULL, fill_blocks, pages[t]), 0);
	}
	for (size_t t = 0; t < 2; t++) {
		assert_int_equal(pthread_join(threads[t], NULL), 0);
	}
	(void)pthread_barrier_destroy(&both_are_done);
	for (size_t a = 0; a < BLOCKS; a++) {
		assert_true(pages[0][a] != 0 && pages[1][a] != 0);
		for (size_t b = 0; b < BLOCKS; b++) {
			assert_true(pages[0][a] != pages[1][b]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_take_turns_once_each_and_far_apart),
		cmocka_unit_test(calloc_zeroes_and_refuses_overflow),
		cmocka_unit_test(grow_keeps_content_and_doubles),
		cmocka_unit_test(an_array_without_room_gets_as_much_as_is_wanted),
		cmocka_unit_test(fit_keeps_content_and_gives_the_rest_back),
		cmocka_unit_test(grow_that_overflows_leaves_the_array),
		cmocka_unit_test(fail_at_hits_the_nth_allocation_and_all_later_ones),
		cmocka_unit_test(size_arithmetic_tells_overflow),
		cmocka_unit_test(arena_memory_is_aligned_zeroed_and_apart),
		cmocka_unit_test(arena_texts_are_terminated_copies),
		cmocka_unit_test(arena_without_memory_returns_null_and_stays_usable),
		cmocka_unit_test(threads_do_not_meet_in_a_large_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

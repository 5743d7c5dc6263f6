/* Claims about packed rows: the same rows as in an array that is sorted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/packed_rows.h"

static int compare_first(const void *left, const void *right)
{
	const struct fsl_packed_row *a = left, *b = right;
	return (a->cells[0] > b->cells[0]) - (a->cells[0] < b->cells[0]);
}

static void add(struct fsl_packed_rows *rows, int64_t key, int64_t second, int64_t third)
{
	const struct fsl_packed_row row = {.cells = {key, second, third}};
	assert_int_equal(fsl_packed_add(rows, &row, NULL), FSL_OK);
}

static void assert_row(struct fsl_packed_reader *reader, size_t i, int64_t key, int64_t second)
{
	const struct fsl_packed_row *row = fsl_packed_at(reader, i);
	assert_int_equal(row->cells[0], key);
	assert_int_equal(row->cells[1], second);
	assert_int_equal(row->cells[2], 7);
}

/* Row @i has key i and comes @late rows too late if it is a multiple of 5. */
static void assert_sorted(size_t n, size_t late)
{
	struct fsl_packed_rows rows = {.n_columns = 3, .compare = compare_first};
	for (size_t at = 0; at < n + late; at++) {
		if (at < n && at % 5 != 0) {
			add(&rows, (int64_t)at, -(int64_t)at, 7);
		}
		if (at >= late && (at - late) % 5 == 0) {
			add(&rows, (int64_t)(at - late), -(int64_t)(at - late), 7);
		}
	}
	assert_int_equal(fsl_packed_settle(&rows, NULL), FSL_OK);
	assert_int_equal(rows.n, n);
	struct fsl_packed_reader reader = {.rows = &rows};
	for (size_t i = 0; i < n; i++) {
		assert_row(&reader, i, (int64_t)i, -(int64_t)i);
	}
	fsl_packed_fini(&rows);
}

static void rows_that_are_late_are_sorted(void **state)
{
	(void)state;
	assert_sorted(1, 0);
	assert_sorted(FSL_PACKED_BLOCK, 3);
	assert_sorted(3 * FSL_PACKED_WINDOW, 0);
	assert_sorted(3 * FSL_PACKED_WINDOW + 1, FSL_PACKED_WINDOW);
}

static void rows_later_than_the_window_are_sorted(void **state)
{
	(void)state;
	assert_sorted(5 * FSL_PACKED_WINDOW, 3 * FSL_PACKED_WINDOW);
	assert_sorted(4 * FSL_PACKED_WINDOW + FSL_PACKED_BLOCK, 4 * FSL_PACKED_WINDOW);
}

static void equal_rows_keep_their_order(void **state)
{
	(void)state;
	enum { N = 3 * FSL_PACKED_WINDOW };
	struct fsl_packed_rows rows = {.n_columns = 3, .compare = compare_first};
	for (int64_t i = 0; i < N; i++) {
		add(&rows, i / 3, i, 7);
	}
	assert_int_equal(fsl_packed_settle(&rows, NULL), FSL_OK);
	struct fsl_packed_reader reader = {.rows = &rows};
	for (int64_t i = N - 1; i >= 0; i--) { /* backwards, too */
		assert_row(&reader, (size_t)i, i / 3, i);
	}
	fsl_packed_fini(&rows);
}

static void rows_without_an_order_stay(void **state)
{
	(void)state;
	static const int64_t keys[] = {5, INT64_MAX, INT64_MIN, -1, 0, INT64_MIN, INT64_MAX};
	enum { N = sizeof(keys) / sizeof(keys[0]), TIMES = 30 };
	struct fsl_packed_rows rows = {.n_columns = 3};
	for (size_t i = 0; i < (size_t)N * TIMES; i++) {
		add(&rows, keys[i % N], (int64_t)i, 7);
	}
	assert_int_equal(fsl_packed_settle(&rows, NULL), FSL_OK);
	struct fsl_packed_reader reader = {.rows = &rows};
	for (size_t i = 0; i < (size_t)N * TIMES; i++) {
		size_t at = i * 11 % ((size_t)N * TIMES); /* of blocks in turn */
		assert_row(&reader, at, keys[at % N], (int64_t)at);
	}
	fsl_packed_fini(&rows);
}

/* Rows come in @n_threads sequences, one behind the other; the first chunks alone stay in memory.
 */
static void assert_spilled(size_t n_threads, size_t memory_max, bool has_folder)
{
	enum { N = 40000 };
	struct fsl_spill spill = {.memory_max = memory_max, .is_off = !has_folder};
	struct fsl_packed_rows rows = {
		.n_columns = 3, .compare = compare_first, .bytes.spill = &spill};
	for (size_t thread = 0; thread < n_threads; thread++) {
		for (size_t i = thread; i < N; i += n_threads) {
			add(&rows, (int64_t)i * 1000003, -(int64_t)(i * i), 7);
		}
	}
	assert_int_equal(fsl_packed_settle(&rows, NULL), FSL_OK);
	assert_true(rows.bytes.chunks[rows.bytes.n_chunks - 1].is_in_file == has_folder);
	struct fsl_packed_reader reader = {.rows = &rows};
	for (size_t i = 0; i < N; i++) {
		assert_row(&reader, i, (int64_t)i * 1000003, -(int64_t)(i * i));
	}
	fsl_packed_fini(&rows);
	fsl_spill_close(&spill);
}

static void rows_in_a_file_are_those_in_memory(void **state)
{
	(void)state;
	assert_spilled(1, FSL_SPILL_CHUNK, true);
	assert_spilled(3, 2 * FSL_SPILL_CHUNK, true);
}

static void rows_stay_in_memory_without_a_folder(void **state)
{
	(void)state;
	assert_spilled(2, FSL_SPILL_CHUNK, false);
	assert_spilled(5, 2 * FSL_SPILL_CHUNK, false);
}

static void a_folder_that_is_away_is_passed_over(void **state)
{
	(void)state;
	const char *kept = getenv("TMPDIR");
	char *copy = kept != NULL ? strdup(kept) : NULL;
	assert_int_equal(setenv("TMPDIR", "/nonexistent/folder", 1), 0);
	assert_spilled(1, FSL_SPILL_CHUNK, true);
	assert_int_equal(copy != NULL ? setenv("TMPDIR", copy, 1) : unsetenv("TMPDIR"), 0);
	free(copy);
}

/* Keys step, step, 3 step, ... with @n_equal rows of each. */
static void assert_found(size_t n_keys, size_t n_equal, int64_t step)
{
	struct fsl_packed_rows rows = {.n_columns = 3, .compare = compare_first};
	struct fsl_packed_finder *finder = calloc(1, sizeof(*finder));
	assert_non_null(finder);
	for (size_t i = 0; i < n_keys * n_equal; i++) {
		add(&rows, (int64_t)(i / n_equal) * step, (int64_t)i, 7);
	}
	assert_int_equal(fsl_packed_settle(&rows, NULL), FSL_OK);
	assert_int_equal(fsl_packed_finder_begin(finder, &rows, NULL), FSL_OK);
	for (size_t k = 0; k < n_keys; k++) {
		size_t key = k * 7 % n_keys;
		const struct fsl_packed_row *row = fsl_packed_find(finder, (int64_t)key * step);
		assert_non_null(row);
		assert_int_equal(row->cells[1], key * n_equal); /* the first one */
		assert_null(fsl_packed_find(finder, (int64_t)key * step + 1));
	}
	assert_null(fsl_packed_find(finder, -1));
	assert_null(fsl_packed_find(finder, INT64_MAX));
	fsl_packed_finder_end(finder);
	free(finder);
	fsl_packed_fini(&rows);
}

static void the_first_row_of_a_key_is_found(void **state)
{
	(void)state;
	assert_found(1, 1, 2);
	assert_found(5 * FSL_PACKED_BLOCK + 3, 1, 2);
	assert_found(100, FSL_PACKED_BLOCK + 5, 3);
	assert_found(0, 1, 2);
}

static void no_rows_are_fine(void **state)
{
	(void)state;
	struct fsl_packed_rows rows = {.n_columns = 2, .compare = compare_first};
	assert_int_equal(fsl_packed_settle(&rows, NULL), FSL_OK);
	assert_int_equal(rows.n, 0);
	fsl_packed_fini(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_are_late_are_sorted),
		cmocka_unit_test(rows_later_than_the_window_are_sorted),
		cmocka_unit_test(equal_rows_keep_their_order),
		cmocka_unit_test(rows_without_an_order_stay),
		cmocka_unit_test(rows_in_a_file_are_those_in_memory),
		cmocka_unit_test(rows_stay_in_memory_without_a_folder),
		cmocka_unit_test(a_folder_that_is_away_is_passed_over),
		cmocka_unit_test(the_first_row_of_a_key_is_found),
		cmocka_unit_test(no_rows_are_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

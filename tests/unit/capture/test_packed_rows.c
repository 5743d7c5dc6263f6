/* Claims about packed rows: the same rows as in an array that is sorted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
		cmocka_unit_test(no_rows_are_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Messages between processes: packed values come out unchanged, and broken messages get no memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "base/pack.h"

/* Columns of a struct have other fields between them. */
struct row {
	int64_t time_ns;
	uint32_t id;
	uint32_t other;
};

static const struct fsl_pack_field TIME = {sizeof(int64_t), sizeof(struct row)};
static const struct fsl_pack_field ID = {sizeof(uint32_t), sizeof(struct row)};

static struct fsl_unpack unpack_of(const struct fsl_pack *pack)
{
	assert_false(pack->is_failed);
	return (struct fsl_unpack){.at = pack->bytes, .n_left = pack->n_bytes};
}

static void check_rows(const struct row *rows, size_t n)
{
	struct fsl_pack pack = {0};
	struct row again[8];
	assert_true(n <= sizeof(again) / sizeof(again[0]));
	memset(again, 0x5a, sizeof(again));
	fsl_pack_column(&pack, &rows->time_ns, TIME, n);
	fsl_pack_column(&pack, &rows->id, ID, n);
	struct fsl_unpack unpack = unpack_of(&pack);
	fsl_unpack_column(&unpack, &again->time_ns, TIME, n);
	fsl_unpack_column(&unpack, &again->id, ID, n);
	assert_true(fsl_unpack_is_done(&unpack));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(again[i].time_ns, rows[i].time_ns);
		assert_int_equal(again[i].id, rows[i].id);
		assert_int_equal(again[i].other, 0x5a5a5a5a);
	}
	fsl_pack_fini(&pack);
}

static void columns_return_as_they_were(void **state)
{
	(void)state;
	const struct row rows[] = {
		{INT64_C(1763717132000000000), 0, 1},
		{INT64_C(1763717132000000900), UINT32_MAX, 1},
		{-1, 7, 1},
		{INT64_MAX, 0x80000000U, 1},
		{INT64_MIN, 0x7fffffffU, 1},
		{0, 0, 1},
	};
	for (size_t n = 0; n <= sizeof(rows) / sizeof(rows[0]); n++) {
		check_rows(rows, n);
	}
}

static size_t column_bytes(int64_t step)
{
	struct fsl_pack pack = {0};
	int64_t times[101];
	for (size_t i = 0; i < 101; i++) {
		times[i] = INT64_C(1763717132000000000) + (int64_t)i * step;
	}
	fsl_pack_column(&pack, times, (struct fsl_pack_field){8, 8}, 101);
	size_t n_bytes = pack.n_bytes;
	fsl_pack_fini(&pack);
	return n_bytes;
}

static void columns_are_as_narrow_as_their_steps(void **state)
{
	(void)state;
	assert_int_equal(column_bytes(0), 9 + 100);
	assert_int_equal(column_bytes(-128), 9 + 100);
	assert_int_equal(column_bytes(128), 9 + 200);
	assert_int_equal(column_bytes(-32768), 9 + 200);
	assert_int_equal(column_bytes(32768), 9 + 400);
	assert_int_equal(column_bytes(INT64_C(-2147483648)), 9 + 400);
	assert_int_equal(column_bytes(INT64_C(2147483648)), 9 + 800);
}

static void values_and_texts_return_as_they_were(void **state)
{
	(void)state;
	struct fsl_pack pack = {0};
	size_t n = 1;
	fsl_pack_u8(&pack, 200);
	fsl_pack_u32(&pack, UINT32_MAX);
	fsl_pack_u64(&pack, UINT64_MAX - 1);
	fsl_pack_text(&pack, "hello");
	fsl_pack_text(&pack, "");
	assert_int_equal(pack.bytes[0], 200);
	assert_int_equal(pack.bytes[5], 0xfe); /* lowest byte first, on every host */
	struct fsl_unpack unpack = unpack_of(&pack);
	assert_int_equal(fsl_unpack_u8(&unpack), 200);
	assert_int_equal(fsl_unpack_u32(&unpack), UINT32_MAX);
	assert_true(fsl_unpack_u64(&unpack) == UINT64_MAX - 1);
	assert_memory_equal(fsl_unpack_text(&unpack, 5, &n), "hello", 5);
	assert_int_equal(n, 5);
	assert_non_null(fsl_unpack_text(&unpack, 5, &n));
	assert_int_equal(n, 0);
	assert_true(fsl_unpack_is_done(&unpack));
	fsl_pack_fini(&pack);
}

static void what_lies_beyond_the_end_is_zero_and_bad(void **state)
{
	(void)state;
	const unsigned char bytes[] = {9, 0, 0};
	struct fsl_unpack unpack = {.at = bytes, .n_left = sizeof(bytes)};
	assert_int_equal(fsl_unpack_u32(&unpack), 0);
	assert_true(unpack.is_bad);
	assert_int_equal(fsl_unpack_u8(&unpack), 0); /* though there are bytes */
	assert_false(fsl_unpack_is_done(&unpack));
}

static void a_count_needs_the_bytes_of_its_rows(void **state)
{
	(void)state;
	struct fsl_pack pack = {0};
	fsl_pack_u64(&pack, 3);
	fsl_pack_u64(&pack, 0);
	struct fsl_unpack unpack = unpack_of(&pack);
	assert_int_equal(fsl_unpack_count(&unpack, 3, 2), 3);
	unpack = unpack_of(&pack);
	assert_int_equal(fsl_unpack_count(&unpack, 2, 2), 0);
	assert_true(unpack.is_bad);
	unpack = unpack_of(&pack);
	assert_int_equal(fsl_unpack_count(&unpack, 3, 3), 0);
	assert_true(unpack.is_bad);
	fsl_pack_fini(&pack);
}

static void texts_keep_their_limit_and_hold_no_nul(void **state)
{
	(void)state;
	struct fsl_pack pack = {0};
	size_t n = 1;
	fsl_pack_text(&pack, "four");
	struct fsl_unpack unpack = unpack_of(&pack);
	assert_string_equal(fsl_unpack_text(&unpack, 3, &n), "");
	assert_true(unpack.is_bad && n == 0);
	pack.bytes[5] = '\0';
	unpack = unpack_of(&pack);
	assert_string_equal(fsl_unpack_text(&unpack, 4, &n), "");
	assert_true(unpack.is_bad && n == 0);
	fsl_pack_fini(&pack);
}

static void columns_of_an_unknown_width_are_bad(void **state)
{
	(void)state;
	struct fsl_pack pack = {0};
	int64_t times[4] = {1, 2, 3, 4};
	fsl_pack_column(&pack, times, (struct fsl_pack_field){8, 8}, 4);
	for (unsigned width = 0; width < 256; width++) {
		pack.bytes[0] = (unsigned char)width;
		struct fsl_unpack unpack = unpack_of(&pack);
		fsl_unpack_column(&unpack, times, (struct fsl_pack_field){8, 8}, 4);
		assert_true(unpack.is_bad == (width != 1));
	}
	fsl_pack_fini(&pack);
}

static void short_memory_is_remembered(void **state)
{
	(void)state;
	struct fsl_pack pack = {0};
	fsl_mem_fail_at(1);
	fsl_pack_u8(&pack, 1);
	fsl_mem_fail_at(0);
	assert_true(pack.is_failed);
	fsl_pack_u8(&pack, 2);
	fsl_pack_text(&pack, "more");
	assert_true(pack.is_failed && pack.n_bytes == 0);
	fsl_pack_fini(&pack);
	assert_false(pack.is_failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_return_as_they_were),
		cmocka_unit_test(columns_are_as_narrow_as_their_steps),
		cmocka_unit_test(values_and_texts_return_as_they_were),
		cmocka_unit_test(what_lies_beyond_the_end_is_zero_and_bad),
		cmocka_unit_test(a_count_needs_the_bytes_of_its_rows),
		cmocka_unit_test(texts_keep_their_limit_and_hold_no_nul),
		cmocka_unit_test(columns_of_an_unknown_width_are_bad),
		cmocka_unit_test(short_memory_is_remembered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

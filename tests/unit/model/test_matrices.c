/* Own time, lateness and loss of ranks over time, kept in a few bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/matrices.h"

enum { RANKS = 3, STEPS = 40, COLUMNS = 4, SECOND = 1000000000 };

static struct fsl_job_step items[STEPS];
static const struct fsl_steps steps = {.items = items, .n_items = STEPS};

static void make(struct fsl_matrices *matrices, double scale)
{
	static double values[RANKS * STEPS];
	for (size_t s = 0; s < STEPS; s++) {
		items[s].begin_ns = (int64_t)s * SECOND;
		for (size_t r = 0; r < RANKS; r++) {
			values[r * STEPS + s] = scale * (double)((r + 1) * (s / 10 + 1));
		}
	}
	values[0] = NAN;
	for (size_t s = 30; s < STEPS; s++) {
		values[2 * STEPS + s] = NAN;
	}
	assert_int_equal(
		fsl_matrices_init(matrices, RANKS, COLUMNS, 0, (int64_t)STEPS * SECOND, NULL),
		FSL_OK);
	for (int32_t r = 0; r < RANKS; r++) {
		matrices->ranks[r] = 7 * r;
	}
	fsl_matrices_fill(matrices, FSL_MATRIX_OWN, values, &steps);
	fsl_matrices_fill(matrices, FSL_MATRIX_LATE, values, &steps);
}

static void a_column_is_the_mean_of_its_steps(void **state)
{
	(void)state;
	struct fsl_matrices matrices;
	make(&matrices, 2.5);
	for (size_t r = 0; r < RANKS; r++) {
		for (size_t c = 0; c < COLUMNS; c++) {
			float ms = matrices.ms[FSL_MATRIX_OWN][r * COLUMNS + c];
			bool is_absent = r == 2 && c == 3;
			assert_true(is_absent ? isnan(ms)
					      : fabs((double)ms -
						     2.5 * (double)((r + 1) * (c + 1))) < 1e-4);
			assert_true(isnan(matrices.ms[FSL_MATRIX_LOSS][r * COLUMNS + c]));
		}
	}
	fsl_matrices_fini(&matrices);
}

static void what_is_unpacked_is_what_was_packed_within_4_percent(void **state)
{
	(void)state;
	static const double scales[] = {0.02, 1.0, 300.0, 70000.0};
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		struct fsl_matrices matrices, read = {0};
		struct fsl_pack pack = {0};
		make(&matrices, scales[i]);
		fsl_matrices_pack(&matrices, &pack);
		assert_false(pack.is_failed);
		assert_int_equal(fsl_matrices_unpack(&read, pack.bytes, pack.n_bytes, NULL),
				 FSL_OK);
		assert_int_equal(read.n_ranks, RANKS);
		assert_int_equal(read.ranks[2], 14);
		assert_true(read.end_ns == matrices.end_ns && read.n_columns == COLUMNS);
		for (size_t m = 0; m < FSL_MATRICES_N; m++) {
			for (size_t c = 0; c < RANKS * COLUMNS; c++) {
				double was = (double)matrices.ms[m][c], is = (double)read.ms[m][c];
				assert_true(isnan(was) ? isnan(is) : fabs(is / was - 1.0) < 0.04);
			}
		}
		fsl_pack_fini(&pack);
		fsl_matrices_fini(&matrices);
		fsl_matrices_fini(&read);
	}
}

static void small_and_huge_values_stay_at_the_ends_of_the_scale(void **state)
{
	(void)state;
	struct fsl_matrices matrices, read = {0};
	struct fsl_pack pack = {0};
	make(&matrices, 1.0);
	matrices.ms[FSL_MATRIX_LOSS][0] = -5.0F;
	matrices.ms[FSL_MATRIX_LOSS][1] = 0.0F;
	matrices.ms[FSL_MATRIX_LOSS][2] = 1e12F;
	fsl_matrices_pack(&matrices, &pack);
	assert_int_equal(fsl_matrices_unpack(&read, pack.bytes, pack.n_bytes, NULL), FSL_OK);
	assert_true(read.ms[FSL_MATRIX_LOSS][0] == 0.0F && read.ms[FSL_MATRIX_LOSS][1] == 0.0F);
	assert_true(fabs((double)read.ms[FSL_MATRIX_LOSS][2] / 1e6 - 1.0) < 1e-3);
	fsl_pack_fini(&pack);
	fsl_matrices_fini(&matrices);
	fsl_matrices_fini(&read);
}

static void damaged_bytes_give_nothing(void **state)
{
	(void)state;
	struct fsl_matrices matrices;
	struct fsl_pack pack = {0};
	make(&matrices, 1.0);
	fsl_matrices_pack(&matrices, &pack);
	for (size_t n = 0; n < pack.n_bytes; n++) {
		struct fsl_matrices read = {0};
		assert_int_equal(fsl_matrices_unpack(&read, pack.bytes, n, NULL), FSL_ERR_FORMAT);
		assert_null(read.ranks);
	}
	for (size_t n = 0; n < pack.n_bytes; n++) {
		struct fsl_matrices read = {0};
		((uint8_t *)pack.bytes)[n] ^= 0x55;
		(void)fsl_matrices_unpack(&read, pack.bytes, pack.n_bytes, NULL);
		((uint8_t *)pack.bytes)[n] ^= 0x55;
		fsl_matrices_fini(&read);
	}
	fsl_pack_fini(&pack);
	fsl_matrices_fini(&matrices);
}

static void short_memory_is_told(void **state)
{
	(void)state;
	struct fsl_matrices matrices;
	struct fsl_pack pack = {0};
	make(&matrices, 1.0);
	fsl_matrices_pack(&matrices, &pack);
	for (uint64_t nth = 1; nth <= 5; nth++) {
		struct fsl_matrices read = {0};
		fsl_mem_fail_at(nth);
		enum fsl_status status = fsl_matrices_unpack(&read, pack.bytes, pack.n_bytes, NULL);
		fsl_mem_fail_at(0);
		assert_int_equal(status, FSL_ERR_MEMORY);
	}
	fsl_pack_fini(&pack);
	fsl_matrices_fini(&matrices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_column_is_the_mean_of_its_steps),
		cmocka_unit_test(what_is_unpacked_is_what_was_packed_within_4_percent),
		cmocka_unit_test(small_and_huge_values_stay_at_the_ends_of_the_scale),
		cmocka_unit_test(damaged_bytes_give_nothing),
		cmocka_unit_test(short_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

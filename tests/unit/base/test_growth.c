/* Growth is told as growth, and levels as levels. */
#include "base/growth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/mem.h"

enum { N_MAX = 600 };

/* A number from -0.5 to 0.5 that depends on @i alone. */
static double draw(size_t i)
{
	uint64_t x = ((uint64_t)i + 7) * UINT64_C(0x9E3779B97F4A7C15);
	x ^= x >> 29;
	x *= UINT64_C(0xBF58476D1CE4E5B9);
	return (double)(x >> 11) / 9007199254740992.0 - 0.5;
}

static struct fsl_growth find(const double *values, size_t n)
{
	struct fsl_shifts shifts = {0};
	struct fsl_growth drift;
	assert_int_equal(fsl_shifts_find(&shifts, values, n, &fsl_shift_steps, NULL), FSL_OK);
	assert_int_equal(fsl_growth_find(&drift, values, n, &shifts, 0.1, NULL), FSL_OK);
	fsl_shifts_fini(&shifts);
	return drift;
}

/* 100 up to @begin, then growing to 100 * @factor. */
static void slope(double *values, size_t n, size_t begin, double factor, double noise)
{
	for (size_t i = 0; i < n; i++) {
		double share = i > begin ? (double)(i - begin) / (double)(n - begin) : 0.0;
		values[i] = 100.0 * (1.0 + (factor - 1.0) * share) * (1.0 + noise * draw(i));
	}
}

static void steady_growth_is_told_with_its_begin_and_its_factor(void **state)
{
	(void)state;
	static const struct {
		size_t n, begin;
		double factor;
	} cases[] = {{60, 0, 2.6}, {120, 0, 1.3}, {120, 40, 2.0}, {600, 300, 1.5}, {600, 0, 0.5}};
	double values[N_MAX];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		slope(values, cases[i].n, cases[i].begin, cases[i].factor, 0.03);
		struct fsl_growth drift = find(values, cases[i].n);
		assert_true(drift.is_found);
		double ratio = drift.to / drift.from / cases[i].factor;
		assert_true(ratio > 0.93 && ratio < 1.07);
		double apart = fabs((double)drift.begin - (double)cases[i].begin);
		assert_true(apart <= 0.1 * (double)cases[i].n);
	}
}

static void a_step_and_noise_are_no_growth(void **state)
{
	(void)state;
	double values[N_MAX];
	static const double noises[] = {0.0, 0.02, 0.2};
	for (size_t k = 0; k < 3; k++) {
		slope(values, 300, 0, 1.0, noises[k]);
		assert_false(find(values, 300).is_found);
		for (size_t i = 150; i < 300; i++) {
			values[i] *= 1.5;
		}
		assert_false(find(values, 300).is_found);
		for (size_t i = 250; i < 300; i++) {
			values[i] *= 1.5;
		}
		assert_false(find(values, 300).is_found);
	}
}

static void too_few_or_odd_values_are_no_growth(void **state)
{
	(void)state;
	double values[N_MAX];
	slope(values, 60, 0, 3.0, 0.01);
	assert_false(find(values, 20).is_found);
	values[30] = values[31] = values[32] = -5.0;
	assert_false(find(values, 60).is_found);
	struct fsl_shifts shifts = {0};
	struct fsl_growth drift;
	fsl_mem_fail_at(1);
	enum fsl_status status = fsl_growth_find(&drift, values, 60, &shifts, 0.1, NULL);
	fsl_mem_fail_at(0);
	assert_int_equal(status, FSL_ERR_MEMORY);
	assert_false(drift.is_found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_growth_is_told_with_its_begin_and_its_factor),
		cmocka_unit_test(a_step_and_noise_are_no_growth),
		cmocka_unit_test(too_few_or_odd_values_are_no_growth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Bars of a series: heights, columns, edges, and both sets of characters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/columns.h"
#include "text/spark.h"

static void make(struct fsl_spark *spark, const double *values, size_t n, size_t n_columns)
{
	fsl_spark_begin(spark, n, n_columns);
	for (size_t i = 0; i < n; i++) {
		fsl_spark_add(spark, i, values[i]);
	}
}

static void assert_line(const struct fsl_spark *spark, size_t line, size_t n_lines, bool has_blocks,
			const char *expected)
{
	struct fsl_phrase drawn = {0};
	fsl_spark_draw(&drawn, spark, line, n_lines, has_blocks);
	assert_string_equal(drawn.text, expected);
}

static void a_higher_value_has_a_higher_character(void **state)
{
	(void)state;
	const double values[] = {1011.0, 1011.0, 1188.0, 1188.0, 1011.0};
	struct fsl_spark spark;
	make(&spark, values, 5, 80);
	assert_true(fsl_spark_frame(&spark));
	assert_line(&spark, 0, 1, true, "▂▂▇▇▂");
	assert_line(&spark, 0, 1, false, "..**.");
	const double twice[] = {200.0, 100.0, 0.0};
	make(&spark, twice, 3, 80);
	assert_true(fsl_spark_frame(&spark));
	assert_line(&spark, 0, 1, true, "▇▄▁");
}

static void several_lines_stand_on_each_other(void **state)
{
	(void)state;
	const double values[] = {0.0, 50.0, 100.0};
	struct fsl_spark spark;
	make(&spark, values, 3, 80);
	assert_true(fsl_spark_frame(&spark));
	assert_line(&spark, 0, 2, true, "  ▆");
	assert_line(&spark, 1, 2, true, "▁▇█");
	assert_line(&spark, 0, 2, false, "  :");
	assert_line(&spark, 1, 2, false, ".::");
}

static void noise_of_a_percent_stays_flat(void **state)
{
	(void)state;
	double values[60];
	struct fsl_spark spark;
	for (size_t i = 0; i < 60; i++) {
		values[i] = 1000.0 + (double)(i * 7 % 11);
	}
	make(&spark, values, 60, 80);
	assert_true(fsl_spark_frame(&spark));
	assert_true(spark.high - spark.low > 4.0 * 10.0);
}

static void a_column_holds_the_greatest_of_its_values(void **state)
{
	(void)state;
	double values[1000];
	struct fsl_spark spark;
	for (size_t i = 0; i < 1000; i++) {
		values[i] = i == 555 ? 3.0 : 1.0;
	}
	make(&spark, values, 1000, 40);
	assert_int_equal(spark.n_columns, 40);
	for (size_t c = 0; c < 40; c++) {
		assert_true(spark.values[c] == (c == fsl_spark_column(&spark, 555) ? 3.0 : 1.0));
	}
	assert_int_equal(fsl_spark_column(&spark, 0), 0);
	assert_int_equal(fsl_spark_column(&spark, 999), 39);
	assert_int_equal(fsl_spark_column(&spark, 5000), 39);
}

/* One value a thousand times as high as the others would make all others equal. */
static void a_single_peak_is_cut(void **state)
{
	(void)state;
	double values[40];
	struct fsl_spark spark;
	for (size_t i = 0; i < 40; i++) {
		values[i] = i == 7 ? 1e6 : i < 20 ? 100.0 : 150.0;
	}
	make(&spark, values, 40, 80);
	assert_true(fsl_spark_frame(&spark));
	assert_true(spark.high < 400.0);
}

static void what_is_missing_is_a_blank_and_odd_series_are_no_fault(void **state)
{
	(void)state;
	const double holes[] = {NAN, 1.0, NAN, 1.0, INFINITY}, below[] = {-5.0, -5.0};
	struct fsl_spark spark;
	make(&spark, holes, 5, 80);
	assert_true(fsl_spark_frame(&spark));
	assert_line(&spark, 0, 1, false, " + +");
	make(&spark, holes, 1, 80);
	assert_false(fsl_spark_frame(&spark));
	make(&spark, NULL, 0, 80);
	assert_false(fsl_spark_frame(&spark));
	make(&spark, below, 2, 80);
	assert_true(fsl_spark_frame(&spark));
	assert_true(spark.low < -5.0 && spark.high > -5.0);
	const double zeros[] = {0.0, 0.0, 0.0};
	make(&spark, zeros, 3, 80);
	assert_true(fsl_spark_frame(&spark));
	assert_line(&spark, 0, 1, true, "▁▁▁");
}

static void the_widest_line_fits_a_phrase(void **state)
{
	(void)state;
	struct fsl_spark spark;
	struct fsl_phrase drawn = {0};
	fsl_spark_begin(&spark, 5000, 5000);
	for (size_t i = 0; i < 5000; i++) {
		fsl_spark_add(&spark, i, 1.0 + (double)(i % 3));
	}
	assert_true(fsl_spark_frame(&spark));
	fsl_spark_draw(&drawn, &spark, 0, 1, true);
	assert_int_equal(fsl_columns(drawn.text, drawn.length), FSL_SPARK_COLUMNS_MAX);
	assert_null(strstr(drawn.text, "..."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_higher_value_has_a_higher_character),
		cmocka_unit_test(several_lines_stand_on_each_other),
		cmocka_unit_test(noise_of_a_percent_stays_flat),
		cmocka_unit_test(a_column_holds_the_greatest_of_its_values),
		cmocka_unit_test(a_single_peak_is_cut),
		cmocka_unit_test(what_is_missing_is_a_blank_and_odd_series_are_no_fault),
		cmocka_unit_test(the_widest_line_fits_a_phrase),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

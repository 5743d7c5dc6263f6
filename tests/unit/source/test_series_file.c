/* series_file: the chosen column, missing values, refused files, and short memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/series/series_file.h"

static enum fsl_status read_text(struct fsl_series_file *out, const char *text, const char *column)
{
	struct fsl_reader *reader = NULL;
	int fd = memfd_create("series", 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	*out = (struct fsl_series_file){0};
	enum fsl_status status = fsl_reader_open_fd(&reader, fd, "series", NULL);
	if (status == FSL_OK) {
		status = fsl_series_file_read(out, reader, column, NULL);
	}
	fsl_reader_close(reader);
	return status;
}

static void expect(const char *text, const char *column, size_t n, double first, const char *time)
{
	struct fsl_series_file file;
	assert_int_equal(read_text(&file, text, column), FSL_OK);
	assert_int_equal(file.n, n);
	assert_true(fabs(file.values[0] - first) < 1e-12);
	if (time == NULL) {
		assert_null(file.times);
	} else {
		assert_string_equal(file.times[0], time);
	}
	fsl_series_file_fini(&file);
}

static void expect_failure(const char *text, const char *column, enum fsl_status wanted)
{
	struct fsl_series_file file;
	assert_int_equal(read_text(&file, text, column), wanted);
	fsl_series_file_fini(&file);
}

static void csv_needs_no_header(void **state)
{
	(void)state;
	expect("1\n2\n3\n", NULL, 3, 1.0, NULL);
	expect("1,10\n2,20", NULL, 2, 10.0, "1");
	expect("2025-01-01;1e3\r\n2025-01-02;2\r\n", NULL, 2, 1000.0, "2025-01-01");
	expect("a\tb\tc\n1\t2\t3\n", "b", 1, 2.0, NULL);
	expect("1,2,3\n", "3", 1, 3.0, "1");
}

static void columns_are_found_by_their_names(void **state)
{
	(void)state;
	expect("time,value\n7,8\n", NULL, 1, 8.0, "7");
	expect("Value,x,Timestamp\n7,8,9\n", NULL, 1, 7.0, "9");
	expect("latency\n5\n", NULL, 1, 5.0, NULL);
	expect("\xEF\xBB\xBF\"time\",\"my value\"\n1,2\n", "my value", 1, 2.0, "1");
	expect("day,load\n1,2\n", NULL, 1, 2.0, "1");
	expect_failure("day,load,rate\n1,2,3\n", NULL, FSL_ERR_INPUT);
	expect_failure("day,load\n1,2\n", "laod", FSL_ERR_INPUT);
	expect_failure("1,2\n", "3", FSL_ERR_INPUT);
}

static void missing_values_are_counted(void **state)
{
	(void)state;
	struct fsl_series_file file;
	assert_int_equal(read_text(&file, "t,value\n1,\n2,NaN\n3,4\n4,inf\n5, \n6,N/A\n", NULL),
			 FSL_OK);
	assert_int_equal(file.n, 6);
	assert_int_equal(file.n_missing, 5);
	fsl_series_file_fini(&file);
	assert_int_equal(read_text(&file, "[null, 1, \"nan\"]", NULL), FSL_OK);
	assert_int_equal(file.n, 3);
	assert_int_equal(file.n_missing, 2);
	fsl_series_file_fini(&file);
}

static void json_has_three_forms(void **state)
{
	(void)state;
	expect("[1, 2]", NULL, 2, 1.0, NULL);
	expect("{\"a\": [3, 4], \"time\": [\"x\", \"y\"]}", NULL, 2, 3.0, "x");
	expect("{\"a\": [3], \"b\": [4]}", "b", 1, 4.0, NULL);
	expect("{\"series\": [5, 6]}", NULL, 2, 5.0, NULL);
	expect("{\"n\": 2, \"time\": {\"raw\": [\"x\", \"y\"], \"index\": [0, 1]}, \"series\": "
	       "[{\"raw\": [7, 8], \"label\": \"V1\"}, {\"label\": \"V2\", \"raw\": [9, 9]}]}",
	       "V1", 2, 7.0, "x");
	expect("{\"skip\": [[1], {\"a\": []}], \"more\": {\"b\": [1]}, \"a\": [1]}", NULL, 1, 1.0,
	       NULL);
}

static void what_is_no_series_is_refused(void **state)
{
	(void)state;
	expect_failure("", NULL, FSL_ERR_INPUT);
	expect_failure("value\n", NULL, FSL_ERR_INPUT);
	expect_failure("[]", NULL, FSL_ERR_INPUT);
	expect_failure("[[1, 2], [3, 4]]", NULL, FSL_ERR_INPUT);
	expect_failure("{\"a\": 1}", NULL, FSL_ERR_INPUT);
	expect_failure("[1, \"x\"]", NULL, FSL_ERR_FORMAT);
	expect_failure("[1] [2]", NULL, FSL_ERR_FORMAT);
	expect_failure("[1, [2]]", NULL, FSL_ERR_FORMAT);
	expect_failure("{\"series\": [{\"raw\": [1]}, 2]}", NULL, FSL_ERR_FORMAT);
	expect_failure("[1, 2", NULL, FSL_ERR_FORMAT);
	expect_failure("value\n1\nx\n", NULL, FSL_ERR_FORMAT);
	expect_failure("a,value\n1,2\n3\n", NULL, FSL_ERR_FORMAT);
	expect_failure(
		"value\n0x10000000000000000000000000000000000000000000000000000000000000000000"
		"000\n",
		NULL, FSL_ERR_FORMAT);
}

/* Addresses and hashes are names, or damage. */
static void hexadecimal_digits_are_no_number(void **state)
{
	(void)state;
	expect_failure("value\n1\n0x10\n", NULL, FSL_ERR_FORMAT);
	expect_failure("[1, \"0X1p3\"]", NULL, FSL_ERR_FORMAT);
	expect("0x1f\n5\n", NULL, 1, 5.0, NULL);
}

static void too_many_columns_are_refused(void **state)
{
	(void)state;
	char text[2 * (FSL_SERIES_COLUMNS_MAX + 2)];
	for (size_t i = 0; i + 1 < sizeof(text); i += 2) {
		memcpy(text + i, "1,", 2);
	}
	text[sizeof(text) - 1] = '\0';
	expect_failure(text, NULL, FSL_ERR_LIMIT);
}

static void memory_errors_are_reported(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"time,value\n1,2\n3,4\n",
		"{\"time\": {\"raw\": [\"x\"]}, \"series\": [{\"label\": \"a\", \"raw\": [1]}]}"};
	for (size_t k = 0; k < 2; k++) {
		size_t n_failed = 0;
		for (uint64_t nth = 1; nth < 30; nth++) {
			struct fsl_series_file file;
			fsl_mem_fail_at(nth);
			enum fsl_status status = read_text(&file, texts[k], NULL);
			fsl_mem_fail_at(0);
			assert_true(status != FSL_OK || file.n >= 1);
			n_failed += status == FSL_OK ? 0 : 1;
			fsl_series_file_fini(&file);
		}
		assert_true(n_failed >= 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_needs_no_header),
		cmocka_unit_test(columns_are_found_by_their_names),
		cmocka_unit_test(missing_values_are_counted),
		cmocka_unit_test(json_has_three_forms),
		cmocka_unit_test(what_is_no_series_is_refused),
		cmocka_unit_test(hexadecimal_digits_are_no_number),
		cmocka_unit_test(too_many_columns_are_refused),
		cmocka_unit_test(memory_errors_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

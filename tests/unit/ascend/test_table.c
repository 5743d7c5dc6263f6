/* Tables of the profiler: columns by name, cleaned fields, faults with their place. */
#include "source/ascend/table.h"

#include "base/number.h"
#include "unit/ascend/reading.h"

enum { NAME, TIME, NOTE, COLUMNS_N };
static const struct fsl_table_column columns[COLUMNS_N] = {
	[NAME] = {{"Name", "Op Name"}, true},
	[TIME] = {{"Time(us)"}, true},
	[NOTE] = {{"Note"}, false},
};

static struct reading reading;
static struct fsl_table table;
static struct fsl_reader *reader;
static struct fsl_profile_input input;

static int setup(void **state)
{
	(void)state;
	reading_begin(&reading);
	reader = NULL;
	table = (struct fsl_table){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fsl_table_close(&table);
	fsl_reader_close(reader);
	reading_end(&reading);
	return 0;
}

static bool open_bytes(const char *text, size_t n_bytes)
{
	bool is_usable = false;
	reader = memory_reader(text, n_bytes);
	assert_non_null(reader);
	input = (struct fsl_profile_input){
		.reader = reader, .path = "memory", .file = &reading.file};
	assert_int_equal(
		fsl_table_open(&table, &reading.rank, &input, columns, COLUMNS_N, &is_usable, NULL),
		FSL_OK);
	return is_usable;
}

static bool open_text(const char *text)
{
	return open_bytes(text, strlen(text));
}

static bool next(void)
{
	bool has_row = false;
	assert_int_equal(fsl_table_next(&table, &has_row, NULL), FSL_OK);
	return has_row;
}

static void assert_field(size_t column, const char *expected)
{
	struct fsl_csv_field field = fsl_table_field(&table, column);
	assert_int_equal(field.length, strlen(expected));
	assert_memory_equal(field.text, expected, field.length);
}

static void columns_are_found_by_any_of_their_names(void **state)
{
	(void)state;
	assert_true(open_text("\xef\xbb\xbfTime(us) ,\"Op Name\",Other\r\n1.5,a,b\r\n"));
	assert_true(next());
	assert_field(NAME, "a");
	assert_field(TIME, "1.5");
	assert_field(NOTE, "");
	assert_false(next());
	assert_int_equal(reading.file.state, FSL_FILE_READ);
	assert_int_equal(reading.file.n_records, 1);
}

static void blanks_and_one_pair_of_quotes_are_taken_off(void **state)
{
	(void)state;
	assert_true(open_text("Name,Time(us),Note\n"
			      "\"\"\"32,3;8\"\"\",1736408883704643.212\t,\" x y \t\"\n"
			      "\"\"\"\"\"\",\"1736413971558972.912\t\",\"\"\"\"\n"));
	assert_true(next());
	assert_field(NAME, "32,3;8");
	assert_field(NOTE, "x y");
	int64_t time_ns = 0;
	assert_true(fsl_table_scaled(&table, TIME, FSL_NS_PER_US, &time_ns));
	assert_int_equal(time_ns, INT64_C(1736408883704643212));
	assert_true(next());
	assert_field(NAME, "");
	assert_field(NOTE, "\"");
	assert_true(fsl_table_scaled(&table, TIME, FSL_NS_PER_US, &time_ns));
	assert_int_equal(time_ns, INT64_C(1736413971558972912));
}

static void missing_is_not_zero(void **state)
{
	(void)state;
	int64_t value = 7;
	assert_true(open_text("Name,Time(us),Note\nN/A,N/A,0\n NA ,,-3\nNAN,\t,\n"));
	assert_true(next());
	assert_field(NAME, "");
	assert_false(fsl_table_scaled(&table, TIME, 1, &value));
	assert_int_equal(fsl_table_amount(&table, TIME, 1, -1), -1);
	assert_int_equal(fsl_table_amount(&table, NOTE, 1, -1), 0);
	assert_true(next());
	assert_field(NAME, "");
	assert_int_equal(fsl_table_amount(&table, NOTE, 1, -1), -1);
	assert_true(next());
	assert_field(NAME, "NAN");
	assert_int_equal(value, 7);
}

static void numbers_are_those_of_the_exact_parser(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"0",
		"5.",
		".5",
		".",
		"1.5.5",
		"-3",
		"+3",
		"1e3",
		"13.0",
		"0.0",
		"1.0005",
		"1.2345",
		"1764246877073569.640",
		"1764246877073569.6405",
		"9223372036854775.807",
		"9223372036854775.808",
		"9223372036854775807",
		"9223372036854775808",
		"9999999999999999999",
		"18446744073709551616",
		"99999999999999999999",
		"10000000000000000000.",
		"0000000000000000000001",
		"12x",
		"1.69512E+15",
		"11925.015625",
		"158.65234375",
		"0.0000000000000000000",
	};
	static const int64_t scales[] = {1, 1000, 1024, 1048576, FSL_SCALE_MAX};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char text[128];
		(void)snprintf(text, sizeof(text), "Name,Time(us)\na,%s\n", texts[i]);
		assert_true(open_text(text));
		assert_true(next());
		for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]); k++) {
			int64_t exact = -7, found = -7;
			bool is_number =
				fsl_parse_scaled(texts[i], strlen(texts[i]), scales[k], &exact);
			assert_int_equal(fsl_table_scaled(&table, TIME, scales[k], &found),
					 is_number);
			assert_int_equal(found, exact);
		}
		fsl_table_close(&table);
		fsl_reader_close(reader);
		reader = NULL;
	}
}

/* A number of up to 21 digits with a point anywhere, or none. */
static char *throw_number(char *at, uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	uint64_t dice = *state >> 20;
	size_t n = 1 + (size_t)(dice % 21), point = (size_t)(dice / 21 % 44);
	for (size_t i = 0; i < n; i++) {
		*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		if (i == point) {
			*at++ = '.';
		}
		*at++ = (char)('0' + (*state >> 40) % 10);
	}
	return at;
}

static void any_number_is_that_of_the_exact_parser(void **state)
{
	(void)state;
	enum { NUMBERS_N = 20000 };
	static char text[NUMBERS_N * 32];
	static const int64_t scales[] = {1, 1000, 1024, 1048576, 999999937};
	char *at = stpcpy(text, "Name,Time(us)\n");
	uint64_t dices = 7;
	for (int i = 0; i < NUMBERS_N; i++) {
		at = throw_number(stpcpy(at, "a,"), &dices);
		*at++ = '\n';
	}
	assert_true(open_bytes(text, (size_t)(at - text)));
	for (int i = 0; i < NUMBERS_N; i++) {
		assert_true(next());
		const struct fsl_csv_field field = fsl_table_field(&table, TIME);
		for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]); k++) {
			int64_t exact = -7, found = -7;
			assert_int_equal(
				fsl_table_scaled(&table, TIME, scales[k], &found),
				fsl_parse_scaled(field.text, field.length, scales[k], &exact));
			assert_int_equal(found, exact);
		}
	}
}

static void a_field_may_hold_lines(void **state)
{
	(void)state;
	assert_true(open_text("Name,Time(us),Note\na,1,\"b;\nc;\n\"\nd,2\ne,3,f\n"));
	assert_true(next());
	assert_field(NOTE, "b;\nc;\n");
	assert_true(next());
	assert_field(NAME, "e");
	assert_string_equal(
		reading.file.message,
		"line 5: not as many fields as the header has; parse the capture again");
}

static void only_the_first_fault_is_told_and_all_are_counted(void **state)
{
	(void)state;
	assert_true(open_text("Name,Time(us)\n\"a\"b,1\nc,2,3\nd,4\n"));
	assert_true(next());
	assert_field(NAME, "d");
	fsl_table_drop(&table, "it is no good");
	assert_false(next());
	assert_int_equal(reading.file.n_records, 3);
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 3);
	assert_int_equal(reading.file.state, FSL_FILE_PARTIAL);
	assert_string_equal(reading.file.message,
			    "line 2: text after a closing quote; parse the capture again");
}

static void a_cut_row_is_not_used(void **state)
{
	(void)state;
	assert_true(open_text("Name,Time(us)\na,1\nb"));
	assert_true(next());
	assert_false(next());
	assert_int_equal(reading.file.n_dropped[FSL_DROP_CUT], 1);
	assert_string_equal(reading.file.message,
			    "line 3: the file ends inside a row; copy or parse it again");
}

static void a_quote_that_never_closes_costs_its_line(void **state)
{
	(void)state;
	assert_true(open_text("Name,Time(us)\na,\"1\nb,2\n"));
	assert_true(next());
	assert_false(next());
	assert_int_equal(reading.file.n_dropped[FSL_DROP_MALFORMED], 1);
}

static void a_quote_that_never_closes_in_the_last_line_is_a_cut(void **state)
{
	(void)state;
	assert_true(open_text("Name,Time(us)\na,1\nb,\"2"));
	assert_true(next());
	assert_false(next());
	assert_int_equal(reading.file.n_dropped[FSL_DROP_CUT], 1);
}

static void a_file_without_rows_is_empty(void **state)
{
	(void)state;
	assert_true(open_text("Name,Time(us)\n"));
	assert_false(next());
	assert_int_equal(reading.file.state, FSL_FILE_EMPTY);
	assert_string_equal(reading.file.message, "the file has only a header");
}

static void a_file_without_bytes_is_empty(void **state)
{
	(void)state;
	assert_false(open_text(""));
	assert_int_equal(reading.file.state, FSL_FILE_EMPTY);
}

static void a_needed_column_that_is_missing_is_named(void **state)
{
	(void)state;
	assert_false(open_text("Op Name,Time(ms)\na,1\n"));
	assert_int_equal(reading.file.state, FSL_FILE_UNUSABLE);
	assert_string_equal(reading.file.message,
			    "the header has no column \"Time(us)\"; parse the capture again");
}

static void a_missing_column_is_named_by_all_its_names(void **state)
{
	(void)state;
	assert_false(open_text("OpName,Time(us)\na,1\n"));
	assert_string_equal(reading.file.message, "the header has no column \"Name\" or \"Op "
						  "Name\"; parse the capture again");
}

static void a_header_that_is_too_wide_is_told(void **state)
{
	(void)state;
	char text[1024] = "Name,Time(us)";
	for (int i = 0; i < FSL_CSV_FIELDS_MAX; i++) {
		(void)snprintf(text + strlen(text), 16, ",pmu_%d", i);
	}
	assert_false(open_text(text));
	assert_int_equal(reading.file.state, FSL_FILE_UNUSABLE);
	assert_string_equal(reading.file.message,
			    "the header cannot be read: more than 64 columns; parse the capture "
			    "again, with fewer metrics where there are too many");
}

static void compressed_data_that_ends_early_is_told(void **state)
{
	(void)state;
	static const char gzip[] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	assert_false(open_bytes(gzip, sizeof(gzip)));
	assert_int_equal(reading.file.state, FSL_FILE_UNUSABLE);
	assert_string_equal(reading.file.message,
			    "the header cannot be read: compressed data is cut: path=\"memory\", "
			    "remedy=\"copy the file again\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(columns_are_found_by_any_of_their_names, setup,
						teardown),
		cmocka_unit_test_setup_teardown(blanks_and_one_pair_of_quotes_are_taken_off, setup,
						teardown),
		cmocka_unit_test_setup_teardown(missing_is_not_zero, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_are_those_of_the_exact_parser, setup,
						teardown),
		cmocka_unit_test_setup_teardown(any_number_is_that_of_the_exact_parser, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_field_may_hold_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(only_the_first_fault_is_told_and_all_are_counted,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_cut_row_is_not_used, setup, teardown),
		cmocka_unit_test_setup_teardown(a_quote_that_never_closes_costs_its_line, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_quote_that_never_closes_in_the_last_line_is_a_cut,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_without_rows_is_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_without_bytes_is_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(a_needed_column_that_is_missing_is_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_missing_column_is_named_by_all_its_names, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_header_that_is_too_wide_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(compressed_data_that_ends_early_is_told, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

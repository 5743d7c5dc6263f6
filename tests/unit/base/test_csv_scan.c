/* Rows, quotes, broken rows and limits of the CSV scanner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv_scan.h"
#include "base/mem.h"
#include "fuzz/memory_reader.h"

/*
 * Everything the scanner says about a document as one text: fields in [..], a row per line with its
 * line number and offset in front; "~" marks a row without newline.
 */
static char *describe(struct fsl_reader *reader, enum fsl_status *status, struct fsl_error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct fsl_csv *csv = fsl_csv_create(reader);
	assert_non_null(reader);
	assert_non_null(out);
	assert_non_null(csv);
	static struct fsl_csv_row row;
	for (;;) {
		*status = fsl_csv_next(csv, &row, err);
		if (*status != FSL_OK || row.state == FSL_CSV_END) {
			break;
		}
		(void)fprintf(out, "%llu@%llu", (unsigned long long)row.line,
			      (unsigned long long)row.offset);
		for (size_t i = 0; i < row.n_fields; i++) {
			(void)fputc('[', out);
			(void)fwrite(row.fields[i].text, 1, row.fields[i].length, out);
			(void)fputc(']', out);
		}
		if (row.state == FSL_CSV_BAD_ROW || row.state == FSL_CSV_CUT_ROW) {
			assert_int_equal(row.n_fields, 0);
			(void)fprintf(out, "%s %s", row.state == FSL_CSV_BAD_ROW ? "BAD" : "CUT",
				      row.reason);
		}
		(void)fputs(row.has_newline ? "\n" : "~\n", out);
	}
	if (*status == FSL_OK) {
		assert_int_equal(fsl_csv_next(csv, &row, err), FSL_OK);
		assert_int_equal(row.state, FSL_CSV_END);
	}
	fsl_csv_destroy(csv);
	fsl_reader_close(reader);
	(void)fclose(out);
	return text;
}

#define X_50   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define FILLER X_50 X_50 X_50 X_50 X_50 X_50 /* longer than a row that is read as a whole */

/* Whole, and through a pipe in pieces of every size that the pipe can hold. */
static void check_bytes(const char *document, size_t length, const char *wanted)
{
	for (size_t chunk = 0; chunk <= length && chunk < 12; chunk++) {
		if (chunk > 0 && length / chunk > 200) {
			continue;
		}
		enum fsl_status status = FSL_OK;
		char *text = describe(chunk == 0 ? memory_reader(document, length)
						 : chunked_reader(document, length, chunk),
				      &status, NULL);
		assert_int_equal(status, FSL_OK);
		if (strcmp(text, wanted) != 0) {
			fail_msg("chunk=%zu: \"%s\" instead of \"%s\"", chunk, text, wanted);
		}
		free(text);
	}
}

static void check(const char *document, const char *wanted)
{
	check_bytes(document, strlen(document), wanted);
}

static void plain_rows_become_fields(void **state)
{
	(void)state;
	check("Id,Name\n1,a\n2,b\n", "1@0[Id][Name]\n2@8[1][a]\n3@12[2][b]\n");
	check("a,,b\n", "1@0[a][][b]\n");
	check(",\n", "1@0[][]\n");
	check("one\n", "1@0[one]\n");
	check(" a , b \n", "1@0[ a ][ b ]\n");
}

static void line_ends_are_newline_or_both_or_the_end_of_the_file(void **state)
{
	(void)state;
	check("", "");
	check("a,b\r\nc,d\r\n", "1@0[a][b]\n2@5[c][d]\n");
	check("a,b\nc,d", "1@0[a][b]\n2@4[c][d]~\n");
	check("a,b\nc,", "1@0[a][b]\n2@4[c][]~\n");
	check("a,b\r", "1@0[a][b]~\n");
	check("a\rb,c\n", "1@0[a\rb][c]\n");
	check("\"a\"\r\n\"b\"\r", "1@0[a]\n2@5[b]~\n");
}

static void empty_lines_are_skipped_but_counted(void **state)
{
	(void)state;
	check("\n\na\n\r\n\nb\n\n", "3@2[a]\n6@7[b]\n");
	check("\n", "");
	check("\r\n", "");
	check("\r", "");
	check("\"\"\n", "1@0[]\n");
	check(" \n", "1@0[ ]\n");
}

static void quotes_protect_commas_newlines_and_quotes(void **state)
{
	(void)state;
	check("\"a,b\",c\n", "1@0[a,b][c]\n");
	check("\"a\nb\",c\nd\n", "1@0[a\nb][c]\n3@8[d]\n");
	check("\"a\r\nb\"\nd\n", "1@0[a\r\nb]\n3@7[d]\n");
	check("\"a\"\"b\",\"\"\"\",\"\",\"c\"\n", "1@0[a\"b][\"][][c]\n");
	check("1,\"x\"", "1@0[1][x]~\n");
	check("\"{\"\"streamId\"\": \"\"7\"\"}\",\"c\"\"d\",e\n",
	      "1@0[{\"streamId\": \"7\"}][c\"d][e]\n");
}

static void a_quote_inside_an_unquoted_field_is_a_byte(void **state)
{
	(void)state;
	check("a\"b,c\"\n", "1@0[a\"b][c\"]\n");
	check("a\"\"b\n", "1@0[a\"\"b]\n");
	check(" \"a\"\n", "1@0[ \"a\"]\n");
}

static void nul_bytes_are_kept(void **state)
{
	(void)state;
	enum fsl_status status = FSL_OK;
	struct fsl_reader *reader = memory_reader("a\0b,\"\0\"\n", 8);
	struct fsl_csv *csv = fsl_csv_create(reader);
	static struct fsl_csv_row row;
	status = fsl_csv_next(csv, &row, NULL);
	assert_int_equal(status, FSL_OK);
	assert_int_equal(row.n_fields, 2);
	assert_int_equal(row.fields[0].length, 3);
	assert_memory_equal(row.fields[0].text, "a\0b", 3);
	assert_int_equal(row.fields[1].length, 1);
	assert_int_equal(row.fields[1].text[0], 0);
	fsl_csv_destroy(csv);
	fsl_reader_close(reader);
}

static void a_byte_order_mark_is_skipped_at_the_start_only(void **state)
{
	(void)state;
	check("\xef\xbb\xbfId,x\n", "1@3[Id][x]\n");
	check("\xef\xbb\xbf", "");
	check("\xef\xbb", "1@0[\xef\xbb]~\n");
	check("a\n\xef\xbb\xbf"
	      "b\n",
	      "1@0[a]\n2@2[\xef\xbb\xbf"
	      "b]\n");
}

static void a_bad_row_costs_one_line(void **state)
{
	(void)state;
	check("a,\"b\"c,d\ne\n", "1@0BAD text after a closing quote\n2@9[e]\n");
	check("\"a\"b", "1@0BAD text after a closing quote~\n");
	check("\"a\"\rb\nc\n", "1@0BAD text after a closing quote\n2@6[c]\n");
	check("1,\"x\n2,y\n3,\"z\"\n4,w\n",
	      "1@0BAD text after a closing quote\n2@5[2][y]\n3@9[3][z]\n4@15[4][w]\n");
}

static void a_file_that_ends_in_quotes_is_cut(void **state)
{
	(void)state;
	check("a\n\"b", "1@0[a]\n2@2CUT the file ends inside a quoted field~\n");
	check("\"b\"\"", "1@0CUT the file ends inside a quoted field~\n");
	check("\"", "1@0CUT the file ends inside a quoted field~\n");
}

static void a_quote_that_nothing_closes_costs_one_line(void **state)
{
	(void)state;
	check("\"\n\n", "1@0BAD the file ends inside a quoted field\n");
	check("a,\"b\nc,d\ne,f",
	      "1@0BAD the file ends inside a quoted field\n2@5[c][d]\n3@9[e][f]~\n");
	check("a\n\"b\"c\n\"d\ne\n\"f",
	      "1@0[a]\n2@2BAD text after a closing quote\n3@7BAD text after a closing quote\n"
	      "4@10[e]\n5@12CUT the file ends inside a quoted field~\n");
}

static void more_than_64_columns_are_a_bad_row(void **state)
{
	(void)state;
	char text[600] = "", wanted[600] = "1@0";
	for (int i = 0; i < 64; i++) {
		(void)strcat(text, i > 0 ? ",x" : "x");
		(void)strcat(wanted, "[x]");
	}
	(void)strcat(text, "\ny\n");
	(void)strcat(wanted, "\n2@128[y]\n");
	enum fsl_status status = FSL_OK;
	char *got = describe(memory_reader(text, strlen(text)), &status, NULL);
	assert_string_equal(got, wanted);
	free(got);
	text[127] = ','; /* the row now goes on with "y" */
	(void)strcat(text, FILLER "\n");
	got = describe(memory_reader(text, strlen(text)), &status, NULL);
	assert_string_equal(got, "1@0BAD more than 64 columns\n2@130[" FILLER "]\n");
	free(got);
}

/* Rows that begin or end at every place around the first block's end. */
static void block_ends_change_nothing(void **state)
{
	(void)state;
	static const char tail[] = "ab,\"c\"\"d\",\"e\nf\",g\r\n\r\n\"h\",\nlast,\"i\"";
	const size_t n_tail = sizeof(tail) - 1;
	for (size_t back = 0; back <= n_tail + 2; back++) {
		size_t n_filler = FSL_FILE_BLOCK_BYTES - back;
		char *text = malloc(n_filler + n_tail);
		assert_non_null(text);
		memset(text, 'f', n_filler);
		text[n_filler - 1] = '\n';
		memcpy(text + n_filler, tail, n_tail);
		enum fsl_status status = FSL_OK;
		char *got = describe(memory_reader(text, n_filler + n_tail), &status, NULL);
		char wanted[200];
		(void)snprintf(wanted, sizeof(wanted),
			       "2@%zu[ab][c\"d][e\nf][g]\n5@%zu[h][]\n6@%zu[last][i]~\n", n_filler,
			       n_filler + 21, n_filler + 26);
		assert_int_equal(status, FSL_OK);
		assert_string_equal(strchr(got, '\n') + 1, wanted);
		free(got);
		free(text);
	}
}

/* The row [..] of @n_x bytes 'x', @n_fields fields and @end, in front of enough for it to be read
 * as a whole: its length and columns are around what that can read. */
static void check_between(size_t n_x, size_t n_fields, const char *end)
{
	char *text = NULL, *wanted = NULL;
	size_t n_text = 0, n_wanted = 0;
	FILE *out = open_memstream(&text, &n_text);
	FILE *expect = open_memstream(&wanted, &n_wanted);
	assert_non_null(out);
	assert_non_null(expect);
	(void)fputs("head\n", out);
	(void)fputs("1@0[head]\n2@5", expect);
	for (size_t i = 0; i < n_fields; i++) {
		int width = i == 0 ? (int)n_x : 0;
		(void)fprintf(out, "%s%.*s", i > 0 ? "," : "", width, FILLER);
		(void)fprintf(expect, "[%.*s]", width, FILLER);
	}
	(void)fprintf(out, "%s%s\n", end, FILLER);
	(void)fflush(out);
	(void)fprintf(expect, "\n3@%zu[%s]\n", n_text - strlen(FILLER) - 1, FILLER);
	(void)fclose(out);
	(void)fclose(expect);
	enum fsl_status status = FSL_OK;
	char *got = describe(memory_reader(text, n_text), &status, NULL);
	assert_int_equal(status, FSL_OK);
	assert_string_equal(got, wanted);
	free(got);
	free(wanted);
	free(text);
}

static void rows_of_any_length_and_columns_are_read_alike(void **state)
{
	(void)state;
	for (size_t n_x = 1; n_x < strlen(FILLER); n_x++) {
		check_between(n_x, 1, "\n");
		check_between(n_x, 2, "\r\n");
		check_between(n_x, 10, "\n");
		check_between(n_x, FSL_CSV_FIELDS_MAX, "\n");
	}
	for (size_t n_fields = 2; n_fields <= FSL_CSV_FIELDS_MAX; n_fields++) {
		check_between(0, n_fields, "\n");
		check_between(0, n_fields, "\r\n");
	}
	check("head\n\n\r\n\na\r\n\r\r\n" FILLER "\n",
	      "1@0[head]\n5@9[a]\n6@12[\r]\n7@15[" FILLER "]\n");
	check("head\na,\"b\",c\"d\nc\"d,e\n" FILLER "\n",
	      "1@0[head]\n2@5[a][b][c\"d]\n3@15[c\"d][e]\n4@21[" FILLER "]\n");
}

/* Rows of 10 bytes each. */
static void plain_rows_end_in_front_of_the_fence(void **state)
{
	(void)state;
	enum { ROWS = 100, ROW_BYTES = 10 };
	char text[ROWS * ROW_BYTES + 1] = "";
	for (size_t i = 0; i < ROWS; i++) {
		memcpy(text + i * ROW_BYTES, "abcd,1234\n", ROW_BYTES);
	}
	for (uint64_t fence = 0; fence <= ROWS * ROW_BYTES; fence++) {
		static struct fsl_csv_plain plain;
		struct fsl_csv *csv = fsl_csv_create_over(text, ROWS * ROW_BYTES);
		assert_non_null(csv);
		fsl_csv_set_fence(csv, fence);
		uint64_t n = 0;
		for (; fsl_csv_next_plain(csv, &plain); n++) {
			assert_int_equal(fsl_csv_offset(csv), (n + 1) * ROW_BYTES);
			assert_int_equal(plain.n_fields, 2);
		}
		uint64_t n_free =
			fence < FSL_CSV_PLAIN_REACH_BYTES ? 0 : fence - FSL_CSV_PLAIN_REACH_BYTES;
		bool has_any = fence >= FSL_CSV_PLAIN_REACH_BYTES;
		assert_int_equal(n, has_any ? n_free / ROW_BYTES + 1 : 0);
		fsl_csv_set_fence(csv, UINT64_MAX);
		for (; fsl_csv_next_plain(csv, &plain); n++) {
		}
		assert_int_equal(n, (ROWS * ROW_BYTES - FSL_CSV_PLAIN_REACH_BYTES) / ROW_BYTES + 1);
		fsl_csv_destroy(csv);
	}
}

static void a_plain_row_put_back_is_read_again_at_its_place(void **state)
{
	(void)state;
	const char document[] = "head\na,,b\r\n\"q\",c\n" FILLER "\n";
	struct fsl_reader *reader = memory_reader(document, sizeof(document) - 1);
	struct fsl_csv *csv = fsl_csv_create(reader);
	static struct fsl_csv_row row;
	static struct fsl_csv_plain plain;
	assert_false(fsl_csv_next_plain(csv, &plain)); /* nothing is in memory yet */
	assert_int_equal(fsl_csv_next(csv, &row, NULL), FSL_OK);
	for (int round = 0; round < 2; round++) {
		assert_true(fsl_csv_next_plain(csv, &plain));
		assert_int_equal(plain.n_fields, 3);
		assert_int_equal(fsl_csv_plain_field(&plain, 0).length, 1);
		assert_int_equal(fsl_csv_plain_field(&plain, 1).length, 0);
		assert_int_equal(fsl_csv_plain_field(&plain, 2).length, 1);
		assert_int_equal(*fsl_csv_plain_field(&plain, 2).text, 'b');
		fsl_csv_put_back(csv, &plain);
	}
	assert_int_equal(fsl_csv_next(csv, &row, NULL), FSL_OK);
	assert_int_equal(row.line, 2);
	assert_int_equal(row.offset, 5);
	assert_int_equal(row.n_fields, 3);
	assert_false(fsl_csv_next_plain(csv, &plain)); /* quotes */
	assert_int_equal(fsl_csv_next(csv, &row, NULL), FSL_OK);
	assert_int_equal(row.line, 3);
	assert_int_equal(row.offset, 11);
	fsl_csv_destroy(csv);
	fsl_reader_close(reader);
}

/* A document of @n_first bytes 'x' and then @tail. */
static void check_long(const char *head, size_t n_first, const char *tail, const char *wanted)
{
	size_t n_head = strlen(head), n_tail = strlen(tail);
	char *text = malloc(n_head + n_first + n_tail);
	assert_non_null(text);
	memcpy(text, head, n_head);
	memset(text + n_head, 'x', n_first);
	memcpy(text + n_head + n_first, tail, n_tail);
	enum fsl_status status = FSL_OK;
	char *got = describe(memory_reader(text, n_head + n_first + n_tail), &status, NULL);
	assert_int_equal(status, FSL_OK);
	if (strlen(got) > 1000) {
		got[1000] = '\0';
	}
	assert_memory_equal(got, wanted, strlen(wanted));
	free(got);
	free(text);
}

static void a_row_over_the_limit_is_bad_and_skipped(void **state)
{
	(void)state;
	const size_t limit = FSL_LINE_BYTES_MAX;
	check_long("", limit - 1, "\nnext\n", "1@0[xxx");
	check_long("", limit, "\nnext\n", "1@0BAD row longer than 4 MiB\n2@4194305[next]\n");
	check_long("", 3 * limit, "\nnext\n", "1@0BAD row longer than 4 MiB\n2@12582913[next]\n");
	check_long("", 2 * limit, "", "1@0BAD row longer than 4 MiB~\n");
	/* An open quote: only its own line is lost. */
	check_long("a,\"\nb\n", 2 * limit, "\nc\n",
		   "1@0BAD row longer than 4 MiB\n2@4[b]\n3@6BAD row longer than 4 MiB\n4@");
}

static void a_cut_gzip_file_gives_its_rows_and_then_the_error(void **state)
{
	(void)state;
	/* gzip of "a,b\nc,d\n" in a stored block, without the 8 bytes of the trailer */
	static const char packed[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x08\0\xf7\xff"
				     "a,b\nc,d\n";
	struct fsl_error err = {0};
	enum fsl_status status = FSL_OK;
	char *got = describe(memory_reader(packed, sizeof(packed) - 1), &status, &err);
	assert_string_equal(got, "1@0[a][b]\n2@4[c][d]\n");
	assert_int_equal(status, FSL_ERR_FORMAT);
	assert_non_null(strstr(fsl_error_root(&err), "compressed data is cut"));
	free(got);
	fsl_error_clear(&err);
	got = describe(memory_reader(packed, sizeof(packed) - 3), &status, &err);
	assert_string_equal(got, "1@0[a][b]\n2@4[c][]~\n");
	assert_int_equal(status, FSL_ERR_FORMAT);
	free(got);
}

static void columns_are_found_by_exact_name(void **state)
{
	(void)state;
	struct fsl_reader *reader = memory_reader("Id,Name,\"Na,me\",Name\n", 21);
	struct fsl_csv *csv = fsl_csv_create(reader);
	static struct fsl_csv_row row;
	assert_int_equal(fsl_csv_next(csv, &row, NULL), FSL_OK);
	assert_int_equal(fsl_csv_column(&row, "Id"), 0);
	assert_int_equal(fsl_csv_column(&row, "Name"), 1);
	assert_int_equal(fsl_csv_column(&row, "Na,me"), 2);
	assert_true(fsl_csv_column(&row, "Nam") == SIZE_MAX);
	assert_true(fsl_csv_column(&row, "id") == SIZE_MAX);
	fsl_csv_destroy(csv);
	fsl_csv_destroy(NULL);
	fsl_reader_close(reader);
}

static void destroy_leaves_the_reader_behind_the_last_row(void **state)
{
	(void)state;
	struct fsl_reader *reader = memory_reader("a\nb\nc\n", 6);
	struct fsl_csv *csv = fsl_csv_create(reader);
	static struct fsl_csv_row row;
	assert_int_equal(fsl_csv_next(csv, &row, NULL), FSL_OK);
	assert_int_equal(fsl_csv_next(csv, &row, NULL), FSL_OK);
	fsl_csv_destroy(csv);
	assert_int_equal(fsl_reader_offset(reader), 4);
	fsl_reader_close(reader);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	/* A row longer than the first buffer, and doubled quotes, which need a copy. */
	size_t n = 600000;
	char *text = malloc(n);
	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text, "\"a\"\"b\",", 7);
	text[n - 1] = '\n';
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 0;
	while (status != FSL_OK && nth < 50) {
		static struct fsl_csv_row row;
		struct fsl_error err = {0};
		fsl_mem_fail_at(++nth);
		struct fsl_reader *reader = memory_reader(text, n);
		struct fsl_csv *csv = reader != NULL ? fsl_csv_create(reader) : NULL;
		status = csv != NULL ? fsl_csv_next(csv, &row, &err) : FSL_ERR_MEMORY;
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		fsl_csv_destroy(csv);
		fsl_reader_close(reader);
	}
	assert_int_equal(status, FSL_OK);
	assert_true(nth > 5);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_rows_become_fields),
		cmocka_unit_test(line_ends_are_newline_or_both_or_the_end_of_the_file),
		cmocka_unit_test(empty_lines_are_skipped_but_counted),
		cmocka_unit_test(quotes_protect_commas_newlines_and_quotes),
		cmocka_unit_test(a_quote_inside_an_unquoted_field_is_a_byte),
		cmocka_unit_test(nul_bytes_are_kept),
		cmocka_unit_test(a_byte_order_mark_is_skipped_at_the_start_only),
		cmocka_unit_test(a_bad_row_costs_one_line),
		cmocka_unit_test(a_file_that_ends_in_quotes_is_cut),
		cmocka_unit_test(a_quote_that_nothing_closes_costs_one_line),
		cmocka_unit_test(more_than_64_columns_are_a_bad_row),
		cmocka_unit_test(block_ends_change_nothing),
		cmocka_unit_test(rows_of_any_length_and_columns_are_read_alike),
		cmocka_unit_test(plain_rows_end_in_front_of_the_fence),
		cmocka_unit_test(a_plain_row_put_back_is_read_again_at_its_place),
		cmocka_unit_test(a_row_over_the_limit_is_bad_and_skipped),
		cmocka_unit_test(a_cut_gzip_file_gives_its_rows_and_then_the_error),
		cmocka_unit_test(columns_are_found_by_exact_name),
		cmocka_unit_test(destroy_leaves_the_reader_behind_the_last_row),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

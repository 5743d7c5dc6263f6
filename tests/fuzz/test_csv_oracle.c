/*
 * The CSV scanner against libcsv, on generated and mutated documents. If both define the result,
 * they agree. In these cases they differ:
 * - a carriage return alone ends a row for libcsv and is a byte for us: such documents are left
 *   out;
 * - text behind a closing quote is a bad row for us; libcsv swallows it or, when strict, stops;
 * - a quote inside an unquoted field is a byte for us and for the lenient libcsv; the strict one
 *   stops, so that "libcsv strict accepts" implies "we accept", not the other way round;
 * - more than 64 columns are a bad row for us: the documents have fewer;
 * - libcsv trims blanks around unquoted fields unless told otherwise: it is told otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <csv.h>

#include "base/csv_scan.h"
#include "base/mem.h"
#include "fuzz/memory_reader.h"
#include "fuzz/packing.h"
#include "fuzz/random_text.h"

enum { DOCUMENTS_N = 5000 / FSL_TEST_COST, SEED = 1, FILLER_ROWS_N = 10 };

/* Rows as one text: fields end with 0x1f, rows with 0x1e. */
struct rows {
	char *text;
	size_t length, capacity;
	bool is_clean; /* nothing was refused */
};

static void rows_add(struct rows *rows, const char *text, size_t length, char end)
{
	assert_int_equal(FSL_GROW(rows->text, rows->capacity, rows->length + length + 1, NULL),
			 FSL_OK);
	if (length > 0) {
		memcpy(rows->text + rows->length, text, length);
	}
	rows->length += length;
	rows->text[rows->length++] = end;
}

static struct rows read_ours(struct fsl_reader *reader)
{
	struct rows rows = {.is_clean = true};
	static struct fsl_csv_row row;
	assert_non_null(reader);
	struct fsl_csv *csv = fsl_csv_create(reader);
	assert_non_null(csv);
	for (;;) {
		assert_int_equal(fsl_csv_next(csv, &row, NULL), FSL_OK);
		if (row.state == FSL_CSV_END) {
			break;
		}
		rows.is_clean = rows.is_clean && row.state == FSL_CSV_ROW;
		for (size_t i = 0; i < row.n_fields; i++) {
			rows_add(&rows, row.fields[i].text, row.fields[i].length, '\x1f');
		}
		rows_add(&rows, NULL, 0, '\x1e');
	}
	fsl_csv_destroy(csv);
	fsl_reader_close(reader);
	return rows;
}

static void on_field(void *text, size_t length, void *rows)
{
	rows_add(rows, text, length, '\x1f');
}

static void on_row(int end, void *rows)
{
	(void)end;
	rows_add(rows, NULL, 0, '\x1e');
}

static int is_never_space(unsigned char c)
{
	(void)c;
	return 0;
}

static struct rows read_theirs(const struct document *document, unsigned char options)
{
	struct rows rows = {.is_clean = true};
	struct csv_parser parser;
	assert_int_equal(csv_init(&parser, options), 0);
	csv_set_space_func(&parser, is_never_space);
	size_t n = csv_parse(&parser, document->text, document->length, on_field, on_row, &rows);
	rows.is_clean = n == document->length && csv_fini(&parser, on_field, on_row, &rows) == 0;
	csv_free(&parser);
	return rows;
}

static bool has_lone_return(const struct document *document)
{
	for (size_t i = 0; i < document->length; i++) {
		if (document->text[i] == '\r' && document->text[i + 1] != '\n') {
			return true;
		}
	}
	return false;
}

/* Rows whose end is near that of the window are read field by field, the others as a whole: with
 * this behind it a document has rows of both kinds. */
static void add_filler(struct document *document)
{
	for (size_t n = 0; n < FILLER_ROWS_N; n++) {
		document_add(document, "16,5008,1,,1,1750000014006788225,0,2,0,2\n");
	}
}

/* Mostly well formed: markers, statistics with quotes, line ends of both kinds. */
static void generate(struct document *document, uint64_t *random)
{
	static const char *const fields[] = {
		"",
		"16",
		"1749971240123456789",
		"comm:HcclAllreduce:dp",
		" blank ",
		"\"quoted\"",
		"\"a,b\"",
		"\"a\"\"b\"",
		"\"\"",
		"\"two\nlines\"",
		"\"two\r\nlines\"",
		"\"\"\"\"",
		"\"{\"\"streamId\"\": \"\"7\"\"}\"",
		"a\"b",
		"1743675836123456.789\t",
		"a text that is longer than one block of sixty-four bytes, so that the index moves on",
	};
	document->length = 0;
	document->text[0] = '\0';
	for (size_t row = random_below(random, 8); row > 0; row--) {
		for (size_t n = random_below(random, 7); n > 0; n--) {
			size_t i = random_below(random, sizeof(fields) / sizeof(fields[0]));
			document_add(document, fields[i]);
			document_add(document, n > 1 ? "," : "");
		}
		document_add(document, random_below(random, 3) == 0 ? "\r\n" : "\n");
	}
	if (random_below(random, 2) == 0) {
		add_filler(document);
	}
}

static bool is_equal(const struct rows *a, const struct rows *b)
{
	return a->length == b->length &&
	       (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}

/* Returns whether both sides defined the result. */
static bool compare(const struct document *document, uint64_t seed)
{
	struct rows ours = read_ours(memory_reader(document->text, document->length));
	struct rows strict = read_theirs(document, CSV_STRICT | CSV_STRICT_FINI);
	struct rows lenient = read_theirs(document, 0);
	if ((strict.is_clean && !ours.is_clean) || (ours.is_clean && !is_equal(&ours, &lenient))) {
		fail_msg("seed=%llu, document:\n%s\n-- ours:\n%.*s\n-- libcsv:\n%.*s",
			 (unsigned long long)seed, document->text, (int)ours.length, ours.text,
			 (int)lenient.length, lenient.text);
	}
	bool is_defined = ours.is_clean;
	fsl_free(ours.text);
	fsl_free(strict.text);
	fsl_free(lenient.text);
	return is_defined;
}

static void generated_documents_read_like_libcsv(void **state)
{
	(void)state;
	static struct document document;
	size_t n_defined = 0;
	for (uint64_t seed = SEED; seed < SEED + DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		generate(&document, &random);
		n_defined += compare(&document, seed);
	}
	assert_int_equal(n_defined, DOCUMENTS_N); /* none of them is refused */
}

static void mutated_documents_read_like_libcsv_or_are_refused(void **state)
{
	(void)state;
	static struct document document;
	size_t n_defined = 0, n_left_out = 0;
	for (uint64_t seed = SEED; seed < SEED + DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		generate(&document, &random);
		document_mutate(&document, "\"\",,\n\r a1", &random);
		if (has_lone_return(&document)) {
			n_left_out++;
			continue;
		}
		n_defined += compare(&document, seed);
	}
	assert_true(n_left_out < DOCUMENTS_N / 4);
	assert_true(n_defined > DOCUMENTS_N / 4 && n_defined < DOCUMENTS_N - n_left_out);
}

static void pieces_read_like_the_whole(void **state)
{
	(void)state;
	static struct document document;
	for (uint64_t seed = SEED; seed < SEED + DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		generate(&document, &random);
		document_mutate(&document, "\"\",,\n\r a1", &random);
		size_t n_chunk = 1 + random_below(&random, 20);
		if (document.length / n_chunk > 200) {
			continue;
		}
		struct rows whole = read_ours(memory_reader(document.text, document.length));
		struct rows pieces =
			read_ours(chunked_reader(document.text, document.length, n_chunk));
		if (whole.is_clean != pieces.is_clean || !is_equal(&whole, &pieces)) {
			fail_msg("seed=%llu, chunk=%zu", (unsigned long long)seed, n_chunk);
		}
		fsl_free(whole.text);
		fsl_free(pieces.text);
	}
}

static void packed_documents_read_like_plain_ones(void **state)
{
	(void)state;
	static struct document document;
	for (uint64_t seed = SEED; seed < SEED + DOCUMENTS_N / 10; seed++) {
		uint64_t random = seed;
		generate(&document, &random);
		document_mutate(&document, "\"\",,\n\r a1", &random);
		struct rows whole = read_ours(memory_reader(document.text, document.length));
		for (int is_zstd = 0; is_zstd < 2; is_zstd++) {
			struct blob file = is_zstd ? zstd_of(document.text, document.length)
						   : gzip_of(document.text, document.length);
			struct rows packed = read_ours(memory_reader(file.data, file.n_bytes));
			assert_true(is_equal(&whole, &packed));
			fsl_free(packed.text);
			free(file.data);
		}
		fsl_free(whole.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generated_documents_read_like_libcsv),
		cmocka_unit_test(mutated_documents_read_like_libcsv_or_are_refused),
		cmocka_unit_test(pieces_read_like_the_whole),
		cmocka_unit_test(packed_documents_read_like_plain_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

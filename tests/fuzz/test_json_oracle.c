/*
 * The JSON tokenizer against cJSON, on generated and mutated documents. Documents that both accept
 * have the same structure, strings and numbers, and both refuse the same documents. Intended
 * differences:
 * - cJSON takes 01, +1 and the like as numbers, \\u with wrong digits as NUL, control characters in
 *   strings, bytes that are not UTF-8, any byte below 0x21 as white space, and ignores what follows
 *   the first value;
 * - cJSON refuses half a surrogate pair, which is U+FFFD for us, and ends strings at \u0000:
 *   documents with either are left out;
 * - we keep the text of numbers; the comparison goes through strtod, as cJSON does.
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

#include <cjson/cJSON.h>

#include "base/json_stream.h"
#include "base/mem.h"
#include "fuzz/memory_reader.h"
#include "fuzz/packing.h"
#include "fuzz/random_text.h"

enum { DOCUMENTS_N = 5000 / FSL_TEST_COST, SEED = 1, DEPTH_MAX = 5 };

static const char *const strings[] = {
	"\"\"",
	"\"Id\"",
	"\"Timestamp\"",
	"\"comm:HcclAllreduce:dp\"",
	"\"a string that is longer than one block of sixteen bytes\"",
	"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
	"\"\\u00e9\\u20AC\\ud83d\\ude00\"",
	"\"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80\"",
	"\"[1,{\"",
};

static const char *const scalars[] = {
	"0",
	"-0",
	"12",
	"1743675836123456789",
	"1743675836123456.789",
	"-1.5e-3",
	"1E+05",
	"18446744073709551616",
	"true",
	"false",
	"null",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add_space(struct document *document, uint64_t *random)
{
	static const char *const spaces[] = {"", "", "", " ", "\n", "\r\n", "\t ", "  "};
	document_add(document, spaces[random_below(random, COUNT(spaces))]);
}

static void add_value(struct document *document, int depth, uint64_t *random);

/* An object or array. The test's own recursion is bounded by DEPTH_MAX. */
static void add_group(struct document *document, bool is_object, int depth, uint64_t *random)
{
	document_add(document, is_object ? "{" : "[");
	for (size_t n = random_below(random, 5); n > 0; n--) {
		add_space(document, random);
		if (is_object) {
			document_add(document, strings[random_below(random, COUNT(strings))]);
			add_space(document, random);
			document_add(document, ":");
			add_space(document, random);
		}
		add_value(document, depth + 1, random);
		add_space(document, random);
		document_add(document, n > 1 ? "," : "");
	}
	document_add(document, is_object ? "}" : "]");
}

static void add_value(struct document *document, int depth, uint64_t *random)
{
	size_t kind = random_below(random, depth < DEPTH_MAX ? 5 : 2);
	if (kind == 0) {
		document_add(document, strings[random_below(random, COUNT(strings))]);
	} else if (kind == 1) {
		document_add(document, scalars[random_below(random, COUNT(scalars))]);
	} else {
		add_group(document, kind == 2, depth, random);
	}
}

/* False for the few documents that did not fit. */
static bool generate(struct document *document, uint64_t *random)
{
	document->length = 0;
	document->text[0] = '\0';
	add_space(document, random);
	add_value(document, 0, random);
	add_space(document, random);
	return document->length < DOCUMENT_BYTES_MAX - 200;
}

/* A document as one text, a line per token: "k Id", "n 12", "s text", "{", "]", ... */
struct tokens {
	char *text;
	size_t size;
	bool is_good;
	size_t n_values;      /* at the top */
	struct fsl_error err; /* why it is not good */
};

/* Prints a number as strtod reads it, so that both sides can be compared. */
static void print_number(FILE *out, double value)
{
	(void)fprintf(out, "n %.17g\n", value);
}

static void print_token(FILE *out, const struct fsl_json_value *value)
{
	char number[DOCUMENT_BYTES_MAX + 1];
	switch (value->token) {
	case FSL_JSON_OBJECT_BEGIN:
	case FSL_JSON_OBJECT_END:
	case FSL_JSON_ARRAY_BEGIN:
	case FSL_JSON_ARRAY_END:
		(void)fprintf(out, "%c\n", "{}[]"[value->token - FSL_JSON_OBJECT_BEGIN]);
		break;
	case FSL_JSON_KEY:
	case FSL_JSON_STRING:
		(void)fputs(value->token == FSL_JSON_KEY ? "k " : "s ", out);
		(void)fwrite(value->text, 1, value->length, out);
		(void)fputc('\n', out);
		break;
	case FSL_JSON_NUMBER:
		memcpy(number, value->text, value->length);
		number[value->length] = '\0';
		print_number(out, strtod(number, NULL));
		break;
	case FSL_JSON_TRUE:
	case FSL_JSON_FALSE:
	case FSL_JSON_NULL:
	case FSL_JSON_END:
		(void)fprintf(out, "%.*s\n", (int)value->length, value->text);
		break;
	}
}

static struct tokens read_ours(struct fsl_reader *reader)
{
	struct tokens tokens = {0};
	FILE *out = open_memstream(&tokens.text, &tokens.size);
	assert_non_null(reader);
	assert_non_null(out);
	struct fsl_json *json = fsl_json_create(reader);
	assert_non_null(json);
	for (;;) {
		struct fsl_json_value value;
		tokens.n_values += fsl_json_depth(json) == 0;
		enum fsl_status status = fsl_json_next(json, &value, &tokens.err);
		if (status != FSL_OK || value.token == FSL_JSON_END) {
			tokens.is_good = status == FSL_OK;
			tokens.n_values--; /* the end is none */
			break;
		}
		print_token(out, &value);
	}
	fsl_json_destroy(json);
	fsl_reader_close(reader);
	(void)fclose(out);
	return tokens;
}

static void print_tree(FILE *out, const cJSON *item)
{
	if (item->string != NULL) {
		(void)fprintf(out, "k %s\n", item->string);
	}
	if (cJSON_IsObject(item) || cJSON_IsArray(item)) {
		(void)fputs(cJSON_IsObject(item) ? "{\n" : "[\n", out);
		for (const cJSON *child = item->child; child != NULL; child = child->next) {
			print_tree(out, child);
		}
		(void)fputs(cJSON_IsObject(item) ? "}\n" : "]\n", out);
	} else if (cJSON_IsString(item)) {
		(void)fprintf(out, "s %s\n", item->valuestring);
	} else if (cJSON_IsNumber(item)) {
		print_number(out, item->valuedouble);
	} else {
		(void)fputs(cJSON_IsTrue(item)    ? "true\n"
			    : cJSON_IsFalse(item) ? "false\n"
						  : "null\n",
			    out);
	}
}

static struct tokens read_theirs(const struct document *document)
{
	struct tokens tokens = {0};
	cJSON *tree = cJSON_ParseWithOpts(document->text, NULL, true);
	tokens.is_good = tree != NULL;
	if (tree != NULL) {
		FILE *out = open_memstream(&tokens.text, &tokens.size);
		assert_non_null(out);
		print_tree(out, tree);
		(void)fclose(out);
		cJSON_Delete(tree);
	}
	return tokens;
}

/* True for documents on which both differ on purpose, see above: half pairs and NULs by escape. */
static bool is_left_out(const struct document *document, const struct tokens *ours)
{
	return strstr(document->text, "\\u0000") != NULL || ours->n_values != 1 ||
	       (ours->text != NULL && strstr(ours->text, "\xef\xbf\xbd") != NULL);
}

/* Refused by us alone: then for one of the things that cJSON lets pass. */
static bool is_stricter(const struct document *document, const struct tokens *ours)
{
	static const char *const reasons[] = {
		"wrong JSON number",
		"control character in a JSON string",
		"JSON string is not UTF-8",
		"wrong escape in a JSON string",
	};
	for (size_t i = 0; i < COUNT(reasons); i++) {
		if (strstr(fsl_error_root(&ours->err), reasons[i]) != NULL) {
			return true;
		}
	}
	/* "1." at the end of the file is cut for us; 0x01 is white space for cJSON. */
	return document->text[document->length - 1] == '.' ||
	       strchr(document->text, '\x01') != NULL;
}

static void check_refusal(const struct document *document, const struct tokens *ours, uint64_t seed)
{
	struct tokens theirs = read_theirs(document);
	if (theirs.is_good && document->length > 0 && !is_stricter(document, ours)) {
		fail_msg("seed=%llu, only cJSON accepts:\n%s\n-- our reason: %s",
			 (unsigned long long)seed, document->text, fsl_error_root(&ours->err));
	}
	free(theirs.text);
}

/* Returns whether we accept the document. */
static bool compare(const struct document *document, uint64_t seed)
{
	struct tokens ours = read_ours(memory_reader(document->text, document->length));
	bool is_good = ours.is_good;
	if (!is_good) {
		check_refusal(document, &ours, seed);
	}
	if (is_good && !is_left_out(document, &ours)) {
		struct tokens theirs = read_theirs(document);
		if (!theirs.is_good || strcmp(ours.text, theirs.text) != 0) {
			fail_msg("seed=%llu, document:\n%s\n-- ours:\n%s\n-- cJSON:\n%s",
				 (unsigned long long)seed, document->text, ours.text,
				 theirs.is_good ? theirs.text : "refused");
		}
		free(theirs.text);
	}
	free(ours.text);
	return is_good;
}

static void generated_documents_read_like_cjson(void **state)
{
	(void)state;
	static struct document document;
	size_t n_good = 0, n_compared = 0;
	for (uint64_t seed = SEED; seed < SEED + DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		if (generate(&document, &random)) {
			n_compared++;
			n_good += compare(&document, seed);
		}
	}
	assert_true(n_compared > DOCUMENTS_N / 2);
	assert_int_equal(n_good, n_compared); /* none of them is refused */
}

static void mutated_documents_read_like_cjson_or_are_refused(void **state)
{
	(void)state;
	static struct document document;
	size_t n_good = 0;
	for (uint64_t seed = SEED; seed < SEED + DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		if (generate(&document, &random)) {
			document_mutate(&document, "\"\\[]{},:0e-.u \xc3\xa9\x01x", &random);
			n_good += compare(&document, seed);
		}
	}
	assert_true(n_good > DOCUMENTS_N / 50 && n_good < DOCUMENTS_N / 2);
}

static void pieces_read_like_the_whole(void **state)
{
	(void)state;
	static struct document document;
	for (uint64_t seed = SEED; seed < SEED + DOCUMENTS_N; seed++) {
		uint64_t random = seed;
		if (!generate(&document, &random)) {
			continue;
		}
		document_mutate(&document, "\"\\[]{},:0e-.u \xc3\xa9\x01x", &random);
		size_t n_chunk = 1 + random_below(&random, 20);
		if (document.length / n_chunk > 200) {
			continue;
		}
		struct tokens whole = read_ours(memory_reader(document.text, document.length));
		struct tokens pieces =
			read_ours(chunked_reader(document.text, document.length, n_chunk));
		if (whole.is_good != pieces.is_good || strcmp(whole.text, pieces.text) != 0) {
			fail_msg("seed=%llu, chunk=%zu", (unsigned long long)seed, n_chunk);
		}
		free(whole.text);
		free(pieces.text);
	}
}

static void packed_documents_read_like_plain_ones(void **state)
{
	(void)state;
	static struct document document;
	for (uint64_t seed = SEED; seed < SEED + DOCUMENTS_N / 10; seed++) {
		uint64_t random = seed;
		if (!generate(&document, &random)) {
			continue;
		}
		document_mutate(&document, "\"\\[]{},:0e-.u \xc3\xa9\x01x", &random);
		struct tokens whole = read_ours(memory_reader(document.text, document.length));
		for (int is_zstd = 0; is_zstd < 2; is_zstd++) {
			struct blob file = is_zstd ? zstd_of(document.text, document.length)
						   : gzip_of(document.text, document.length);
			struct tokens packed = read_ours(memory_reader(file.data, file.n_bytes));
			assert_true(strcmp(whole.text, packed.text) == 0);
			free(packed.text);
			free(file.data);
		}
		free(whole.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generated_documents_read_like_cjson),
		cmocka_unit_test(mutated_documents_read_like_cjson_or_are_refused),
		cmocka_unit_test(pieces_read_like_the_whole),
		cmocka_unit_test(packed_documents_read_like_plain_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

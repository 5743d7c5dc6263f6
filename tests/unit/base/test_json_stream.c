/* Tokens, errors and limits of the JSON tokenizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_stream.h"
#include "base/mem.h"
#include "fuzz/memory_reader.h"

/* All tokens of a document as one text: "{ k:<Id> 12 s:<text> t f n }"; stops at the error. */
static char *describe(struct fsl_reader *reader, enum fsl_status *status, struct fsl_error *err)
{
	static const char *const marks[] = {
		[FSL_JSON_OBJECT_BEGIN] = "{", [FSL_JSON_OBJECT_END] = "}",
		[FSL_JSON_ARRAY_BEGIN] = "[",  [FSL_JSON_ARRAY_END] = "]",
		[FSL_JSON_KEY] = "k:<",        [FSL_JSON_STRING] = "s:<",
		[FSL_JSON_NUMBER] = "",        [FSL_JSON_TRUE] = "",
		[FSL_JSON_FALSE] = "",         [FSL_JSON_NULL] = ""};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct fsl_json *json = fsl_json_create(reader);
	assert_non_null(reader);
	assert_non_null(out);
	assert_non_null(json);
	for (;;) {
		struct fsl_json_value value;
		*status = fsl_json_next(json, &value, err);
		if (*status != FSL_OK || value.token == FSL_JSON_END) {
			break;
		}
		(void)fputs(marks[value.token], out);
		(void)fwrite(value.text, 1, value.length, out);
		(void)fputs(value.token == FSL_JSON_KEY || value.token == FSL_JSON_STRING ? "> "
											  : " ",
			    out);
	}
	struct fsl_json_value again = {FSL_JSON_NULL, NULL, 0};
	if (*status == FSL_OK) {
		assert_int_equal(fsl_json_depth(json), 0);
		assert_int_equal(fsl_json_next(json, &again, err), FSL_OK);
		assert_int_equal(again.token, FSL_JSON_END);
	} else {
		assert_int_not_equal(fsl_json_next(json, &again, NULL), FSL_OK);
	}
	fsl_json_destroy(json);
	fsl_reader_close(reader);
	(void)fclose(out);
	return text;
}

/* Whole, and through a pipe in pieces of every size. */
static void check_bytes(const char *document, size_t length, enum fsl_status wanted_status,
			const char *wanted)
{
	for (size_t chunk = 0; chunk <= length && chunk < 20; chunk++) {
		enum fsl_status status = FSL_OK;
		struct fsl_error err = {0};
		if (chunk > 0 && length / chunk > 200) {
			continue;
		}
		char *text = describe(chunk == 0 ? memory_reader(document, length)
						 : chunked_reader(document, length, chunk),
				      &status, &err);
		const char *got = status == FSL_OK ? text : fsl_error_root(&err);
		if (status != wanted_status || strcmp(got, wanted) != 0) {
			fail_msg("chunk=%zu, \"%s\": status %d, \"%s\" instead of \"%s\"", chunk,
				 document, status, got, wanted);
		}
		free(text);
	}
}

static void check(const char *document, const char *wanted)
{
	check_bytes(document, strlen(document), FSL_OK, wanted);
}

/* A syntax error at @offset of line @line. */
static void check_wrong(const char *document, const char *what, unsigned line, unsigned offset)
{
	for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
		char wanted[200];
		size_t length = strlen(document);
		struct fsl_error err = {0};
		enum fsl_status status = FSL_OK;
		(void)snprintf(wanted, sizeof(wanted), "%s: path=\"memory\", line=%u, offset=%u",
			       what, line, offset);
		free(describe(is_pipe ? chunked_reader(document, length, 1)
				      : memory_reader(document, length),
			      &status, &err));
		if (status != FSL_ERR_FORMAT || strcmp(fsl_error_root(&err), wanted) != 0) {
			fail_msg("\"%s\": status %d, \"%s\" instead of \"%s\"", document, status,
				 fsl_error_root(&err), wanted);
		}
	}
}

static void values_become_tokens(void **state)
{
	(void)state;
	check("{\"Id\":12,\"Name\":\"x\",\"ok\":true,\"no\":false,\"nil\":null}",
	      "{ k:<Id> 12 k:<Name> s:<x> k:<ok> true k:<no> false k:<nil> null } ");
	check("[1,[2,[]],{\"a\":{}}]", "[ 1 [ 2 [ ] ] { k:<a> { } } ] ");
	check(" [ 1 ,\t2\r\n, 3 ] ", "[ 1 2 3 ] ");
	check("{ \"a\" : [ ] , \"b\" : { } }", "{ k:<a> [ ] k:<b> { } } ");
	check("\"text\"", "s:<text> ");
	check("", "");
	check(" \n", "");
	check("{\"\":\"\"}", "{ k:<> s:<> } ");
}

static void several_documents_follow_each_other(void **state)
{
	(void)state;
	check("[1][2]", "[ 1 ] [ 2 ] ");
	check("[1]\n[2]\n", "[ 1 ] [ 2 ] ");
	check("{}{}[]", "{ } { } [ ] ");
	check("1 2\n\"a\"\"b\"true", "1 2 s:<a> s:<b> true ");
	check("1\"a\"[]", "1 s:<a> [ ] ");
}

static void number_text_is_kept_as_written(void **state)
{
	(void)state;
	check("[1743675836123456789,18446744073709551615,123456789012345678901234567890]",
	      "[ 1743675836123456789 18446744073709551615 123456789012345678901234567890 ] ");
	check("[0,-0,0.0,-1.50,1e5,1E+05,1.25e-3,10]", "[ 0 -0 0.0 -1.50 1e5 1E+05 1.25e-3 10 ] ");
	check("1743675836123456.789", "1743675836123456.789 ");
	check("7", "7 ");
}

static void wrong_numbers_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = {
		"01",   "-01", "1.",  "1.e5", ".5", "+1", "-",     "--1", "1e",  "1e+",
		"1.5.", "1a",  "0x1", "1e5e", "-a", "1-", "1e5.0", "1+2", "NaN", "-Infinity"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char document[32];
		(void)snprintf(document, sizeof(document), "[%s,1]", wrong[i]);
		enum fsl_status status = FSL_OK;
		free(describe(memory_reader(document, strlen(document)), &status, NULL));
		assert_int_equal(status, FSL_ERR_FORMAT);
		free(describe(memory_reader(wrong[i], strlen(wrong[i])), &status, NULL));
		assert_int_equal(status, FSL_ERR_FORMAT);
	}
	check_wrong("[1,02]", "wrong JSON number", 1, 3);
	check_wrong("01", "wrong JSON number", 1, 0);
}

static void escapes_are_decoded(void **state)
{
	(void)state;
	check("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s:<\"\\/\b\f\n\r\t> ");
	check("\"a\\u0041\\u00e9\\u20ac\\ud83d\\ude00z\"",
	      "s:<aA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z> ");
	check("{\"k\\n\":1}", "{ k:<k\n> 1 } ");
	check("[\"\\\\\",\"\\\\\\\"\"]", "[ s:<\\> s:<\\\"> ] ");
	check_bytes("\"a\\u0000b\"", 10, FSL_OK, "s:<a"); /* strcmp stops at the NUL itself */
}

static void half_a_surrogate_pair_is_a_replacement_character(void **state)
{
	(void)state;
	check("\"\\ud83d\"", "s:<\xef\xbf\xbd> ");
	check("\"\\udc80x\"", "s:<\xef\xbf\xbdx> ");
	check("\"\\ud83d\\n\"", "s:<\xef\xbf\xbd\n> ");
	check("\"\\ud83d\\ud83d\\ude00\"", "s:<\xef\xbf\xbd\xf0\x9f\x98\x80> ");
}

static void wrong_escapes_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = {"\\x", "\\u12", "\\u12g4", "\\U0041", "\\ud83d\\u12",
					    "\\ ", "\\0",   "\\a",     "\\'",     "\\\xc3\xa9"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char document[32];
		(void)snprintf(document, sizeof(document), "\n[\"%s\"]", wrong[i]);
		check_wrong(document, "wrong escape in a JSON string", 2, 2);
	}
}

static void utf8_passes_and_everything_else_is_refused(void **state)
{
	(void)state;
	static const char *const good[] = {
		"\xc2\x80",
		"\xdf\xbf",
		"\xe0\xa0\x80",
		"\xed\x9f\xbf",
		"\xee\x80\x80",
		"\xef\xbf\xbf",
		"\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf",
		"h\xc3\xa9llo w\xc3\xb6rld!",
		"\x7f plain ASCII, a bit longer than a block \xe2\x82\xac"};
	static const char *const wrong[] = {"\x80",
					    "\xbf",
					    "\xc0\x80",
					    "\xc1\xbf",
					    "\xe0\x9f\xbf",
					    "\xed\xa0\x80",
					    "\xed\xbf\xbf",
					    "\xf0\x8f\xbf\xbf",
					    "\xf4\x90\x80\x80",
					    "\xf5\x80\x80\x80",
					    "\xff",
					    "\xc3",
					    "\xc3(",
					    "\xe2\x82",
					    "\xe2(\xa1",
					    "\xf0\x9f\x98",
					    "\xf0(\x8c\xbc"};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		char document[80], wanted[80];
		(void)snprintf(document, sizeof(document), "\"%s\"", good[i]);
		(void)snprintf(wanted, sizeof(wanted), "s:<%s> ", good[i]);
		check(document, wanted);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char document[80];
		(void)snprintf(document, sizeof(document), "[\"ab%s\"]", wrong[i]);
		check_wrong(document, "JSON string is not UTF-8", 1, 4);
	}
}

static void control_characters_in_strings_are_refused(void **state)
{
	(void)state;
	for (char c = 1; c < 0x20; c++) {
		char document[] = "[\"ab?\"]";
		document[4] = c;
		check_wrong(document, "control character in a JSON string", 1, 4);
	}
	check("\"\x7f\"", "s:<\x7f> ");
}

static void wrong_structure_is_refused_with_its_place(void **state)
{
	(void)state;
	check_wrong("[1,]", "JSON value expected", 1, 3);
	check_wrong("[,1]", "JSON value expected", 1, 1);
	check_wrong("[1 2]", "\",\" or an end expected in JSON", 1, 3);
	check_wrong("[1}", "\",\" or an end expected in JSON", 1, 2);
	check_wrong("{\"a\":1]", "\",\" or an end expected in JSON", 1, 6);
	check_wrong("{\"a\" 1}", "\":\" expected in JSON", 1, 5);
	check_wrong("{\"a\":}", "JSON value expected", 1, 5);
	check_wrong("{\"a\":1,}", "JSON key expected", 1, 7);
	check_wrong("{,}", "JSON key expected", 1, 1);
	check_wrong("{1:2}", "JSON key expected", 1, 1);
	check_wrong("{'a':1}", "JSON key expected", 1, 1);
	check_wrong("[}", "JSON value expected", 1, 1);
	check_wrong("]", "JSON value expected", 1, 0);
	check_wrong("}", "JSON value expected", 1, 0);
	check_wrong(",", "JSON value expected", 1, 0);
	check_wrong("[tru]", "JSON value expected", 1, 1);
	check_wrong("[truex]", "JSON value expected", 1, 1);
	check_wrong("truefalse", "JSON value expected", 1, 0);
	check_wrong("[TRUE]", "JSON value expected", 1, 1);
	check_wrong("[\n\n 1,\n x]", "JSON value expected", 4, 8);
	check_wrong("[1,2] // c", "JSON value expected", 1, 6);
	check_wrong("\v[]", "JSON value expected", 1, 0);
}

static void a_cut_file_is_told_from_a_wrong_one(void **state)
{
	(void)state;
	static const char document[] = "[{\"Id\":-12.5e+3,\"a\\u00e9\\\\b\":\"\xe2\x82\xac\",\"c\""
				       ":[true,false,null]},\n 1]";
	for (size_t n = 1; n < sizeof(document) - 1; n++) {
		struct fsl_error err = {0};
		enum fsl_status status = FSL_OK;
		free(describe(memory_reader(document, n), &status, &err));
		assert_int_equal(status, FSL_ERR_FORMAT);
		char wanted[120];
		/* The second line begins behind offset 61. */
		(void)snprintf(wanted, sizeof(wanted),
			       "JSON is cut, the file ends inside a value: path=\"memory\", "
			       "line=%d, offset=%zu",
			       n > (size_t)(strchr(document, '\n') - document) ? 2 : 1, n);
		assert_string_equal(fsl_error_root(&err), wanted);
	}
}

static void nesting_is_limited(void **state)
{
	(void)state;
	char document[300];
	for (size_t depth = FSL_JSON_DEPTH_MAX; depth <= FSL_JSON_DEPTH_MAX + 1; depth++) {
		memset(document, '[', depth);
		memset(document + depth, ']', depth);
		document[2 * depth] = '\0';
		struct fsl_error err = {0};
		enum fsl_status status = FSL_OK;
		free(describe(memory_reader(document, 2 * depth), &status, &err));
		assert_int_equal(status, depth > FSL_JSON_DEPTH_MAX ? FSL_ERR_LIMIT : FSL_OK);
	}
	char mixed[64 * 6 + 64 + 1] = "";
	for (int i = 0; i < 32; i++) {
		(void)strcat(mixed, "[{\"a\":");
	}
	(void)strcat(mixed, "1");
	for (int i = 0; i < 32; i++) {
		(void)strcat(mixed, "}]");
	}
	enum fsl_status status = FSL_OK;
	free(describe(memory_reader(mixed, strlen(mixed)), &status, NULL));
	assert_int_equal(status, FSL_OK);
}

static void long_tokens_are_limited(void **state)
{
	(void)state;
	static const struct {
		char fill;
		size_t n_bytes;
		enum fsl_status wanted;
	} cases[] = {
		{'x', FSL_LINE_BYTES_MAX - 2, FSL_OK},
		{'x', FSL_LINE_BYTES_MAX - 1, FSL_ERR_LIMIT},
		{'x', 3 * FSL_LINE_BYTES_MAX, FSL_ERR_LIMIT},
		{'7', 3 * FSL_LINE_BYTES_MAX, FSL_ERR_LIMIT},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = cases[i].n_bytes;
		char *document = malloc(n + 4);
		assert_non_null(document);
		memset(document, cases[i].fill, n + 4);
		document[0] = '[';
		document[1] = cases[i].fill == 'x' ? '"' : '7';
		document[n + 2] = cases[i].fill == 'x' ? '"' : '7';
		document[n + 3] = ']';
		struct fsl_error err = {0};
		enum fsl_status status = FSL_OK;
		char *got = describe(memory_reader(document, n + 4), &status, &err);
		assert_int_equal(status, cases[i].wanted);
		assert_true(status == FSL_OK || strstr(fsl_error_root(&err), "line=1, offset=1,"));
		free(got);
		free(document);
	}
}

static void block_ends_change_nothing(void **state)
{
	(void)state;
	static const char tail[] = "{\"ab\\n\":\"\xe2\x82\xac\\u00e9\",\"n\":1743675836123456789} "
				   "false -1.5e3";
	const size_t n_tail = sizeof(tail) - 1;
	for (size_t back = 0; back <= n_tail; back++) {
		size_t n_filler = FSL_FILE_BLOCK_BYTES - back;
		char *text = malloc(n_filler + n_tail);
		assert_non_null(text);
		memset(text, ' ', n_filler);
		memcpy(text + n_filler, tail, n_tail);
		enum fsl_status status = FSL_OK;
		char *got = describe(memory_reader(text, n_filler + n_tail), &status, NULL);
		assert_int_equal(status, FSL_OK);
		assert_string_equal(got, "{ k:<ab\n> s:<\xe2\x82\xac\xc3\xa9> k:<n> "
					 "1743675836123456789 } false -1.5e3 ");
		free(got);
		free(text);
	}
}

static void offset_line_and_depth_are_those_of_the_last_token(void **state)
{
	(void)state;
	static const struct {
		enum fsl_json_token token;
		uint64_t offset, line;
		size_t depth;
	} wanted[] = {
		{FSL_JSON_ARRAY_BEGIN, 4, 2, 1}, {FSL_JSON_OBJECT_BEGIN, 5, 2, 2},
		{FSL_JSON_KEY, 8, 4, 2},         {FSL_JSON_STRING, 13, 5, 2},
		{FSL_JSON_OBJECT_END, 16, 5, 1}, {FSL_JSON_ARRAY_END, 17, 5, 0},
		{FSL_JSON_END, 19, 6, 0},
	};
	struct fsl_reader *reader = memory_reader("\xef\xbb\xbf\n[{\n\n\"a\":\n\"b\"}]\n", 19);
	struct fsl_json *json = fsl_json_create(reader);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct fsl_json_value value;
		assert_int_equal(fsl_json_next(json, &value, NULL), FSL_OK);
		assert_int_equal(value.token, wanted[i].token);
		assert_int_equal(fsl_json_offset(json), wanted[i].offset);
		assert_int_equal(fsl_json_line(json), wanted[i].line);
		assert_int_equal(fsl_json_depth(json), wanted[i].depth);
	}
	fsl_json_destroy(json);
	fsl_json_destroy(NULL);
	fsl_reader_close(reader);
}

static void check_next(struct fsl_json *json, enum fsl_json_token token, const char *text)
{
	struct fsl_json_value value;
	assert_int_equal(fsl_json_next(json, &value, NULL), FSL_OK);
	assert_int_equal(value.token, token);
	assert_int_equal(value.length, strlen(text));
	assert_memory_equal(value.text, text, value.length);
}

static void objects_that_the_caller_knows_are_passed_unread(void **state)
{
	(void)state;
	static const char document[] = "[ {\"a\":\n1} , {\"b\":{}},\n{}]{\"c\":2}[[{}]]";
	const char *text = NULL;
	size_t n_bytes = 0;
	struct fsl_reader *reader = memory_reader(document, sizeof(document) - 1);
	struct fsl_json *json = fsl_json_create(reader);
	assert_false(fsl_json_peek_object(json, &text, &n_bytes)); /* nothing is in memory */
	check_next(json, FSL_JSON_ARRAY_BEGIN, "");
	assert_true(fsl_json_peek_object(json, &text, &n_bytes));
	assert_int_equal(n_bytes, sizeof(document) - 1 - 2);
	assert_memory_equal(text, document + 2, n_bytes);
	fsl_json_take_object(json, 8, 1);
	assert_false(fsl_json_peek_object(json, &text, &n_bytes)); /* the comma is in front */
	check_next(json, FSL_JSON_OBJECT_BEGIN, "");
	assert_int_equal(fsl_json_offset(json), 13);
	assert_int_equal(fsl_json_line(json), 2);
	check_next(json, FSL_JSON_KEY, "b");
	assert_false(fsl_json_peek_object(json, &text, &n_bytes)); /* a value of an object */
	check_next(json, FSL_JSON_OBJECT_BEGIN, "");
	check_next(json, FSL_JSON_OBJECT_END, "");
	check_next(json, FSL_JSON_OBJECT_END, "");
	assert_true(fsl_json_peek_object(json, &text, &n_bytes));
	fsl_json_take_object(json, 2, 0);
	assert_false(fsl_json_peek_object(json, &text, &n_bytes));
	check_next(json, FSL_JSON_ARRAY_END, "");
	assert_int_equal(fsl_json_line(json), 3);
	assert_true(fsl_json_peek_object(json, &text, &n_bytes));
	fsl_json_take_object(json, 7, 0);
	check_next(json, FSL_JSON_ARRAY_BEGIN, "");
	check_next(json, FSL_JSON_ARRAY_BEGIN, "");
	assert_true(fsl_json_peek_object(json, &text, &n_bytes)); /* in an inner array, too */
	fsl_json_take_object(json, 2, 0);
	check_next(json, FSL_JSON_ARRAY_END, "");
	check_next(json, FSL_JSON_ARRAY_END, "");
	check_next(json, FSL_JSON_END, "");
	fsl_json_destroy(json);
	fsl_reader_close(reader);
}

static void skip_passes_whole_values(void **state)
{
	(void)state;
	static const char text[] =
		"{\"a\":[1,{\"x\":[]},\"s\"],\"b\":7,\"c\":{\"d\":1},\"e\":0}[1]";
	struct fsl_reader *reader = memory_reader(text, sizeof(text) - 1);
	struct fsl_json *json = fsl_json_create(reader);
	check_next(json, FSL_JSON_OBJECT_BEGIN, "");
	check_next(json, FSL_JSON_KEY, "a");
	assert_int_equal(fsl_json_skip(json, NULL), FSL_OK);
	check_next(json, FSL_JSON_KEY, "b");
	assert_int_equal(fsl_json_skip(json, NULL), FSL_OK);
	assert_int_equal(fsl_json_skip(json, NULL), FSL_OK); /* "c" and its value */
	check_next(json, FSL_JSON_KEY, "e");
	check_next(json, FSL_JSON_NUMBER, "0");
	assert_int_equal(fsl_json_skip(json, NULL), FSL_ERR_INTERNAL); /* the end of the object */
	assert_int_equal(fsl_json_skip(json, NULL), FSL_OK);
	assert_int_equal(fsl_json_skip(json, NULL), FSL_ERR_INTERNAL); /* the end of the file */
	fsl_json_destroy(json);
	assert_int_equal(fsl_reader_offset(reader), sizeof(text) - 1);
	fsl_reader_close(reader);
}

static void skip_finds_errors_in_what_it_skips(void **state)
{
	(void)state;
	struct fsl_reader *reader = memory_reader("[[1,02]]", 8);
	struct fsl_json *json = fsl_json_create(reader);
	assert_int_equal(fsl_json_skip(json, NULL), FSL_ERR_FORMAT);
	fsl_json_destroy(json);
	fsl_reader_close(reader);
}

static void a_cut_gzip_file_gives_its_tokens_and_then_the_error(void **state)
{
	(void)state;
	/* gzip of "[1,\"ab\"]" in a stored block; cut in the trailer, and inside the string */
	static const char packed[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x08\0\xf7\xff[1,\"ab\"]";
	struct fsl_error err = {0};
	enum fsl_status status = FSL_OK;
	char *got = describe(memory_reader(packed, sizeof(packed) - 1), &status, &err);
	assert_string_equal(got, "[ 1 s:<ab> ] ");
	assert_int_equal(status, FSL_ERR_FORMAT);
	assert_non_null(strstr(fsl_error_root(&err), "compressed data is cut"));
	free(got);
	fsl_error_clear(&err);
	got = describe(memory_reader(packed, sizeof(packed) - 3), &status, &err);
	assert_string_equal(got, "[ 1 ");
	assert_non_null(strstr(fsl_error_root(&err), "compressed data is cut"));
	free(got);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	/* A string longer than the first buffer, with an escape, which needs a copy. */
	size_t n = 600000;
	char *text = malloc(n);
	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text, "\"\\n", 3);
	text[n - 1] = '"';
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 0;
	while (status != FSL_OK && nth < 50) {
		struct fsl_json_value value;
		struct fsl_error err = {0};
		fsl_mem_fail_at(++nth);
		struct fsl_reader *reader = memory_reader(text, n);
		struct fsl_json *json = reader != NULL ? fsl_json_create(reader) : NULL;
		status = json != NULL ? fsl_json_next(json, &value, &err) : FSL_ERR_MEMORY;
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		if (json != NULL && status != FSL_OK) { /* memory is back: nothing was lost */
			assert_int_equal(fsl_json_next(json, &value, NULL), FSL_OK);
			assert_int_equal(value.length, n - 3);
		}
		fsl_json_destroy(json);
		fsl_reader_close(reader);
	}
	assert_int_equal(status, FSL_OK);
	assert_true(nth > 5);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_tokens),
		cmocka_unit_test(several_documents_follow_each_other),
		cmocka_unit_test(number_text_is_kept_as_written),
		cmocka_unit_test(wrong_numbers_are_refused),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(half_a_surrogate_pair_is_a_replacement_character),
		cmocka_unit_test(wrong_escapes_are_refused),
		cmocka_unit_test(utf8_passes_and_everything_else_is_refused),
		cmocka_unit_test(control_characters_in_strings_are_refused),
		cmocka_unit_test(wrong_structure_is_refused_with_its_place),
		cmocka_unit_test(a_cut_file_is_told_from_a_wrong_one),
		cmocka_unit_test(nesting_is_limited),
		cmocka_unit_test(long_tokens_are_limited),
		cmocka_unit_test(block_ends_change_nothing),
		cmocka_unit_test(offset_line_and_depth_are_those_of_the_last_token),
		cmocka_unit_test(objects_that_the_caller_knows_are_passed_unread),
		cmocka_unit_test(skip_passes_whole_values),
		cmocka_unit_test(skip_finds_errors_in_what_it_skips),
		cmocka_unit_test(a_cut_gzip_file_gives_its_tokens_and_then_the_error),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

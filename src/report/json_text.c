/* JSON documents as text, spaced as json.dump of Python does it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os_error.h"
#include "base/utf8.h"
#include "report/report.h"

enum { STDOUT_INDENT = 2 };

/* The text that grows; after a failure nothing is added any more. */
struct sink {
	char *text;
	size_t length, capacity;
	int indent; /* 0: one line */
	bool has_failed;
};

static void put(struct sink *sink, const char *text, size_t length)
{
	size_t n_wanted = sink->length + length;
	if (sink->has_failed || FSL_GROW(sink->text, sink->capacity, n_wanted, NULL) != FSL_OK) {
		sink->has_failed = true;
		return;
	}
	memcpy(sink->text + sink->length, text, length);
	sink->length = n_wanted;
}

static void put_newline(struct sink *sink, int depth)
{
	static const char blanks[] = "\n                                                ";
	int n_left = sink->indent * depth + 1;
	const int n_most = (int)sizeof(blanks) - 1;
	put(sink, blanks, (size_t)(n_left < n_most ? n_left : n_most));
	for (n_left -= n_most; n_left > 0; n_left -= n_most - 1) { /* behind the line break */
		put(sink, blanks + 1, (size_t)(n_left < n_most - 1 ? n_left : n_most - 1));
	}
}

static void put_escaped(struct sink *sink, unsigned char c)
{
	static const char *const short_forms[] = {
		['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",  ['\f'] = "\\f",
		['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\",
	};
	char text[8];
	const char *form = c < sizeof(short_forms) / sizeof(short_forms[0]) ? short_forms[c] : NULL;
	if (form == NULL) {
		(void)snprintf(text, sizeof(text), "\\u%04x", c);
		form = text;
	}
	put(sink, form, strlen(form));
}

/* Beyond what JSON asks for, controls that a terminal would obey. */
static bool is_escaped(const char *text)
{
	unsigned char c = (unsigned char)*text;
	return c < ' ' || c == '"' || c == '\\' ||
	       (c >= 0x7f && fsl_utf8_sequence(text) > 0 && fsl_utf8_is_control(text));
}

/* Escapes the sequence at @text; returns its length. */
static size_t put_control(struct sink *sink, const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t n_bytes = fsl_utf8_sequence(text);
	char form[8];
	if (n_bytes == 1) {
		put_escaped(sink, bytes[0]);
		return 1;
	}
	unsigned int code = n_bytes == 2 ? (bytes[0] & 0x1fu) << 6 | (bytes[1] & 0x3fu)
					 : (bytes[0] & 0x0fu) << 12 | (bytes[1] & 0x3fu) << 6 |
						   (bytes[2] & 0x3fu);
	(void)snprintf(form, sizeof(form), "\\u%04x", code);
	put(sink, form, strlen(form));
	return n_bytes;
}

static void put_string(struct sink *sink, const char *text)
{
	put(sink, "\"", 1);
	while (*text != '\0') {
		size_t n_plain = 0;
		while (text[n_plain] != '\0' && !is_escaped(text + n_plain)) {
			n_plain++;
		}
		put(sink, text, n_plain);
		text += n_plain;
		if (*text != '\0') {
			text += put_control(sink, text);
		}
	}
	put(sink, "\"", 1);
}

/*
 * A number of few decimals, as nearly all are: @text (32 bytes) by whole numbers alone, as printing
 * fractions and reading them back takes most of the time of a document. Up to 15 digits a decimal
 * number and the double next to it stand for each other, so that this is what "%.15g" prints.
 * False: another kind of number.
 */
static bool print_decimal(char *text, double value)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	const double most = 1e15, least = 1e-4; /* "%.15g" has an exponent beyond */
	double size = fabs(value);
	if (size != 0.0 && size < least) {
		return false;
	}
	for (size_t d = 0; d < sizeof(powers) / sizeof(powers[0]) && size * powers[d] < most; d++) {
		double digits = nearbyint(size * powers[d]);
		if (digits / powers[d] != size) {
			continue;
		}
		const char *sign = value < 0.0 ? "-" : "";
		int64_t whole = (int64_t)digits, power = (int64_t)powers[d];
		if (d == 0) {
			(void)snprintf(text, 32, "%s%" PRId64, sign, whole);
		} else {
			(void)snprintf(text, 32, "%s%" PRId64 ".%0*" PRId64, sign, whole / power,
				       (int)d, whole % power);
		}
		return true;
	}
	return false;
}

/* With as many digits as tell the double from all others. */
static void put_number(struct sink *sink, double value)
{
	char text[32] = "null";
	if (isfinite(value) && !print_decimal(text, value)) {
		(void)snprintf(text, sizeof(text), "%.15g", value);
		if (strtod(text, NULL) != value) {
			(void)snprintf(text, sizeof(text), "%.17g", value);
		}
	}
	put(sink, text, strlen(text));
}

static void put_item(struct sink *sink, const cJSON *item, int depth);

static void put_list(struct sink *sink, const cJSON *list, int depth, const char brackets[2])
{
	put(sink, brackets, 1);
	for (const cJSON *item = list->child; item != NULL; item = item->next) {
		if (item != list->child) {
			put(sink, ", ", sink->indent > 0 ? 1 : 2);
		}
		if (sink->indent > 0) {
			put_newline(sink, depth + 1);
		}
		if (cJSON_IsObject(list)) {
			put_string(sink, item->string);
			put(sink, ": ", 2);
		}
		put_item(sink, item, depth + 1);
	}
	if (list->child != NULL && sink->indent > 0) {
		put_newline(sink, depth);
	}
	put(sink, brackets + 1, 1);
}

static void put_item(struct sink *sink, const cJSON *item, int depth)
{
	if (cJSON_IsObject(item)) {
		put_list(sink, item, depth, "{}");
	} else if (cJSON_IsArray(item)) {
		put_list(sink, item, depth, "[]");
	} else if (cJSON_IsString(item)) {
		put_string(sink, item->valuestring);
	} else if (cJSON_IsNumber(item)) {
		put_number(sink, item->valuedouble);
	} else if (cJSON_IsRaw(item)) {
		put(sink, item->valuestring, strlen(item->valuestring));
	} else if (cJSON_IsBool(item)) {
		put(sink, cJSON_IsTrue(item) ? "true" : "false", cJSON_IsTrue(item) ? 4 : 5);
	} else {
		put(sink, "null", 4);
	}
}

char *fsl_json_text(const cJSON *json, int indent)
{
	struct sink sink = {.indent = indent};
	put_item(&sink, json, 0);
	put(&sink, "", 1);
	if (sink.has_failed) {
		fsl_free(sink.text);
		return NULL;
	}
	return sink.text;
}

enum fsl_status fsl_json_print_text(FILE *stream, const char *text, struct fsl_error *err)
{
	bool is_written = fputs(text, stream) >= 0 && fputc('\n', stream) != EOF;
	is_written = fflush(stream) == 0 && is_written;
	int number = errno;
	if (!is_written) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot print the verdict: error=\"%s\"",
				fsl_os_error(number).text);
	}
	return FSL_OK;
}

enum fsl_status fsl_json_print(FILE *stream, const cJSON *json, struct fsl_error *err)
{
	char *text = json != NULL ? fsl_json_text(json, STDOUT_INDENT) : NULL;
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: document=\"--format json\"");
	}
	enum fsl_status status = fsl_json_print_text(stream, text, err);
	fsl_free(text);
	return status;
}

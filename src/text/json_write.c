/* Writes JSON piece by piece. */
#include "text/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"

/* Control characters are escaped, broken UTF-8 is replaced by U+FFFD. */
static void put_odd(FILE *stream, unsigned char c)
{
	if (c == '"' || c == '\\') {
		(void)fprintf(stream, "\\%c", c);
	} else if (c < ' ') {
		(void)fprintf(stream, "\\u%04x", c);
	} else {
		(void)fputs("\\ufffd", stream);
	}
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x80 && c != '"' && c != '\\';
}

/* Text without special characters is written in one piece: names are plain. */
static void put_quoted_part(FILE *stream, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	const unsigned char *kept = c; /* first byte that is not written yet */
	const unsigned char *end = c + strlen(text);
	while (c < end) {
		int length = is_plain(*c) ? 1 : 0;
		if (*c >= 0x80) {
			length = fsl_utf8_length(c, (size_t)(end - c));
		}
		if (length <= 0) {
			(void)fwrite(kept, 1, (size_t)(c - kept), stream);
			put_odd(stream, *c);
			kept = c + 1;
			length = 1;
		}
		c += length;
	}
	(void)fwrite(kept, 1, (size_t)(c - kept), stream);
}

static void put_separator(struct fsl_json_writer *json)
{
	if (json->is_behind) {
		(void)fputs(", ", json->stream);
	}
	json->is_behind = true;
}

void fsl_json_write_key(struct fsl_json_writer *json, const char *name, const char *group)
{
	put_separator(json);
	(void)fputc('"', json->stream);
	put_quoted_part(json->stream, name);
	(void)fputc('@', json->stream);
	put_quoted_part(json->stream, group);
	(void)fputs("\": ", json->stream);
	json->is_behind = false;
}

static void put_key(struct fsl_json_writer *json, const char *key)
{
	put_separator(json);
	if (key != NULL) {
		(void)fputc('"', json->stream);
		put_quoted_part(json->stream, key);
		(void)fputs("\": ", json->stream);
	}
}

void fsl_json_write_open(struct fsl_json_writer *json, const char *key, char bracket)
{
	put_key(json, key);
	(void)fputc(bracket, json->stream);
	json->is_behind = false;
}

void fsl_json_write_close(struct fsl_json_writer *json, char bracket)
{
	(void)fputc(bracket, json->stream);
	json->is_behind = true;
}

void fsl_json_write_text(struct fsl_json_writer *json, const char *key, const char *text)
{
	put_key(json, key);
	(void)fputc('"', json->stream);
	put_quoted_part(json->stream, text);
	(void)fputc('"', json->stream);
}

void fsl_json_write_raw(struct fsl_json_writer *json, const char *key, const char *value)
{
	put_key(json, key);
	(void)fputs(value, json->stream);
}

/* From the last digit to the first, without printf: most bytes of these files are such numbers. */
const char *fsl_json_write_digits(int64_t value, int decimals, int min_decimals, char *buffer,
				  size_t size)
{
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char *c = buffer + size;
	bool is_shown = false; /* a digit behind the point was written */
	*--c = '\0';
	for (int d = decimals; d > 0; d--, rest /= 10) {
		char digit = (char)('0' + rest % 10);
		is_shown = is_shown || digit != '0' || d <= min_decimals;
		if (is_shown) {
			*--c = digit;
		}
	}
	if (is_shown) {
		*--c = '.';
	}
	do {
		*--c = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0) {
		*--c = '-';
	}
	return c;
}

/* Writes the shortest text with an exponent that reads as @value; returns its number of digits. A
 * text of at most 15 digits comes back from a double as it was, so zeros at its end are all that
 * must go. A subnormal number keeps fewer digits. */
static int shortest(double value, char *buffer, size_t size)
{
	enum { DIGITS_KEPT = 15, DIGITS_MAX = 17 };
	int n_digits = isnormal(value) ? DIGITS_KEPT : 1;
	(void)snprintf(buffer, size, "%.*e", n_digits - 1, value);
	for (; strtod(buffer, NULL) != value && n_digits < DIGITS_MAX; n_digits++) {
		(void)snprintf(buffer, size, "%.*e", n_digits, value);
	}
	const char *exponent = strchr(buffer, 'e');
	for (; exponent != NULL && n_digits > 1 && exponent[-1] == '0'; exponent--) {
		n_digits--;
	}
	(void)snprintf(buffer, size, "%.*e", n_digits - 1, value);
	return n_digits;
}

/*
 * Text of a number of few decimals, as nearly all are: up to 15 digits a decimal number and the
 * double next to it stand for each other, so that no search for the shortest form is needed. NULL:
 * another kind of number.
 */
static const char *decimal_text(double value, char *buffer, size_t size)
{
	static const struct {
		int decimals;
		double power, most; /* @power * @most is 1e15 */
	} forms[] = {{4, 1e4, 1e11}, {9, 1e9, 1e6}};
	const double least = 1e-4; /* smaller ones have an exponent */
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (!(fabs(value) >= least && fabs(value) < forms[i].most)) {
			continue;
		}
		long long scaled = llround(value * forms[i].power);
		if ((double)scaled / forms[i].power == value) {
			return fsl_json_write_digits(scaled, forms[i].decimals, 1, buffer, size);
		}
	}
	return NULL;
}

const char *fsl_python_float(double value, char *buffer, size_t size)
{
	enum { FIXED_EXPONENT_MIN = -4, FIXED_EXPONENT_MAX = 15 };
	if (!isfinite(value)) {
		const char *text = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
		(void)snprintf(buffer, size, "%s", text);
		return buffer;
	}
	const char *decimal = decimal_text(value, buffer, size);
	if (decimal != NULL) {
		return decimal;
	}
	int n_digits = shortest(value, buffer, size);
	const char *exponent_text = strchr(buffer, 'e');
	long exponent = exponent_text != NULL ? strtol(exponent_text + 1, NULL, 10) : 0;
	if (exponent >= FIXED_EXPONENT_MIN && exponent <= FIXED_EXPONENT_MAX) {
		int n_decimals = n_digits - 1 - (int)exponent;
		(void)snprintf(buffer, size, "%.*f", n_decimals > 1 ? n_decimals : 1, value);
	}
	return buffer;
}

static const char *real_text(double value, char *buffer, size_t size)
{
	return value == 0 || !isfinite(value) ? "0.0" : fsl_python_float(value, buffer, size);
}

void fsl_json_write_real(struct fsl_json_writer *json, const char *key, double value)
{
	char text[48];
	fsl_json_write_raw(json, key, real_text(value, text, sizeof(text)));
}

void fsl_json_write_integer(struct fsl_json_writer *json, const char *key, int64_t value)
{
	put_key(json, key);
	(void)fprintf(json->stream, "%" PRId64, value);
}

void fsl_json_write_scaled(struct fsl_json_writer *json, const char *key, int64_t value,
			   int decimals)
{
	char text[48];
	fsl_json_write_raw(json, key,
			   fsl_json_write_digits(value, decimals, 0, text, sizeof(text)));
}

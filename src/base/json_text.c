/* UTF-8 and escapes of JSON strings (RFC 8259 section 7). */
#include "base/json_text.h"

#include <stdint.h>
#include <string.h>

int fsl_utf8_length(const unsigned char *text, size_t n_left)
{
	unsigned char first = text[0];
	unsigned char second_min = 0x80, second_max = 0xbf;
	int length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if ((first >= 0x80 && first < 0xc2) || first > 0xf4) {
		return 0;
	}
	if (first == 0xe0) {
		second_min = 0xa0;
	} else if (first == 0xed) {
		second_max = 0x9f;
	} else if (first == 0xf0) {
		second_min = 0x90;
	} else if (first == 0xf4) {
		second_max = 0x8f;
	}
	for (int i = 1; i < length; i++) {
		if ((size_t)i >= n_left) {
			return -1;
		}
		if (text[i] < second_min || text[i] > second_max) {
			return 0;
		}
		second_min = 0x80;
		second_max = 0xbf;
	}
	return length;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	if (c >= 'a' && c <= 'f') {
		return c - 'a' + 10;
	}
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads four hexadecimal digits; false if there are fewer. */
static bool read_hex4(const char *text, const char *end, uint32_t *out)
{
	uint32_t value = 0;
	if (end - text < 4) {
		return false;
	}
	for (int i = 0; i < 4; i++) {
		int digit = hex_value(text[i]);
		if (digit < 0) {
			return false;
		}
		value = value << 4 | (uint32_t)digit;
	}
	*out = value;
	return true;
}

/* Writes no more bytes than the escape has; returns the byte behind them. */
static char *put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xe0 | code >> 12);
		} else {
			*to++ = (char)(0xf0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (code & 0x3f));
	return to;
}

/* Reads the code behind "\u", *text at its first digit; joins surrogate pairs. */
static bool read_unicode(const char **text, const char *end, uint32_t *code)
{
	uint32_t low = 0;
	if (!read_hex4(*text, end, code)) {
		return false;
	}
	*text += 4;
	if (*code < 0xd800 || *code > 0xdfff) {
		return true;
	}
	if (*code <= 0xdbff && end - *text >= 6 && (*text)[0] == '\\' && (*text)[1] == 'u' &&
	    read_hex4(*text + 2, end, &low) && low >= 0xdc00 && low <= 0xdfff) {
		*text += 6;
		*code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
	} else {
		*code = 0xfffd; /* half a pair */
	}
	return true;
}

bool fsl_json_unescape(const char *from, size_t length, char *to, size_t *n_decoded)
{
	static const char names[] = "\"\\/bfnrt";
	static const char meanings[] = "\"\\/\b\f\n\r\t";
	const char *end = from + length;
	const char *begin = to;
	while (from < end) {
		const char *escape = memchr(from, '\\', (size_t)(end - from));
		size_t n_plain = (size_t)((escape != NULL ? escape : end) - from);
		memcpy(to, from, n_plain);
		to += n_plain;
		from += n_plain;
		if (escape == NULL) {
			break;
		}
		char name = from[1]; /* the string does not end in a lone backslash */
		from += 2;
		if (name == 'u') {
			uint32_t code = 0;
			if (!read_unicode(&from, end, &code)) {
				return false;
			}
			to = put_utf8(to, code);
			continue;
		}
		const char *known = name != '\0' ? strchr(names, name) : NULL;
		if (known == NULL) {
			return false;
		}
		*to++ = meanings[known - names];
	}
	*n_decoded = (size_t)(to - begin);
	return true;
}

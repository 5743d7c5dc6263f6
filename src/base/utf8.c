/* Well-formed UTF-8 in NUL-terminated texts, one sequence at a time. */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#include "base/json_text.h"

size_t fsl_utf8_sequence(const char *text)
{
	enum { SEQUENCE_BYTES_MAX = 4 };
	size_t n_left = strnlen(text, SEQUENCE_BYTES_MAX);
	int n_bytes = n_left > 0 ? fsl_utf8_length((const unsigned char *)text, n_left) : 0;
	return n_bytes > 0 ? (size_t)n_bytes : 0;
}

bool fsl_utf8_is_valid(const char *text)
{
	size_t n_bytes = 0;
	while ((n_bytes = fsl_utf8_sequence(text)) > 0) {
		text += n_bytes;
	}
	return *text == '\0';
}

/* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool is_mark(const uint8_t *bytes)
{
	bool is_of_lines = bytes[1] == 0x80 && bytes[2] >= 0xa8 && bytes[2] <= 0xae;
	bool is_of_text = bytes[1] == 0x80 && (bytes[2] == 0x8e || bytes[2] == 0x8f);
	return is_of_lines || is_of_text ||
	       (bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9);
}

bool fsl_utf8_is_control(const char *text)
{
	const uint8_t *bytes = (const uint8_t *)text;
	return bytes[0] < 0x20 || bytes[0] == 0x7f || (bytes[0] == 0xc2 && bytes[1] < 0xa0) ||
	       (bytes[0] == 0xe2 && is_mark(bytes));
}

size_t fsl_utf8_points(const char *text)
{
	size_t n_points = 0;
	while (*text != '\0') {
		size_t n_bytes = fsl_utf8_sequence(text);
		text += n_bytes > 0 ? n_bytes : 1;
		n_points++;
	}
	return n_points;
}

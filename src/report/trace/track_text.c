/* Escapes, and a sign for broken bytes. */
#include "report/trace/track_text.h"

#include <string.h>

#include "base/utf8.h"

/* Copies the first character of @text, U+FFFD if it is broken. Returns the place behind the copy.
 */
static char *copy_character(char *at, const char *text, size_t n_bytes)
{
	if (n_bytes == 0) {
		memcpy(at, "\xef\xbf\xbd", FSL_TRACK_CLEAN_BYTES);
		return at + FSL_TRACK_CLEAN_BYTES;
	}
	memcpy(at, text, n_bytes);
	return at + n_bytes;
}

size_t fsl_track_text_json(char *to, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	char *at = to;
	*at++ = '"';
	while (*text != '\0') {
		size_t n = fsl_utf8_sequence(text);
		unsigned char byte = (unsigned char)*text;
		if (byte < ' ' || byte == 0x7f) {
			memcpy(at, "\\u00", 4);
			at[4] = hex[byte >> 4];
			at[5] = hex[byte & 15];
			at += FSL_TRACK_JSON_BYTES;
		} else {
			if (byte == '"' || byte == '\\') {
				*at++ = '\\';
			}
			at = copy_character(at, text, n);
		}
		text += n > 0 ? n : 1;
	}
	*at++ = '"';
	return (size_t)(at - to);
}

size_t fsl_track_text_clean(char *to, const char *text)
{
	char *at = to;
	while (*text != '\0') {
		size_t n = fsl_utf8_sequence(text);
		at = copy_character(at, text, n);
		text += n > 0 ? n : 1;
	}
	return (size_t)(at - to);
}

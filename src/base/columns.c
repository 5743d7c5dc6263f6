/* East Asian width: ranges of the wide characters of Unicode 15 (UAX #11), joined where they touch.
 */
#include "base/columns.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static const struct {
	uint32_t first, last;
} wide[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},   {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

/* Code point of a well-formed sequence. */
static uint32_t point_of(const char *text, size_t n_bytes)
{
	const uint8_t *bytes = (const uint8_t *)text;
	uint32_t point = n_bytes == 1 ? bytes[0] : bytes[0] & (0xffU >> (n_bytes + 1));
	for (size_t i = 1; i < n_bytes; i++) {
		point = point << 6 | (bytes[i] & 0x3fU);
	}
	return point;
}

static bool is_wide(const char *text, size_t n_bytes)
{
	uint32_t point = point_of(text, n_bytes);
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		if (point >= wide[i].first && point <= wide[i].last) {
			return true;
		}
	}
	return false;
}

int fsl_columns(const char *text, size_t length)
{
	int n = 0;
	for (const char *c = text; c < text + length;) {
		size_t n_bytes = fsl_utf8_sequence(c);
		n += n_bytes > 0 && is_wide(c, n_bytes) ? 2 : 1;
		c += n_bytes > 0 ? n_bytes : 1;
	}
	return n;
}

static bool is_one_of(const char *const *marks, const char *text)
{
	for (size_t i = 0; marks[i] != NULL; i++) {
		if (strncmp(text, marks[i], strlen(marks[i])) == 0) {
			return true;
		}
	}
	return false;
}

size_t fsl_unbroken(const char *text)
{
	static const char *const closing[] = {"，", "。", "；", "：", "）", "、", "」", "》", "？",
					      "！", ",",  ".",  ";",  ")",  ":",  "%",  NULL};
	static const char *const opening[] = {"（", "「", "《", NULL};
	const char *c = text;
	bool is_open = false;
	while (*c != '\0' && *c != ' ' && (*c != '\n' || c == text)) {
		size_t n_bytes = fsl_utf8_sequence(c);
		bool is_this_wide = n_bytes > 0 && is_wide(c, n_bytes);
		if (is_this_wide && c > text && !is_open && !is_one_of(closing, c)) {
			break;
		}
		is_open = is_this_wide && is_one_of(opening, c);
		c += n_bytes > 0 ? n_bytes : 1;
		if (is_this_wide && !is_open && !is_one_of(closing, c)) {
			break;
		}
	}
	return (size_t)(c - text);
}

/* Texts of any bytes as the forms of timelines want them. */
#ifndef FSL_REPORT_TRACE_TRACK_TEXT_H
#define FSL_REPORT_TRACE_TRACK_TEXT_H

#include <stddef.h>

enum {
	FSL_TRACK_JSON_BYTES = 6,  /* of one byte of a text as JSON, at most: \u001f */
	FSL_TRACK_CLEAN_BYTES = 3, /* of one byte of a text as UTF-8, at most: U+FFFD */
};

/* Writes @text as a JSON string with its quotes, without a NUL, and returns the length. @to has
 * room for FSL_TRACK_JSON_BYTES for each byte of the text, and two. Broken bytes become U+FFFD. */
size_t fsl_track_text_json(char *to, const char *text);
/* The same as UTF-8 without quotes and escapes. @to has room for FSL_TRACK_CLEAN_BYTES for each
 * byte of the text. */
size_t fsl_track_text_clean(char *to, const char *text);

#endif

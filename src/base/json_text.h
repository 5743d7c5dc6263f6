/* The text inside JSON strings: UTF-8 and escapes. */
#ifndef FSL_BASE_JSON_TEXT_H
#define FSL_BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Length of the UTF-8 sequence at @text (Unicode 15, table 3-7: no overlong forms, no surrogates,
 * nothing above U+10FFFF); 0 if it breaks the rules, -1 if @n_left bytes are too few to tell.
 * @n_left > 0.
 */
int fsl_utf8_length(const unsigned char *text, size_t n_left);

/*
 * Decodes the @length raw bytes between the quotes of a string into @to. @to has room for @length
 * bytes, because no escape is shorter than its character. Every backslash is followed by a byte.
 * False at a wrong escape; half a surrogate pair becomes U+FFFD.
 */
bool fsl_json_unescape(const char *from, size_t length, char *to, size_t *n_decoded);

#endif

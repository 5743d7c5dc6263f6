/* Tells which bytes of a foreign text (path, host name, operator) are safe to print. */
#ifndef FSL_BASE_UTF8_H
#define FSL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length in bytes of the well-formed UTF-8 sequence at @text (1..4, RFC 3629); 0 if it is broken or
 * at the end of the text. */
size_t fsl_utf8_sequence(const char *text);
bool fsl_utf8_is_valid(const char *text);
/* True for what could steer a terminal or turn the order of letters round: C0, DEL, C1, marks of
 * direction, separators of lines. @text: a well-formed sequence. */
bool fsl_utf8_is_control(const char *text);
/* Number of code points of a text; each broken byte counts as one. */
size_t fsl_utf8_points(const char *text);

#endif

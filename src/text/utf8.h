/* Tells which bytes of a foreign text (path, host name, operator) are safe to print. */
#ifndef FSL_TEXT_UTF8_H
#define FSL_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length in bytes of the well-formed UTF-8 sequence at @text (1..4, RFC 3629); 0 if it is broken or
 * at the end of the text. */
size_t fsl_utf8_sequence(const char *text);
bool fsl_utf8_is_valid(const char *text);
/* True for C0, DEL and C1 controls, which could steer a terminal. @text: a well-formed sequence. */
bool fsl_utf8_is_control(const char *text);
/* Number of code points of a text; each broken byte counts as one. */
size_t fsl_utf8_points(const char *text);

#endif

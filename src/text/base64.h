/* Bytes as text of 64 letters (RFC 4648, with padding), for bytes in JSON documents. */
#ifndef FSL_TEXT_BASE64_H
#define FSL_TEXT_BASE64_H

#include <stddef.h>

/* The text of @n_bytes bytes, NUL-terminated; free with fsl_free; NULL: out of memory. */
char *fsl_base64_encode(const void *bytes, size_t n_bytes);

/* The bytes of a text, *n_bytes of them; free with fsl_free. NULL: memory is short, or the text is
 * no such text. */
unsigned char *fsl_base64_decode(const char *text, size_t *n_bytes);

#endif

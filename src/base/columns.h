/* Columns of a terminal that a text takes, and where its lines may end. */
#ifndef FSL_BASE_COLUMNS_H
#define FSL_BASE_COLUMNS_H

#include <stddef.h>

/* Columns of @text[0 .. length): two for each wide character (Chinese, Japanese, Korean, their
 * punctuation), one for any other and for each broken byte. */
int fsl_columns(const char *text, size_t length);
/* Bytes of the begin of @text that stay on one line: up to a blank, or up to a place beside a wide
 * character at which a line may end. 0 if @text is "" or begins with a blank. */
size_t fsl_unbroken(const char *text);

#endif

/* Lines of text that end between words. */
#ifndef FSL_BASE_WRAP_H
#define FSL_BASE_WRAP_H

#include <stdio.h>

/* Prints the first line of @text and ends it. The cursor stands at column @cursor; a line that
 * would be longer than @width ends before a word and goes on at column @indent. A longer word is
 * not cut. */
void fsl_wrap(FILE *stream, const char *text, int cursor, int indent, int width);

#endif

/*
 * A series drawn with the characters of a terminal: bars in eighths of a line (U+2581 to U+2588),
 * or in ASCII, which has a character for each height of one line, and halves of several lines.
 */
#ifndef FSL_TEXT_SPARK_H
#define FSL_TEXT_SPARK_H

#include <stdbool.h>
#include <stddef.h>

#include "text/phrase.h"

enum { FSL_SPARK_COLUMNS_MAX = 120 }; /* a phrase holds the bytes of so many blocks */

struct fsl_spark {
	size_t n_values, n_columns;
	double values[FSL_SPARK_COLUMNS_MAX]; /* the greatest of each column; NaN: none */
	double low, high;                     /* at the lower and at the upper edge */
};

/* Begins a series of @n values in at most @n_columns_max columns, one for each value if they fit.
 */
void fsl_spark_begin(struct fsl_spark *spark, size_t n, size_t n_columns_max);
/* Adds the value at position @at; NaN and infinite values are not seen. */
void fsl_spark_add(struct fsl_spark *spark, size_t at, double value);
/* Sets the edges: noise stays flat, and a few values that are far above the others are cut. False
 * if there is no value. */
bool fsl_spark_frame(struct fsl_spark *spark);
/* Column of position @at; the last one if it lies behind. */
size_t fsl_spark_column(const struct fsl_spark *spark, size_t at);
/* Appends line @line of @n_lines (0: the upper one) without the blanks at its end. */
void fsl_spark_draw(struct fsl_phrase *out, const struct fsl_spark *spark, size_t line,
		    size_t n_lines, bool has_blocks);

#endif

/*
 * HTML and SVG under construction. Text of others goes through fsl_markup_text() alone, the one
 * function that escapes. Numbers have fixed decimals, so that the same case gives the same bytes.
 * A failed allocation marks the markup as failed, and later calls do nothing.
 */
#ifndef FSL_REPORT_PAGE_MARKUP_H
#define FSL_REPORT_PAGE_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"

struct fsl_markup {
	struct fsl_pack pack; /* start as {0}; release with fsl_pack_fini */
};

/* Markup as it is: literals of the program alone. */
void fsl_markup_raw(struct fsl_markup *markup, const char *literal);
/* Text for elements and for attributes in double quotes: escapes & < > " ', replaces broken UTF-8
 * and controls by U+FFFD. NULL reads as "". */
void fsl_markup_text(struct fsl_markup *markup, const char *text);
/* @value with @decimals (0 to 6) at most, trailing zeros dropped; "" if not finite or huge. */
void fsl_markup_number(struct fsl_markup *markup, double value, int decimals);
void fsl_markup_integer(struct fsl_markup *markup, int64_t value);
/*
 * Markup with holes: %s is escaped text, %d an int64_t, %f a double with one decimal at most (units
 * of pictures), %g a double with three significant digits (for people), %h literal markup; another
 * % stands for itself. No flags and no widths.
 */
void fsl_markup_put(struct fsl_markup *markup, const char *format, ...);

/* Three significant digits in plain form into @buffer of 32 bytes: "1188", "17.9", "0.021". */
const char *fsl_markup_figure(double value, char buffer[32]);
/* A time span for people: "176 ms", "6.18 s", "12.5 min", "3.2 h". */
const char *fsl_markup_span(double ms, char buffer[32]);

#endif

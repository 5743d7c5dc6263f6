/*
 * The texts in Chrome traces that a caller knows. A trace holds the same few texts millions of
 * times; a table of them gives each a number of the caller's own, its kind.
 */
#ifndef FSL_CHROME_TRACE_WORDS_H
#define FSL_CHROME_TRACE_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { FSL_TRACE_WORDS_MAX = 32 }; /* one bit each in a mask */

enum fsl_trace_spelling {
	FSL_TRACE_WHOLE,          /* this text */
	FSL_TRACE_WHOLE_ANY_CASE, /* this text, in any case of ASCII */
	FSL_TRACE_HEAD,           /* every text that begins with it */
	FSL_TRACE_HEAD_NUMBER,    /* the same, and the decimal number behind it is told */
	FSL_TRACE_HEAD_AND_TAIL,  /* every text that begins with it and ends with @tail */
	FSL_TRACE_ANYWHERE,       /* every text that holds it, in any case of ASCII */
};

struct fsl_trace_word {
	int kind; /* above 0; several words may have the same one */
	enum fsl_trace_spelling spelling;
	const char *text; /* not empty */
	const char *tail; /* of FSL_TRACE_HEAD_AND_TAIL, else NULL */
};

/* A table that is ready to be asked: for each first byte of a text, the words that it may be. */
struct fsl_trace_words {
	const struct fsl_trace_word *items; /* the caller's */
	uint8_t n_text[FSL_TRACE_WORDS_MAX], n_tail[FSL_TRACE_WORDS_MAX];
	uint32_t by_first[256];
};

/* At most FSL_TRACE_WORDS_MAX @items of at most 255 bytes; they stay the caller's, and must live as
 * long as @words. */
void fsl_trace_words_init(struct fsl_trace_words *words, const struct fsl_trace_word *items,
			  size_t n_items);
/* The kind of the first word, in the order of the table, that @text is; 0: none. *number: of
 * FSL_TRACE_HEAD_NUMBER, -1 when there is none or it does not fit; every other word leaves it
 * alone. */
int fsl_trace_words_find(const struct fsl_trace_words *words, const char *text, size_t length,
			 int64_t *number);

#endif

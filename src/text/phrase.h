/* Short texts for people: numbers with their unit, lists of ranks that stay short. */
#ifndef FSL_TEXT_PHRASE_H
#define FSL_TEXT_PHRASE_H

#include <stddef.h>
#include <stdint.h>

enum { FSL_PHRASE_MAX = 1024 };

/* Text under construction. Start as {0}. If it gets too long, its end reads "...". */
struct fsl_phrase {
	char text[FSL_PHRASE_MAX];
	size_t length;
};

void fsl_phrase_add(struct fsl_phrase *phrase, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "195 ms", "4.25 ms", "12.3 s", "unknown time" for NaN. */
void fsl_phrase_add_ms(struct fsl_phrase *phrase, double ms);
/* The same for any length: "975 ms", "23.1 min", "4 h 57 min". */
void fsl_phrase_add_length(struct fsl_phrase *phrase, int64_t ns);
/* "slow rank" for a name "slow_rank". */
void fsl_phrase_add_words(struct fsl_phrase *phrase, const char *name);
/* A frame of a stack without folders: "next@loader.py:30" for "next@/opt/python/loader.py:30"; if
 * that is still long, "..." stands for its begin. */
void fsl_phrase_add_frame(struct fsl_phrase *phrase, const char *frame);
/* The name of a kernel; a name of more than 40 bytes without its result, templates and arguments,
 * and of that the first 24 bytes: documents have the whole name beside the sentence. */
void fsl_phrase_add_symbol(struct fsl_phrase *phrase, const char *name);
/* 0.195: "20 %"; below ten percent one decimal; "unknown share" for NaN. */
void fsl_phrase_add_percent(struct fsl_phrase *phrase, double share);
/* "2025-06-15 15:07:20" local time. */
void fsl_phrase_add_time(struct fsl_phrase *phrase, int64_t time_ns);
/* "rank 3", "ranks 0-2, 5", and at most @n_ranges_max ranges: "ranks 0, 2 and 9998 more". @ranks
 * must be ascending for ranges to be found. */
void fsl_phrase_add_ranks(struct fsl_phrase *phrase, const int32_t *ranks, size_t n_ranks,
			  size_t n_ranges_max);
/* The same for ranks in any order; each is named once. Sorts @ranks. */
void fsl_phrase_add_unsorted_ranks(struct fsl_phrase *phrase, int32_t *ranks, size_t n_ranks,
				   size_t n_ranges_max);
/* "1 step", "3 steps"; @noun in the singular, its plural with -s. */
void fsl_phrase_add_count(struct fsl_phrase *phrase, uint64_t n, const char *noun);
/* "2nd", "4th"; @n >= 0. */
void fsl_phrase_add_ordinal(struct fsl_phrase *phrase, int64_t n);

/* Texts of a verdict may be NULL if nothing is to be said. */
static inline const char *fsl_text_or_empty(const char *text)
{
	return text != NULL ? text : "";
}

#endif

/*
 * The language of screens, help and messages. The program thinks in English: verdicts, files and
 * JSON are English whatever the language, and are translated sentence by sentence where a person
 * reads them.
 */
#ifndef FSL_BASE_LANGUAGE_H
#define FSL_BASE_LANGUAGE_H

#include <stdbool.h>
#include <stdio.h>

/* Marks a text for the catalog that is no sentence: a label, a title. */
#define N_(text) text

enum { FSL_TOLD_BYTES = 4096 }; /* four times a phrase */

/* Room for a sentence in the user's language. */
struct fsl_told {
	char text[FSL_TOLD_BYTES];
};

/*
 * Takes the language from the environment (LC_ALL, LC_MESSAGES, LANG; LANGUAGE before them unless
 * the locale is C) and reads its catalog: from $FAILSLOW_LOCALEDIR, else locale/ beside the
 * program, else ../share/locale. No catalog: English. Call it before threads begin and before the
 * process is confined.
 */
void fsl_language_begin(void);
/* Reads the catalog of a second language ("zh_CN"), for documents that hold two; without one
 * fsl_tell_also() tells nothing. Call it as fsl_language_begin(). */
void fsl_language_add(const char *language);
/* English again, as at the start; for tests. */
void fsl_language_end(void);
/* "zh_CN", or "" for English. Static storage. */
const char *fsl_language_name(void);

/* @english in the user's language: @english itself, or @room->text. */
const char *fsl_tell(const char *english, struct fsl_told *room);
/* The same in the second language, written to @room; NULL: not in its catalog. */
const char *fsl_tell_also(const char *english, struct fsl_told *room);
/* printf() of text for people, translated line by line. Returns columns of the last line. */
int fsl_tell_print(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

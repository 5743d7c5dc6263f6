/* The first words of the terminal summary (the verdict) and the last ones (the next step for the
 * reader). */
#ifndef FSL_REPORT_WORDS_H
#define FSL_REPORT_WORDS_H

#include "report/report.h"
#include "report/screen.h"
#include "text/phrase.h"

/* As fsl_outcome_kind(). */
enum fsl_verdict_kind fsl_words_kind(const struct fsl_report *report);
enum fsl_colour fsl_words_colour(enum fsl_verdict_kind kind);
/* Adds one sentence without a line break, with subject, cost and share of the step. */
enum { FSL_HEADLINE_MAX = 120 }; /* characters */
void fsl_words_headline(struct fsl_phrase *phrase, const struct fsl_report *report);
/* Adds which ranks wait in which operator, and which members of its group were not seen in it; ""
 * if nobody waits or all do. */
void fsl_words_waiting(struct fsl_phrase *phrase, const struct fsl_report *report);
/* Adds the next check for a person; "" if nothing is wrong. */
void fsl_words_next(struct fsl_phrase *phrase, const struct fsl_report *report);

#endif

/* Parts of sentences that the headline and the next check share. */
#ifndef FSL_REPORT_WORDS_PARTS_H
#define FSL_REPORT_WORDS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/words.h"

/* "rank 3 (10.1.0.1)"; without the host if nobody knows it. */
void fsl_words_add_rank(struct fsl_phrase *phrase, const struct fsl_report *report, int32_t rank);
/* "hosts 10.1.0.1 and 10.1.0.2" if several links all join these two; else false. */
bool fsl_words_add_joined_hosts(struct fsl_phrase *phrase, const struct fsl_report *report);
/* The reason of the verdict that the headline is about; borrowed from @report; "": none. */
const char *fsl_words_reason(const struct fsl_report *report);
/* True if ranks of a job that left operators left no data; step times and logs are often of one
 * rank alone. */
bool fsl_words_lack_ranks(const struct fsl_report *report);
/* "ranks 3, 5", which left no data. */
void fsl_words_add_missing_ranks(struct fsl_phrase *phrase, const struct fsl_report *report);

#endif

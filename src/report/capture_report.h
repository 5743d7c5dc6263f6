/* Reports a judged capture on the terminal. */
#ifndef FSL_REPORT_CAPTURE_REPORT_H
#define FSL_REPORT_CAPTURE_REPORT_H

#include <stdio.h>

#include "judge/finding.h"
#include "report/reporter.h"

/* The summary that a person reads: verdict, coverage, step breakdown, findings with advice. */
void fsl_profile_report_text(FILE *stream, const struct fsl_report *report);

#endif

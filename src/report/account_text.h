/* The account on the screen. */
#ifndef FSL_REPORT_ACCOUNT_TEXT_H
#define FSL_REPORT_ACCOUNT_TEXT_H

#include "report/reporter.h"
#include "report/screen.h"

/* Prints where the time went on one line and, of jobs on a long screen, each occasion on which it
 * was lost, costliest first, on at most FSL_TABLE_ROWS_MAX lines. Nothing if no time is known. */
void fsl_account_text(const struct fsl_screen *screen, const struct fsl_report *report);

#endif

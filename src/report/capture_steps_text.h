/* Tables of the terminal summary: how the time of a step is spent, by rank and by stage. */
#ifndef FSL_REPORT_CAPTURE_STEPS_TEXT_H
#define FSL_REPORT_CAPTURE_STEPS_TEXT_H

#include "report/reporter.h"
#include "report/screen.h"

/* Prints the means over the steps of each rank. With many ranks: their median, and the ranks that
 * stand out. */
void fsl_profile_steps_text(const struct fsl_screen *screen, const struct fsl_report *report);
/* Prints the medians over the ranks of each stage; nothing without stages. */
void fsl_profile_stages_text(const struct fsl_screen *screen, const struct fsl_report *report);

#endif

/* Tables of the terminal summary: where the time of a step goes, by rank and by stage. */
#ifndef FSL_REPORT_CAPTURE_STEPS_TEXT_H
#define FSL_REPORT_CAPTURE_STEPS_TEXT_H

#include "report/capture_report.h"
#include "report/screen.h"

/* Means over the steps of each rank; of many ranks their median and those that stand out. */
void fsl_profile_steps_text(const struct fsl_screen *screen, const struct fsl_report *report);
/* Medians over the ranks of each stage; nothing without stages. */
void fsl_profile_stages_text(const struct fsl_screen *screen, const struct fsl_report *report);

#endif

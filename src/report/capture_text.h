/* The parts of the terminal summary that are about captures of a profiler alone. */
#ifndef FSL_REPORT_CAPTURE_TEXT_H
#define FSL_REPORT_CAPTURE_TEXT_H

#include "report/reporter.h"
#include "report/screen.h"

/* Which ranks and steps were captured, and files that could not be read. */
void fsl_capture_coverage_text(const struct fsl_screen *screen, const struct fsl_report *report);
/* Findings, what steps are made of, groups, files, remarks: as far as they fit. */
void fsl_capture_details_text(const struct fsl_screen *screen, const struct fsl_report *report);
/* Advice about the verdict, by the finding that it rests on; NULL: no finding tells. Borrowed
 * from the findings. */
const char *fsl_capture_advice(const struct fsl_report *report);
/* True if findings tell what grew since an earlier capture. */
bool fsl_capture_is_compared(const struct fsl_report *report);

#endif

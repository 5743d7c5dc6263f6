/* The lines of the terminal summary that say what the verdict is based on. */
#ifndef FSL_REPORT_COVERAGE_TEXT_H
#define FSL_REPORT_COVERAGE_TEXT_H

#include "model/verdict.h"
#include "report/screen.h"

/* Ranks, steps and time covered; rows read and dropped; ranks missing, clocks, detectors skipped.
 * @run tells where data lies that the time range leaves out; may be NULL. */
void fsl_coverage_text(const struct fsl_screen *screen, const struct fsl_coverage *coverage,
		       const struct fsl_run *run);
/* The first file that was not read to its end, and how many more there are. */
void fsl_problems_text(const struct fsl_screen *screen, const struct fsl_run *run);

#endif

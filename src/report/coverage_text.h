/* The lines of the terminal summary that say what the verdict is based on. */
#ifndef FSL_REPORT_COVERAGE_TEXT_H
#define FSL_REPORT_COVERAGE_TEXT_H

#include "model/verdict.h"
#include "report/screen.h"
#include "text/phrase.h"

/* Prints ranks, steps and time covered, and missing ranks. @run tells when the data were recorded
 * that the time range leaves out; may be NULL. */
void fsl_coverage_text(const struct fsl_screen *screen, const struct fsl_coverage *coverage,
		       const struct fsl_run *run, const char *described_by);
/* Adds ", job described by model_config.json", the name of the file; nothing for NULL. */
void fsl_coverage_add_description(struct fsl_phrase *phrase, const char *described_by);
/* Prints rows, clocks, and data and detectors that were set aside, as far as they fit. */
void fsl_coverage_details_text(const struct fsl_screen *screen,
			       const struct fsl_coverage *coverage);
/* Prints the first file that was not read to its end, and the number of further ones. */
void fsl_problems_text(const struct fsl_screen *screen, const struct fsl_run *run);

#endif

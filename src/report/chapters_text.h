/* The line of the terminal summary on a capture that was judged in chapters. */
#ifndef FSL_REPORT_CHAPTERS_TEXT_H
#define FSL_REPORT_CHAPTERS_TEXT_H

#include "model/verdict.h"
#include "report/screen.h"

/* Prints which chapter the verdict is about, and in which other chapters something was wrong.
 * Prints nothing for a capture that was judged as a whole. */
void fsl_chapters_text(const struct fsl_screen *screen,
		       const struct fsl_localisation *localisation);

#endif

/* The part of the terminal summary on the culprits: why they are named, evidence, suspects. */
#ifndef FSL_REPORT_LOCALISATION_TEXT_H
#define FSL_REPORT_LOCALISATION_TEXT_H

#include "model/verdict.h"
#include "report/screen.h"

/* Prints nothing if @localisation is NULL. Text that @headline holds is not printed again. */
void fsl_localisation_text(const struct fsl_screen *screen,
			   const struct fsl_localisation *localisation, const char *headline);

#endif

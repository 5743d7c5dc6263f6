/* The part of the terminal summary on who it is: culprits, why, evidence, suspects. */
#ifndef FSL_REPORT_LOCALISATION_TEXT_H
#define FSL_REPORT_LOCALISATION_TEXT_H

#include "model/verdict.h"
#include "report/screen.h"

/* @localisation NULL: nothing. What @headline said is not said again. */
void fsl_localisation_text(const struct fsl_screen *screen,
			   const struct fsl_localisation *localisation, const char *headline);

#endif

/* Pictures of a job in characters, for the summary on a terminal. Each needs no colours and draws
 * what the pictures of the case hold; each draws nothing if the job does not tell it. */
#ifndef FSL_REPORT_TERMINAL_H
#define FSL_REPORT_TERMINAL_H

#include "report/reporter.h"
#include "report/screen.h"

/*
 * Steps over the job as a line of bars; below them slow stretches (^~~~), checkpoints (c) and
 * stalls
 * (!); then @words, and what these marks mean. A short screen leaves out the bars, or all of it.
 */
void fsl_terminal_strip(const struct fsl_screen *screen, const struct fsl_report *report,
			const char *words);

/* The same of the steps of a capture, as long as the longest rank of each. Few bars stand on one
 * line with their lengths. */
void fsl_terminal_capture_strip(const struct fsl_screen *screen, const struct fsl_report *report);

/* A mark for each rank, hosts as lines: # culprit, v victim, + costly. A short screen folds hosts
 * into marks. */
void fsl_terminal_grid(const struct fsl_screen *screen, const struct fsl_report *report);

/* Ranks over time: own time beyond that of the peers. Culprits have lines of their own. */
void fsl_terminal_raster(const struct fsl_screen *screen, const struct fsl_report *report);

/* True if the verdict names the rank: a culprit, the other end of a slow link, or first to stop. */
bool fsl_terminal_is_named(const struct fsl_report *report, int32_t rank);
/* True if it names some rank of the run. */
bool fsl_terminal_names_anyone(const struct fsl_report *report);

#endif

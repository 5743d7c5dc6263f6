/*
 * Ends a run that takes too long, with a message that tells what it was doing. A signal of a timer
 * does it, so that a run that waits for a file or computes is ended alike. Files that were being
 * written keep their temporary names, as if the run had been killed.
 */
#ifndef FSL_BASE_DEADLINE_H
#define FSL_BASE_DEADLINE_H

/* From now on the process ends with @exit_code after so many minutes, unless fsl_deadline_end is
 * called before. 0: never. One deadline at a time. */
void fsl_deadline_begin(double minutes, int exit_code);
void fsl_deadline_end(void);

/* Says what the run does from now on. @stage: static text ("reading"). */
void fsl_deadline_stage(const char *stage);
/*
 * Says that a thread reads a file. Returns a number for fsl_deadline_file_end; -1 if there is no
 * deadline, or if many files are being read. Any thread may call both.
 */
int fsl_deadline_file_begin(const char *path);
void fsl_deadline_file_end(int number);

#endif

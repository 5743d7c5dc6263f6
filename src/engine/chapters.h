/* Cuts a long capture into chapters (model/chapter.h) and judges it chapter by chapter. */
#ifndef FSL_ENGINE_CHAPTERS_H
#define FSL_ENGINE_CHAPTERS_H

#include "engine/job.h"

/* The longest chapters that the configuration allows; length 0: none, as sysTrace's rules are for
 * whole captures. */
struct fsl_chapter_rule fsl_job_chapter_rule(const struct fsl_config *config);
/* Sets the lengths (ns) that chapters of a capture may have if they hold enough steps: for
 * config->chapter_parts chapters, more if the files are so large that a chapter would take much
 * memory, for half and for a quarter of them. 0: the capture is too short for so many chapters. */
void fsl_job_wanted_lengths(int64_t wanted_ns[FSL_CHAPTER_LEVELS_N], const struct fsl_job *job,
			    const struct fsl_config *config, const struct fsl_span *span);
/* The newest of the first @n chapters in which something was wrong; NULL: in none. */
const struct fsl_judged_chapter *fsl_chapters_newest_wrong(const struct fsl_chapters *chapters,
							   size_t n);
/* Number of newest steps of a chapter that perception may look back at. */
size_t fsl_chapter_steps_kept(const struct fsl_config *config);

/*
 * Judges job->run, which the caller filled, up to job->perception and job->localisation. It calls
 * fsl_job_analyse() on the capture as a whole, or on each chapter that job->chapters does not hold
 * yet. A capture is cut into chapters if it is longer than config->chapter_hours, or if it has
 * enough operators and steps for config->chapter_parts chapters; but not if the first chapter has
 * too few steps. Topology and all else in @job are then those of the newest chapter, and perception
 * looks back over the chapters before. The localisation is the verdict of the newest chapter in
 * which something was wrong, with a note of every chapter.
 */
enum fsl_status fsl_job_judge(struct fsl_job *job, const struct fsl_config *config,
			      struct fsl_error *err);

#endif

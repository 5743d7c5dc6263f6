/* A long capture is judged in chapters (model/chapter.h); this is what is known of them. */
#ifndef FSL_ENGINE_CHAPTERS_H
#define FSL_ENGINE_CHAPTERS_H

#include "engine/job.h"

/* How the configuration wants captures cut at most; sysTrace's rules are for whole captures. */
struct fsl_chapter_rule fsl_job_chapter_rule(const struct fsl_config *config);
/* The lengths that the chapters of a capture may have, if these hold steps enough: for
 * config->chapter_parts of them, a half and a quarter; 0: it is too short for so many. */
void fsl_job_wanted_lengths(int64_t wanted_ns[FSL_CHAPTER_LEVELS_N],
			    const struct fsl_config *config, const struct fsl_span *span);
/* The newest of the first @n chapters in which something was wrong; NULL: in none. */
const struct fsl_judged_chapter *fsl_chapters_newest_wrong(const struct fsl_chapters *chapters,
							   size_t n);
/* The newest steps of a chapter that perception may look back at. */
size_t fsl_chapter_steps_kept(const struct fsl_config *config);

/*
 * Everything from job->run, which the caller filled, to job->perception and job->localisation:
 * fsl_job_analyse() on the capture as a whole or, where it is longer than config->chapter_hours or
 * has operators enough and steps enough for config->chapter_parts chapters, on each chapter that
 * job->chapters does not know yet; as a whole, too, where the first chapter has too few steps.
 * Topology and all else in @job are then those of the newest chapter, perception looks back over
 * the chapters before; localisation is the verdict of the newest chapter in which something was
 * wrong, with a note of every chapter.
 */
enum fsl_status fsl_job_judge(struct fsl_job *job, const struct fsl_config *config,
			      struct fsl_error *err);

#endif

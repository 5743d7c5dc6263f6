/* Between the files about chapters: those that are over, and all together. */
#ifndef FSL_ENGINE_CHAPTERS_PARTS_H
#define FSL_ENGINE_CHAPTERS_PARTS_H

#include "engine/chapters.h"

/* Where the first chapter has fewer steps, the job's steps are too long for chapters. */
enum { FSL_CHAPTER_STEPS_MIN = 64 };

/* Fills the rule of job->chapters and what it depends on, from the whole run in @job: the shortest
 * of the wanted chapters that hold steps enough, else the longest. */
enum fsl_status fsl_chapters_choose_rule(struct fsl_job *job, const struct fsl_config *config,
					 const struct fsl_span *span, struct fsl_error *err);

/* Forgets the part of the run that was held for the chapter. */
void fsl_chapter_let_go(struct fsl_judged_chapter *chapter);

/* The configuration as a chapter is judged with it, at @now_ns; shallow, owns nothing. */
struct fsl_config fsl_chapter_config(const struct fsl_config *config, int64_t now_ns);

/* Steps that end in the chapter. One that goes on behind it is whole in the lead of the next. */
size_t fsl_chapter_count_steps(const struct fsl_steps *steps, const struct fsl_chapter *chapter);

/* chapter->singles, from the judged job of the chapter. */
enum fsl_status fsl_chapter_find_singles(struct fsl_judged_chapter *chapter,
					 const struct fsl_job *judged,
					 const struct fsl_config *config, struct fsl_error *err);

/* The steps of a chapter of the whole run in @job that is over, and of its lead. Free with
 * fsl_steps_fini(). */
enum fsl_status fsl_chapter_find_steps(struct fsl_steps *out, const struct fsl_job *job,
				       const struct fsl_chapter *chapter,
				       const struct fsl_chapter_rule *rule, struct fsl_error *err);

/*
 * Judges the chapters of job->chapters that are over, from the first @n_known on, out of the whole
 * run in @job, and sets job->n_steps_before. In brief but for those that may be told, now or by the
 * next run: what is told of the others is who and how much. *is_short: the first has too few steps
 * to be judged, and so will others; then nothing else was done.
 */
enum fsl_status fsl_chapters_judge_past(struct fsl_job *job, const struct fsl_config *config,
					size_t n_known, bool *is_short, struct fsl_error *err);

#endif

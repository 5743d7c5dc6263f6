/* Shared by the files chapter*.c of src/engine. */
#ifndef FSL_ENGINE_CHAPTERS_PARTS_H
#define FSL_ENGINE_CHAPTERS_PARTS_H

#include "engine/chapters.h"

/* If the first chapter has fewer steps, the steps of the job are too long for chapters. */
enum { FSL_CHAPTER_STEPS_MIN = 64 };

/* Sets the rule of job->chapters and the fields that it depends on, from the whole run in @job: the
 * shortest of the wanted chapters that hold enough steps, else the longest. */
enum fsl_status fsl_chapters_choose_rule(struct fsl_job *job, const struct fsl_config *config,
					 const struct fsl_span *span, struct fsl_error *err);

/* Forgets the part of the run that was held for the chapter. */
void fsl_chapter_let_go(struct fsl_judged_chapter *chapter);

/* The configuration with which a chapter is judged, at time @now_ns. A shallow copy, which owns
 * nothing. */
struct fsl_config fsl_chapter_config(const struct fsl_config *config, int64_t now_ns);

/* Number of steps that end in the chapter. A step that goes on behind it is whole in the lead of
 * the next chapter. */
size_t fsl_chapter_count_steps(const struct fsl_steps *steps, const struct fsl_chapter *chapter);

/* Sets chapter->singles from the judged job of the chapter. */
enum fsl_status fsl_chapter_find_singles(struct fsl_judged_chapter *chapter,
					 const struct fsl_job *judged,
					 const struct fsl_config *config, struct fsl_error *err);

/* Finds the steps of a chapter that is over, and of its lead, in the whole run in @job. Free with
 * fsl_steps_fini(). */
enum fsl_status fsl_chapter_find_steps(struct fsl_steps *out, const struct fsl_job *job,
				       const struct fsl_chapter *chapter,
				       const struct fsl_chapter_rule *rule, struct fsl_error *err);

/*
 * Judges the chapters of job->chapters that are over, without the first @n_known, from the whole
 * run in @job, and sets job->n_steps_before. Chapters that this run or the next may tell are judged
 * in full. The others are judged in brief: their verdicts tell who and how much. *is_short: the
 * first chapter has too few steps to be judged, and so have the others; then nothing else is done.
 */
enum fsl_status fsl_chapters_judge_past(struct fsl_job *job, const struct fsl_config *config,
					size_t n_known, bool *is_short, struct fsl_error *err);

#endif

/*
 * Chapters: a long capture is judged in stretches of time, each like a capture of its own with a
 * little of the one before it. A stretch that is over is never judged again, and no more than one
 * stretch has to be looked at together.
 */
#ifndef FSL_MODEL_CHAPTER_H
#define FSL_MODEL_CHAPTER_H

#include "model/run.h"

/* How captures are cut. */
struct fsl_chapter_rule {
	int64_t length_ns; /* chapters end at multiples of it since 1970; 0: captures stay whole */
	int64_t lead_ns;   /* so much of the time before a chapter is judged with it, so that what
			      changes at its begin is seen to change */
	int64_t slack_ns;  /* records are written at most this much out of order */
};

/* Operators that end and stages and steps that begin in [begin, end); INT64_MIN and INT64_MAX at
 * the ends of the capture. */
struct fsl_chapter {
	int64_t begin_ns, end_ns;
};

/* From and to when most ranks have events. */
struct fsl_span {
	int64_t begin_ns, end_ns; /* FSL_NS_ABSENT: there are none */
	int64_t apart_ns;         /* so far from it is the begin of some rank */
	/* A rank's clock is so far from the others' that its events would fall into other chapters.
	 */
	bool is_torn;
};

struct fsl_chapter_rule fsl_chapter_rule_for(int64_t length_ns);
/* @hours <= 0: no chapters. */
struct fsl_chapter_rule fsl_chapter_rule_of(double hours);

/*
 * The rule for captures of @span_ns that are to have @n_least chapters: lengths are halved until
 * there are so many, but none gets shorter than a second. So each boundary of a rule is one of the
 * finer rules, too, and while a capture grows its rule changes as often as its length doubles.
 */
struct fsl_chapter_rule fsl_chapter_rule_finer(const struct fsl_chapter_rule *rule, int64_t span_ns,
					       int64_t n_least);

/* Medians over the ranks of the first and of the last event. FSL_ERR_MEMORY only. */
enum fsl_status fsl_run_span(struct fsl_span *span, const struct fsl_run *run,
			     const struct fsl_chapter_rule *rule, struct fsl_error *err);

/*
 * Chapters of a capture from @begin_ns to @end_ns, oldest first, in @arena; at least one. Each
 * multiple of the length ends one that lies half a length or more from both ends of the capture. So
 * the chapters that are there stay as they are while the capture grows, but for the last, which is
 * half a length to one and a half long.
 */
enum fsl_status fsl_chapters_list(struct fsl_chapter **chapters, size_t *n_chapters,
				  struct fsl_arena *arena, const struct fsl_span *span,
				  const struct fsl_chapter_rule *rule, struct fsl_error *err);

/*
 * The part of a run that is judged as @chapter: all ranks with the events of it and of its lead;
 * quickly after fsl_run_measure_ops(). Only the last chapter of a capture has operators that never
 * ended and ranks that fell silent. Names are numbered by their texts, so that nothing hangs on
 * what else the capture holds. Texts and files are borrowed from @run, which must outlive it; end
 * it with fsl_chapter_drop().
 */
enum fsl_status fsl_chapter_take(struct fsl_run *out, const struct fsl_run *run,
				 const struct fsl_chapter *chapter,
				 const struct fsl_chapter_rule *rule, struct fsl_error *err);
void fsl_chapter_drop(struct fsl_run *taken);

/* Makes @run its own chapter: all else is forgotten, the files stay. On failure nothing changed. */
enum fsl_status fsl_chapter_keep(struct fsl_run *run, const struct fsl_chapter *chapter,
				 const struct fsl_chapter_rule *rule, struct fsl_error *err);

#endif

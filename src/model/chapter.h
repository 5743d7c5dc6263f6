/*
 * Chapters: a long capture is judged in stretches of time. Each stretch is judged like a capture of
 * its own, together with a little of the stretch before it. A stretch that is over is never judged
 * again, so that only one stretch is in memory at a time.
 */
#ifndef FSL_MODEL_CHAPTER_H
#define FSL_MODEL_CHAPTER_H

#include "model/run.h"

/* How a capture is cut into chapters. */
struct fsl_chapter_rule {
	int64_t length_ns; /* chapters end at multiples of it since 1970; 0: captures stay whole */
	int64_t lead_ns;   /* so much of the time before a chapter is judged with it, so that what
			      changes at its begin is seen to change */
	int64_t slack_ns;  /* records are written at most this much out of order, and what lacks
			      some for so long has lost them */
};

/* A chapter holds the operators that end in [begin, end) and the stages and steps that begin in it.
 * INT64_MIN and INT64_MAX at the ends of the capture. */
struct fsl_chapter {
	int64_t begin_ns, end_ns;
};

/* Time in which most ranks have events. */
struct fsl_span {
	int64_t begin_ns, end_ns; /* FSL_NS_ABSENT: no events */
	int64_t apart_ns;         /* greatest distance of a rank's first event from begin_ns */
	/* The clock of some rank is so far off that its events would fall into other chapters. */
	bool is_torn;
};

/* Rule for chapters of @length_ns; 0: no chapters. */
struct fsl_chapter_rule fsl_chapter_rule_for(int64_t length_ns);
/* The same for @hours; <= 0: no chapters. */
struct fsl_chapter_rule fsl_chapter_rule_of(double hours);

/*
 * The rule for captures of @span_ns that shall have at least @n_least chapters: the length is
 * halved until there are so many, but not below a second. So each boundary of a rule is also a
 * boundary of all finer rules. The rule of a growing capture changes only when its length doubles.
 */
struct fsl_chapter_rule fsl_chapter_rule_finer(const struct fsl_chapter_rule *rule, int64_t span_ns,
					       int64_t n_least);

/* Medians over the ranks of the first and of the last event. FSL_ERR_MEMORY only. */
enum fsl_status fsl_run_span(struct fsl_span *span, const struct fsl_run *run,
			     const struct fsl_chapter_rule *rule, struct fsl_error *err);

/*
 * Chapters of a capture of @span, oldest first, in @arena; at least one. A chapter ends at each
 * multiple of the length that lies at least half a length from both ends of the capture. So the
 * chapters stay the same while the capture grows, except the last one, which is half a length to
 * one and a half lengths long.
 */
enum fsl_status fsl_chapters_list(struct fsl_chapter **chapters, size_t *n_chapters,
				  struct fsl_arena *arena, const struct fsl_span *span,
				  const struct fsl_chapter_rule *rule, struct fsl_error *err);

/*
 * Takes the part of a run that is judged as @chapter: all ranks, with the events of the chapter and
 * of its lead. Fast if fsl_run_measure_ops() was called before. Only the last chapter of a capture
 * has operators that never ended and ranks that fell silent. Names are numbered in order of their
 * texts, so that nothing depends on the rest of the capture. Texts and files are borrowed from
 * @run, which must outlive @out; end @out with fsl_chapter_drop(). FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_chapter_take(struct fsl_run *out, const struct fsl_run *run,
				 const struct fsl_chapter *chapter,
				 const struct fsl_chapter_rule *rule, struct fsl_error *err);
void fsl_chapter_drop(struct fsl_run *taken);

/* Reduces @run to @chapter; the list of files stays. On failure @run is unchanged. */
enum fsl_status fsl_chapter_keep(struct fsl_run *run, const struct fsl_chapter *chapter,
				 const struct fsl_chapter_rule *rule, struct fsl_error *err);

#endif

/*
 * Marks: one answer held against the truth of one job. Whoever answers (the engine, a baseline) is
 * marked by the same rules; what is right for each fault is the table in rules.c.
 */
#ifndef FSL_EVAL_GRADE_H
#define FSL_EVAL_GRADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/verdict.h"

/* What really happened; arrays are borrowed. */
struct fsl_eval_truth {
	bool has_fault;
	uint32_t kinds_ok;          /* bit per enum fsl_verdict_kind that is a right verdict */
	enum fsl_verdict_kind kind; /* the one to be expected */
	int cause;                  /* enum fsl_cause; -1: none is to be named */
	const int32_t *culprits;    /* must be named; ascending */
	size_t n_culprits;
	const int32_t *allowed; /* may be named as well (members of a slow link); ascending */
	size_t n_allowed;
	int64_t onset_ns; /* FSL_NS_ABSENT: none (no fault, or from the first step on) */
	double step_ms;   /* without the fault */
	double slowdown;  /* step time / step time of the same job without the fault; 1: none */
};

/* What was said; arrays are borrowed. */
struct fsl_eval_answer {
	enum fsl_verdict_kind kind;
	bool is_alarm;        /* whoever asked is told that something is wrong */
	bool has_failed;      /* no answer at all: the analysis broke off */
	const int32_t *named; /* in order of the answer, each once */
	size_t n_named;
	int cause;        /* of the first; -1: none told */
	int64_t onset_ns; /* of the first; FSL_NS_ABSENT: unknown */
	double slowdown;  /* NaN: not told */
};

/* Counts are of ranks; a flag that does not apply is false together with its is_..._asked. */
struct fsl_eval_marks {
	enum fsl_verdict_kind kind;
	bool is_alarm, has_failed;
	bool is_kind_right;
	bool is_false_alarm;
	uint32_t n_hit;              /* culprits that were named */
	uint32_t n_missed;           /* culprits that were not */
	uint32_t n_wrong;            /* named, neither culprit nor allowed: victims, bystanders */
	bool is_exact;               /* nothing missed, nothing wrong */
	bool is_top1_asked, is_top1; /* somebody was named and the job has culprits; the first is
					one of them, or allowed */
	int cause;                   /* told; -1 */
	bool is_cause_asked, is_cause_right; /* is_top1 and the truth has a cause */
	double onset_error_steps;            /* told - true; NaN: not asked or not told */
	double slowdown_error;               /* told - true; NaN: not told */
};

struct fsl_eval_marks fsl_eval_mark(const struct fsl_eval_truth *truth,
				    const struct fsl_eval_answer *answer);

/* A mistake that belongs into the list of wrong jobs: another verdict, a rank missed or wrong, a
 * false alarm. */
bool fsl_eval_is_wrong(const struct fsl_eval_marks *marks);

#endif
